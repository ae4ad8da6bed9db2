"""Tree search guided by a network (PUCT, docs/mcts.md): its configuration and self-play.

The tree is native; a network is any `Evaluator`. Native code walks trees to leaves and writes their planes, the
evaluator answers, native code expands and backs up. `SelfPlay` does so for many games at once.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from tengen import _native
from tengen.core.contracts import Evaluator, Outcome, Ruleset
from tengen.core.native_enums import outcome_from_native
from tengen.core.planes import check_layout, native_layout, plane_count
from tengen.core.position import Position
from tengen.errors import InputError

__all__ = [
    "PRESETS",
    "Noise",
    "Openings",
    "PuctConfig",
    "SelfPlay",
    "SelfPlayCounts",
    "SelfPlayGame",
    "Symmetry",
    "UniformEvaluator",
]

Floats = npt.NDArray[np.float32]

WORD = 0xFFFF_FFFF_FFFF_FFFF
"""Seeds are cut to 64 bits."""


def _check_range(name: str, value: int, low: int, high: int) -> None:
    if not low <= value <= high:
        raise InputError(f"{name} {value} is outside {low}–{high}")


def _check_real(name: str, value: float, low: float, high: float) -> None:
    if not (math.isfinite(value) and low <= value <= high):
        raise InputError(f"{name} {value} is outside {low:g}–{high:g}")


class Noise(StrEnum):
    """Where Dirichlet noise is mixed into the priors, in full searches."""

    NONE = "none"
    """Nowhere."""
    ROOT = "root"
    """At the root of each search, as in AlphaZero."""
    EVERY = "every"
    """At every expansion, as in zero9."""


class Symmetry(StrEnum):
    """Through which symmetries of the board the network sees a position."""

    NONE = "none"
    """As it stands."""
    RANDOM = "random"
    """One of them, drawn for each evaluation."""
    AVERAGE = "average"
    """All of them; policy and value are their means. Costs eight evaluations (four on a rectangle)."""


@dataclass(frozen=True, kw_only=True)
class PuctConfig:
    """How trees are searched and games played. The defaults are the plain algorithm, with every extra off.

    A move's score is Q + c·P·√ΣN / (1 + N): its mean value, its prior, its visits.
    """

    simulations: int = 500
    """Walks from the root to a leaf for one move. Evaluating the root itself is not counted."""
    c_puct: float = 1.25
    """The constant c of the score; 4 in zero9."""
    c_puct_growth: float = 0.0
    """c grows by this times log((1 + N + base) / base), N the visits of the node."""
    c_puct_base: float = 500.0
    """The base of that growth."""
    fpu_reduction: float | None = None
    """Q of a move never tried: the parent's mean minus this times √(prior of the moves tried). None: Q is 0."""
    fpu_reduction_root: float = 0.0
    """The same at the root, where `fpu_reduction` is not None."""
    virtual_loss: float = 1.0
    """So many losses does a walk under way count on its nodes, which sends others elsewhere."""
    leaves: int = 1
    """Leaves of one tree that may wait for the network at once."""

    noise: Noise = Noise.NONE
    """Where Dirichlet noise is mixed in. Quick searches (`full_fraction`) have none."""
    noise_alpha: float | None = None
    """The Dirichlet parameter of each move. None: `noise_alpha_total` divided by the number of moves."""
    noise_alpha_total: float = 10.83
    """The sum of the Dirichlet parameters over the moves, when `noise_alpha` is None."""
    noise_fraction: float = 0.25
    """The share of the noise in the priors."""
    root_temperature: float = 1.0
    """Root priors are taken to the power of 1/this before noise; above 1 flattens them. Full searches only."""

    solve: bool = False
    """Prove wins, losses and draws in the tree (MCTS-solver), with their distance; proved losses are left alone."""
    tactics: bool = False
    """Take a five at sight, answer a four as one must, give up what cannot be stopped. A move without an alternative
    gets at most 16 simulations. Needs `solve`."""
    vcf_nodes_leaf: int = 0
    """Bound of the search for continuous fours at each leaf; 0 for none. Needs `tactics` and win length 4 or 5."""
    vcf_nodes_root: int = 0
    """The same at the root of each search."""
    vct_nodes: int = 0
    """Bound of the search for continuous threats, fours and open threes, at positions of the tree that much depends on:
    an eighth of the simulations and `vct_visits` of them; 0 for none. Needs `tactics` and win length 4 or 5."""
    vct_visits: int = 16
    """So many visits at least make a position worth that."""
    discount: float = 1.0
    """γ: values shrink by this for each ply, so that the winner hurries and the loser prolongs."""

    gumbel: bool = False
    """Choose root moves by Gumbel noise and sequential halving, and learn the improved policy of completed values
    (Danihelka et al. 2022). Replaces visits as the policy target, and noise and temperature as exploration."""
    gumbel_candidates: int = 16
    """Root moves considered."""
    gumbel_scale: float = 1.0
    """Size of the Gumbel noise; 0 to play for strength."""
    gumbel_visit_offset: float = 50.0
    """Values count (offset + most visits)·scale as logits, after rescaling to [0, 1]."""
    gumbel_value_scale: float = 0.1
    """That scale."""

    symmetry: Symmetry = Symmetry.NONE
    """Through which symmetries the network sees a position."""
    cache_entries: int = 0
    """Evaluations kept for positions that come again, in any of their symmetries unless `symmetry` is none. A power of
    two is best; each takes 4·area bytes and a little."""

    reuse_tree: bool = False
    """Keep the part of the tree below the move played. Not with `gumbel`."""
    forced_playouts: float = 0.0
    """k: root moves once visited get at least √(k·P·ΣN) visits, which the policy target leaves out again (Wu 2019)."""
    full_fraction: float = 1.0
    """Share of the moves that get a full search; the others a quick one, which is not meant for learning (playout-cap
    randomisation, Wu 2019)."""
    fast_simulations: int = 0
    """Simulations of quick searches."""
    temperature: float = 1.0
    """Moves of self-play are drawn from visits to the power of 1/this; 0 plays the most visited one."""
    temperature_plies: int = 1000
    """The temperature holds for so many plies of a game (opening included), then `temperature_final` does."""
    temperature_final: float = 0.0
    """The temperature afterwards."""
    stop_when_proved: bool = False
    """End games of self-play once their root is proved, with the proved result. Needs `solve`."""

    def __post_init__(self) -> None:
        _check_range("simulations", self.simulations, 1, 10**9)
        for name in ("c_puct", "c_puct_growth", "virtual_loss", "gumbel_scale", "gumbel_visit_offset"):
            _check_real(name, getattr(self, name), 0.0, 1e6)
        for name in ("gumbel_value_scale", "forced_playouts", "temperature", "temperature_final"):
            _check_real(name, getattr(self, name), 0.0, 1e6)
        _check_real("c_puct_base", self.c_puct_base, 1e-6, 1e9)
        for name in ("noise_alpha", "noise_alpha_total"):
            if getattr(self, name) is not None:
                _check_real(name, getattr(self, name), 1e-3, 1e3)
        if self.fpu_reduction is not None:
            _check_real("fpu_reduction", self.fpu_reduction, 0.0, 10.0)
        _check_real("fpu_reduction_root", self.fpu_reduction_root, 0.0, 10.0)
        _check_real("noise_fraction", self.noise_fraction, 0.0, 1.0)
        _check_real("root_temperature", self.root_temperature, 0.01, 100.0)
        _check_real("discount", self.discount, 0.5, 1.0)
        _check_real("full_fraction", self.full_fraction, 0.0, 1.0)
        _check_range("leaves", self.leaves, 1, 4096)
        for name in ("vcf_nodes_leaf", "vcf_nodes_root", "vct_nodes"):
            _check_range(name, getattr(self, name), 0, 10**9)
        _check_range("vct_visits", self.vct_visits, 1, 10**9)
        _check_range("gumbel_candidates", self.gumbel_candidates, 1, 10_000)
        _check_range("cache_entries", self.cache_entries, 0, 1 << 26)
        _check_range("temperature_plies", self.temperature_plies, 0, 10**6)
        _check_range("fast_simulations", self.fast_simulations, 0, 10**9)
        if self.full_fraction < 1 and self.fast_simulations < 1:
            raise InputError(f"full_fraction {self.full_fraction} needs fast_simulations for the other moves")
        if self.gumbel and self.reuse_tree:
            raise InputError("gumbel counts visits from 0 and cannot have reuse_tree; cache_entries saves as much")
        if self.tactics and not self.solve:
            raise InputError("tactics needs solve")
        if (self.vcf_nodes_leaf or self.vcf_nodes_root or self.vct_nodes) and not self.tactics:
            raise InputError("vcf_nodes_leaf, vcf_nodes_root and vct_nodes need tactics")
        if self.stop_when_proved and not self.solve:
            raise InputError("stop_when_proved needs solve")

    def native(self) -> _native.PuctOptions:
        """The same for native code."""
        options = _native.PuctOptions()
        for name in _SAME_IN_NATIVE:
            setattr(options, name, getattr(self, name))
        options.fpu_from_parent = self.fpu_reduction is not None
        options.fpu_reduction = self.fpu_reduction or 0.0
        options.noise = _native.RootNoise[Noise(self.noise).name]
        options.noise_alpha = self.noise_alpha or 0.0
        options.symmetry = _native.SymmetryUse[Symmetry(self.symmetry).name]
        return options


_SAME_IN_NATIVE = tuple(
    name
    for name in PuctConfig.__dataclass_fields__
    if name not in ("fpu_reduction", "noise", "noise_alpha", "symmetry")
)

PRESETS: Mapping[str, PuctConfig] = {
    # "Reinforcement Learning for Gomoku": c = 4, noise at every expansion, moves drawn from the visits all game long.
    "zero9": PuctConfig(simulations=500, c_puct=4.0, noise=Noise.EVERY, noise_alpha=0.3, reuse_tree=True),
    # "AlphaGomoku: Applying AlphaZero to the game of Gomoku", whose text leaves the numbers to AlphaZero and to the
    # public program it used: c = 5, 400 simulations, noise at the root.
    "alphagomoku8": PuctConfig(simulations=400, c_puct=5.0, noise=Noise.ROOT, noise_alpha=0.3, reuse_tree=True),
    # Everything that makes play stronger.
    "best": PuctConfig(
        c_puct=1.1,
        c_puct_growth=0.45,
        fpu_reduction=0.2,
        solve=True,
        tactics=True,
        vcf_nodes_leaf=100,
        vcf_nodes_root=20_000,
        vct_nodes=500,
        symmetry=Symmetry.RANDOM,
        cache_entries=1 << 16,
        reuse_tree=True,
        temperature=0.0,
        discount=0.995,
    ),
}
"""Settings by name. Those of the papers have every extra off; learning and agents change single fields."""


@dataclass(frozen=True, kw_only=True)
class Openings:
    """How games of self-play begin."""

    sequences: tuple[str, ...] = ()
    """Openings to draw from, as runs of names (`h8i9j10`); each is seen through a random symmetry."""
    fraction: float = 1.0
    """Share of the games that begin with an opening; the others with the empty board."""
    random_stones: int = 0
    """Without `sequences`: at most so many stones, each near another, drawn evenly from 0 up."""
    balance_candidates: int = 0
    """After the random stones one more is drawn from so many candidates, in proportion to (1 − v²)⁴ with the network's
    value v: the more even the position, the likelier. 0 for none."""

    def __post_init__(self) -> None:
        _check_real("fraction", self.fraction, 0.0, 1.0)
        _check_range("random_stones", self.random_stones, 0, 100)
        _check_range("balance_candidates", self.balance_candidates, 0, 1000)
        if self.balance_candidates and (self.sequences or not self.random_stones):
            raise InputError(
                f"balance_candidates {self.balance_candidates} come after random stones: they need random_stones"
                " above 0 and no sequences"
            )

    def native(self, ruleset: Ruleset) -> _native.OpeningOptions:
        """The same for native code; sequences that cannot be played, or end the game, are refused."""
        options = _native.OpeningOptions()
        options.list = [_opening_indices(ruleset, sequence) for sequence in self.sequences]
        options.fraction = self.fraction
        options.random_stones = self.random_stones
        options.balance_candidates = self.balance_candidates
        return options


@dataclass(frozen=True, slots=True)
class SelfPlayGame:
    """A finished game. Arrays have one entry for each of its K searched moves, those after the opening."""

    moves: npt.NDArray[np.int16]
    """[opening_length + K]: indices y·width + x of all moves."""
    opening_length: int
    """Moves that were not searched."""
    outcome: Outcome
    """The result: of the last move, or proved by the search before the game was over."""
    plies_left: int
    """Moves that the proof still had to the end; 0 when the board decided."""
    policies: Floats
    """[K, area]: the policy target."""
    values_to_move: Floats
    """[K]: Σ π·Q over the root's moves, for the side to move; the proved value where there is a proof."""
    surprises: Floats
    """[K]: Kullback-Leibler divergence of the target from the network's own policy, in nats."""
    full: npt.NDArray[np.bool_]
    """[K]: whether the search was a full one."""


@dataclass(frozen=True, slots=True)
class SelfPlayCounts:
    """What a `SelfPlay` has done since it was made."""

    simulations: int
    evaluations: int
    """Leaves handed to the network (eight rows each when symmetries are averaged)."""
    cache_hits: int
    moves: int
    games: int


class SelfPlay:
    """Games that a network plays against itself, `games` at a time, begun anew as they end.

    One round is `collect`, the network, `supply`; `step` is all three. Two objects can take turns, or two threads have
    one each: both calls release the GIL, and an object is used by one thread at a time. The same seed and the same
    answers give the same games.

    >>> play = SelfPlay(Ruleset.parse("3x3:3"), PuctConfig(simulations=20), games=4, seed=1)
    >>> network = UniformEvaluator("board")
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
        _check_range("games", games, 1, 100_000)
        self.ruleset = ruleset
        self.config = config
        self.layout = layout
        self._native = _native.SelfPlay(
            Position.start(ruleset).native,
            native_layout(layout),
            config.native(),
            (openings or Openings()).native(ruleset),
            games,
            seed & WORD,
        )
        self._planes: Floats | None = None

    @property
    def games(self) -> int:
        """Games played at a time."""
        return self._native.games

    @property
    def counts(self) -> SelfPlayCounts:
        """What has been done so far."""
        return SelfPlayCounts(*self._native.counts)

    def new_planes(self) -> Floats:
        """An array [B, C, H, W] that `collect` can write into; B is the most rows of one round."""
        shape = (self._native.max_rows, plane_count(self.layout), self.ruleset.height, self.ruleset.width)
        return np.zeros(shape, dtype=np.float32)

    def collect(self, planes: Floats) -> int:
        """Walk all trees to leaves; write the planes of those that need the network into the first rows.

        Returns the number of rows n, which may be 0. `supply` must follow. Games move on by themselves where they can.
        """
        return self._native.collect(planes)

    def supply(self, log_policy: Floats, value: Floats) -> None:
        """Take the network's answers: log-policy [n, H·W] and value [n] for the side to move, in [-1, 1]."""
        check_answers(log_policy, value)
        self._native.supply(log_policy, value)

    def step(self, evaluator: Evaluator) -> int:
        """One round with `evaluator`; the number of rows it was asked for."""
        if self._planes is None:
            self._planes = self.new_planes()
        rows = self.collect(self._planes)
        if rows:
            self.supply(*evaluator.evaluate(self._planes[:rows]))
        return rows

    def finished(self) -> list[SelfPlayGame]:
        """The games that have ended since the last call."""
        return [
            SelfPlayGame(
                moves=np.array(game.moves, dtype=np.int16),
                opening_length=game.opening_length,
                outcome=outcome_from_native(game.outcome),
                plies_left=game.plies_left,
                policies=game.policies,
                values_to_move=game.values,
                surprises=game.surprises,
                full=game.full.astype(np.bool_),
            )
            for game in self._native.take_finished()
        ]

    def clear_cache(self) -> None:
        """Forget evaluations: to be called when the network has changed. Trees are kept."""
        self._native.clear_cache()

    def state(self) -> dict[str, npt.NDArray[np.generic]]:
        """The games under way as arrays for a file without pickle; `load_state` goes on from them.

        Trees and evaluations are not kept. This object forgets its own too, so that it and one that loads the state
        play the same games from here. Call it between `supply` and `collect`, when `finished` has been emptied.
        """
        if self._native.finished_count:
            raise InputError(f"{self._native.finished_count} finished games have not been fetched")
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
        """Go on from the state of a `SelfPlay` with the same ruleset and number of games."""
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
            raise InputError(f"not a state of {self.games} games on {self.ruleset}: {error}") from None
        self._native.restart()


class UniformEvaluator:
    """A network that knows nothing: every move alike, every position even. Proofs alone guide a search with it."""

    def __init__(self, plane_layout: str = "board") -> None:
        self.plane_layout = plane_layout

    def evaluate(self, planes: Floats) -> tuple[Floats, Floats]:
        """Zeros for all rows."""
        rows, _, height, width = planes.shape
        return np.zeros((rows, height * width), dtype=np.float32), np.zeros(rows, dtype=np.float32)


def check_answers(log_policy: Floats, value: Floats) -> None:
    """Refuse a network's answers that are no numbers: they would spoil a tree for good."""
    if np.isnan(log_policy).any() or not np.isfinite(value).all():
        raise InputError("the network answered with NaN or infinity")


def _split(rows: npt.NDArray[np.generic], counts: npt.NDArray[np.generic]) -> list[npt.NDArray[np.generic]]:
    """Rows of all games → those of each."""
    ends = np.cumsum(np.asarray(counts, dtype=np.int64))
    if len(rows) != ends[-1]:
        raise ValueError(f"{len(rows)} rows, but {ends[-1]} are counted")
    return np.split(rows, ends[:-1])


def _opening_indices(ruleset: Ruleset, sequence: str) -> list[int]:
    position = Position.from_moves(ruleset, sequence)
    if position.is_over:
        raise InputError(f"the opening {sequence!r} ends the game")
    return [point.index(ruleset.width) for point in position.moves]
