"""Self-play as learning sees it: a network file in, positions to learn from and finished games out.

Games go on from one iteration to the next: an iteration ends when enough of them have ended, and keeps the others as
arrays. Waiting for all would leave the last batches almost empty, taking the first that end would prefer short games.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from tengen.core.contracts import Outcome, Ruleset
from tengen.core.geometry import Point
from tengen.core.planes import FloatPlanes, encode_batch, encode_games
from tengen.core.position import Position
from tengen.errors import RunError
from tengen.learning.files import write_file, writing
from tengen.learning.replay import NO_MOVE, Samples
from tengen.nets.evaluators import OnnxEvaluator
from tengen.records import GameRecord, sgf
from tengen.search.puct_config import PuctConfig
from tengen.search.puct_self_play import Openings, SelfPlay, SelfPlayGame

State = Mapping[str, npt.NDArray[Any]]
"""Games under way, as `SelfPlay.state` gives them."""

_OPENING_STONES = 6
"""How far games are compared to count distinct openings."""
SAVED_GAMES = 64
"""Games of an iteration that the learners without a search keep."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpeningConfig:
    """How games begin."""

    fraction: float = 0.0
    """Share of the games that begin with random stones; the others with the empty board."""
    random_stones: int = 0
    """At most so many, each near another, drawn evenly from 0 up."""
    balance_candidates: int = 0
    """After them one more is drawn from so many candidates, the evener the network finds the position the likelier."""

    def __post_init__(self) -> None:
        self.openings()

    def openings(self) -> Openings:
        """The same for the search."""
        return Openings(
            fraction=self.fraction, random_stones=self.random_stones, balance_candidates=self.balance_candidates
        )


@dataclass(frozen=True, slots=True)
class Games:
    """What a thread, or all of them, played in an iteration."""

    samples: Samples
    moves: list[tuple[int, ...]]
    """Of the finished games, from the empty board, as indices of points."""
    outcomes: list[Outcome]
    states: list[State]
    """The games under way at the end, of each thread."""
    evaluations: int
    """Positions the network was asked about."""

    @staticmethod
    def concatenate(parts: list[Games]) -> Games:
        """Several as one, in order."""
        return Games(
            Samples.concatenate([part.samples for part in parts]),
            [moves for part in parts for moves in part.moves],
            [outcome for part in parts for outcome in part.outcomes],
            [state for part in parts for state in part.states],
            sum(part.evaluations for part in parts),
        )

    @property
    def mean_plies(self) -> float:
        """Stones a game."""
        return float(np.mean([len(moves) for moves in self.moves]))

    @property
    def black_score(self) -> float:
        """Points of black a game."""
        points = {Outcome.BLACK: 1.0, Outcome.WHITE: 0.0, Outcome.DRAW: 0.5}
        return float(np.mean([points[outcome] for outcome in self.outcomes]))

    @property
    def draw_rate(self) -> float:
        """Share of draws."""
        return float(np.mean([outcome is Outcome.DRAW for outcome in self.outcomes]))

    @property
    def policy_entropy(self) -> float:
        """Mean entropy of the policies to learn, in nats."""
        policy = self.samples.policy.astype(np.float32)
        return float(-(policy * np.log(np.maximum(policy, 1e-9))).sum(axis=1).mean())

    @property
    def openings_of_100(self) -> float:
        """Distinct openings, scaled to 100 games."""
        openings = {moves[:_OPENING_STONES] for moves in self.moves}
        return 100 * len(openings) / len(self.moves)


@dataclass(frozen=True, slots=True, kw_only=True)
class SelfPlayTask:
    """What one thread plays in one iteration."""

    ruleset: Ruleset
    layout: str
    search: PuctConfig
    openings: OpeningConfig
    games: int
    """Games to finish."""
    parallel: int
    """Games at the same time."""
    seed: int
    """Begins the games when there is no state to go on from."""
    state: State = field(default_factory=dict)
    """The games under way from the iteration before."""


def play_games(model: bytes, task: SelfPlayTask, stop: threading.Event) -> Games:
    """Play until enough games have ended; the same model and task give the same games. `stop` makes it give up."""
    evaluator = OnnxEvaluator(model)
    play = SelfPlay(
        task.ruleset,
        task.search,
        games=task.parallel,
        seed=task.seed,
        layout=task.layout,
        openings=task.openings.openings(),
    )
    if task.state:
        play.load_state(task.state)
    finished: list[SelfPlayGame] = []
    while len(finished) < task.games:
        if stop.is_set():
            raise RunError("self-play was stopped")
        play.step(evaluator)
        finished += play.finished()
    return Games(
        Samples.concatenate([make_samples(game, task) for game in finished]),
        [tuple(game.moves.tolist()) for game in finished],
        [game.outcome for game in finished],
        [play.state()],
        play.counts.evaluations,
    )


def random_planes(ruleset: Ruleset, layout: str, count: int, rng: np.random.Generator) -> FloatPlanes:
    """Planes [count, C, H, W] of positions with random stones, from almost none to a board half full."""
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


def make_samples(game: SelfPlayGame, task: SelfPlayTask) -> Samples:
    """The positions of a game that had a full search, with what is to be learned about them."""
    moves = game.moves.tolist()
    plies = np.arange(game.opening_length, len(moves))
    black_result = {Outcome.BLACK: 1.0, Outcome.WHITE: -1.0}.get(game.outcome, 0.0)
    distance = len(moves) + game.plies_left - plies  # as the search counts it: 1 for the move that wins
    result = np.where(plies % 2 == 0, black_result, -black_result) * task.search.discount**distance
    rows = np.flatnonzero(game.full)
    return Samples(
        planes=game_planes(task.ruleset, moves, plies[rows], task.layout),
        policy=game.policies[rows].astype(np.float16),
        value_search=game.values_to_move[rows],
        result=result[rows].astype(np.float32),
        reply=np.array([*moves[game.opening_length + 1 :], NO_MOVE], np.int16)[rows],
        surprise=game.surprises[rows],
    )


def game_planes(
    ruleset: Ruleset, moves: Sequence[int], plies: npt.NDArray[np.intp], layout: str
) -> npt.NDArray[np.int8]:
    """Planes [N, C, H, W] of a game after so many of its moves, `plies` [N]."""
    games = np.tile(np.array(moves, np.uint16), (len(plies), 1))
    return encode_games(ruleset, games, plies.astype(np.int32), layout).astype(np.int8)


def save_games(
    folder: Path, iteration: int, moves: Sequence[Sequence[int]], outcomes: Sequence[Outcome], ruleset: Ruleset
) -> None:
    """Write finished games of an iteration, the indices of their points, into a run's folder as one SGF file."""
    path = folder / "games" / f"{iteration:06}.sgf"
    with writing(path):
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
        )
        for number, (game, outcome) in enumerate(zip(moves, outcomes, strict=True), start=1)
    )
    write_file(path, sgf.write(records))
