"""Self-play with the PUCT tree search (docs/how/mcts.md), many games at once.

The trees are native. Native code walks every tree to a leaf and writes the planes. An `Evaluator` evaluates them. Then
native code expands the leaves and backs up the values.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tengen import _native
from tengen.core.contracts import Evaluator, Outcome, Ruleset
from tengen.core.native_enums import outcome_from_native
from tengen.core.planes import check_layout, native_layout, plane_count
from tengen.core.position import Position
from tengen.errors import InputError
from tengen.search.checks import check_range, check_real
from tengen.search.evaluation import Floats, check_answers
from tengen.search.puct_config import PuctConfig
from tengen.search.seeds import seed_word


@dataclass(frozen=True, kw_only=True)
class Openings:
    """Openings for self-play games."""

    sequences: tuple[str, ...] = ()
    """Openings to sample from, as move sequences (`h8i9j10`); a random symmetry is applied to each."""
    fraction: float = 1.0
    """Fraction of games that start with an opening; the others start from the empty board."""
    random_stones: int = 0
    """Maximum number of random stones near each other if `sequences` is empty; the number is uniform from 0 to this."""
    balance_candidates: int = 0
    """Number of candidates for one more stone after the random ones. The stone is sampled in proportion to (1 − v²)⁴,
    where v is the network's value; this favours balanced positions. 0 adds no stone."""

    def __post_init__(self) -> None:
        check_real("fraction", self.fraction, 0.0, 1.0)
        check_range("random_stones", self.random_stones, 0, 100)
        check_range("balance_candidates", self.balance_candidates, 0, 1000)
        if self.balance_candidates and (self.sequences or not self.random_stones):
            raise InputError(
                f"balance_candidates={self.balance_candidates} requires random stones: set random_stones above 0 and"
                " leave sequences empty"
            )

    def native(self, ruleset: Ruleset) -> _native.OpeningOptions:
        """Return the options for native code. Raises `InputError` for sequences that are illegal or end the game."""
        options = _native.OpeningOptions()
        options.list = [_opening_indices(ruleset, sequence) for sequence in self.sequences]
        options.fraction = self.fraction
        options.random_stones = self.random_stones
        options.balance_candidates = self.balance_candidates
        return options


@dataclass(frozen=True, slots=True)
class SelfPlayGame:
    """A finished game. Arrays have one entry for each of its K searched moves (those after the opening)."""

    moves: npt.NDArray[np.int16]
    """[opening_length + K]: indices y·width + x of all moves."""
    opening_length: int
    """Number of opening moves; they were not searched."""
    outcome: Outcome
    """The result on the board, or the one proved by the search if the game was ended early."""
    plies_left: int
    """Plies from the last move to the proved end; 0 if the game was played out."""
    policies: Floats
    """[K, area]: the policy target."""
    value_to_move: Floats
    """[K]: Σ π·Q over the root's moves, for the side to move; the proved value if there is a proof."""
    surprises: Floats
    """[K]: Kullback-Leibler divergence of the target from the network's own policy, in nats."""
    full: npt.NDArray[np.bool_]
    """[K]: whether the search was a full search (`PuctConfig.full_fraction`)."""


@dataclass(frozen=True, slots=True)
class SelfPlayCounts:
    """Totals of a `SelfPlay` since it was created."""

    simulations: int
    evaluations: int
    """Leaves evaluated by the network (eight rows each if symmetries are averaged)."""
    cache_hits: int
    moves: int
    games: int


class SelfPlay:
    """Runs `games` simultaneous games in which a network plays itself; a finished game is replaced by a new one.

    One round calls `collect`, the network and `supply`; `step` does all three. An object must be used by one thread at
    a time. `collect` and `supply` release the GIL, so two objects can run in two threads or take turns. The same seed
    and the same evaluations produce the same games.

    >>> from tengen.search.evaluation import UniformEvaluator
    >>> play = SelfPlay(Ruleset.parse("3x3:3"), PuctConfig(simulations=20), games=4, seed=1)
    >>> network = UniformEvaluator()
    >>> while play.counts.games < 4:
    ...     rows = play.step(network)
    >>> game = play.finished()[0]
    >>> game.policies.shape == (len(game.moves), 9)
    True
    """

    def __init__(
        self,
        ruleset: Ruleset,
        config: PuctConfig,
        *,
        games: int,
        seed: int = 0,
        layout: str = "board",
        openings: Openings | None = None,
    ) -> None:
        check_layout(layout, ruleset)
        check_range("games", games, 1, 100_000)
        self.ruleset = ruleset
        self.config = config
        self.layout = layout
        self._native = _native.SelfPlay(
            Position.start(ruleset).native,
            native_layout(layout),
            config.native(),
            (openings or Openings()).native(ruleset),
            games,
            seed_word(seed),
        )
        self._planes: Floats | None = None

    @property
    def games(self) -> int:
        """Number of games played at the same time."""
        return self._native.games

    @property
    def counts(self) -> SelfPlayCounts:
        """Totals so far."""
        return SelfPlayCounts(*self._native.counts)

    def new_planes(self) -> Floats:
        """Return an array [B, C, H, W] for `collect` to write into; B is the largest number of rows per round."""
        shape = (self._native.max_rows, plane_count(self.layout), self.ruleset.height, self.ruleset.width)
        return np.zeros(shape, dtype=np.float32)

    def collect(self, planes: Floats) -> int:
        """Walk all trees to leaves and write the planes of those that need the network into the first rows.

        Returns the number of rows n, which may be 0. Call `supply` next. Games whose search is complete make a move.
        """
        return self._native.collect(planes)

    def supply(self, log_policy: Floats, value: Floats) -> None:
        """Supply the network's outputs: log-policy [n, H·W] and value [n] for the side to move, in [-1, 1]."""
        check_answers(log_policy, value)
        self._native.supply(log_policy, value)

    def step(self, evaluator: Evaluator) -> int:
        """Run one round with `evaluator` and return the number of rows it evaluated."""
        if self._planes is None:
            self._planes = self.new_planes()
        rows = self.collect(self._planes)
        if rows:
            self.supply(*evaluator.evaluate(self._planes[:rows]))
        return rows

    def finished(self) -> list[SelfPlayGame]:
        """Return the games that have ended since the last call."""
        return [
            SelfPlayGame(
                moves=np.array(game.moves, dtype=np.int16),
                opening_length=game.opening_length,
                outcome=outcome_from_native(game.outcome),
                plies_left=game.plies_left,
                policies=game.policies,
                value_to_move=game.values,
                surprises=game.surprises,
                full=game.full.astype(np.bool_),
            )
            for game in self._native.take_finished()
        ]

    def clear_cache(self) -> None:
        """Clear the cached evaluations; call this when the network has changed. Trees are kept."""
        self._native.clear_cache()

    def state(self) -> dict[str, npt.NDArray[np.generic]]:
        """Return the unfinished games as arrays, for a file without pickle; `load_state` continues them.

        Trees and cached evaluations are not included. This object discards them as well, so that it continues
        exactly like an object that loads the state. Call `state` between `supply` and `collect`, after `finished`.
        """
        if self._native.finished_count:
            count = self._native.finished_count
            raise InputError(f"{count} finished games have not been fetched; call finished() first")
        games = [self._native.game(index) for index in range(self.games)]
        columns = zip(*((game.values, game.surprises, game.full) for game in games), strict=True)
        values, surprises, full = (np.concatenate(column) for column in columns)
        state: dict[str, npt.NDArray[np.generic]] = {
            "rng": np.array([self._native.rng_state(index) for index in range(self.games)], dtype=np.uint64),
            "lengths": np.array([len(game.moves) for game in games], dtype=np.int32),
            "opening_lengths": np.array([game.opening_length for game in games], dtype=np.int32),
            "searched": np.array([len(game.values) for game in games], dtype=np.int32),
            "moves": np.concatenate([np.array(game.moves, dtype=np.int16) for game in games]),
            "policies": np.concatenate([game.policies.reshape(-1, self.ruleset.area) for game in games]),
            "values": values,
            "surprises": surprises,
            "full": full,
        }
        self._native.restart()
        return state

    def load_state(self, state: Mapping[str, npt.NDArray[np.generic]]) -> None:
        """Continue from the state of a `SelfPlay` with the same ruleset and number of games."""
        try:
            rng = np.asarray(state["rng"], dtype=np.uint64).reshape(self.games, 4)
            moves = _split(state["moves"], state["lengths"])
            searched = [
                _split(np.asarray(state[name], dtype=np.float32), state["searched"])
                for name in ("policies", "values", "surprises", "full")
            ]
            for index in range(self.games):
                game = _native.SelfPlayGame()
                game.moves = moves[index].tolist()
                game.opening_length = int(state["opening_lengths"][index])
                policies, values, surprises, full = (np.ascontiguousarray(column[index]) for column in searched)
                game.set_searched(policies.reshape(-1, self.ruleset.area), values, surprises, full)
                self._native.set_game(index, game, rng[index].tolist())
        except (KeyError, ValueError, IndexError, TypeError) as error:
            raise InputError(f"this state does not belong to {self.games} games of {self.ruleset}: {error}") from None
        self._native.restart()


def _split(rows: npt.NDArray[np.generic], counts: npt.NDArray[np.generic]) -> list[npt.NDArray[np.generic]]:
    """Split the rows of all games into one array per game; `counts` are the numbers of rows."""
    ends = np.cumsum(np.asarray(counts, dtype=np.int64))
    if len(rows) != ends[-1]:
        raise ValueError(f"there are {len(rows)} rows, but the counts add up to {ends[-1]}")
    return np.split(rows, ends[:-1])


def _opening_indices(ruleset: Ruleset, sequence: str) -> list[int]:
    position = Position.from_moves(ruleset, sequence)
    if position.is_over:
        raise InputError(f"the opening {sequence!r} ends the game; remove or shorten it")
    return [point.index(ruleset.width) for point in position.moves]
