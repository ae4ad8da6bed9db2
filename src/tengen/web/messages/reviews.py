"""Messages about reviews: reasons, judged moves, summaries."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from tengen.core.contracts import Colour
from tengen.patterns.explain import Kind
from tengen.review import Phase, Quality, ReasonKind
from tengen.search.threats import ThreatKind
from tengen.web.messages.base import Message, PointName, Probability
from tengen.web.messages.positions import PositionFields, Proof

EffortName: TypeAlias = Literal["quick", "normal", "deep"]
"""Search effort per position (`tengen.review.EFFORTS`)."""

Accuracy = Annotated[float, Field(ge=0, le=100)]


class Thresholds(Message):
    """Smallest winrate losses that count as an inaccuracy, a mistake or a blunder."""

    inaccuracy: Probability = 0.06
    mistake: Probability = 0.14
    blunder: Probability = 0.28


class ReviewFields(PositionFields):
    """A game to review and the settings for its review. The same request always produces the same review."""

    effort: EffortName = "normal"
    thresholds: Thresholds = Thresholds()


class ReasonInfo(Message):
    """Why a move is bad or good; the kind determines which other fields are set."""

    kind: ReasonKind
    sentence: str
    """The reason in English, with the move as its subject: `misses five in a row at f6`."""
    colour: Colour | None = None
    """The side that gains from the mistake, or whose threat is stopped."""
    point: PointName | None = None
    shape: Kind | None = None
    stones: list[PointName] = Field(default=[])
    moves: int | None = None
    """Number of moves by the winning side."""
    why: ReasonInfo | None = None
    """What the better move achieves."""


class ForcedWinInfo(Message):
    """A win by continuous fours (vcf) or threats (vct), proved against every defence."""

    kind: ThreatKind
    attacker: Colour
    pv: list[PointName]
    """The attacker's moves, each followed by a defence."""


class ReviewMove(Message):
    """Judgement of a move in the game."""

    turn_number: int
    """1 for the first move."""
    colour: Colour
    move: PointName
    black_winrate_before: Probability
    """Black's winrate before the move, with best play."""
    black_winrate: Probability
    """Black's winrate after the move."""
    winrate_loss: Probability
    """Winrate that the player lost compared with the better move."""
    quality: Quality
    is_key: bool
    """Whether this is a turning point: the move changed who is winning, or missed a forced win."""
    better: list[PointName]
    """Best line from the position before the move; it starts with the played move if that was the best."""
    reason: ReasonInfo | None = None
    """Why the move is an inaccuracy, a mistake or a blunder."""
    better_reason: ReasonInfo | None = None
    """What the better move achieves."""
    refutation: list[PointName] = Field(default=[])
    """Best line after the move, starting with the opponent's reply."""
    win: ForcedWinInfo | None = None
    """The forced win that the player had before the move."""
    reply_win: ForcedWinInfo | None = None
    """The forced win that the opponent has after the move."""
    proof: Proof | None = None
    """Proved result after the move, for the side that is then to move."""
    better_proof: Proof | None = None
    """Proved result before the move, for the player."""


class SideSummary(Message):
    """Summary of one player's moves."""

    accuracy: Accuracy | None
    """Mean accuracy from 0 to 100; None if the player made no moves."""
    accuracy_by_phase: dict[Phase, Accuracy | None]
    """Accuracy in moves 1 to 10 (opening), 11 to 30 (middle) and later (end)."""
    moves: int
    counts: dict[Quality, int]
    mean_loss: Probability | None


class ReviewSummary(Message):
    """Summary of a review."""

    sides: dict[Colour, SideSummary]
    key_moves: list[int]
    """Turn numbers of the key moves."""


class ReviewResult(Message):
    """A finished review, as it is stored."""

    root_black_winrate: Probability
    """Black's winrate before the first move."""
    moves: list[ReviewMove]
    summary: ReviewSummary
