"""Positions as input planes for networks.

A layout defines what each plane contains; all layouts are in `cpp/core/plane_layout.h`. Planes are float32
[C, height, width], with row 0 at the bottom of the drawing.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from tengen import _native
from tengen._native import PlaneLayout, write_game_planes, write_planes
from tengen.core.contracts import Colour, Ruleset
from tengen.core.native_enums import colour_to_native
from tengen.core.position import Position
from tengen.errors import InputError, RulesetError

FloatPlanes = npt.NDArray[np.float32]

_LAYOUTS: dict[str, PlaneLayout] = {layout.name.lower().replace("_", "-"): layout for layout in PlaneLayout}


def layouts() -> tuple[str, ...]:
    """Return the names of all layouts."""
    return tuple(_LAYOUTS)


def native_layout(layout: str) -> PlaneLayout:
    """Look up a layout by its name."""
    try:
        return _LAYOUTS[layout]
    except KeyError:
        raise InputError(f"unknown plane layout {layout!r} (known: {', '.join(_LAYOUTS)})") from None


def plane_count(layout: str) -> int:
    """Return the number of planes C in a layout."""
    return _native.plane_count(native_layout(layout))


def check_layout(layout: str, ruleset: Ruleset) -> None:
    """Raise an error if the layout is unknown or does not support the ruleset."""
    if _native.needs_patterns(native_layout(layout)) and ruleset.win_length not in (4, 5):
        raise RulesetError(
            f"plane layout {layout!r} requires a win length of 4 or 5, but {ruleset} has {ruleset.win_length}"
        )


def encode(position: Position, layout: str, viewer: Colour | None = None) -> FloatPlanes:
    """Return the planes [C, height, width] of one position for `viewer` (default: the side to move)."""
    check_layout(layout, position.ruleset)
    planes = np.empty((plane_count(layout), position.ruleset.height, position.ruleset.width), np.float32)
    write_planes(position.native, native_layout(layout), colour_to_native(viewer or position.to_move), planes)
    return planes


def encode_batch(positions: Sequence[Position], layout: str) -> FloatPlanes:
    """Return the planes [B, C, height, width] of positions that all have the same board size."""
    return np.stack([encode(position, layout) for position in positions])


def encode_games(
    ruleset: Ruleset, moves: npt.NDArray[np.uint16], counts: npt.NDArray[np.int32], layout: str
) -> FloatPlanes:
    """Return the planes [B, C, height, width] of games, each after its first `counts` [B] moves.

    `moves` [B, L] contains point indices. Releases the GIL and takes about 20 µs per position for layouts with threats.
    Fouls are not checked.
    """
    check_layout(layout, ruleset)
    planes = np.empty((len(moves), plane_count(layout), ruleset.height, ruleset.width), np.float32)
    try:
        write_game_planes(Position.start(ruleset).native, native_layout(layout), moves, counts, planes)
    except ValueError as error:
        raise InputError(f"cannot encode {ruleset} games as planes: {error}") from None
    return planes
