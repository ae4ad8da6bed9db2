"""Positions as input planes of networks.

A layout names what each plane holds. Planes are float32 [C, height, width], row 0 at the bottom of the drawing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from tengen.core.contracts import Colour
from tengen.core.position import Position
from tengen.errors import InputError

FloatPlanes = npt.NDArray[np.float32]


def _board(position: Position, viewer: Colour) -> list[FloatPlanes]:
    own, other = _own_and_other(position, viewer)
    return [own - other]


def _zero9(position: Position, viewer: Colour) -> list[FloatPlanes]:
    own, other = _own_and_other(position, viewer)
    last = np.zeros_like(own)
    move = position.last_move
    if move is not None:
        last[move.y, move.x] = 1.0
    black = np.full_like(own, 1.0 if viewer is Colour.BLACK else 0.0)
    return [own, other, last, black]


def _pg9(position: Position, viewer: Colour) -> list[FloatPlanes]:
    cells = position.cells()
    return [(cells == 1).astype(np.float32), (cells == 2).astype(np.float32), (cells != 0).astype(np.float32)]


def _own_and_other(position: Position, viewer: Colour) -> tuple[FloatPlanes, FloatPlanes]:
    cells = position.cells()
    black, white = (cells == 1).astype(np.float32), (cells == 2).astype(np.float32)
    return (black, white) if viewer is Colour.BLACK else (white, black)


_LAYOUTS: dict[str, tuple[int, Callable[[Position, Colour], list[FloatPlanes]]]] = {
    # Own stones +1, the opponent's -1: model I of zero9, and the input of pg9's network.
    "board": (1, _board),
    # Own, opponent's, the last move, all ones when black is to move: model II of zero9, alphagomoku8.
    "own-other-last-colour": (4, _zero9),
    # Black, white, occupied: the state of pg9's environment.
    "black-white-occupied": (3, _pg9),
}


def layouts() -> tuple[str, ...]:
    """The names of all layouts."""
    return tuple(_LAYOUTS)


def plane_count(layout: str) -> int:
    """The number of planes C of a layout."""
    return _layout(layout)[0]


def encode(position: Position, layout: str, viewer: Colour | None = None) -> FloatPlanes:
    """One position → [C, height, width], seen by the side to move unless another `viewer` is named."""
    return np.stack(_layout(layout)[1](position, viewer or position.to_move))


def encode_batch(positions: Sequence[Position], layout: str) -> FloatPlanes:
    """Positions of one board size → [B, C, height, width]."""
    return np.stack([encode(position, layout) for position in positions])


def _layout(name: str) -> tuple[int, Callable[[Position, Colour], list[FloatPlanes]]]:
    try:
        return _LAYOUTS[name]
    except KeyError:
        raise InputError(f"unknown plane layout {name!r} (known: {', '.join(_LAYOUTS)})") from None
