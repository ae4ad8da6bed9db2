"""Learning from games of the alpha-beta engine before the first game of self-play.

On a large board a fresh network plays for a long time without meaning. A few thousand games that `tengen data generate`
wrote give it a first idea: their moves are its policy, their results and the engine's values its value.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tengen.core.contracts import Outcome, Ruleset
from tengen.core.planes import plane_count
from tengen.errors import InputError
from tengen.learning.checks import check_positive
from tengen.learning.replay import NO_MOVE, Samples
from tengen.learning.self_play import game_planes
from tengen.search.alphabeta import value_to_move
from tengen.tuning.engine_games import EngineGame, read_games


@dataclass(frozen=True, slots=True, kw_only=True)
class WarmStartConfig:
    """Whether and how long the network learns from games of the engine first."""

    games: str = ""
    """A file of `tengen data generate`; none, no warm start."""
    epochs: float = 4.0
    """Times its positions are gone through."""
    learning_rate: float | None = None
    """Step size at the beginning, from which it falls to the learner's final one; none, the learner's."""

    def __post_init__(self) -> None:
        check_positive(self, "epochs")
        if self.learning_rate is not None:
            check_positive(self, "learning_rate")


def read_samples(path: Path, ruleset: Ruleset, layout: str) -> Samples:
    """The positions of a file in which the engine chose the move; all games must be of the ruleset."""
    games = list(read_games(path))
    for game in games:
        if game.ruleset != ruleset:
            raise InputError(f"{path}: game {game.number} was played by {game.ruleset}, not by {ruleset}")
    samples = make_samples(games, ruleset, layout)
    if not len(samples):
        raise InputError(f"{path} holds no position to learn from")
    return samples


def make_samples(games: Sequence[EngineGame], ruleset: Ruleset, layout: str) -> Samples:
    """Each position with the engine's move as its policy, what the engine thought of it, and the game's result."""
    # Millions of positions are gigabytes: every array is made once, at its size.
    count = sum(len(game.moves) - game.first for game in games)
    samples = Samples(
        planes=np.empty((count, plane_count(layout), ruleset.height, ruleset.width), np.int8),
        policy=np.zeros((count, ruleset.area), np.float16),
        value_search=np.empty(count, np.float32),
        result=np.empty(count, np.float32),
        reply=np.full(count, NO_MOVE, np.int16),
        surprise=np.zeros(count, np.float32),
    )
    begin = 0
    for game in games:
        plies = np.arange(game.first, len(game.moves))
        chosen = np.array(game.moves[game.first :], np.int16)
        rows = slice(begin, begin + len(plies))
        black_result = {Outcome.BLACK: 1.0, Outcome.WHITE: -1.0}.get(game.outcome, 0.0)
        samples.planes[rows] = game_planes(ruleset, game.moves, plies, layout)
        samples.policy[np.arange(begin, begin + len(plies)), chosen] = 1
        samples.value_search[rows] = [value_to_move(value) for value in game.values]
        samples.result[rows] = np.where(plies % 2 == 0, black_result, -black_result)
        samples.reply[rows][:-1] = chosen[1:]
        begin += len(plies)
    return samples
