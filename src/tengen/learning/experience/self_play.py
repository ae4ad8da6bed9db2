"""Self-play games for AlphaZero, and the training samples made from them.

Games continue from one iteration to the next. An iteration ends when enough games are finished and saves the unfinished
ones as arrays. Waiting for them would leave the last batches almost empty, and discarding them would favour short
games.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from tengen.core.contracts import Outcome, Ruleset
from tengen.core.geometry import Point
from tengen.core.planes import FloatPlanes, encode_batch, encode_games
from tengen.core.position import Position
from tengen.learning.experience.replay import NO_MOVE, Samples
from tengen.learning.run.folder import write_run_file, writing_run
from tengen.learning.run.reading import GAMES_FOLDER
from tengen.records import GameRecord, sgf
from tengen.search.puct_self_play import SelfPlayGame

State = Mapping[str, npt.NDArray[Any]]
"""Unfinished games, as returned by `SelfPlay.state`."""

_OPENING_STONES = 6
"""Number of stones that are compared to count distinct openings."""
SAVED_GAMES = 64
"""Number of games per iteration that algorithms without a search save in the run."""


@dataclass(frozen=True, slots=True)
class FinishedGame:
    """A self-play game with its samples."""

    moves: tuple[int, ...]
    """Point indices of all moves, starting from the empty board."""
    outcome: Outcome
    samples: Samples
    version: int
    """Version of the weights that played the last move: the number of iterations of their training."""
    shard: str = ""
    """Worker and call that returned the game, by number; empty if it was played in this process."""


@dataclass(frozen=True, slots=True)
class Games:
    """Finished games of an iteration."""

    samples: Samples
    moves: list[tuple[int, ...]]
    """Point indices of the moves of each game, starting from the empty board."""
    outcomes: list[Outcome]
    versions: list[int]
    """Version of the weights that played each game."""
    shards: list[str]
    """Shard of each game; empty for games played in this process."""
    evaluations: int
    """Number of positions evaluated by the network."""

    @staticmethod
    def join(games: Sequence[FinishedGame], evaluations: int) -> Games:
        """Combine finished games and concatenate their samples."""
        return Games(
            Samples.concatenate([game.samples for game in games]),
            [game.moves for game in games],
            [game.outcome for game in games],
            [game.version for game in games],
            [game.shard for game in games],
            evaluations,
        )

    @property
    def mean_plies(self) -> float:
        """Mean number of stones per game."""
        return float(np.mean([len(moves) for moves in self.moves]))

    @property
    def black_score(self) -> float:
        """Black's mean points per game."""
        points = {Outcome.BLACK: 1.0, Outcome.WHITE: 0.0, Outcome.DRAW: 0.5}
        return float(np.mean([points[outcome] for outcome in self.outcomes]))

    @property
    def draw_rate(self) -> float:
        """Share of draws."""
        return float(np.mean([outcome is Outcome.DRAW for outcome in self.outcomes]))

    @property
    def policy_entropy(self) -> float:
        """Mean entropy of the policy targets, in nats."""
        policy = self.samples.policy.astype(np.float32)
        return float(-(policy * np.log(np.maximum(policy, 1e-9))).sum(axis=1).mean())

    @property
    def openings_of_100(self) -> float:
        """Number of distinct openings per 100 games."""
        openings = {moves[:_OPENING_STONES] for moves in self.moves}
        return 100 * len(openings) / len(self.moves)


def random_planes(ruleset: Ruleset, layout: str, count: int, rng: np.random.Generator) -> FloatPlanes:
    """Return planes [count, C, H, W] of positions with random stones, from almost empty to half full."""
    positions = []
    for _ in range(count):
        position = Position.start(ruleset)
        for _ in range(int(rng.integers(ruleset.area // 2))):
            points = position.legal_points()
            following = position.play(points[int(rng.integers(len(points)))])
            if following.is_over:
                break
            position = following
        positions.append(position)
    return encode_batch(positions, layout)


def make_samples(game: SelfPlayGame, ruleset: Ruleset, layout: str, discount: float) -> Samples:
    """Return the fully searched positions from a game with their training targets."""
    moves = game.moves.tolist()
    plies = np.arange(game.opening_length, len(moves))
    black_result = {Outcome.BLACK: 1.0, Outcome.WHITE: -1.0}.get(game.outcome, 0.0)
    distance = len(moves) + game.plies_left - plies  # 1 for the winning move, as in the search
    result = np.where(plies % 2 == 0, black_result, -black_result) * discount**distance
    rows = np.flatnonzero(game.full)
    return Samples(
        planes=game_planes(ruleset, moves, plies[rows], layout),
        policy=game.policies[rows].astype(np.float16),
        value_to_move=game.value_to_move[rows],
        result=result[rows].astype(np.float32),
        reply=np.array([*moves[game.opening_length + 1 :], NO_MOVE], np.int16)[rows],
        surprise=game.surprises[rows],
    )


def game_planes(
    ruleset: Ruleset, moves: Sequence[int], plies: npt.NDArray[np.intp], layout: str
) -> npt.NDArray[np.int8]:
    """Return planes [N, C, H, W] of a game's positions after `plies` [N] moves."""
    games = np.tile(np.array(moves, np.uint16), (len(plies), 1))
    return encode_games(ruleset, games, plies.astype(np.int32), layout).astype(np.int8)


def save_games(
    folder: Path,
    iteration: int,
    moves: Sequence[Sequence[int]],
    outcomes: Sequence[Outcome],
    ruleset: Ruleset,
    comments: Sequence[str] = (),
) -> None:
    """Write the finished games from an iteration, given as point indices, to the run in `folder` as one SGF file."""
    path = folder / GAMES_FOLDER / f"{iteration:06}.sgf"
    with writing_run(path):
        path.parent.mkdir(parents=True, exist_ok=True)
    records = (
        GameRecord.from_points(
            ruleset,
            [Point.from_index(move, ruleset.width) for move in game],
            black="self-play",
            white="self-play",
            result=outcome,
            event=folder.name,
            round=str(number),
            comment=comments[number - 1] if comments else "",
        )
        for number, (game, outcome) in enumerate(zip(moves, outcomes, strict=True), start=1)
    )
    write_run_file(path, sgf.write(records))
