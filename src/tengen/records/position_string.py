"""Position strings, `h8i9j10…`: the moves of a game as people paste them into chats, bug reports and URLs.

Black and white alternate from black; `--` passes. An optional prefix names the ruleset: `15/renju/h8i9`, or the full
text form `15x15:5:renju:swap2/h8i9`. A file holds one string per line; blank lines and lines that begin with `#` are
skipped.

Rows run from the bottom, as everywhere in Tengen. Tools of the Piskvork family count them from the top instead: pass
`rows="top"` for those, or the position appears upside down (which is the same game mirrored).

Some renju programs give the ending `.pos` to a small binary file instead; `read_packed` reads it.
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
from tengen.records.text import as_text, shorten, split_lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tengen.records.report import ReadReport

Rows = Literal["bottom", "top"]
"""Where row 1 is."""

HOLDS = frozenset({Feature.RULE, Feature.EMPTY_NODE})
"""Of a node without a move nothing is lost but its remarks, which count by themselves."""

PACKED_SIZE = 15

# Possessive quantifiers never backtrack, so the patterns take linear time on any text.
_STEP = re.compile(r"\s*+,?+\s*+(?:([a-z])([1-9][0-9]?)|(--))", re.ASCII)
_NO_TEXT = re.compile(rb"[^\t\n\r -~]")
_REST = re.compile(r"[\s,]*+")
_PREFIX = re.compile(r"\s*+([^/]*+)/(?:([a-z-]++)/)?", re.ASCII)


def parse(text: str, *, ruleset: Ruleset | None = None, rows: Rows = "bottom") -> GameRecord:
    """Read one position string; `ruleset` is that of strings without a prefix (15x15 freestyle by default).

    >>> parse("15/renju/h8i9--j10").moves()[-1]
    Move(colour=<Colour.WHITE: 'white'>, point=Point('j10'))
    """
    lowered = text.lower()
    prefix = _PREFIX.match(lowered)
    place = prefix.end() if prefix else 0
    rules = _parse_prefix(prefix, ruleset) if prefix else ruleset or Ruleset()
    points: list[Point | None] = []
    seen: set[Point] = set()
    while place < len(lowered):
        step = _STEP.match(lowered, place)
        if step is None:
            place = _skip_blank(lowered, place)
            if place == len(lowered):
                break
            raise RecordError(f"column {place + 1}: not a point: {shorten(text[place:], 12)!r}")
        point = _point(step, rules, rows)
        if point is not None and point in seen:
            raise RecordError(f"column {step.start(1) + 1}: {step[1]}{step[2]} is played twice")
        if point is not None:
            seen.add(point)
        points.append(point)
        if len(points) > MAX_DEPTH:
            raise RecordError(f"column {place + 1}: more than {MAX_DEPTH} moves")
        place = step.end()
    return GameRecord.from_points(rules, points)


def _skip_blank(text: str, place: int) -> int:
    match = _REST.match(text, place)
    return match.end() if match else place


def _point(step: re.Match[str], ruleset: Ruleset, rows: Rows) -> Point | None:
    if step[3]:
        return None
    x, y = ord(step[1]) - ord("a"), int(step[2]) - 1
    if x >= ruleset.width or y >= ruleset.height:
        size = f"{ruleset.width}x{ruleset.height}"
        raise RecordError(f"column {step.start(1) + 1}: {step[1]}{step[2]} is not on a {size} board")
    return Point.at(x, y if rows == "bottom" else ruleset.height - 1 - y)


def _parse_prefix(prefix: re.Match[str], like: Ruleset | None) -> Ruleset:
    size, rule = prefix[1].strip(), prefix[2]
    try:
        if rule:
            return Ruleset.parse(f"{size}:5:{rule}")
        stated = Ruleset.parse(size)
        if ":" in size:
            return stated
        return ruleset_of(stated.width, stated.height, like)
    except InputError as error:
        raise RecordError(f"column 1: prefix {shorten(prefix[0])!r}: {error}") from None


def prefix_of(ruleset: Ruleset) -> str:
    """The prefix that names the ruleset: short for square boards with five in a row and free opening."""
    if ruleset.is_square and ruleset.win_length == 5 and ruleset.opening is Opening.FREE:
        return f"{ruleset.width}/{ruleset.rule}/"
    return f"{ruleset}/"


def format_record(record: GameRecord, *, rows: Rows = "bottom", prefix: bool = True) -> str:
    """The main line as a position string.

    >>> format_record(parse("h8i9"), rows="top")
    '15/freestyle/h8i7'
    """
    names = [PASS if point is None else _name(point, record.ruleset, rows) for point in main_plies(record, passes=True)]
    return (prefix_of(record.ruleset) if prefix else "") + "".join(names)


def _name(point: Point, ruleset: Ruleset, rows: Rows) -> str:
    return point if rows == "bottom" else Point.at(point.x, ruleset.height - 1 - point.y)


def read(data: bytes | str, *, ruleset: Ruleset | None = None, rows: Rows = "bottom") -> list[GameRecord]:
    """Read a file of position strings, one per line."""
    return collect(iterate_lines(split_lines(as_text(data)), ruleset=ruleset, rows=rows))


def iterate_lines(
    lines: Iterable[str],
    *,
    ruleset: Ruleset | None = None,
    rows: Rows = "bottom",
    damage: ReadReport | None = None,
) -> Iterator[GameRecord]:
    """The games of a file of position strings one by one; damaged lines are counted in `damage` if it is given."""
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
    """Whether a `.pos` file is the binary one of renju programs, which no text could be."""
    return len(data) > 1 and 0 < data[0] < len(data) and _NO_TEXT.search(data) is not None


def read_packed(data: bytes, *, ruleset: Ruleset | None = None) -> list[GameRecord]:
    """Read a binary `.pos` file: the number of moves, then 15·row + column for each, row 0 at the top.

    It is a game of renju unless `ruleset` says otherwise; the board is always 15x15.
    """
    rules = ruleset_of(PACKED_SIZE, PACKED_SIZE, ruleset, Rule.RENJU)
    count = data[0] if data else 0
    if not 0 < count < len(data):
        raise RecordError(f"offset 0x0: {count} moves do not fit into {len(data)} bytes")
    points: list[Point | None] = []
    for offset, index in enumerate(data[1 : count + 1], start=1):
        row, x = divmod(index, PACKED_SIZE)
        if row >= PACKED_SIZE:
            raise RecordError(f"offset {offset:#x}: {index} is not a point of the 15x15 board")
        point = Point.at(x, PACKED_SIZE - 1 - row)
        if point in points:
            raise RecordError(f"offset {offset:#x}: {point} is played twice")
        points.append(point)
    return [GameRecord.from_points(rules, points)]


def write(records: Iterable[GameRecord], *, rows: Rows = "bottom", prefix: bool = True) -> bytes:
    """One line per game, each with its prefix unless told otherwise."""
    lines = [format_record(record, rows=rows, prefix=prefix) + "\n" for record in records]
    return "".join(lines).encode("ascii")
