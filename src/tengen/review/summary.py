"""The review of a whole game: all moves, and the accuracy of both players by phase."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from enum import StrEnum

from tengen.core.contracts import Colour
from tengen.core.position import Position
from tengen.core.stop_signal import StopSignal
from tengen.errors import RecordError
from tengen.records.game import GameRecord
from tengen.review.assess import EFFORTS, Effort, assess
from tengen.review.judge import MoveReview, Quality, Thresholds, judge_move

_OPENING_MOVES = 10
_MIDDLE_MOVES = 30


class Phase(StrEnum):
    """Part of a game, determined by the move number."""

    OPENING = "opening"
    """Moves 1 to 10."""
    MIDDLE = "middle"
    """Moves 11 to 30."""
    END = "end"
    """All later moves."""

    @staticmethod
    def of(turn_number: int) -> Phase:
        """Return the phase of a move; the first move has number 1."""
        if turn_number <= _OPENING_MOVES:
            return Phase.OPENING
        return Phase.MIDDLE if turn_number <= _MIDDLE_MOVES else Phase.END


@dataclass(frozen=True, slots=True, kw_only=True)
class SideSummary:
    """Summary of one player's moves."""

    moves: int
    accuracy: float | None
    """Mean accuracy from 0 to 100; None if the player made no moves."""
    accuracy_by_phase: Mapping[Phase, float | None]
    counts: Mapping[Quality, int]
    mean_loss: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """The review of a game."""

    root_black_value: float
    """Value for black, in [-1, 1], of the position before the first judged move."""
    moves: tuple[MoveReview, ...]
    given: int = 0
    """Number of stones of the given opening, which are not judged; the first judged move follows them."""

    @property
    def given_sentence(self) -> str:
        """A sentence about the given opening; empty for a game without one."""
        if not self.given:
            return ""
        stones = "The first stone was" if self.given == 1 else f"The first {self.given} stones were"
        return f"{stones} given as an opening and {'is' if self.given == 1 else 'are'} not judged."

    @property
    def sides(self) -> dict[Colour, SideSummary]:
        """The summary for each player."""
        return {colour: summarise(move for move in self.moves if move.colour is colour) for colour in Colour}

    @property
    def key_moves(self) -> list[int]:
        """Turn numbers of the turning points."""
        return [move.turn_number for move in self.moves if move.is_key]


def review_game(
    game: GameRecord,
    effort: Effort = EFFORTS["normal"],
    thresholds: Thresholds | None = None,
    on_move: Callable[[MoveReview], None] | None = None,
    *,
    threads: int = 1,
    stop: StopSignal | None = None,
) -> Review:
    """Review the main line of a game, calling `on_move` with each judged move.

    The stones of a given opening (`GameRecord.opening_stones`) are not judged, since no player chose them.

    `threads` positions are searched at the same time, which does not change the result. If `stop` is set, the review
    contains only the moves judged so far. Raises `RecordError` if the colours do not alternate, and `IllegalMoveError`
    for an illegal move.

    >>> from tengen.core.contracts import Ruleset
    >>> from tengen.core.geometry import parse_points
    >>> game = GameRecord.from_points(Ruleset(15, 15), parse_points("h8i9g8j10i8a1f8a2e8"))
    >>> review_game(game, EFFORTS["quick"]).moves[5].sentence
    'Ignores the open three g8-h8-i8: black wins in 2 moves.'
    """
    given = game.opening_stones
    positions = positions_of(game)[given:]
    stop = stop or StopSignal()
    moves: list[MoveReview] = []
    with ThreadPoolExecutor(threads) as executor:
        searches = [executor.submit(assess, position, effort, stop) for position in positions]
        try:
            before = first = searches[0].result()
            for turn, (position, after_position) in enumerate(itertools.pairwise(positions), start=given + 1):
                after = searches[turn - given].result()
                move = judge_move(turn, position, after_position.moves[-1], before, after, effort, thresholds, stop)
                if stop.is_set():  # the searches may have ended early
                    break
                moves.append(move)
                if on_move is not None:
                    on_move(move)
                before = after
        finally:
            executor.shutdown(wait=False, cancel_futures=True)
    return Review(root_black_value=first.black_value, moves=tuple(moves), given=given)


def positions_of(game: GameRecord) -> list[Position]:
    """Return the position before the first move of the main line and the position after each move."""
    position = game.position(0)
    positions = [position]
    for number, move in enumerate(game.moves(), start=1):
        if move.point is None or move.colour is not position.to_move:
            raise RecordError(f"move {number} ({move}): a review needs alternating moves by black and white")
        position = position.play(move.point)
        positions.append(position)
    return positions


def summarise(moves: Iterable[MoveReview]) -> SideSummary:
    """Return the summary of one player's moves."""
    moves = list(moves)
    return SideSummary(
        moves=len(moves),
        accuracy=_mean_accuracy(moves),
        accuracy_by_phase={
            phase: _mean_accuracy([move for move in moves if Phase.of(move.turn_number) is phase]) for phase in Phase
        },
        counts={quality: sum(move.quality is quality for move in moves) for quality in Quality},
        mean_loss=sum(move.winrate_loss for move in moves) / len(moves) if moves else None,
    )


def accuracy_of(winrate_loss: float) -> float:
    """Return the accuracy of a move from 0 to 100, by the curve that lichess fitted to chess winrates.

    >>> round(accuracy_of(0)), round(accuracy_of(0.1)), round(accuracy_of(0.5))
    (100, 64, 9)
    """
    return min(100.0, max(0.0, 103.1668 * math.exp(-4.354 * winrate_loss) - 3.1669))


def _mean_accuracy(moves: list[MoveReview]) -> float | None:
    return sum(accuracy_of(move.winrate_loss) for move in moves) / len(moves) if moves else None
