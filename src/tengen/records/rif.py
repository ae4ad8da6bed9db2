"""The tournament database of RenjuNet (`.rif`, XML): read-only, streamed game by game.

Tables of players, tournaments, rules and openings come first, then the games. Moves are point names with row 1 at the
bottom, as in Tengen. Real databases contain games without moves, games with moves off the board, and duplicates;
these are skipped and counted in a report. Document types and entities are rejected, so a small document cannot expand
into a huge one.

The terms of the database allow only private, offline use; do not publish its content on a web page.
"""

from __future__ import annotations

import gzip
import io
import zlib
from typing import TYPE_CHECKING, BinaryIO
from xml.parsers import expat

from tengen.core.contracts import Opening, Outcome, Rule, Ruleset
from tengen.errors import RecordError
from tengen.records import position_string
from tengen.records.compression import decompressed
from tengen.records.limits import MAX_STREAM_BYTES, MAX_TEXT
from tengen.records.report import ReadReport
from tengen.records.sgf_vocabulary import RULE_TEXT, escape
from tengen.records.text import shorten, tidy, tidy_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tengen.records.game import GameRecord

_CHUNK = 2**16
_SIZE = 15
_GOMOKU_CATEGORY = "2"
_RESULTS = {"1": Outcome.BLACK, "0": Outcome.WHITE, "0.5": Outcome.DRAW}
_TABLES = frozenset({"player", "tournament", "rule", "opening", "country", "city"})
_TEXTS = frozenset({"move", "info"})
_OPENINGS = {"swap": Opening.SWAP, "swap2": Opening.SWAP2, "pro": Opening.PRO, "long pro": Opening.LONG_PRO}
_KEPT = {"id": "RIFID", "publisher": "RIFPUBLISHER", "swap": "SWAP", "alt": "ALT", "btime": "BTIME", "wtime": "WTIME"}
"""Property in which each game attribute without a record field is stored, by attribute name."""

Attributes = dict[str, str]


def read(source: bytes | str | BinaryIO, *, report: ReadReport | None = None) -> Iterator[GameRecord]:
    """Yield the games in a database, given as its content or as a seekable open file, plain or gzipped.

    Unusable games are counted in `report`. Invalid XML raises a `RecordError` with the line when the reader reaches it.
    """
    if isinstance(source, str):
        source = source.encode("utf-8", "surrogateescape")
    stream = io.BytesIO(source) if isinstance(source, bytes) else source
    return _Database(report or ReadReport()).games(stream)


class _Database:
    """Handles the events of the XML parser: collects the tables, then converts each game to a record."""

    def __init__(self, report: ReadReport) -> None:
        self.report = report
        self.tables: dict[str, dict[str, Attributes]] = {name: {} for name in _TABLES}
        self.ready: list[GameRecord] = []
        self.seen: set[str] = set()
        self.game: Attributes | None = None
        self.texts: dict[str, list[str]] = {}
        self.open_text: list[str] | None = None
        self.text_size = 0
        self.parser = expat.ParserCreate()
        self.parser.StartDoctypeDeclHandler = self._reject_doctype
        self.parser.EntityDeclHandler = self._reject_doctype
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._characters

    def games(self, stream: BinaryIO) -> Iterator[GameRecord]:
        for chunk in _chunks(stream):
            self._feed(chunk, final=False)
            yield from self.ready
            self.ready.clear()
        self._feed(b"", final=True)
        yield from self.ready

    def _feed(self, chunk: bytes, *, final: bool) -> None:
        try:
            self.parser.Parse(chunk, final)
        except expat.ExpatError as error:
            message = expat.ErrorString(error.code)
            raise RecordError(f"line {error.lineno}, column {error.offset + 1}: invalid XML: {message}") from None
        except RecordError:
            raise
        except (LookupError, ValueError) as error:  # unknown encoding in the XML declaration
            raise RecordError(f"line {self.parser.CurrentLineNumber}: {shorten(str(error), 80)}") from None

    def _reject_doctype(self, *_: object) -> None:
        raise RecordError(f"line {self.parser.CurrentLineNumber}: document types and entities are not allowed")

    def _start(self, name: str, attributes: Attributes) -> None:
        if name == "game":
            self.game = attributes
            self.texts = {}
            self.text_size = 0
        elif self.game is not None and name in _TEXTS:
            self.open_text = self.texts.setdefault(name, [])
        elif self.game is None and name in _TABLES and "id" in attributes:
            self.tables[name][attributes["id"]] = attributes

    def _characters(self, text: str) -> None:
        if self.open_text is not None:
            self.text_size += len(text)
            if self.text_size > MAX_TEXT:
                raise RecordError(f"line {self.parser.CurrentLineNumber}: a game has more than {MAX_TEXT} characters")
            self.open_text.append(text)

    def _end(self, name: str) -> None:
        if name in _TEXTS:
            self.open_text = None
        elif name == "game" and self.game is not None:
            self._finish(self.game)
            self.game = None

    def _finish(self, game: Attributes) -> None:
        where = f"line {self.parser.CurrentLineNumber}: game {shorten(game.get('id', 'without id'))}"
        moves = "".join(self.texts.get("move", ()))
        if not moves.strip():
            self.report.skip("games without moves", f"{where} has no moves")
        elif game.get("id") in self.seen:
            self.report.skip("duplicate games", f"{where} is a duplicate")
        else:
            try:
                self.ready.append(self._record(game, moves))
            except RecordError as error:
                self.report.skip("games with invalid moves", f"{where}: {error}")
        if "id" in game:
            self.seen.add(game["id"])

    def _record(self, game: Attributes, moves: str) -> GameRecord:
        tournament = self.tables["tournament"].get(game.get("tournament", ""), {})
        rule = self.tables["rule"].get(game.get("rule", tournament.get("rule", "")), {})
        opening = self.tables["opening"].get(game.get("opening", ""), {})
        record = position_string.parse(moves, ruleset=_ruleset(rule))
        record.black = self._player(game.get("black"))
        record.white = self._player(game.get("white"))
        record.result = _RESULTS.get(game.get("bresult", "").strip())
        record.event = tidy_line(tournament.get("name", ""))
        record.round = tidy_line(game.get("round", ""))
        record.date = tidy_line(tournament.get("start", "") or tournament.get("year", ""))
        record.comment = tidy("".join(self.texts.get("info", ())))
        kept = {name: game.get(attribute, "") for attribute, name in _KEPT.items()}
        kept[RULE_TEXT] = rule.get("name", "")
        kept["ON"] = opening.get("name") or opening.get("abbr") or ""
        record.root.properties = {name: (escape(tidy_line(text)),) for name, text in kept.items() if text.strip()}
        return record

    def _player(self, number: str | None) -> str:
        player = self.tables["player"].get(number or "", {})
        return tidy_line(f"{player.get('name', '')} {player.get('surname', '')}")


def _ruleset(rule: Attributes) -> Ruleset:
    """Return the ruleset: category 2 is gomoku, where exactly five wins; every other category is renju."""
    if rule.get("category") != _GOMOKU_CATEGORY:
        return Ruleset(_SIZE, _SIZE, 5, Rule.RENJU)
    name = rule.get("name", "").lower().replace("-", " ")
    opening = next((opening for word, opening in reversed(_OPENINGS.items()) if word in name), Opening.FREE)
    return Ruleset(_SIZE, _SIZE, 5, Rule.STANDARD, opening)


def _chunks(stream: BinaryIO) -> Iterator[bytes]:
    """Yield the decompressed content in chunks. Raises `RecordError` if it is damaged or exceeds the size limit."""
    content = decompressed(stream)
    total = 0
    try:
        while chunk := content.read(_CHUNK):
            total += len(chunk)
            if total > MAX_STREAM_BYTES:
                raise RecordError(f"the file is larger than the limit of {MAX_STREAM_BYTES} bytes")
            yield chunk
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise RecordError(f"offset {total} of the decompressed file: damaged gzip data: {error}") from None
