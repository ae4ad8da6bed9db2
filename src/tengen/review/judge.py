"""The verdict on a single move, from the assessments of the positions before and after it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum

from tengen.core.contracts import Colour, Proof
from tengen.core.geometry import Point
from tengen.core.position import Position
from tengen.core.stop_signal import StopSignal
from tengen.patterns.explain import explain
from tengen.review.assess import Assessment, Effort, ForcedWin, assess, find_win
from tengen.review.reasons import Reason, reason_against, reason_to_play

_CLEARLY_WINNING = 0.6
"""If a mistake raises the opponent's winrate to this value, it counts as a turning point of the game."""
_MAX_CANDIDATES = 8
"""Maximum number of moves to try as a defence if the best move loses as well."""


class Quality(StrEnum):
    """Verdict classes, best first."""

    BEST = "best"
    GOOD = "good"
    INACCURACY = "inaccuracy"
    MISTAKE = "mistake"
    BLUNDER = "blunder"

    @property
    def is_bad(self) -> bool:
        """Whether the move is bad enough to need an explanation."""
        return self not in (Quality.BEST, Quality.GOOD)


@dataclass(frozen=True, slots=True, kw_only=True)
class Thresholds:
    """Minimum winrate losses at which a move counts as an inaccuracy, a mistake or a blunder."""

    inaccuracy: float = 0.06
    mistake: float = 0.14
    blunder: float = 0.28

    def quality(self, loss: float, *, is_best: bool) -> Quality:
        """Return the verdict class for a move with this winrate loss."""
        if loss >= self.blunder:
            return Quality.BLUNDER
        if loss >= self.mistake:
            return Quality.MISTAKE
        if loss >= self.inaccuracy:
            return Quality.INACCURACY
        return Quality.BEST if is_best else Quality.GOOD


@dataclass(frozen=True, slots=True, kw_only=True)
class MoveReview:
    """The review of one move."""

    turn_number: int
    """Number of the move in the game; the first move has number 1."""
    colour: Colour
    move: Point
    black_value_before: float
    """Value of the position before the move with best play, for black, in [-1, 1]."""
    black_value_after: float
    winrate_loss: float
    """Winrate (0 to 1) that the player lost compared with the better move."""
    quality: Quality
    is_key: bool
    """Whether this is a turning point: the move changed who is winning, or missed a forced win."""
    better: tuple[Point, ...]
    """The best line from the position before the move; it starts with the move itself if that was the best."""
    reason: Reason | None = None
    """Why the move is bad; None if it is not."""
    better_reason: Reason | None = None
    """Why the better move is better."""
    refutation: tuple[Point, ...] = ()
    """The answer to a bad move, from the position after it."""
    win: ForcedWin | None = None
    """The forced win that the player had before the move."""
    reply_win: ForcedWin | None = None
    """The forced win that the opponent has after the move."""
    proof: Proof | None = None
    """Proved result after the move, for the side that is then to move."""
    better_proof: Proof | None = None
    """Proved result before the move, for the player."""

    @property
    def sentence(self) -> str:
        """The reason as an English sentence; empty for a move that is not bad."""
        if self.reason is None:
            return ""
        text = self.reason.sentence
        return f"{text[0].upper()}{text[1:]}."


def judge_move(
    turn_number: int,
    position: Position,
    move: Point,
    before: Assessment,
    after: Assessment,
    effort: Effort,
    thresholds: Thresholds | None = None,
    stop: StopSignal | None = None,
) -> MoveReview:
    """Judge a move in `position`. Searches only if the move is bad, to confirm that another move is better."""
    thresholds = thresholds or Thresholds()
    mover_after = 1 - after.winrate
    # The search after the move looks one move further. A better value found there was also available before the move.
    mover_before = max(before.winrate, mover_after)
    is_best = move == before.line[0] or _keeps_win(before, after, is_as_fast=True)
    loss = 0.0 if is_best or _keeps_win(before, after) else mover_before - mover_after
    better = before
    if thresholds.quality(loss, is_best=is_best).is_bad and after.win is not None and before.win is None:
        held = _find_defence(position, move, before, after, effort, stop)
        if held is None:  # every other move that was tried loses as well, so this one lost nothing
            loss, mover_before = 0.0, mover_after
        else:
            better = held
            mover_before = max(better.winrate, mover_after)
            loss = mover_before - mover_after
    quality = thresholds.quality(loss, is_best=is_best)
    value = 2 * mover_before - 1
    judged = MoveReview(
        turn_number=turn_number,
        colour=before.to_move,
        move=move,
        black_value_before=value if before.to_move is Colour.BLACK else -value,
        black_value_after=after.black_value,
        winrate_loss=loss,
        quality=quality,
        is_key=_is_key(before, after, quality),
        better=better.line,
        win=before.win,
        reply_win=after.win,
        proof=after.proof,
        better_proof=better.proof,
    )
    if not quality.is_bad:
        return judged
    return replace(
        judged,
        reason=reason_against(position, move, before, after, better.line[0], effort),
        better_reason=reason_to_play(position, better.line[0], before, effort),
        refutation=after.win.line if after.win is not None else after.line,
    )


def try_move(
    position: Position,
    move: Point,
    effort: Effort,
    thresholds: Thresholds | None = None,
    stop: StopSignal | None = None,
) -> MoveReview:
    """Judge a move that was not played. For a good move, `better_reason` is the reason to play it."""
    before = assess(position, effort, stop)
    after = assess(position.play(move), effort, stop)
    judged = judge_move(len(position.moves) + 1, position, move, before, after, effort, thresholds, stop)
    if judged.quality.is_bad:
        return judged
    return replace(judged, better_reason=reason_to_play(position, move, before, effort))


def _find_defence(
    position: Position, move: Point, before: Assessment, after: Assessment, effort: Effort, stop: StopSignal | None
) -> Assessment | None:
    """Return an assessment whose best move does not lose to a forced win; None if every move that was tried does."""
    for number, candidate in enumerate(_candidates(position, move, before, after)):
        answered = position.play(candidate)
        if not answered.is_over and find_win(answered, answered.to_move, effort, stop) is not None:
            continue
        if number == 0:
            return before
        reply = assess(answered, effort, stop)
        if reply.proof is not None and reply.proof.result == "win":
            continue
        return replace(
            before,
            value_to_move=-reply.value_to_move,
            proof=None,
            line=(candidate, *reply.line),
        )
    return None


def _candidates(position: Position, move: Point, before: Assessment, after: Assessment) -> Iterator[Point]:
    """Yield the best move, answers to the threats on the board, and points from the opponent's forced wins."""
    assert after.win is not None
    wanted = [before.line[0], *explain(position).answers]
    for win in (before.threat, after.win):
        wanted += [] if win is None else win.line
    given = 0
    for point in dict.fromkeys(wanted):
        if point != move and position.is_legal(point):
            yield point
            given += 1
            if given == _MAX_CANDIDATES:
                return


def _keeps_win(before: Assessment, after: Assessment, *, is_as_fast: bool = False) -> bool:
    """Whether the move keeps a proved win; with `is_as_fast`, also whether it shortens the distance to the win."""
    if before.proof is None or after.proof is None or (before.proof.result, after.proof.result) != ("win", "loss"):
        return False
    return not is_as_fast or after.proof.plies < before.proof.plies


def _is_key(before: Assessment, after: Assessment, quality: Quality) -> bool:
    if quality not in (Quality.MISTAKE, Quality.BLUNDER):
        return False
    threw_win_away = _is("win", before.proof) and not _is("loss", after.proof)
    return threw_win_away or _is("win", after.proof) or after.winrate >= _CLEARLY_WINNING


def _is(result: str, proof: Proof | None) -> bool:
    return proof is not None and proof.result == result
