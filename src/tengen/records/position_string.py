"""Position strings, `h8i9j10…`: the moves of a game as people paste them into chats, bug reports and URLs.

Black and white alternate, starting with black; `--` is a pass. An optional prefix names the ruleset: `15/renju/h8i9`,
or the full text form `15x15:5:renju:swap2/h8i9`. A file has one string per line; blank lines and lines that start with
`#` are skipped.

Rows are counted from the bottom, as everywhere in Tengen. Piskvork and related tools count them from the top. Pass
`rows="top"` for their strings; otherwise the position appears upside down (which is the same game mirrored).

Some renju programs use the extension `.pos` for a small binary format instead; `read_packed` reads it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal

from tengen.core.contracts import Opening, Rule, Ruleset
from tengen.core.geometry import Point
from tengen.errors import InputError, RecordError
from tengen.records.features import Feature
from tengen.records.game import PASS, GameRecord, collect, main_plies, ruleset_of
from tengen.records.limits import MAX_DEPTH
from tengen.records.report import DAMAGED_LINES
from tengen.records.text import shorten, split_lines, text_chunks

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tengen.records.report import ReadReport

Rows = Literal["bottom", "top"]
"""Whether row 1 is at the bottom or the top of the board."""

HOLDS = frozenset({Feature.RULE, Feature.EMPTY_NODE})
"""Content that a position string preserves. Comments and marks on empty nodes are counted separately."""

PACKED_SIZE = 15

# Possessive quantifiers never backtrack, so the patterns take linear time on any text.
_STEP = re.compile(r"\s*+,?+\s*+(?:([a-z])([1-9][0-9]?)|(--))", re.ASCII)
_BINARY_BYTE = re.compile(rb"[^\t\n\r -~]")
_REST = re.compile(r"[\s,]*+")
_PREFIX = re.compile(r"\s*+([^/]*+)/(?:([a-z-]++)/)?", re.ASCII)


def parse(text: str, *, ruleset: Ruleset | None = None, rows: Rows = "bottom") -> GameRecord:
    """Parse one position string. `ruleset` applies to strings without a prefix (default: 15x15 freestyle).

    >>> parse("15/renju/h8i9--j10").moves()[-1]
    Move(colour=<Colour.WHITE: 'white'>, point=Point('j10'))
    """
    lowered = text.lower()
    prefix = _PREFIX.match(lowered)
    offset = prefix.end() if prefix else 0
    rules = _parse_prefix(prefix, ruleset) if prefix else ruleset or Ruleset()
    points: list[Point | None] = []
    seen: set[Point] = set()
    while offset < len(lowered):
        step = _STEP.match(lowered, offset)
        if step is None:
            offset = _skip_blank(lowered, offset)
            if offset == len(lowered):
                break
            raise RecordError(f"column {offset + 1}: not a point: {shorten(text[offset:], 12)!r}")
        point = _point(step, rules, rows)
        if point is not None and point in seen:
            raise RecordError(f"column {step.start(1) + 1}: {step[1]}{step[2]} is played twice")
        if point is not None:
            seen.add(point)
        points.append(point)
        if len(points) > MAX_DEPTH:
            raise RecordError(f"column {offset + 1}: the game has more than {MAX_DEPTH} moves")
        offset = step.end()
    return GameRecord.from_points(rules, points)


def _skip_blank(text: str, offset: int) -> int:
    match = _REST.match(text, offset)
    return match.end() if match else offset


def _point(step: re.Match[str], ruleset: Ruleset, rows: Rows) -> Point | None:
    if step[3]:
        return None
    x, y = ord(step[1]) - ord("a"), int(step[2]) - 1
    if x >= ruleset.width or y >= ruleset.height:
        size = f"{ruleset.width}x{ruleset.height}"
        raise RecordError(f"column {step.start(1) + 1}: {step[1]}{step[2]} is not on a {size} board")
    return Point.at(x, y if rows == "bottom" else ruleset.height - 1 - y)


def _parse_prefix(prefix: re.Match[str], default: Ruleset | None) -> Ruleset:
    size, rule = prefix[1].strip(), prefix[2]
    try:
        if rule:
            return Ruleset.parse(f"{size}:5:{rule}")
        stated = Ruleset.parse(size)
        if ":" in size:
            return stated
        return ruleset_of(stated.width, stated.height, default)
    except InputError as error:
        raise RecordError(f"column 1: prefix {shorten(prefix[0])!r}: {error}") from None


def prefix_of(ruleset: Ruleset) -> str:
    """Return the prefix for a ruleset, in short form for five in a row on a square board with a free opening."""
    if ruleset.is_square and ruleset.win_length == 5 and ruleset.opening is Opening.FREE:
        return f"{ruleset.width}/{ruleset.rule}/"
    return f"{ruleset}/"


def format_record(record: GameRecord, *, rows: Rows = "bottom", prefix: bool = True) -> str:
    """Return the main line as a position string.

    >>> format_record(parse("h8i9"), rows="top")
    '15/freestyle/h8i7'
    """
    names = [PASS if point is None else _name(point, record.ruleset, rows) for point in main_plies(record, passes=True)]
    return (prefix_of(record.ruleset) if prefix else "") + "".join(names)


def _name(point: Point, ruleset: Ruleset, rows: Rows) -> str:
    return point if rows == "bottom" else Point.at(point.x, ruleset.height - 1 - point.y)


def read(data: bytes | str, *, ruleset: Ruleset | None = None, rows: Rows = "bottom") -> list[GameRecord]:
    """Read a file of position strings, one per line."""
    return collect(iterate_lines(split_lines(text_chunks(data)), ruleset=ruleset, rows=rows))


def iterate_lines(
    lines: Iterable[str],
    *,
    ruleset: Ruleset | None = None,
    rows: Rows = "bottom",
    damage: ReadReport | None = None,
) -> Iterator[GameRecord]:
    """Yield the games in a file of position strings.

    Damaged lines are counted in `damage`; if it is None, they raise an error.
    """
    for number, line in enumerate(lines, start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        try:
            game = parse(line, ruleset=ruleset, rows=rows)
        except RecordError as error:
            if damage is None:
                raise RecordError(f"line {number}, {error}") from None
            damage.skip(DAMAGED_LINES, f"line {number}, {error}")
            continue
        yield game


def is_packed(data: bytes) -> bool:
    """Return whether a `.pos` file has the binary format of renju programs; text files never match."""
    return len(data) > 1 and 0 < data[0] < len(data) and _BINARY_BYTE.search(data) is not None


def read_packed(data: bytes, *, ruleset: Ruleset | None = None) -> list[GameRecord]:
    """Read a binary `.pos` file: the number of moves, then 15·row + column for each move, with row 0 at the top.

    The board is always 15x15. The rule comes from `ruleset` (default: renju).
    """
    rules = ruleset_of(PACKED_SIZE, PACKED_SIZE, ruleset, Rule.RENJU)
    count = data[0] if data else 0
    if not 0 < count < len(data):
        raise RecordError(f"offset 0x0: the file claims {count} moves but has only {len(data)} bytes")
    points: list[Point | None] = []
    for offset, index in enumerate(data[1 : count + 1], start=1):
        row, x = divmod(index, PACKED_SIZE)
        if row >= PACKED_SIZE:
            raise RecordError(f"offset {offset:#x}: {index} is not a point on the 15x15 board")
        point = Point.at(x, PACKED_SIZE - 1 - row)
        if point in points:
            raise RecordError(f"offset {offset:#x}: {point} is played twice")
        points.append(point)
    return [GameRecord.from_points(rules, points)]


def write(records: Iterable[GameRecord], *, rows: Rows = "bottom", prefix: bool = True) -> bytes:
    """Write one line per game; `prefix` adds the ruleset to each line."""
    lines = [format_record(record, rows=rows, prefix=prefix) + "\n" for record in records]
    return "".join(lines).encode("ascii")
