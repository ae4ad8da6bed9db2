"""Warm start: training on the alpha-beta engine's games before self-play.

On a large board, an untrained network plays aimlessly for a long time. A few thousand games from `tengen data generate`
shorten that phase: the engine's moves are policy targets, and its values and the results are value targets.
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
from tengen.learning.experience.replay import NO_MOVE, Samples
from tengen.learning.experience.self_play import game_planes
from tengen.search.alphabeta import value_to_move
from tengen.tuning.engine_games import EngineGame, read_games


@dataclass(frozen=True, slots=True, kw_only=True)
class WarmStartConfig:
    """Settings for the training on engine games before the first iteration."""

    games: str = ""
    """File written by `tengen data generate` (default: no warm start)."""
    epochs: float = 4.0
    """Number of passes over the positions in the file."""
    learning_rate: float | None = None
    """Initial learning rate, which falls to `learner.final_learning_rate` (default: `learner.learning_rate`)."""

    def __post_init__(self) -> None:
        check_positive(self, "epochs")
        if self.learning_rate is not None:
            check_positive(self, "learning_rate")


def read_samples(path: Path, ruleset: Ruleset, layout: str) -> Samples:
    """Return all positions in which the engine moved. Raises `InputError` if a game has a different ruleset."""
    games = list(read_games(path))
    for game in games:
        if game.ruleset != ruleset:
            raise InputError(f"{path}: game {game.number} has the ruleset {game.ruleset}, not {ruleset}")
    try:
        samples = make_samples(games, ruleset, layout)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    if not len(samples):
        raise InputError(f"{path} holds no training positions")
    return samples


def make_samples(games: Sequence[EngineGame], ruleset: Ruleset, layout: str) -> Samples:
    """Return all positions with their targets: the engine's move, its value and the result of the game."""
    # Millions of positions take gigabytes, so every array is allocated once, at its final size.
    count = sum(len(game.moves) - game.first for game in games)
    samples = Samples(
        planes=np.empty((count, plane_count(layout), ruleset.height, ruleset.width), np.int8),
        policy=np.zeros((count, ruleset.area), np.float16),
        value_to_move=np.empty(count, np.float32),
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
        samples.value_to_move[rows] = [value_to_move(value) for value in game.values]
        samples.result[rows] = np.where(plies % 2 == 0, black_result, -black_result)
        samples.reply[rows][:-1] = chosen[1:]
        begin += len(plies)
    return samples
