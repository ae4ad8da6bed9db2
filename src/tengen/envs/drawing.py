"""Draws a board as an image, using only NumPy."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from tengen.core.board_picture import marked_points, star_points
from tengen.core.contracts import Colour, Ruleset
from tengen.core.geometry import Point
from tengen.core.position import Position

Image = npt.NDArray[np.uint8]

CELL = 32
"""Distance between adjacent lines, in pixels."""

_WOOD = (222, 184, 120)
_LINE = (92, 64, 32)
_STONES = {Colour.BLACK: (24, 24, 24), Colour.WHITE: (245, 245, 240)}
_EDGE = (48, 48, 48)
_MARK = (214, 40, 40)


def draw_board(position: Position, cell: int = CELL) -> Image:
    """Draw the board as uint8 [height·cell, width·cell, 3], row 1 at the bottom.

    A red dot marks the last move, or every stone in the winning line.
    """
    image = _empty_board(position.ruleset, cell).copy()
    for colour in Colour:
        for point in position.points_of(colour):
            _draw_disc(image, position.ruleset, point, cell, 0.46, _EDGE)
            _draw_disc(image, position.ruleset, point, cell, 0.42, _STONES[colour])
    for point in marked_points(position):
        _draw_disc(image, position.ruleset, point, cell, 0.14, _MARK)
    return image


@lru_cache(maxsize=16)
def _empty_board(ruleset: Ruleset, cell: int) -> Image:
    height, width = ruleset.height, ruleset.width
    image = np.empty((height * cell, width * cell, 3), dtype=np.uint8)
    image[:] = _WOOD
    middle = cell // 2
    image[middle::cell, middle : middle + (width - 1) * cell + 1] = _LINE
    image[middle : middle + (height - 1) * cell + 1, middle::cell] = _LINE
    for point in star_points(ruleset):
        _draw_disc(image, ruleset, point, cell, 0.1, _LINE)
    return image


def _draw_disc(
    image: Image, ruleset: Ruleset, point: Point, cell: int, radius: float, colour: tuple[int, int, int]
) -> None:
    """Draw a disc on a point; the radius is in cells."""
    top, left = (ruleset.height - 1 - point.y) * cell, point.x * cell
    tile = image[top : top + cell, left : left + cell]
    cover = _disc_cover(cell, radius)
    tile[:] = (tile * (1 - cover) + np.array(colour) * cover + 0.5).astype(np.uint8)


@lru_cache(maxsize=64)
def _disc_cover(cell: int, radius: float) -> npt.NDArray[np.float64]:
    """Return the coverage of each pixel by a centred, anti-aliased disc: float [cell, cell, 1]."""
    offsets = np.arange(cell) - cell // 2
    distance = np.hypot(offsets[:, None], offsets[None, :])
    return np.clip(radius * cell - distance + 0.5, 0.0, 1.0)[..., None]
