"""Puzzles and tries at them."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from tengen.core.contracts import Colour
from tengen.search.threats import ThreatKind
from tengen.web.messages.base import MAX_MOVES, Message, PointName, RulesText
from tengen.web.messages.positions import FoulPoint, PositionInfo


class PuzzleSummary(Message):
    """A puzzle in the list."""

    id: str
    kind: ThreatKind
    rules: RulesText
    depth: int
    """Moves of the attacker until five, or until a threat that cannot be answered."""
    grade: Annotated[int, Field(ge=1, le=5)]
    current_player: Colour


class PuzzleList(Message):
    """Puzzles that fit the question."""

    total: int
    puzzles: list[PuzzleSummary]


class Puzzle(PuzzleSummary):
    """A puzzle: the side to move wins by continuous threats, and its first move is the only one that does."""

    board_x_size: int
    board_y_size: int
    initial_stones: list[tuple[Colour, PointName]]
    last_move: PointName | None
    legal: list[PointName]
    fouls: list[FoulPoint]


class PuzzleTry(Message):
    """The line so far: the solver's moves and the answers, in turn, the solver's last."""

    moves: Annotated[list[PointName], Field(min_length=1, max_length=MAX_MOVES)]


class PuzzleVerdict(Message):
    """What becomes of a try."""

    verdict: Literal["right", "wrong", "solved"]
    reply: PointName | None
    """How the defence goes on; for a wrong move, what refutes it."""
    reason: str
    position: PositionInfo
    """After the move and the reply."""


class PuzzleSolution(Message):
    """The whole line."""

    pv: list[PointName]
