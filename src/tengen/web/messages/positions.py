"""Positions: how they are given, and what the server knows of them."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from tengen.core.contracts import MAX_WIN_LENGTH, MIN_WIN_LENGTH, Colour, Foul, Outcome
from tengen.core.geometry import MAX_SIZE, MIN_SIZE
from tengen.patterns.explain import Kind
from tengen.web.messages.base import MAX_MOVES, Message, PointName, RulesText


class RulesFields(Message):
    """What is played: a ruleset, or a rule with the size of the board."""

    rules: RulesText = "15x15:5:freestyle"
    board_x_size: Annotated[int, Field(ge=MIN_SIZE, le=MAX_SIZE)] | None = None
    """The width; needed only when `rules` is a rule alone."""
    board_y_size: Annotated[int, Field(ge=MIN_SIZE, le=MAX_SIZE)] | None = None


class PositionFields(RulesFields):
    """A position: stones that were set up, then moves in turn."""

    initial_stones: Annotated[list[tuple[Colour, PointName]], Field(max_length=MAX_MOVES)] = Field(default=[])
    initial_player: Colour | None = None
    """Who moves first; without it black, or the side with fewer stones."""
    moves: Annotated[list[PointName], Field(max_length=MAX_MOVES)] = Field(default=[])


class PositionRequest(PositionFields):
    """Asks for the facts of a position."""

    include_threats: bool = False


class FoulPoint(Message):
    """A point that renju forbids the side to move."""

    point: PointName
    kind: Foul


class Threat(Message):
    """A four or an open three that stands on the board."""

    colour: Colour
    kind: Kind
    stones: list[PointName]
    next_points: list[PointName]
    """Where its owner carries it out."""
    answers: list[PointName]
    """Where the other side stops it; fours of its own are not listed."""


class Threats(Message):
    """What `tengen.patterns.explain` says of a position; nothing is searched for it."""

    standing: list[Threat]
    chances: dict[Colour, dict[Kind, list[PointName]]]
    """By colour: the points where one more stone makes something, by the best thing it makes."""
    sentences: list[str]


class PositionInfo(Message):
    """The facts of a position."""

    rules: RulesText
    board_x_size: int
    board_y_size: int
    win_length: Annotated[int, Field(ge=MIN_WIN_LENGTH, le=MAX_WIN_LENGTH)]
    turn_number: int
    """Moves made; set-up stones do not count."""
    current_player: Colour
    outcome: Outcome
    winning_line: list[PointName]
    legal: list[PointName]
    """Where the side to move may play; fouls are not legal."""
    fouls: list[FoulPoint]
    threats: Threats | None = None
    """When asked for, and the win length is 4 or 5."""


class Proof(Message):
    """A proved result for the side to move."""

    result: Literal["win", "loss", "draw"]
    plies: int
    text: str
    """`+M5`, `-M6`, `=M9`."""
