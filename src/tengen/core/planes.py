"""Positions as input planes of networks.

A layout names what each plane holds. Planes are float32 [C, height, width], row 0 at the bottom of the drawing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from tengen._native import PlaneLayout, write_game_planes, write_planes
from tengen.core.contracts import Colour, Ruleset
from tengen.core.position import Position
from tengen.errors import InputError, RulesetError

FloatPlanes = npt.NDArray[np.float32]


def _board(position: Position, viewer: Colour) -> list[FloatPlanes]:
    own, other = _own_and_other(position, viewer)
    return [own - other]


def _zero9(position: Position, viewer: Colour) -> list[FloatPlanes]:
    return [*_own_and_other(position, viewer), _move(position, 1), _colour(position, viewer)]


def _own_other(position: Position, viewer: Colour) -> list[FloatPlanes]:
    return [*_own_and_other(position, viewer)]


def _stones(position: Position, viewer: Colour) -> list[FloatPlanes]:
    own_and_other = _own_and_other(position, viewer)
    return [*own_and_other, _colour(position, viewer), _move(position, 1), _move(position, 2)]


def _threats(position: Position, viewer: Colour) -> list[FloatPlanes]:
    """Shapes live in native code, and so does this layout."""
    check_layout("threats", position.ruleset)
    height, width = position.cells().shape
    planes = np.empty((plane_count("threats"), height, width), dtype=np.float32)
    write_planes(position.native, PlaneLayout.THREATS, 0 if viewer is Colour.BLACK else 1, planes)
    return list(planes)


def _threats_last(position: Position, viewer: Colour) -> list[FloatPlanes]:
    return [*_threats(position, viewer), _move(position, 1), _move(position, 2)]


def _pg9(position: Position, viewer: Colour) -> list[FloatPlanes]:
    cells = position.cells()
    return [(cells == 1).astype(np.float32), (cells == 2).astype(np.float32), (cells != 0).astype(np.float32)]


def _own_and_other(position: Position, viewer: Colour) -> tuple[FloatPlanes, FloatPlanes]:
    cells = position.cells()
    black, white = (cells == 1).astype(np.float32), (cells == 2).astype(np.float32)
    return (black, white) if viewer is Colour.BLACK else (white, black)


def _colour(position: Position, viewer: Colour) -> FloatPlanes:
    return np.full(position.cells().shape, 1.0 if viewer is Colour.BLACK else 0.0, dtype=np.float32)


def _move(position: Position, plies_ago: int) -> FloatPlanes:
    """A single 1 on the point of that move; nothing when there was none."""
    plane = np.zeros(position.cells().shape, dtype=np.float32)
    moves = position.moves
    if len(moves) >= plies_ago:
        point = moves[-plies_ago]
        plane[point.y, point.x] = 1.0
    return plane


_LAYOUTS: dict[str, tuple[int, Callable[[Position, Colour], list[FloatPlanes]]]] = {
    # Own stones +1, the opponent's -1: model I of zero9, and the input of pg9's network.
    "board": (1, _board),
    # Own, opponent's: the recurrent network of stanford15.
    "own-other": (2, _own_other),
    # Own, opponent's, the last move, all ones when black is to move: model II of zero9, alphagomoku8.
    "own-other-last-colour": (4, _zero9),
    # Black, white, occupied: the state of pg9's environment.
    "black-white-occupied": (3, _pg9),
    # Own, opponent's, all ones when black is to move, the last move, the move before it.
    "stones": (5, _stones),
    # Own, opponent's, all ones when black is to move; the empty points where an own stone would make five, an open four
    # (or two fours), a lesser four, an open three; the same four for the opponent's stones; points that may be a foul
    # for black in renju. It shows no history, so that positions reached by another order of moves look the same.
    "threats": (12, _threats),
    # The same with the last move and the move before it: people answer where the last stone was played.
    "threats-last": (14, _threats_last),
}

_NATIVE = {
    "board": PlaneLayout.BOARD,
    "own-other": PlaneLayout.OWN_OTHER,
    "own-other-last-colour": PlaneLayout.OWN_OTHER_LAST_COLOUR,
    "black-white-occupied": PlaneLayout.BLACK_WHITE_OCCUPIED,
    "stones": PlaneLayout.STONES,
    "threats": PlaneLayout.THREATS,
    "threats-last": PlaneLayout.THREATS_LAST,
}


def layouts() -> tuple[str, ...]:
    """The names of all layouts."""
    return tuple(_LAYOUTS)


def plane_count(layout: str) -> int:
    """The number of planes C of a layout."""
    return _layout(layout)[0]


def check_layout(layout: str, ruleset: Ruleset) -> None:
    """Refuse a layout that does not exist, or does not exist under these rules."""
    plane_count(layout)
    if layout in ("threats", "threats-last") and ruleset.win_length not in (4, 5):
        raise RulesetError(f"plane layout {layout!r} needs win length 4 or 5, which {ruleset} has not")


def native_layout(layout: str) -> PlaneLayout:
    """The number by which native code knows a layout."""
    plane_count(layout)
    return _NATIVE[layout]


def encode(position: Position, layout: str, viewer: Colour | None = None) -> FloatPlanes:
    """One position → [C, height, width], seen by the side to move unless another `viewer` is named."""
    return np.stack(_layout(layout)[1](position, viewer or position.to_move))


def encode_batch(positions: Sequence[Position], layout: str) -> FloatPlanes:
    """Positions of one board size → [B, C, height, width]."""
    return np.stack([encode(position, layout) for position in positions])


def encode_games(
    ruleset: Ruleset, moves: npt.NDArray[np.uint16], counts: npt.NDArray[np.int32], layout: str
) -> FloatPlanes:
    """Games [B, L] as indices of points, each after its first `counts` [B] moves → [B, C, height, width].

    In native code, without the GIL: about 20 µs a position with threats. Fouls are not looked for.
    """
    check_layout(layout, ruleset)
    planes = np.empty((len(moves), plane_count(layout), ruleset.height, ruleset.width), np.float32)
    try:
        write_game_planes(Position.start(ruleset).native, native_layout(layout), moves, counts, planes)
    except ValueError as error:
        raise InputError(f"cannot show games of {ruleset} as planes: {error}") from None
    return planes


def _layout(name: str) -> tuple[int, Callable[[Position, Colour], list[FloatPlanes]]]:
    try:
        return _LAYOUTS[name]
    except KeyError:
        raise InputError(f"unknown plane layout {name!r} (known: {', '.join(_LAYOUTS)})") from None
