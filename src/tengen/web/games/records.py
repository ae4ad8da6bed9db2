"""Game files for the browser: jobs that read and write all formats.

Files are read in a worker process because their bytes are untrusted.
"""

from __future__ import annotations

import base64
import binascii
import itertools
import time
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from tengen.core.contracts import Colour, Outcome, Ruleset
from tengen.core.geometry import Point
from tengen.core.position import Position
from tengen.errors import NotationError, RecordError
from tengen.records import FORMATS, GameRecord, Mark, Node, ReadReport, Setup, format_of, losses
from tengen.records.formats import Options
from tengen.records.game import move_of
from tengen.records.text import as_text, displayable
from tengen.web.messages.base import MAX_COMMENT, MAX_RECORD_NODES
from tengen.web.messages.records import (
    ExportRequest,
    ExportResult,
    ImportRequest,
    ImportResult,
    Record,
    RecordMark,
    RecordNode,
    RecordSetup,
)
from tengen.web.positions import winrate_of
from tengen.web.raw_bodies import parse_body
from tengen.web.workers.jobs import Desk, Job

_READ_MS = 10_000
_PACK_S = 4.0
_MAX_PACKED_BYTES = 8 << 20
_MAX_GAMES = 100_000
_MAX_TITLES = 500
_MAX_NAME = 80
_DRAWING = "drawing"


# ---- Reading --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ReadResult:
    """One game from a file, and all of the file's games packed so that each can be read separately."""

    result: ImportResult
    games: tuple[bytes, ...]
    """All games as compressed JSON records; empty if the file has only one game or too many games."""


@dataclass(frozen=True, kw_only=True)
class ReadRecord(Job):
    """Read one game from a file."""

    data: bytes
    format: str | None
    filename: str | None
    ruleset: Ruleset | None
    rows: Literal["bottom", "top"]
    index: int

    @property
    def limit_ms(self) -> int:
        return _READ_MS

    def run(self, desk: Desk) -> ReadResult:
        name = self.format or guess_format(self.data, self.filename)
        report = ReadReport()
        games = self._games(name, report)
        titles: list[str] = []
        wanted, count = None, 0
        packed = _PackedGames()
        for count, game in enumerate(itertools.islice(games, _MAX_GAMES), start=1):
            if count <= _MAX_TITLES:
                titles.append(_title(game))
            if count == self.index + 1:
                wanted = record_of(game)
            packed.add(game)
        if wanted is None:
            note = report.notes[0] if report.notes else "the file contains no game"
            raise RecordError(f"there is no game {self.index + 1} (games in the file: {count})" if count else note)
        result = ImportResult(
            format=name,
            game_count=count,
            titles=titles,
            index=self.index,
            record=wanted,
            notes=[displayable(note) for note in (*report.summary(), *report.notes)],
        )
        return ReadResult(result, tuple(packed.games) if count > 1 else ())

    def _games(self, name: str, report: ReadReport) -> Iterable[GameRecord]:
        if name == _DRAWING:
            return [_drawn_game(Position.parse(as_text(self.data), self.ruleset))]
        options = Options(ruleset=self.ruleset, rows=self.rows, report=report)
        return format_of("", name).read(self.data, options)


class _PackedGames:
    """Games as compressed JSON records. If they take too much memory or time, the list is emptied and stays empty."""

    def __init__(self) -> None:
        self.games: list[bytes] = []
        self._bytes = 0
        self._deadline = time.monotonic() + _PACK_S
        self._is_full = False

    def add(self, game: GameRecord) -> None:
        """Add a game, unless the limits have been exceeded."""
        if self._is_full:
            return
        write = FORMATS["json"].write
        assert write is not None
        self.games.append(zlib.compress(write([game], Options()), level=1))
        self._bytes += len(self.games[-1])
        if self._bytes > _MAX_PACKED_BYTES or time.monotonic() > self._deadline:
            self._is_full = True
            self.games.clear()


def read_job(request: ImportRequest) -> ReadRecord:
    """Create the job for an import request."""
    if (request.text is None) == (request.base64 is None):
        raise RecordError("an import request must have exactly one of the fields 'text' and 'base64'")
    if request.format is not None:
        format_of("", request.format)
    return ReadRecord(
        data=_bytes_of(request),
        format=request.format,
        filename=request.filename,
        ruleset=None if request.rules is None else Ruleset.parse(request.rules),
        rows=request.rows,
        index=request.index,
    )


def guess_format(data: bytes, filename: str | None = None) -> str:
    """Return the format of a file, determined by its extension if that is known, otherwise by its content.

    >>> guess_format(b"(;GM[4]SZ[15];B[hh])"), guess_format(b"h8i9j10"), guess_format(b"Piskvorky 15x15, 11:11, 0")
    ('sgf', 'pos', 'psq')
    """
    ending = (filename or "").lower()
    by_ending = next((one.name for one in FORMATS.values() if one.endings and ending.endswith(one.endings)), None)
    if by_ending not in (None, "pos"):
        return str(by_ending)
    head = data[:4096].lstrip(b"\xef\xbb\xbf \t\r\n")
    if data.startswith(b"\xffRenLib\xff"):
        return "lib"
    if data.startswith(b"\x1f\x8b") or head.startswith(b"<"):
        return "rif"
    if head.startswith((b"{", b"[")):
        return "json"
    if head.startswith((b"(", b";")):
        return "sgf"
    if head.lower().startswith(b"piskvork"):
        return "psq"
    return _DRAWING if _is_drawing(data) else "pos"


def _is_drawing(data: bytes) -> bool:
    try:
        Position.parse(as_text(data[:4096]))
    except NotationError:
        return False
    except Exception:  # an invalid drawing: parsing it as a drawing yields a better error message
        return True
    return True


def _bytes_of(request: ImportRequest) -> bytes:
    if request.base64 is None:
        return (request.text or "").encode("utf-8", "surrogatepass")
    try:
        return base64.b64decode(request.base64, validate=True)
    except (binascii.Error, ValueError) as error:
        raise RecordError(f"invalid base64: {error}") from None


def _drawn_game(position: Position) -> GameRecord:
    start = position.undo(len(position.moves))
    game = GameRecord(ruleset=position.ruleset)
    game.root.setup = Setup(
        tuple(start.points_of(Colour.BLACK)), tuple(start.points_of(Colour.WHITE)), to_move=start.to_move
    )
    node = game.root
    for move in position.moves:
        node = node.play(move)
    return game


def _title(game: GameRecord) -> str:
    names = f"{game.black or '?'} – {game.white or '?'}"
    result = {Outcome.BLACK: "1–0", Outcome.WHITE: "0–1", Outcome.DRAW: "½–½"}.get(game.result or Outcome.ONGOING, "")
    return displayable(" ".join(part for part in (names, result, game.event, game.date) if part))[:_MAX_NAME]


# ---- Writing --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class WriteRecord(Job):
    """Write a record as a file."""

    body: bytes
    """An `ExportRequest` as JSON."""

    @property
    def limit_ms(self) -> int:
        return _READ_MS

    def run(self, desk: Desk) -> ExportResult:
        request = parse_body(ExportRequest, self.body)
        entry = format_of("", request.format)
        if entry.write is None:
            raise RecordError(f"{entry.title} ({entry.name}) can be read but not written; choose another format")
        game = game_of(request.record)
        game.check()
        data = entry.write([game], Options())
        text = _text_of(data)
        return ExportResult(
            filename=f"game{entry.endings[0] if entry.endings else '.txt'}",
            media_type="application/octet-stream" if text is None else "text/plain",
            text=text,
            base64=base64.b64encode(data).decode("ascii"),
            losses=losses([game], entry.name),
        )


@dataclass(frozen=True, kw_only=True)
class CheckRecord(Job):
    """Check a record and return it in its stored form."""

    body: bytes
    """A `Record` as JSON."""
    max_bytes: int

    @property
    def limit_ms(self) -> int:
        return _READ_MS

    def run(self, desk: Desk) -> str:
        record = parse_body(Record, self.body)
        game_of(record).check()
        text = record.model_dump_json()
        if len(text.encode()) > self.max_bytes:
            raise RecordError(f"the record is larger than {self.max_bytes} bytes, the maximum for a study")
        return text


def _text_of(data: bytes) -> str | None:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return None
    return None if "\x00" in text else text


# ---- Conversion between game records and messages -------------------------------------------------------------------


def record_of(game: GameRecord) -> Record:
    """Convert a game to a message. A node with several moves is split into several nodes."""
    nodes: list[RecordNode] = []
    places: dict[int, int] = {}
    for node in game.nodes():
        parent = None if node.parent is None else places[id(node.parent)]
        nodes.extend(_record_nodes(node, parent, len(nodes)))
        places[id(node)] = len(nodes) - 1
        if len(nodes) > MAX_RECORD_NODES:
            raise RecordError(f"the game has more than {MAX_RECORD_NODES} nodes, too many to show in the browser")
    return Record(
        rules=game.ruleset.name,
        black=_name(game.black),
        white=_name(game.white),
        outcome=game.result,
        reason=_name(game.result_reason),
        event=_name(game.event),
        round=_name(game.round),
        date=_name(game.date),
        comment=displayable(game.comment)[:MAX_COMMENT],
        nodes=nodes,
    )


def _record_nodes(node: Node, parent: int | None, place: int) -> Iterator[RecordNode]:
    """Convert a node to one message per move. The last message carries the comment, label and marks."""
    moves = node.moves or (None,)
    for number, move in enumerate(moves):
        is_last = number == len(moves) - 1
        yield RecordNode(
            parent=parent if number == 0 else place + number - 1,
            colour=None if move is None else move.colour,
            move=None if move is None else move.point,
            setup=_record_setup(node.setup) if number == 0 and node.setup else None,
            comment=displayable(node.comment)[:MAX_COMMENT] if is_last else "",
            label=_name(node.label) if is_last else "",
            marks=[RecordMark(kind=one.kind, point=one.point, text=_name(one.text)) for one in sorted(node.marks)]
            if is_last
            else [],
            black_winrate=winrate_of(node.value) if is_last and node.value is not None else None,
            time_ms=node.time_ms if is_last and (node.time_ms or 0) <= 10**9 else None,
        )


def _record_setup(setup: Setup) -> RecordSetup:
    return RecordSetup(
        black=list(setup.black), white=list(setup.white), empty=list(setup.empty), current_player=setup.to_move
    )


def _name(text: str) -> str:
    return displayable(text)[:_MAX_NAME]


def game_of(record: Record) -> GameRecord:
    """Convert a message to a game. Raises `RecordError` if its nodes do not form a tree."""
    game = GameRecord(
        ruleset=Ruleset.parse(record.rules),
        black=record.black,
        white=record.white,
        result=record.outcome,
        result_reason=record.reason,
        event=record.event,
        round=record.round,
        date=record.date,
        comment=record.comment,
    )
    nodes: list[Node] = []
    for place, one in enumerate(record.nodes):
        if (one.parent is None) != (place == 0) or (one.parent is not None and one.parent >= place):
            raise RecordError(f"node {place} has parent {one.parent}; a parent must come before its children")
        node = _node_of(one)
        if one.parent is None:
            game.root = node
        else:
            nodes[one.parent].add(node)
        nodes.append(node)
    return game


def _node_of(one: RecordNode) -> Node:
    if one.move is not None and one.colour is None:
        raise RecordError(f"move {one.move} has no colour; set its colour to black or white")
    setup = None
    if one.setup is not None:
        black, white, empty = (
            tuple(map(Point, points)) for points in (one.setup.black, one.setup.white, one.setup.empty)
        )
        setup = Setup(black, white, empty, one.setup.current_player)
    return Node(
        moves=() if one.colour is None else (move_of(one.colour, None if one.move is None else Point(one.move)),),
        setup=setup,
        comment=one.comment,
        label=one.label,
        marks=tuple(Mark(mark.kind, Point(mark.point), mark.text) for mark in one.marks),
        value=None if one.black_winrate is None else 2 * one.black_winrate - 1,
        time_ms=one.time_ms,
    )
