"""PNG pictures of positions, rendered from SVG."""

from __future__ import annotations

from tengen.core.board_picture import PictureOptions, draw_svg
from tengen.core.position import Position

_ZOOM = 1.25
"""Pixels per SVG unit; the picture of a 15×15 board measures 640×640 pixels."""


def draw_png(position: Position, options: PictureOptions | None = None, *, zoom: float = _ZOOM) -> bytes:
    """Return the bytes of a PNG picture of a position. Drawing coordinates and numbers requires a system font."""
    import resvg_py

    return bytes(resvg_py.svg_to_bytes(svg_string=draw_svg(position, options), zoom=zoom))
