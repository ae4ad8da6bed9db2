"""Rules that the program by the authors of "Final report for Gomoku project" applies before its playouts.

In the report, these rules are part of every playout; the program applies them only at the root. As in the report, a
row counts whether its ends are open or blocked.
"""

from __future__ import annotations

import numpy as np

from tengen.core.contracts import Colour
from tengen.core.geometry import Point
from tengen.core.position import Position

_DIRECTIONS = ((1, 0), (0, 1), (1, 1), (1, -1))


def neighbours(position: Position) -> list[Point]:
    """Return the legal points next to a stone, in index order; on an empty board, the centre.

    If there are none, return all legal points.
    """
    ruleset = position.ruleset
    if not position.stones:
        centre = Point.at(ruleset.width // 2, ruleset.height // 2)
        return [centre] if position.is_legal(centre) else position.legal_points()
    near = np.zeros((ruleset.height + 2, ruleset.width + 2), dtype=bool)
    for y, x in np.argwhere(position.cells()):
        near[y : y + 3, x : x + 3] = True
    found = np.flatnonzero(position.legal_mask() & near[1:-1, 1:-1].ravel())
    return [Point.from_index(int(index), ruleset.width) for index in found] or position.legal_points()


def forced_point(position: Position) -> Point | None:
    """Return the first point that makes a five, blocks an enemy five, makes a four or blocks an enemy four.

    These are tried in this order. With win length k, a five has k stones and a four k − 1. Ties go to the lowest index.
    Returns None if no point qualifies.
    """
    own, enemy = (1, 2) if position.to_move is Colour.BLACK else (2, 1)
    cells, points = position.cells(), neighbours(position)
    rows = {side: [_longest_row(cells, point, side) for point in points] for side in (own, enemy)}
    for length in (position.ruleset.win_length, position.ruleset.win_length - 1):
        for side in (own, enemy):
            for point, row in zip(points, rows[side], strict=True):
                if row >= length:
                    return point
    return None


def _longest_row(cells: np.ndarray[tuple[int, int], np.dtype[np.uint8]], point: Point, side: int) -> int:
    """Return the length of the longest row that a stone on `point` would belong to."""
    height, width = cells.shape
    longest = 1
    for dx, dy in _DIRECTIONS:
        row = 1
        for sign in (1, -1):
            x, y = point.x + sign * dx, point.y + sign * dy
            while 0 <= x < width and 0 <= y < height and cells[y, x] == side:
                row += 1
                x, y = x + sign * dx, y + sign * dy
        longest = max(longest, row)
    return longest
