r"""SGF, FF[4] GM[4] ("Gomoku+Renju"): the exchange format of servers, editors and match tools.

The reader supports collections, variations, set-up stones, compressed point lists, escapes, soft line breaks, the long
property names of old files (`Black[…]`), code pages named by CA, passes written as `[]` or `[tt]`, rectangular boards,
and rules given by name or by Gomocup's number. Points are counted from the top left corner, so rows are flipped.
Properties that have no field in a record are stored unchanged, in order, and written back. So are known properties
with invalid values.

Private properties, which other programs ignore: SBKV (evaluation as black's win rate 0–100, as in Sabaki), EMT (seconds
the move took), RR (reason for the result if RE has no letter for it).
"""

from __future__ import annotations

import io
import math
import re
import string
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import chain
from typing import TYPE_CHECKING, BinaryIO

from tengen.core.contracts import Colour, Opening, Outcome, Rule, Ruleset
from tengen.core.geometry import MAX_SIZE, Point
from tengen.errors import InputError, RecordError, RulesetError
from tengen.records.features import Feature
from tengen.records.game import (
    Branch,
    GameRecord,
    Mark,
    MarkKind,
    Move,
    Node,
    Properties,
    Setup,
    collect,
    move_of,
    ruleset_of,
)
from tengen.records.limits import MAX_FILE_BYTES, MAX_NODES, MAX_TIME_MS
from tengen.records.text import code_page, encode, shorten, stream_bytes, stream_text, text_chunks, tidy, tidy_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

HOLDS = frozenset(Feature)

_BLANK = re.compile(r"\s*+")
_GAME_START = re.compile(r"\(\s*+;")
_OPEN_END = re.compile(r"\(\s*+\Z")
"""A parenthesis at the end of the window; it starts a game if the next character is a semicolon."""
_NAME = re.compile(r"[A-Za-z0-9]++")
_PLAIN_MOVE = re.compile(r"\s*+([BW])\[([a-z]{2})\]\s*+(?=[;()])")
"""A node with one move and nothing else, by far the most common kind."""
_VALUE = re.compile(r"\[([^\]\\]*+(?:\\.[^\]\\]*+)*+)\]", re.DOTALL)
_CHARSET = re.compile(rb"CA\s*\[([^\]]{0,40})\]")
_ESCAPE = re.compile(r"\\(\r\n|\n\r|.)", re.DOTALL)
_RESULT = re.compile(r"([BW])(?:\+(.*))?", re.IGNORECASE | re.DOTALL)

_MARKS = {
    "TR": MarkKind.TRIANGLE,
    "SQ": MarkKind.SQUARE,
    "CR": MarkKind.CIRCLE,
    "MA": MarkKind.CROSS,
    "SL": MarkKind.SELECTED,
}
_COLOURS = {"B": Colour.BLACK, "W": Colour.WHITE}
_LETTERS = {Colour.BLACK: "B", Colour.WHITE: "W"}
_RULES = {
    "0": Rule.FREESTYLE,
    "1": Rule.STANDARD,
    "2": Rule.RENJU,  # the number that Yixin uses
    "4": Rule.RENJU,
    "8": Rule.CARO,
    "9": Rule.CARO_EXACT,
    "free": Rule.FREESTYLE,
    "free-style": Rule.FREESTYLE,
    "free style": Rule.FREESTYLE,
    **{rule.value: rule for rule in Rule},
}
# Names of renju opening procedures; the name is stored in the RULETEXT property.
_RENJU_OPENINGS = ("rif", "sakata", "soosyrv", "soosorv", "tarannikov", "taraguchi", "yamaguchi", "renju")
_REASON_LETTERS = {"five": "5", "resignation": "R", "time": "T", "foul": "F"}
_REASONS = {
    "5": "five",
    "r": "resignation",
    "resign": "resignation",
    "t": "time",
    "time": "time",
    "f": "foul",
    "forfeit": "forfeit",
}
RULE_TEXT = "RULETEXT"
"""The property that stores a rule name that `Rule` cannot express."""
_FILE_PROPERTIES = frozenset({"FF", "GM", "CA", "AP"})
"""Properties that describe the file rather than the game; the writer generates new values."""
_NODE_PROPERTIES = frozenset({"B", "W", "AB", "AW", "AE", "C"})
_HEADER = {"PB": "black", "PW": "white", "EV": "event", "RO": "round", "DT": "date"}
"""Root property → field of a record."""
FIELD_PROPERTIES = _FILE_PROPERTIES | _NODE_PROPERTIES | {*_HEADER, "SZ", "RU", "RR", "GC"}
"""Properties that the writer generates from fields, so it ignores stored properties with these names."""

Property = tuple[str, list[str], int]
"""A property: its name, raw values and offset in the text."""


def read(data: bytes | str, *, ruleset: Ruleset | None = None, encoding: str | None = None) -> list[GameRecord]:
    """Read all games in a file. `ruleset` supplies what a game does not state (default: 15x15 freestyle).

    Bytes are decoded with `encoding`, else with the code page in the file's CA property, else as UTF-8. Error
    messages contain the line and column.
    """
    return collect(iterate(data, ruleset=ruleset, encoding=encoding))


def iterate(
    source: bytes | str | BinaryIO, *, ruleset: Ruleset | None = None, encoding: str | None = None
) -> Iterator[GameRecord]:
    """Yield the games in a file, given as its content or as an open file; options as for `read`.

    Only the current game is in memory. An error is raised when the reader reaches it.
    """
    if isinstance(source, str):
        return _Reader(text_chunks(source), ruleset).games()
    chunks = stream_bytes(io.BytesIO(source) if isinstance(source, bytes) else source)
    start = next(chunks, b"")
    page = _code_page(start) if encoding is None else code_page(encoding)
    return _Reader(stream_text(chain([start], chunks), page), ruleset).games()


def _code_page(start: bytes) -> str:
    """Return the code page named at the start of a file."""
    stated = _CHARSET.search(start[:4096])
    if stated is not None:
        try:
            return code_page(stated[1].decode("latin-1"))
        except RecordError:
            pass  # unknown code page: decode as UTF-8, which preserves invalid bytes
    return "utf-8"


def unescape(raw: str) -> str:
    """Convert a raw value to text: resolve escapes and remove soft line breaks."""
    return _ESCAPE.sub(lambda match: "" if match[1] in ("\n", "\r", "\r\n", "\n\r") else match[1], raw)


def escape(text: str) -> str:
    """Convert text to a raw value. Colons are escaped too, so that the result can be part of a composed value."""
    return text.replace("\\", "\\\\").replace("]", "\\]").replace(":", "\\:")


# ---- Reading ------------------------------------------------------------------------------------------------------


class _IncompleteError(Exception):
    """Raised when the text read so far may end inside a node."""


class _Reader:
    """Parses games one by one, each with a stack of open variations.

    `text` is a window into the file. If it ends inside a game, it is extended and the game is parsed again. The window
    at least doubles each time, so every character is parsed at most a few times.
    """

    def __init__(self, chunks: Iterator[str], default: Ruleset | None) -> None:
        self.chunks = chunks
        self.default = default
        self.text = ""
        self.offset = 0
        self.is_at_end = False
        """Whether the window reaches the end of the file."""
        self.lines_before = 0
        """Number of line breaks before the window."""
        self.columns_before = 0
        """Number of characters before the window that belong to its first line."""
        self.node_count = 0

    def games(self) -> Iterator[GameRecord]:
        self._extend(0)
        beginning = shorten(self.text)
        found = False
        while self._find_game():
            found = True
            yield self._whole_game()
        if not found:
            raise RecordError(f"line 1, column 1: no SGF game '(;…)' in {beginning!r}")

    def _find_game(self) -> bool:
        """Advance to the next '(;'; return False at the end of the file."""
        while (start := _GAME_START.search(self.text, self.offset)) is None:
            if self.is_at_end:
                return False
            last = _OPEN_END.search(self.text, self.offset)
            self._extend(last.start() if last else len(self.text))
        self.offset = start.start()
        return True

    def _whole_game(self) -> GameRecord:
        while True:
            start = self.offset
            match = _GAME_START.match(self.text, start)
            assert match is not None
            self.offset = match.end()
            try:
                return self._game()
            except _IncompleteError:
                if len(self.text) - start > MAX_FILE_BYTES:
                    raise self._error(start, f"a game has more than {MAX_FILE_BYTES} characters") from None
            self._extend(start)

    def _extend(self, keep_from: int) -> None:
        """Drop the text before `keep_from`, continue reading there, and at least double the length of the window."""
        dropped, kept = self.text[:keep_from], self.text[keep_from:]
        breaks = dropped.count("\n")
        self.lines_before += breaks
        self.columns_before = len(dropped) - dropped.rfind("\n") - 1 + (0 if breaks else self.columns_before)
        parts = [kept]
        length = 0
        while length <= len(kept):
            chunk = next(self.chunks, None)
            if chunk is None:
                self.is_at_end = True
                break
            parts.append(chunk)
            length += len(chunk)
        self.text = "".join(parts)
        self.offset = 0

    def _check_complete(self) -> None:
        """Raise `_IncompleteError` if the current node may continue after the window."""
        if not self.is_at_end and self.text[self.offset : self.offset + 1] in ("", "["):
            raise _IncompleteError

    def _game(self) -> GameRecord:
        """Read one game, starting after its first semicolon."""
        self.node_count = 0
        start = self.offset - 1
        record = self._root(self._properties(), start)
        branch = Branch(record.ruleset)
        points = _points_by_letters(record.ruleset.width, record.ruleset.height)
        self._enter(branch, record.root, start)
        current = record.root
        open_variations: list[tuple[Node, int]] = [(current, 0)]
        while open_variations:
            self._skip_blank()
            self._check_complete()
            start, sign = self.offset, self.text[self.offset : self.offset + 1]
            self.offset += 1
            if sign == ";":
                node = self._plain_move(points) or _interpret(self._properties(), record.ruleset, self._where)
                self._enter(branch, node, start)
                current = current.add(node)
            elif sign == "(":
                self._skip_blank()
                self._check_complete()
                if self.text[self.offset : self.offset + 1] != ";":
                    raise self._error(start, "a variation must start with ';'")
                open_variations.append((current, len(branch)))
            elif sign == ")":
                current, depth = open_variations.pop()
                branch.leave_to(depth)
            elif sign:
                raise self._error(start, f"{shorten(self.text[start:], 12)!r} is neither a node nor a variation")
            else:
                raise self._error(start, "the file ends inside a game")
        return record

    def _enter(self, branch: Branch, node: Node, start: int) -> None:
        self.node_count += 1
        if self.node_count > MAX_NODES:
            raise self._error(start, f"the game has more than {MAX_NODES} nodes")
        try:
            branch.enter(node)
        except RecordError as error:
            raise self._error(start, str(error)) from None

    def _plain_move(self, points: Mapping[str, Point]) -> Node | None:
        """Parse a node with one move and nothing else (the fast path); None for any other node."""
        match = _PLAIN_MOVE.match(self.text, self.offset)
        point = points.get(match[2]) if match else None
        if match is None or point is None:
            return None
        self.offset = match.end()
        return Node(moves=(move_of(_COLOURS[match[1]], point),))

    def _properties(self) -> list[Property]:
        """Parse the properties of a node. The values of a repeated property are joined, except those of moves."""
        found: list[Property] = []
        places: dict[str, int] = {}
        while True:
            self._skip_blank()
            name = _NAME.match(self.text, self.offset)
            if name is None:
                self._check_complete()
                return found
            self.offset = name.end()
            self._skip_blank()
            values: list[str] = []
            while value := _VALUE.match(self.text, self.offset):
                values.append(value[1])
                self.offset = value.end()
                self._skip_blank()
            if not values:
                self._check_complete()
                raise self._error(name.start(), f"property {shorten(name[0])} has no complete value [...]")
            short = _short_name(name[0])
            if short in places and short not in _COLOURS:
                found[places[short]][1].extend(values)
            else:
                places[short] = len(found)
                found.append((short, values, name.start()))

    def _root(self, properties: list[Property], start: int) -> GameRecord:
        values = {name: found for name, found, _ in properties}
        game = values.get("GM", ["4"])[0].strip()
        if game != "4":
            raise self._error(start, f"GM[{shorten(game)}] is a different game; gomoku and renju are GM[4]")
        try:
            ruleset = _ruleset(values, self.default)
        except InputError as error:
            raise self._error(start, str(error)) from None
        record = GameRecord(ruleset=ruleset)
        rest = [entry for entry in properties if not _read_header(record, entry[0], entry[1])]
        rule_text = record.properties
        record.root = _interpret(rest, ruleset, self._where)
        if rule_text:
            record.root.properties = {**rule_text, **record.properties}
        return record

    def _skip_blank(self) -> None:
        match = _BLANK.match(self.text, self.offset)
        if match is not None:
            self.offset = match.end()

    def _where(self, offset: int) -> str:
        line = self.lines_before + self.text.count("\n", 0, offset) + 1
        line_start = self.text.rfind("\n", 0, offset) + 1
        column = offset - line_start + 1 + (0 if line_start else self.columns_before)
        return f"line {line}, column {column}"

    def _error(self, offset: int, message: str) -> RecordError:
        return RecordError(f"{self._where(offset)}: {message}")


@cache
def _points_by_letters(width: int, height: int) -> Mapping[str, Point]:
    letters = string.ascii_lowercase
    return {letters[x] + letters[height - 1 - y]: Point.at(x, y) for y in range(height) for x in range(width)}


def _short_name(name: str) -> str:
    """Drop the lower-case letters of long names in old files (`AddBlack` → `AB`); keep names without capitals."""
    return "".join(letter for letter in name if not letter.islower()) if re.search("[A-Z]", name) else name


def _ruleset(values: Mapping[str, list[str]], default: Ruleset | None) -> Ruleset:
    default_size = (default.width, default.height) if default else (15, 15)
    width, height = _size(values["SZ"][0]) if "SZ" in values else default_size
    stated = _stated_rule(tidy_line(unescape(values["RU"][0]))) if "RU" in values else None
    if isinstance(stated, Ruleset):
        return replace(stated, width=width, height=height)
    if stated is not None and (default is None or default.rule is not stated):
        return Ruleset(width, height, 5, stated)
    return ruleset_of(width, height, default)


def _size(value: str) -> tuple[int, int]:
    match = re.fullmatch(r"\s*(\d{1,4})\s*(?:[:x]\s*(\d{1,4})\s*)?", value, re.ASCII)
    if match is None:
        raise RulesetError(f"SZ[{shorten(value)}] is not a board size")
    return int(match[1]), int(match[2] or match[1])


def _stated_rule(text: str) -> Rule | Ruleset | None:
    """Parse the RU property: a full ruleset text, a rule name or a number; None if it is unknown."""
    lowered = text.lower()
    if ":" in lowered:
        try:
            return Ruleset.parse(lowered)
        except InputError:
            return None
    if lowered in _RULES:
        return _RULES[lowered]
    return Rule.RENJU if any(lowered.startswith(name) for name in _RENJU_OPENINGS) else None


def _read_header(record: GameRecord, name: str, values: list[str]) -> bool:
    """Store a root property in the header; return False if it belongs to the node or must be stored unchanged."""
    if name in _FILE_PROPERTIES or name == "SZ":
        return True
    if name in _HEADER:
        setattr(record, _HEADER[name], tidy_line(unescape(values[0])))
    elif name == "GC":
        record.comment = tidy(unescape(values[0]))
    elif name == "RU":
        text = tidy_line(unescape(values[0]))
        if text.lower() not in _RULES and not isinstance(_stated_rule(text), Ruleset):
            record.root.properties = {RULE_TEXT: (values[0],)}
    elif name == "RE":
        return _read_result(record, tidy_line(unescape(values[0])))
    elif name == "RR":
        record.result_reason = tidy_line(unescape(values[0]))
    else:
        return False
    return True


def _read_result(record: GameRecord, text: str) -> bool:
    lowered = text.lower()
    if lowered in ("0", "draw", "jigo", "b+draw"):
        record.result = Outcome.DRAW
    elif lowered == "void":
        record.result = Outcome.ONGOING
    elif lowered not in ("", "?"):
        match = _RESULT.fullmatch(text)
        if match is None:
            return False
        record.result = Outcome.win_for(_COLOURS[match[1].upper()])
        reason = (match[2] or "").strip().lower()
        is_score = re.fullmatch(r"[0-9.]+", reason) is not None  # a score as in Go; gomoku has none
        record.result_reason = record.result_reason or _REASONS.get(reason, "" if is_score else reason)
    return True


@dataclass(slots=True)
class _Parts:
    """The fields of a node while its properties are being parsed."""

    moves: list[Move] = field(default_factory=list)
    setup: dict[str, tuple[Point, ...]] = field(default_factory=dict)
    to_move: Colour | None = None
    marks: list[Mark] = field(default_factory=list)
    kept: dict[str, tuple[str, ...]] = field(default_factory=dict)


def _interpret(properties: list[Property], ruleset: Ruleset, where: Callable[[int], str]) -> Node:
    """Build a node. Moves and set-up stones must be valid; any other invalid property is stored unchanged."""
    node, parts = Node(), _Parts()
    later: list[Property] = []
    for name, values, offset in properties:
        try:
            if name in _COLOURS:
                if len(values) > 1:
                    raise RecordError(f"{name} has {len(values)} values, but a move must have exactly one")
                parts.moves.append(move_of(_COLOURS[name], _point(values[0], ruleset)))
            elif name in ("AB", "AW", "AE"):
                parts.setup[name] = _point_list(values, ruleset)
            else:
                later.append((name, values, offset))
        except RecordError as error:
            raise RecordError(f"{where(offset)}: {error}") from None
    node.moves = tuple(parts.moves)
    for name, values, _ in later:
        try:
            is_valid = _read_annotation(node, parts, name, values, ruleset)
        except RecordError:
            is_valid = False
        if not is_valid:
            parts.kept[name] = tuple(values)
    setup = Setup(
        parts.setup.get("AB", ()), parts.setup.get("AW", ()), parts.setup.get("AE", ()), to_move=parts.to_move
    )
    node.setup = setup or None
    node.marks = tuple(parts.marks)
    if parts.kept:
        node.properties = parts.kept
    return node


def _read_annotation(node: Node, parts: _Parts, name: str, values: list[str], ruleset: Ruleset) -> bool:
    """Read a property other than moves and stones; False, without changes, if it has no field or is invalid."""
    raw = values[0]
    if name == "C":
        node.comment = tidy(unescape("\n".join(values)))
    elif name in _MARKS:
        parts.marks += [Mark(_MARKS[name], point) for point in _point_list(values, ruleset)]
    elif name == "LB":
        _read_labels(node, parts, values, ruleset)
    elif name == "N" and _labelled_point(node) is None:
        node.label = tidy_line(unescape(raw))
    elif name == "HO" and raw.strip() == "1":
        node.bookmarked = True
    elif name == "PL" and raw.strip()[:1].upper() in _COLOURS:
        parts.to_move = _COLOURS[raw.strip()[:1].upper()]
    elif name == "SBKV":
        win_rate = _number(raw, 100)
        node.value = round(win_rate / 50 - 1, 6)
    elif name == "EMT" and node.moves:
        node.time_ms = round(1000 * _number(raw, MAX_TIME_MS / 1000))
    elif name in ("BL", "WL") and node.moves and node.moves[-1].colour is _COLOURS[name[0]]:
        node.clock_ms = round(1000 * _number(raw, MAX_TIME_MS / 1000))
    else:
        return False
    return True


def _read_labels(node: Node, parts: _Parts, values: list[str], ruleset: Ruleset) -> None:
    own = _labelled_point(node)
    marks: list[Mark] = []
    label = ""
    for raw in values:
        where, colon, text = raw.partition(":")
        point = _stone(where, ruleset)
        if not colon:
            raise RecordError(f"LB[{shorten(raw)}] has no text")
        if point == own and not label:
            label = tidy_line(unescape(text))
        else:
            marks.append(Mark(MarkKind.LABEL, point, tidy_line(unescape(text))))
    node.label = label or node.label
    parts.marks += marks


def _labelled_point(node: Node) -> Point | None:
    """Return the point that the node's label belongs to: the last move."""
    return node.moves[-1].point if node.moves else None


def _number(raw: str, largest: float) -> float:
    try:
        number = float(raw)
    except ValueError:
        number = math.nan
    if not 0 <= number <= largest:
        raise RecordError(f"{shorten(raw)!r} is not a number between 0 and {largest}")
    return number


def _point(raw: str, ruleset: Ruleset) -> Point | None:
    """Parse a point; None for a pass, which is an empty value, or `tt` on boards up to 19x19."""
    value = raw.strip()
    if not value or (value.lower() == "tt" and max(ruleset.width, ruleset.height) <= 19):
        return None
    return _stone(value, ruleset)


def _stone(raw: str, ruleset: Ruleset) -> Point:
    value = raw.strip()
    if re.fullmatch("[a-z]{2}", value) is None:
        raise RecordError(f"[{shorten(raw)}] is not a point")
    x, row = ord(value[0]) - ord("a"), ord(value[1]) - ord("a")
    if x >= ruleset.width or row >= ruleset.height:
        raise RecordError(f"[{value}] is not on a {ruleset.width}x{ruleset.height} board")
    return Point.at(x, ruleset.height - 1 - row)


def _point_list(values: list[str], ruleset: Ruleset) -> tuple[Point, ...]:
    """Parse points and rectangles `aa:cc` in order, without duplicates. `AB[]` is an empty list."""
    points: dict[Point, None] = {}
    for raw in values:
        if not raw.strip() and len(values) == 1:
            break
        first, colon, second = raw.partition(":")
        if not colon:
            points[_stone(raw, ruleset)] = None
            continue
        left, right = sorted((_stone(first, ruleset).x, _stone(second, ruleset).x))
        low, high = sorted((_stone(first, ruleset).y, _stone(second, ruleset).y))
        points |= {Point.at(x, y): None for y in range(high, low - 1, -1) for x in range(left, right + 1)}
    return tuple(points)


# ---- Writing ------------------------------------------------------------------------------------------------------

NODES_PER_LINE = 8


def write(records: Iterable[GameRecord]) -> bytes:
    """Write a collection in UTF-8; undecodable bytes from another code page are written unchanged."""
    out: list[str] = []
    for record in records:
        _write_game(record, out)
    return encode("".join(out))


def _write_game(record: GameRecord, out: list[str]) -> None:
    from tengen import __version__

    out.append(f"(;FF[4]GM[4]CA[UTF-8]AP[Tengen:{__version__}]")
    kept = {name: values for name, values in record.properties.items() if name not in FIELD_PROPERTIES}
    if record.result is not None:
        kept.pop("RE", None)  # the file's RE was invalid; the result has since been set
    _write_header(record, out)
    if "RE" not in kept:
        _write_result(record, out)
    _write_node(record.root, record.ruleset, kept, out)
    out.append("\n")
    # Strings on the stack are written unchanged; they open and close variations.
    stack: list[Node | str] = [")\n"]
    _push_children(record.root, stack)
    on_line = 0
    while stack:
        entry = stack.pop()
        if isinstance(entry, str):
            out.append(entry)
            on_line = 0
            continue
        if on_line >= NODES_PER_LINE:
            out.append("\n")
            on_line = 0
        on_line += 1
        out.append(";")
        _write_node(entry, record.ruleset, entry.properties, out)
        _push_children(entry, stack)


def _push_children(node: Node, stack: list[Node | str]) -> None:
    if len(node.children) == 1:
        stack.append(node.children[0])
        return
    for child in reversed(node.children):
        stack += [")", child, "\n("]


def _write_header(record: GameRecord, out: list[str]) -> None:
    ruleset = record.ruleset
    size = str(ruleset.width) if ruleset.is_square else f"{ruleset.width}:{ruleset.height}"
    out.append(f"SZ[{size}]")
    is_plain = ruleset.win_length == 5 and ruleset.opening is Opening.FREE
    out.append(f"RU[{ruleset.rule if is_plain else ruleset}]")
    for name, field_name in _HEADER.items():
        text = getattr(record, field_name)
        if text:
            out.append(f"{name}[{_escape_text(tidy_line(text))}]")
    if record.comment:
        out.append(f"GC[{_escape_text(tidy(record.comment))}]")


def _write_result(record: GameRecord, out: list[str]) -> None:
    winner = record.result.winner if record.result else None
    letter = _REASON_LETTERS.get(record.result_reason, "") if winner else ""
    if winner:
        out.append(f"RE[{_LETTERS[winner]}+{letter}]")
    elif record.result is not None:
        out.append("RE[0]" if record.result is Outcome.DRAW else "RE[Void]")
    if record.result_reason and not letter:
        out.append(f"RR[{_escape_text(tidy_line(record.result_reason))}]")


def _write_node(node: Node, ruleset: Ruleset, kept: Properties, out: list[str]) -> None:
    if node.setup:
        for name, points in (("AB", node.setup.black), ("AW", node.setup.white), ("AE", node.setup.empty)):
            _write_points(name, points, ruleset, out)
        if node.setup.to_move:
            out.append(f"PL[{_LETTERS[node.setup.to_move]}]")
    for colour, point in node.moves:
        out.append(f"{_LETTERS[colour]}[{_letters(point, ruleset) if point else ''}]")
    _write_clocks(node, out)
    if node.value is not None:
        out.append(f"SBKV[{_decimal(50 * (node.value + 1), 5)}]")
    for name, kind in _MARKS.items():
        _write_points(name, [mark.point for mark in node.marks if mark.kind is kind], ruleset, out)
    _write_labels(node, ruleset, out)
    if node.bookmarked:
        out.append("HO[1]")
    if node.comment:
        out.append(f"C[{_escape_text(tidy(node.comment))}]")
    for name, values in kept.items():
        if _NAME.fullmatch(name) and name not in _NODE_PROPERTIES:
            out.append(name + "".join(f"[{_terminated(value)}]" for value in values or ("",)))


def _write_clocks(node: Node, out: list[str]) -> None:
    if not node.moves:
        return
    if node.time_ms is not None:
        out.append(f"EMT[{_decimal(node.time_ms / 1000, 3)}]")
    if node.clock_ms is not None:
        out.append(f"{_LETTERS[node.moves[-1].colour]}L[{_decimal(node.clock_ms / 1000, 3)}]")


def _write_labels(node: Node, ruleset: Ruleset, out: list[str]) -> None:
    own = _labelled_point(node)
    labels = [(mark.point, mark.text) for mark in node.marks if mark.kind is MarkKind.LABEL]
    if node.label and own is not None:
        labels.insert(0, (own, node.label))
    elif node.label:
        out.append(f"N[{_escape_text(tidy_line(node.label))}]")
    if labels:
        values = "".join(f"[{_letters(point, ruleset)}:{escape(tidy_line(text))}]" for point, text in labels)
        out.append(f"LB{values}")


def _write_points(name: str, points: Iterable[Point], ruleset: Ruleset, out: list[str]) -> None:
    values = "".join(f"[{_letters(point, ruleset)}]" for point in points)
    if values:
        out.append(name + values)


def _letters(point: Point, ruleset: Ruleset) -> str:
    assert ruleset.height <= MAX_SIZE
    return chr(ord("a") + point.x) + chr(ord("a") + ruleset.height - 1 - point.y)


def _escape_text(text: str) -> str:
    return text.replace("\\", "\\\\").replace("]", "\\]")


def _terminated(raw: str) -> str:
    """Return a stored raw value, escaped if a bracket in it would end it early (possible if it was set by code)."""
    return raw if _VALUE.fullmatch(f"[{raw}]") else _escape_text(raw)


def _decimal(number: float, places: int) -> str:
    text = f"{number:.{places}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
