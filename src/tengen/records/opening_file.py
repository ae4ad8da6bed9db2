"""Gomocup's opening files: one opening per line, as offsets from the centre.

A line is `dx,dy, dx,dy, …`, counted from the point (width//2, height//2). As in Piskvork, y grows **downwards**; rows
are flipped so that the board looks the same in Tengen. For openings written as position strings, see
`tengen.records.position_string`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tengen.core.contracts import Ruleset
from tengen.core.geometry import Point
from tengen.errors import RecordError
from tengen.records.features import Feature
from tengen.records.game import GameRecord, collect, main_plies
from tengen.records.limits import MAX_DEPTH
from tengen.records.text import as_text, shorten, split_lines, text_chunks

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

HOLDS = frozenset({Feature.EMPTY_NODE})

MAX_OFFSET = 50
"""Piskvork rejects offsets of this size or larger."""

_NUMBER = re.compile(r"[+-]?\d{1,4}", re.ASCII)
_OFFSET_LINE = re.compile(r"\s*[+-]?\d+\s*,", re.ASCII)


def is_offsets(data: bytes | str) -> bool:
    """Return whether the first line that is neither blank nor a comment starts with a number and a comma."""
    for line in as_text(data[:4096]).splitlines():
        if line.strip() and not line.lstrip().startswith("#"):
            return _OFFSET_LINE.match(line) is not None
    return False


def read_offsets(data: bytes | str, *, ruleset: Ruleset | None = None) -> list[GameRecord]:
    """Read a file of offsets for the board size of `ruleset` (default: 15x15 freestyle)."""
    return collect(iterate_offsets(split_lines(text_chunks(data)), ruleset=ruleset))


def iterate_offsets(lines: Iterable[str], *, ruleset: Ruleset | None = None) -> Iterator[GameRecord]:
    """Yield the openings in a file of offsets."""
    rules = ruleset or Ruleset()
    for number, line in enumerate(lines, start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        try:
            yield GameRecord.from_points(rules, _parse_offsets(line, rules))
        except RecordError as error:
            raise RecordError(f"line {number}: {error}") from None


def _parse_offsets(line: str, ruleset: Ruleset) -> list[Point | None]:
    fields = [field.strip() for field in line.split(",")]
    if fields[-1] == "":
        fields.pop()
    if len(fields) > 2 * MAX_DEPTH:
        raise RecordError(f"the opening has more than {MAX_DEPTH} stones")
    numbers: list[int] = []
    for field in fields:
        if not _NUMBER.fullmatch(field) or abs(int(field)) >= MAX_OFFSET:
            raise RecordError(f"not an offset between -{MAX_OFFSET - 1} and {MAX_OFFSET - 1}: {shorten(field)!r}")
        numbers.append(int(field))
    if len(numbers) % 2:
        raise RecordError(f"the offsets must come in pairs, but there are {len(numbers)} numbers")
    points: dict[Point | None, None] = {}
    for dx, dy in zip(numbers[::2], numbers[1::2], strict=True):
        point = _point(dx, dy, ruleset)
        if point in points:
            raise RecordError(f"{dx},{dy} ({point}) is played twice")
        points[point] = None
    return list(points)


def _point(dx: int, dy: int, ruleset: Ruleset) -> Point:
    x = ruleset.width // 2 + dx
    y = ruleset.height - 1 - (ruleset.height // 2 + dy)
    if not (0 <= x < ruleset.width and 0 <= y < ruleset.height):
        raise RecordError(f"{dx},{dy} is not on a {ruleset.width}x{ruleset.height} board")
    return Point.at(x, y)


def write_offsets(records: Iterable[GameRecord]) -> bytes:
    """Write one line of offsets per game."""
    lines: list[str] = []
    for record in records:
        width, height = record.ruleset.width, record.ruleset.height
        stones = [
            f"{point.x - width // 2},{height - 1 - point.y - height // 2}"
            for point in main_plies(record, passes=False)
            if point is not None
        ]
        lines.append(", ".join(stones) + "\n")
    return "".join(lines).encode("ascii")
