"""Conversions between reviews and their messages."""

from __future__ import annotations

from tengen.core.contracts import Colour
from tengen.core.contracts import Proof as CoreProof
from tengen.core.geometry import Point
from tengen.review import ForcedWin, MoveReview, Reason, Review, SideSummary
from tengen.web.messages.positions import Proof
from tengen.web.messages.reviews import ForcedWinInfo, ReasonInfo, ReviewMove, ReviewResult, ReviewSummary
from tengen.web.messages.reviews import SideSummary as SideSummaryInfo
from tengen.web.positions import proof_of, winrate_of


def result_of(review: Review) -> ReviewResult:
    """Convert a finished review to a message."""
    return ReviewResult(
        root_black_winrate=winrate_of(review.root_black_value),
        moves=[move_of(move) for move in review.moves],
        summary=ReviewSummary(
            sides={colour: _side_of(side) for colour, side in review.sides.items()}, key_moves=review.key_moves
        ),
    )


def move_of(move: MoveReview) -> ReviewMove:
    """Convert a judged move to a message."""
    return ReviewMove(
        turn_number=move.turn_number,
        colour=move.colour,
        move=move.move,
        black_winrate_before=winrate_of(move.black_value_before),
        black_winrate=winrate_of(move.black_value_after),
        winrate_loss=move.winrate_loss,
        quality=move.quality,
        is_key=move.is_key,
        better=list(move.better),
        reason=None if move.reason is None else reason_of(move.reason),
        better_reason=None if move.better_reason is None else reason_of(move.better_reason),
        refutation=list(move.refutation),
        win=_win_of(move.win),
        reply_win=_win_of(move.reply_win),
        proof=proof_of(move.proof),
        better_proof=proof_of(move.better_proof),
    )


def reason_of(reason: Reason) -> ReasonInfo:
    """Convert a reason to a message."""
    return ReasonInfo(
        kind=reason.kind,
        sentence=reason.sentence,
        colour=reason.colour,
        point=reason.point,
        shape=reason.shape,
        stones=list(reason.stones),
        moves=reason.moves,
        why=None if reason.why is None else reason_of(reason.why),
    )


def _win_of(win: ForcedWin | None) -> ForcedWinInfo | None:
    return None if win is None else ForcedWinInfo(kind=win.kind, attacker=win.attacker, pv=list(win.line))


def _side_of(side: SideSummary) -> SideSummaryInfo:
    return SideSummaryInfo(
        accuracy=side.accuracy,
        accuracy_by_phase=dict(side.accuracy_by_phase),
        moves=side.moves,
        counts=dict(side.counts),
        mean_loss=side.mean_loss,
    )


def review_of(result: ReviewResult) -> Review:
    """Convert a stored message back to a review."""
    return Review(
        root_black_value=2 * result.root_black_winrate - 1, moves=tuple(_judged(move) for move in result.moves)
    )


def _judged(move: ReviewMove) -> MoveReview:
    return MoveReview(
        turn_number=move.turn_number,
        colour=move.colour,
        move=Point(move.move),
        black_value_before=2 * move.black_winrate_before - 1,
        black_value_after=2 * move.black_winrate - 1,
        winrate_loss=move.winrate_loss,
        quality=move.quality,
        is_key=move.is_key,
        better=_points(move.better),
        reason=_reason(move.reason),
        better_reason=_reason(move.better_reason),
        refutation=_points(move.refutation),
        win=_win(move.win),
        reply_win=_win(move.reply_win),
        proof=_proof(move.proof),
        better_proof=_proof(move.better_proof),
    )


def _reason(reason: ReasonInfo | None) -> Reason | None:
    if reason is None:
        return None
    return Reason(
        kind=reason.kind,
        colour=reason.colour,
        point=None if reason.point is None else Point(reason.point),
        shape=reason.shape,
        stones=_points(reason.stones),
        moves=reason.moves,
        why=_reason(reason.why),
    )


def _win(win: ForcedWinInfo | None) -> ForcedWin | None:
    return None if win is None else ForcedWin(kind=win.kind, attacker=win.attacker, line=_points(win.pv))


def _proof(proof: Proof | None) -> CoreProof | None:
    return None if proof is None else CoreProof(proof.result, proof.plies)


def _points(names: list[str]) -> tuple[Point, ...]:
    return tuple(map(Point, names))


def accuracies_of(result: ReviewResult) -> dict[Colour, float]:
    """Return the accuracy of each player who has moved."""
    return {colour: side.accuracy for colour, side in result.summary.sides.items() if side.accuracy is not None}
