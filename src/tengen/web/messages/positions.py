"""Messages about positions: the fields that describe one, and the facts that the server reports about it."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from tengen.core.contracts import MAX_WIN_LENGTH, MIN_WIN_LENGTH, Colour, Foul, Outcome
from tengen.core.geometry import MAX_SIZE, MIN_SIZE
from tengen.patterns.explain import Kind
from tengen.web.messages.base import MAX_MOVES, Message, PointName, RulesText


class RulesFields(Message):
    """A ruleset, or a rule and a board size."""

    rules: RulesText = "15x15:5:freestyle"
    board_x_size: Annotated[int, Field(ge=MIN_SIZE, le=MAX_SIZE)] | None = None
    """Width of the board; needed only if `rules` is a rule without a size."""
    board_y_size: Annotated[int, Field(ge=MIN_SIZE, le=MAX_SIZE)] | None = None


class PositionFields(RulesFields):
    """A position: initial stones, followed by alternating moves."""

    initial_stones: Annotated[list[tuple[Colour, PointName]], Field(max_length=MAX_MOVES)] = Field(default=[])
    initial_player: Colour | None = None
    """The side that moves first (default: black, or the side with fewer initial stones)."""
    moves: Annotated[list[PointName], Field(max_length=MAX_MOVES)] = Field(default=[])


class PositionRequest(PositionFields):
    """Request for the facts of a position."""

    include_threats: bool = False


class FoulPoint(Message):
    """A point that is forbidden to the side to move in renju."""

    point: PointName
    kind: Foul


class Threat(Message):
    """A four or an open three on the board."""

    colour: Colour
    kind: Kind
    stones: list[PointName]
    next_points: list[PointName]
    """Points where the attacker would turn it into a five or an open four."""
    answers: list[PointName]
    """Points where the opponent can stop it. Counter-fours are not listed."""


class Threats(Message):
    """Result of `tengen.patterns.explain` for a position, without a search."""

    standing: list[Threat]
    chances: dict[Colour, dict[Kind, list[PointName]]]
    """Points where one more stone creates a threat, by colour and by the strongest threat created."""
    sentences: list[str]


class PositionInfo(Message):
    """The facts of a position."""

    rules: RulesText
    board_x_size: int
    board_y_size: int
    win_length: Annotated[int, Field(ge=MIN_WIN_LENGTH, le=MAX_WIN_LENGTH)]
    turn_number: int
    """Number of moves, not counting the initial stones."""
    current_player: Colour
    outcome: Outcome
    winning_line: list[PointName]
    legal: list[PointName]
    """Points where the side to move may play, excluding forbidden points."""
    fouls: list[FoulPoint]
    threats: Threats | None = None
    """None if not requested, or if the win length is not 4 or 5."""


class Proof(Message):
    """A proved result for the side to move."""

    result: Literal["win", "loss", "draw"]
    plies: int
    text: str
    """Short form, such as `+M5`, `-M6` or `=M9`."""
