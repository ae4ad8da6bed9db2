"""Board symmetries: eight for a square board, four for a rectangular one.

A symmetry is a number from 0 to 7. Bit 0 mirrors left and right, bit 1 mirrors up and down, and bit 2 then transposes
columns and rows (square boards only). 0 is the identity.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from tengen.core.contracts import Colour, Ruleset
from tengen.core.geometry import Point
from tengen.core.position import Position
from tengen.errors import RulesetError

T = TypeVar("T", bound=np.generic)


def symmetries(ruleset: Ruleset) -> range:
    """All symmetries of the board."""
    return range(8 if ruleset.is_square else 4)


def transform_point(point: Point, symmetry: int, ruleset: Ruleset) -> Point:
    """Return the image of a point under a symmetry.

    >>> transform_point(Point("a1"), 1, Ruleset(9, 9))
    Point('i1')
    """
    _check(symmetry, ruleset)
    x, y = point.x, point.y
    if symmetry & 1:
        x = ruleset.width - 1 - x
    if symmetry & 2:
        y = ruleset.height - 1 - y
    if symmetry & 4:
        x, y = y, x
    return Point.at(x, y)


def inverse(symmetry: int) -> int:
    """Return the inverse symmetry. Only the two quarter turns are not their own inverses."""
    return {5: 6, 6: 5}.get(symmetry, symmetry)


@lru_cache(maxsize=256)
def permutation(symmetry: int, ruleset: Ruleset) -> npt.NDArray[np.intp]:
    """Return a read-only int array [area]: entry i is the index of the image of point i."""
    table = np.array(
        [
            transform_point(Point.from_index(i, ruleset.width), symmetry, ruleset).index(ruleset.width)
            for i in range(ruleset.area)
        ],
        dtype=np.intp,
    )
    table.setflags(write=False)
    return table


def transform_array(array: npt.NDArray[T], symmetry: int) -> npt.NDArray[T]:
    """Transform an array whose last two axes are [height, width]. The result is a view."""
    if symmetry & 1:
        array = array[..., ::-1]
    if symmetry & 2:
        array = array[..., ::-1, :]
    if symmetry & 4:
        array = np.swapaxes(array, -1, -2)
    return array


def transform_position(position: Position, symmetry: int) -> Position:
    """Return the mirrored or rotated position, including its move history."""
    ruleset = position.ruleset
    start = position.undo(len(position.moves))

    def moved(points: list[Point] | tuple[Point, ...]) -> list[Point]:
        return [transform_point(point, symmetry, ruleset) for point in points]

    result = Position.from_stones(
        ruleset,
        black=moved(start.points_of(Colour.BLACK)),
        white=moved(start.points_of(Colour.WHITE)),
        to_move=start.to_move,
    )
    for point in moved(position.moves):
        result = result.play(point)
    return result


def canonical_hash(position: Position) -> int:
    """Return the smallest hash over all symmetries; symmetric positions have the same canonical hash."""
    return min(transform_position(position, symmetry).hash for symmetry in symmetries(position.ruleset))


def _check(symmetry: int, ruleset: Ruleset) -> None:
    if symmetry not in symmetries(ruleset):
        raise RulesetError(f"symmetry {symmetry} does not fit a {ruleset.width}x{ruleset.height} board")
