"""Tunes the parameters of the alpha-beta search by self-play with SPSA, as fishtest does for Stockfish.

All parameters are perturbed simultaneously, each by its own step in a random direction. The engine with the perturbed
values plays a pair of games (one opening, both colours) against the engine with the opposite perturbation. Then every
parameter moves a little towards the winner (Spall 1992, "Multivariate stochastic approximation using a simultaneous
perturbation gradient approximation"). The state is a small JSON file that is replaced atomically after every round, so
a run can be resumed.
"""

from __future__ import annotations

import json
import math
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any, NamedTuple

from tengen import _native
from tengen.core.checked_files import read_json
from tengen.core.contracts import Outcome, Ruleset
from tengen.core.files import replace_file
from tengen.core.worker_pool import WorkerPool
from tengen.core.worker_process import CarryOut
from tengen.errors import InputError
from tengen.search.alphabeta import ALL_INGREDIENTS
from tengen.search.weights import weights_for
from tengen.tuning.engine_games import digest_weights, find_opening, last_stone, play_line

_TABLE_BYTES = 16 << 20
# Spall's exponents: steps shrink with k^-gamma, gains with (A + k)^-alpha, where A is a tenth of the run.
_ALPHA = 0.602
_GAMMA = 0.101
_SETTLING = 0.1


@dataclass(frozen=True, kw_only=True)
class SpsaConfig:
    """Settings for a tuning run."""

    ruleset: Ruleset
    pairs: int
    """Pairs of games in the whole run; steps and gains shrink towards its end."""
    nodes: int = 10_000
    """Nodes per search."""
    seed: int = 1
    step: float = 0.08
    """Perturbation at the end of the run, as a fraction of a parameter's range."""
    gain: float = 0.008
    """Update per won pair at the end of the run, as a fraction of the step."""

    def __post_init__(self) -> None:
        if self.pairs < 1 or self.nodes < 1:
            raise InputError(f"pairs and nodes must be at least 1, not {self.pairs} and {self.nodes}")


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of the search."""

    name: str
    default: int
    low: int
    high: int


def search_parameters() -> tuple[Parameter, ...]:
    """Return all parameters with their default values."""
    return tuple(Parameter(*row) for row in _native.search_parameters())


class Proposal(NamedTuple):
    """Parameter values for the two sides of a pair."""

    pair: int
    up: dict[str, int]
    down: dict[str, int]
    directions: dict[str, int]
    """Direction of the first side's perturbation for each parameter: +1 or -1."""


class Spsa:
    """State of a run: current values and number of pairs played."""

    def __init__(self, config: SpsaConfig, parameters: tuple[Parameter, ...]) -> None:
        self.config = config
        self.parameters = parameters
        self.pairs_done = 0
        self.values = {parameter.name: float(parameter.default) for parameter in parameters}

    def rounded(self) -> dict[str, int]:
        """Return the values rounded to integers, as required by the engine."""
        return {name: round(value) for name, value in self.values.items()}

    def propose(self, pair: int) -> Proposal:
        """Draw the perturbation for a pair; the same pair always gets the same directions."""
        rng = random.Random(f"spsa {self.config.seed} {pair}")
        up: dict[str, int] = {}
        down: dict[str, int] = {}
        directions: dict[str, int] = {}
        for parameter in self.parameters:
            direction = rng.choice((-1, 1))
            step = direction * self._step(parameter, pair)
            for side, moved in ((up, step), (down, -step)):
                side[parameter.name] = round(_clip(self.values[parameter.name] + moved, parameter))
            directions[parameter.name] = direction
        return Proposal(pair, up, down, directions)

    def learn(self, proposal: Proposal, score: int) -> None:
        """Move the values towards the winner of a pair; `score` is the first side's wins minus its losses."""
        total = self.config.pairs
        settling = _SETTLING * total
        gain = self.config.gain * ((settling + total) / (settling + proposal.pair + 1)) ** _ALPHA
        for parameter in self.parameters:
            move = gain * self._step(parameter, proposal.pair) * proposal.directions[parameter.name] * score
            self.values[parameter.name] = _clip(self.values[parameter.name] + move, parameter)
        self.pairs_done += 1

    def _step(self, parameter: Parameter, pair: int) -> float:
        shrink: float = (self.config.pairs / (pair + 1)) ** _GAMMA
        return self.config.step * (parameter.high - parameter.low) * shrink

    # -- the file ---------------------------------------------------------------------------------------------------

    def save(self, path: Path) -> None:
        """Write the state atomically."""
        fields = {"conditions": self._conditions, "pairs": self.pairs_done, "values": self.values}
        replace_file(path, f"{json.dumps(fields, indent=1)}\n".encode())

    def resume(self, path: Path) -> None:
        """Load a state. Raises `InputError` if it belongs to a different run."""
        try:
            fields = read_json(path)
            conditions, pairs = fields["conditions"], int(fields["pairs"])
            values = {name: float(value) for name, value in fields["values"].items()}
        except (ValueError, KeyError, TypeError, AttributeError, OverflowError) as error:
            raise InputError(f"{path} is not the state of a tuning run: {error!r:.200}") from None
        if pairs < 0 or not all(map(math.isfinite, values.values())):
            raise InputError(f"{path} is not the state of a tuning run: some of its numbers are out of range")
        if conditions != self._conditions or values.keys() != self.values.keys():
            raise InputError(f"{path} belongs to a run with different settings ({conditions}); use another file")
        self.pairs_done, self.values = pairs, values

    @cached_property
    def _conditions(self) -> dict[str, Any]:
        config = self.config
        return {
            "ruleset": str(config.ruleset),
            "pairs": config.pairs,
            "nodes": config.nodes,
            "seed": config.seed,
            "step": config.step,
            "gain": config.gain,
            "weights": digest_weights(weights_for(config.ruleset)),
        }


def tune_search(
    path: Path, config: SpsaConfig, *, workers: int = 1, on_round: Callable[[Spsa], None] | None = None
) -> Spsa:
    """Play the remaining pairs of the run at `path`. `on_round` is called after each round (one pair per worker)."""
    state = Spsa(config, search_parameters())
    if path.exists():
        state.resume(path)
    pool: WorkerPool[Proposal, int] = WorkerPool(partial(_open_player, config), name="tuning", workers=workers)
    with pool:
        while state.pairs_done < config.pairs:
            first = state.pairs_done
            proposals = [state.propose(pair) for pair in range(first, min(first + workers, config.pairs))]
            # Sort, so that the result does not depend on the order in which pairs end.
            for proposal, score in sorted(pool.run(proposals), key=lambda answer: answer[0].pair):
                state.learn(proposal, score)
            state.save(path)
            if on_round is not None:
                on_round(state)
    return state


def _clip(value: float, parameter: Parameter) -> float:
    return min(max(value, parameter.low), parameter.high)


# -- playing ----------------------------------------------------------------------------------------------------------


@contextmanager
def _open_player(config: SpsaConfig) -> Iterator[CarryOut]:
    player = _PairPlayer(config)
    yield lambda proposal, context: player.play(proposal)


class _PairPlayer:
    """Plays pairs of games between two engines."""

    def __init__(self, config: SpsaConfig) -> None:
        self._config = config
        self._engines = (_native.Engine(_TABLE_BYTES), _native.Engine(_TABLE_BYTES))
        for engine in self._engines:
            engine.set_weights(weights_for(config.ruleset))
        self._limits = _native.SearchLimits()
        self._limits.nodes = config.nodes

    def play(self, proposal: Proposal) -> int:
        """Return the first side's wins minus its losses over both colours."""
        rng = random.Random(f"{self._config.ruleset} spsa opening {self._config.seed} {proposal.pair}")
        first, second = self._engines
        first.set_options(ALL_INGREDIENTS, 0)
        opening = find_opening(first, self._limits, self._config.ruleset, rng)
        first.set_options(ALL_INGREDIENTS, 0, proposal.up)
        second.set_options(ALL_INGREDIENTS, 0, proposal.down)
        score = 0
        for black, white, sign in ((first, second, 1), (second, first, -1)):
            board = opening.native.copy()
            outcome = Outcome.ONGOING
            for engine in self._engines:
                engine.new_game()
            while outcome is Outcome.ONGOING:
                mover = black if board.to_move == 0 else white
                best = mover.search(board, self._limits).lines[0]
                outcome = play_line(board, best, last_stone(self._config.ruleset))
            score += sign * {Outcome.BLACK: 1, Outcome.WHITE: -1}.get(outcome, 0)
        return score
