"""Points of the board and their names.

A point is its name: `Point("h8")` is a `str` with two attributes, its column `x` and its row `y`. Columns are lettered
a, b, c, … from the left; rows are numbered 1, 2, 3, … from the **bottom**, as in renju books. So `a1` is the lower left
corner, x = y = 0. On a board of width w, the *index* of a point is y·w + x. Arrays over the board have shape
[height, width], with row 0 at the bottom of the drawing.
"""

from __future__ import annotations

import re

from tengen.errors import NotationError

MIN_SIZE = 3
MAX_SIZE = 22

_NAME = re.compile(r"([a-z])([1-9][0-9]?)", re.ASCII)


class Point(str):
    """One point of a board, written as column letter and row number.

    >>> Point("H8")
    Point('h8')
    >>> Point("h8").x, Point("h8").y, Point("h8") == "h8"
    (7, 7, True)
    """

    __slots__ = ("x", "y")

    x: int
    """Column from the left, 0 for `a`."""
    y: int
    """Row from the bottom, 0 for row 1."""

    def __new__(cls, name: str) -> Point:
        if isinstance(name, Point):
            return name
        match = _NAME.fullmatch(name.strip().lower()) if isinstance(name, str) else None
        if match is None:
            raise NotationError(f"not a point: {name!r} (expected a column letter and a row number, such as 'h8')")
        x, y = ord(match[1]) - ord("a"), int(match[2]) - 1
        if x >= MAX_SIZE or y >= MAX_SIZE:
            last = chr(ord("a") + MAX_SIZE - 1)
            raise NotationError(
                f"no board has a point {match[0]}: columns run from a to {last}, rows from 1 to {MAX_SIZE}"
            )
        return _POINTS[y][x]

    @classmethod
    def at(cls, x: int, y: int) -> Point:
        """The point in column `x` from the left and row `y` from the bottom, both counted from 0."""
        if 0 <= x < MAX_SIZE and 0 <= y < MAX_SIZE:
            return _POINTS[y][x]
        raise NotationError(f"no board has a point at column {x}, row {y} (both run from 0 to {MAX_SIZE - 1})")

    @classmethod
    def from_index(cls, index: int, width: int) -> Point:
        """The point with the given index on a board of the given width."""
        y, x = divmod(index, width)
        return cls.at(x, y)

    def index(self, width: int) -> int:  # type: ignore[override]
        """The point's index y·width + x on a board of the given width."""
        return self.y * width + self.x

    def __repr__(self) -> str:
        return f"Point({str.__repr__(self)})"

    def __reduce__(self) -> tuple[type[Point], tuple[str]]:
        return Point, (str(self),)


def _make_point(x: int, y: int) -> Point:
    point = str.__new__(Point, f"{chr(ord('a') + x)}{y + 1}")
    point.x, point.y = x, y
    return point


_POINTS = tuple(tuple(_make_point(x, y) for x in range(MAX_SIZE)) for y in range(MAX_SIZE))


def parse_points(text: str) -> tuple[Point, ...]:
    """Split a string of point names such as `h8i9 j10` into points; whitespace and commas are ignored.

    >>> parse_points("h8i9 j10")
    (Point('h8'), Point('i9'), Point('j10'))
    """
    points: list[Point] = []
    lowered = text.lower()
    offset = 0
    while offset < len(lowered):
        if lowered[offset] in " \t\r\n,":
            offset += 1
            continue
        match = _NAME.match(lowered, offset)
        if match is None:
            shown = text if len(text) <= 60 else text[:60] + "…"
            raise NotationError(f"invalid point at offset {offset} of {shown!r}: {text[offset : offset + 8]!r}")
        points.append(Point(match[0]))
        offset = match.end()
    return tuple(points)
