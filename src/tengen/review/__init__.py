"""Game reviews: the value of every position, a verdict and a reason for every move, and the accuracy of both players.

A review is a pure function of the game and an `Effort`. Effort is counted in nodes, never in time, and every position
is searched separately, so the same game gets the same review on every machine.
"""

from tengen.review.annotate import annotate
from tengen.review.assess import EFFORTS, Assessment, Effort, ForcedWin, assess
from tengen.review.judge import MoveReview, Quality, Thresholds, judge_move, try_move
from tengen.review.page import explanation, review_page
from tengen.review.reasons import Reason, ReasonKind, reason_to_play
from tengen.review.summary import Phase, Review, SideSummary, positions_of, review_game, summarise

__all__ = [
    "EFFORTS",
    "Assessment",
    "Effort",
    "ForcedWin",
    "MoveReview",
    "Phase",
    "Quality",
    "Reason",
    "ReasonKind",
    "Review",
    "SideSummary",
    "Thresholds",
    "annotate",
    "assess",
    "explanation",
    "judge_move",
    "positions_of",
    "reason_to_play",
    "review_game",
    "review_page",
    "summarise",
    "try_move",
]
