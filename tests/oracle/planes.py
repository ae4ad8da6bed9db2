"""Obvious implementations of the input planes, which `cpp/core/plane_layout.h` must match.

The threat planes are not here: tests/core/test_planes.py builds them from the shapes of this folder.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tests.oracle.rules import BLACK, WHITE, Point, Stones, opponent

Plane = npt.NDArray[np.float32]


@dataclass(frozen=True)
class View:
    """The stones and moves of a game, as one of the two players sees them."""

    width: int
    height: int
    stones: Stones
    moves: Sequence[Point]
    viewer: str


def _stones(view: View, colour: str) -> Plane:
    plane = np.zeros((view.height, view.width), np.float32)
    for (x, y), owner in view.stones.items():
        plane[y, x] = owner == colour
    return plane


def _own_and_other(view: View) -> list[Plane]:
    return [_stones(view, view.viewer), _stones(view, opponent(view.viewer))]


def _viewer_is_black(view: View) -> Plane:
    return np.full((view.height, view.width), view.viewer == BLACK, np.float32)


def _move(view: View, plies_ago: int) -> Plane:
    """Return a plane with a 1 on the point of that move; all zeros if there was none."""
    plane = np.zeros((view.height, view.width), np.float32)
    if len(view.moves) >= plies_ago:
        x, y = view.moves[-plies_ago]
        plane[y, x] = 1.0
    return plane


def _board(view: View) -> list[Plane]:
    own, other = _own_and_other(view)
    return [own - other]


def _own_other_last_colour(view: View) -> list[Plane]:
    return [*_own_and_other(view), _move(view, 1), _viewer_is_black(view)]


def _black_white_occupied(view: View) -> list[Plane]:
    black, white = _stones(view, BLACK), _stones(view, WHITE)
    return [black, white, black + white]


def _stones_and_moves(view: View) -> list[Plane]:
    return [*_own_and_other(view), _viewer_is_black(view), _move(view, 1), _move(view, 2)]


LAYOUTS: dict[str, Callable[[View], list[Plane]]] = {
    "board": _board,
    "own-other": _own_and_other,
    "own-other-last-colour": _own_other_last_colour,
    "black-white-occupied": _black_white_occupied,
    "stones": _stones_and_moves,
}


def encode_slowly(view: View, layout: str) -> Plane:
    """Return the planes [C, height, width] of a layout without threats."""
    return np.stack(LAYOUTS[layout](view))
