"""Pictures of a position as SVG text, with coordinates, move numbers and marks on points."""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from tengen.core.contracts import Colour, Ruleset
from tengen.core.geometry import Point
from tengen.core.position import Position

CELL = 32
"""Distance between adjacent points, in SVG units."""
STONE_RADIUS = 0.45
"""Radius of a stone as a fraction of `CELL`."""
WOOD, LINE, MARK = "#e4b96f", "#5c4020", "#d62828"
FILL = {Colour.BLACK: "#181818", Colour.WHITE: "#f7f7f2"}
TEXT_ON = {Colour.BLACK: "#f7f7f2", Colour.WHITE: "#181818"}


@dataclass(frozen=True, kw_only=True)
class PictureOptions:
    """Options for a picture: whether to draw move numbers and coordinates."""

    numbers: bool = False
    coordinates: bool = True


@dataclass(frozen=True)
class PointMark:
    """A disc with a short label on an empty point, such as the rank of a candidate move."""

    text: str
    colour: str = "#3a6ea5"
    """Fill colour in CSS notation."""


def draw_svg(
    position: Position, options: PictureOptions | None = None, marks: Mapping[Point, PointMark] | None = None
) -> str:
    """Return a picture of a position as SVG text. All text is escaped, so the picture is safe to embed in a page."""
    options = options or PictureOptions()
    ruleset = position.ruleset
    margin = 1.0 if options.coordinates else 0.6
    width, height = (ruleset.width - 1 + 2 * margin) * CELL, (ruleset.height - 1 + 2 * margin) * CELL
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" width="{width:g}"'
        f' height="{height:g}" font-family="sans-serif" font-size="{CELL * 0.4:g}" text-anchor="middle">'
    )
    parts = [
        head,
        f'<rect width="100%" height="100%" fill="{WOOD}"/>',
        f'<g transform="translate({margin * CELL:g} {margin * CELL:g})">',
        *_svg_lines(ruleset),
        *(_svg_coordinates(ruleset) if options.coordinates else ()),
        *_svg_stones(position, options),
        *_svg_marks(position.ruleset, marks or {}),
        "</g></svg>",
    ]
    return "\n".join(parts)


def _svg_lines(ruleset: Ruleset) -> Iterator[str]:
    right, bottom = (ruleset.width - 1) * CELL, (ruleset.height - 1) * CELL
    columns = "".join(f"M{x * CELL} 0V{bottom}" for x in range(ruleset.width))
    rows = "".join(f"M0 {y * CELL}H{right}" for y in range(ruleset.height))
    yield f'<path d="{columns}{rows}" stroke="{LINE}" fill="none"/>'
    for point in star_points(ruleset):
        x, y = _place(ruleset, point)
        yield f'<circle cx="{x}" cy="{y}" r="{CELL * 0.1:g}" fill="{LINE}"/>'


def _svg_coordinates(ruleset: Ruleset) -> Iterator[str]:
    below = (ruleset.height - 1) * CELL + CELL * 0.85
    for x in range(ruleset.width):
        yield f'<text x="{x * CELL}" y="{below:g}" fill="{LINE}">{chr(ord("a") + x)}</text>'
    for y in range(ruleset.height):
        _, place = _place(ruleset, Point.at(0, y))
        yield f'<text x="{-CELL * 0.7:g}" y="{place + CELL * 0.14:g}" fill="{LINE}">{y + 1}</text>'


def _svg_stones(position: Position, options: PictureOptions) -> Iterator[str]:
    ruleset = position.ruleset
    numbers = move_numbers(position) if options.numbers else {}
    for colour in Colour:
        for point in position.points_of(colour):
            x, y = _place(ruleset, point)
            yield f'<circle cx="{x}" cy="{y}" r="{CELL * STONE_RADIUS:g}" fill="{FILL[colour]}" stroke="#303030"/>'
            if point in numbers:
                yield f'<text x="{x}" y="{y + CELL * 0.14:g}" fill="{TEXT_ON[colour]}">{numbers[point]}</text>'
    for point in marked_points(position):
        x, y = _place(ruleset, point)
        radius = CELL * (0.5 if numbers else 0.14)
        paint = f'fill="none" stroke="{MARK}" stroke-width="2"' if numbers else f'fill="{MARK}"'
        yield f'<circle cx="{x}" cy="{y}" r="{radius:g}" {paint}/>'


def _svg_marks(ruleset: Ruleset, marks: Mapping[Point, PointMark]) -> Iterator[str]:
    for point, mark in marks.items():
        x, y = _place(ruleset, point)
        colour, text = html.escape(mark.colour), html.escape(mark.text)
        yield f'<circle cx="{x}" cy="{y}" r="{CELL * STONE_RADIUS:g}" fill="{colour}" fill-opacity="0.85"/>'
        yield f'<text x="{x}" y="{y + CELL * 0.14:g}" fill="#fff">{text}</text>'


def _place(ruleset: Ruleset, point: Point) -> tuple[int, int]:
    return point.x * CELL, (ruleset.height - 1 - point.y) * CELL


def move_numbers(position: Position) -> dict[Point, int]:
    """Return the move number of each stone that was played, starting from 1; set-up stones have none."""
    return {point: number for number, point in enumerate(position.moves, start=1)}


def marked_points(position: Position) -> tuple[Point, ...]:
    """Return the points to mark: the winning line if there is one, otherwise the last move."""
    last = position.last_move
    return position.winning_line or (() if last is None else (last,))


def star_points(ruleset: Ruleset) -> list[Point]:
    """Return the star points: the centre if there is one and, on 13×13 and larger boards, the four 4-4 points."""
    points = [ruleset.centre] if ruleset.width % 2 and ruleset.height % 2 else []
    if min(ruleset.width, ruleset.height) >= 13:
        points += [Point.at(x, y) for x in (3, ruleset.width - 4) for y in (3, ruleset.height - 4)]
    return points
