"""Messages about puzzles and attempts to solve them."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from tengen.core.contracts import Colour
from tengen.puzzles.puzzle import PuzzleKind, Theme
from tengen.web.messages.base import MAX_MOVES, GameId, Message, PointName, RulesText
from tengen.web.messages.positions import FoulPoint, PositionInfo


class PuzzleSource(Message):
    """The mistake, made in one of the browser's games, from which a puzzle was created."""

    game_id: GameId
    turn_number: int
    """Turn number of the bad move."""
    played: PointName


class PuzzleSummary(Message):
    """An entry in the list of puzzles."""

    id: str
    kind: PuzzleKind
    themes: list[Theme]
    rules: RulesText
    depth: int
    """Number of attacking moves in the solution, or in the win that a defence prevents."""
    grade: Annotated[int, Field(ge=1, le=5)]
    rating: int
    """Estimated rating, on the scale of the solver's rating."""
    stones: int
    current_player: Colour
    source: PuzzleSource | None = None
    """The mistake from which the puzzle was created; None for a shipped puzzle."""


class PuzzleList(Message):
    """A page of the puzzles that match a request."""

    total: int
    puzzles: list[PuzzleSummary]
    pending: int = 0
    """Number of the browser's reviewed games that have not been searched for puzzles yet."""


class Puzzle(PuzzleSummary):
    """A puzzle: exactly one move wins by continuous threats, or stops the opponent from doing so."""

    board_x_size: int
    board_y_size: int
    initial_stones: list[tuple[Colour, PointName]]
    last_move: PointName | None
    legal: list[PointName]
    fouls: list[FoulPoint]


class PuzzleTry(Message):
    """An attempt: the moves so far, alternating between the person and the opponent. The person moved last."""

    moves: Annotated[list[PointName], Field(min_length=1, max_length=MAX_MOVES)]


class PuzzleVerdict(Message):
    """Judgement of an attempt."""

    verdict: Literal["right", "wrong", "solved"]
    reply: PointName | None
    """The opponent's reply; for a wrong move, its refutation if there is one."""
    reason: str
    refutation: list[PointName]
    """After a wrong move, how the opponent wins or stops the attack, starting with the reply."""
    position: PositionInfo
    """The position after the move and the reply."""


class PuzzleSolution(Message):
    """The solution to a puzzle."""

    pv: list[PointName]
