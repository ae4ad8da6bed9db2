"""Learning from games of the alpha-beta engine before the first game of self-play.

On a large board a fresh network plays for a long time without meaning. A few thousand games that `tengen data generate`
wrote give it a first idea: their moves are its policy, their results and the engine's values its value.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tengen.core.contracts import Ruleset
from tengen.core.planes import encode, plane_count
from tengen.core.position import Position
from tengen.errors import InputError
from tengen.learning.checks import check_positive
from tengen.learning.replay import NO_MOVE, Samples
from tengen.search.alphabeta import value_to_move
from tengen.search.engine_games import EngineGame, read_games


@dataclass(frozen=True, slots=True, kw_only=True)
class WarmStartConfig:
    """Whether and how long the network learns from games of the engine first."""

    games: str = ""
    """A file of `tengen data generate`; none, no warm start."""
    epochs: float = 4.0
    """Times its positions are gone through."""

    def __post_init__(self) -> None:
        check_positive(self, "epochs")


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


def make_samples(games: Iterable[EngineGame], ruleset: Ruleset, layout: str) -> Samples:
    """Each position with the engine's move as its policy, what the engine thought of it, and the game's result."""
    planes, moves, replies, values, results = [], [], [], [], []
    for game in games:
        position = Position.from_moves(ruleset, game.moves[: game.first])
        for place in range(game.first, len(game.moves)):
            planes.append(encode(position, layout).astype(np.int8))
            moves.append(game.moves[place])
            replies.append(game.moves[place + 1] if place + 1 < len(game.moves) else NO_MOVE)
            values.append(value_to_move(game.values[place - game.first]))
            winner = game.outcome.winner
            results.append(0.0 if winner is None else 1.0 if winner is position.to_move else -1.0)
            position = position.play(game.moves[place])
    count = len(moves)
    policy = np.zeros((count, ruleset.area), np.float16)
    policy[np.arange(count), moves] = 1
    return Samples(
        planes=np.array(planes, np.int8).reshape(-1, plane_count(layout), ruleset.height, ruleset.width),
        policy=policy,
        value_search=np.array(values, np.float32),
        result=np.array(results, np.float32),
        reply=np.array(replies, np.int16),
        surprise=np.zeros(count, np.float32),
    )
