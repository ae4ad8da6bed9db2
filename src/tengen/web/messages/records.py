"""Messages about game records: import, export, and studies stored on the server."""

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
from tengen.web.messages.reviews import ReviewFields


class RecordMark(Message):
    """A mark on a point, such as a triangle or a label."""

    kind: MarkKind
    point: PointName
    text: Name = ""


class RecordSetup(Message):
    """Stones placed or removed without a move."""

    black: Annotated[list[PointName], Field(max_length=MAX_MOVES)] = Field(default=[])
    white: Annotated[list[PointName], Field(max_length=MAX_MOVES)] = Field(default=[])
    empty: Annotated[list[PointName], Field(max_length=MAX_MOVES)] = Field(default=[])
    current_player: Colour | None = None


class RecordNode(Message):
    """A node in a record: a move, set-up stones or only a comment."""

    parent: Annotated[int, Field(ge=0, lt=MAX_RECORD_NODES)] | None = None
    """Index of the parent, which must come earlier in the list; None only for the root."""
    colour: Colour | None = None
    """Colour of the move; None for a node without a move."""
    move: PointName | None = None
    """Point of the move. A node with a colour but no point is a pass."""
    setup: RecordSetup | None = None
    comment: Comment = ""
    label: Name = ""
    marks: Annotated[list[RecordMark], Field(max_length=2 * MAX_MOVES)] = Field(default=[])
    black_winrate: Probability | None = None
    time_ms: Annotated[int, Field(ge=0, le=10**9)] | None = None


class Record(Message):
    """A game with variations, as a list of tree nodes. Parents precede children; the first child is the main line."""

    rules: RulesText = "15x15:5:freestyle"
    black: Name = ""
    white: Name = ""
    outcome: Outcome | None = None
    """None if unknown."""
    reason: Name = ""
    event: Name = ""
    round: Name = ""
    date: Name = ""
    comment: Comment = ""
    nodes: Annotated[list[RecordNode], Field(min_length=1, max_length=MAX_RECORD_NODES)] = Field(default=[RecordNode()])


class ImportRequest(Message):
    """A game file or pasted text. Give exactly one of `text` and `base64`."""

    text: str | None = None
    base64: str | None = None
    filename: Name | None = None
    """File name. If `format` is missing, the format is determined by the extension or, failing that, by the content."""
    format: Annotated[str, StringConstraints(max_length=10)] | None = None
    rules: RulesText | None = None
    """Ruleset for files that do not state one."""
    rows: Literal["bottom", "top"] = "bottom"
    """Whether row 1 of a position string is at the bottom or at the top of the board."""
    index: Annotated[int, Field(ge=0, le=1_000_000)] = 0
    """Index of the game to read, for a file with several games."""


class ImportResult(Message):
    """One game from a file, with an overview of the others."""

    format: str
    game_count: int
    titles: list[str]
    """Titles of the first games, from which a game can be chosen by index."""
    index: int
    record: Record
    notes: list[str]
    """Notes on the parts of the file that the reader skipped."""


class ExportRequest(Message):
    """Request to write a record as a file."""

    record: Record
    format: Annotated[str, StringConstraints(max_length=10)]


class ExportReview(ReviewFields):
    """Request to write a stored review as a game file with comments, marks and variations."""

    format: Annotated[str, StringConstraints(max_length=10)] = "sgf"
    black: Name = ""
    white: Name = ""
    outcome: Outcome | None = None
    reason: Name = ""
    event: Name = ""
    date: Name = ""


class ExportResult(Message):
    """An exported file."""

    filename: str
    media_type: str
    text: str | None
    """The file as text; None for binary formats."""
    base64: str
    losses: list[str]
    """Content that the format cannot store, such as `3 comments`."""


class Study(Message):
    """A record stored on the server."""

    id: GameId
    record: Record
