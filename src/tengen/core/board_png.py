"""The picture of a position as PNG, rendered from its SVG."""

from __future__ import annotations

from tengen.core.board_picture import PictureOptions, draw_svg
from tengen.core.position import Position

_ZOOM = 1.25
"""Pixels per unit of the SVG; a 15×15 board has 640 pixels on each side."""


def draw_png(position: Position, options: PictureOptions | None = None, *, zoom: float = _ZOOM) -> bytes:
    """Draw a position as the bytes of a PNG file. Coordinates and numbers need a font of the system."""
    import resvg_py

    return bytes(resvg_py.svg_to_bytes(svg_string=draw_svg(position, options), zoom=zoom))
