"""Game records, in and out, and studies that are kept."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from tengen.core.contracts import Colour, Outcome
from tengen.records.game import MarkKind
from tengen.web.messages.base import (
    MAX_MOVES,
    MAX_RECORD_NODES,
    Comment,
    GameId,
    Message,
    Name,
    PointName,
    Probability,
    RulesText,
)


class RecordMark(Message):
    """A sign on a point."""

    kind: MarkKind
    point: PointName
    text: Name = ""


class RecordSetup(Message):
    """Stones put on the board or taken off without a move."""

    black: Annotated[list[PointName], Field(max_length=MAX_MOVES)] = Field(default=[])
    white: Annotated[list[PointName], Field(max_length=MAX_MOVES)] = Field(default=[])
    empty: Annotated[list[PointName], Field(max_length=MAX_MOVES)] = Field(default=[])
    current_player: Colour | None = None


class RecordNode(Message):
    """One step of a record: a move, set-up stones or a remark."""

    parent: Annotated[int, Field(ge=0, lt=MAX_RECORD_NODES)] | None = None
    """The parent's place in the list, which is before this node's; None for the root alone."""
    colour: Colour | None = None
    """Who moves here; None for a node without a move."""
    move: PointName | None = None
    """The point; None with a colour is a pass."""
    setup: RecordSetup | None = None
    comment: Comment = ""
    label: Name = ""
    marks: Annotated[list[RecordMark], Field(max_length=2 * MAX_MOVES)] = Field(default=[])
    black_winrate: Probability | None = None
    time_ms: Annotated[int, Field(ge=0, le=10**9)] | None = None


class Record(Message):
    """A game with its variations: a tree as a list in which parents come before their children, main line first."""

    rules: RulesText = "15x15:5:freestyle"
    black: Name = ""
    white: Name = ""
    outcome: Outcome | None = None
    """None is unknown."""
    reason: Name = ""
    event: Name = ""
    round: Name = ""
    date: Name = ""
    comment: Comment = ""
    nodes: Annotated[list[RecordNode], Field(min_length=1, max_length=MAX_RECORD_NODES)] = Field(default=[RecordNode()])


class ImportRequest(Message):
    """A game file or anything pasted. Give `text` or `base64`."""

    text: str | None = None
    base64: str | None = None
    filename: Name | None = None
    """Its ending says the format unless `format` does; without either the content decides."""
    format: Annotated[str, StringConstraints(max_length=10)] | None = None
    rules: RulesText | None = None
    """Fills in what the file does not say."""
    rows: Literal["bottom", "top"] = "bottom"
    """Where row 1 of position strings is."""
    index: Annotated[int, Field(ge=0, le=1_000_000)] = 0
    """Which game of a collection."""


class ImportResult(Message):
    """One game of a file, and what else is in it."""

    format: str
    game_count: int
    titles: list[str]
    """Of the first games, for choosing one by its index."""
    index: int
    record: Record
    notes: list[str]
    """What was skipped."""


class ExportRequest(Message):
    """Write a record as a file."""

    record: Record
    format: Annotated[str, StringConstraints(max_length=10)]


class ExportResult(Message):
    """A written file."""

    filename: str
    media_type: str
    text: str | None
    """When the format is text."""
    base64: str
    losses: list[str]
    """What the format cannot hold: `3 comments`."""


class Study(Message):
    """A record that the server keeps."""

    id: GameId
    record: Record
