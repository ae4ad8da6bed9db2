"""Pictures of a position: SVG written as text, PNG drawn with matplotlib in a worker process."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tengen.core.contracts import Colour, Ruleset
from tengen.core.geometry import Point
from tengen.core.position import Position
from tengen.errors import MissingExtraError
from tengen.web.workers.jobs import Desk, Job

_DRAW_MS = 60_000  # importing matplotlib takes a second, or much longer the first time after installation
_CELL = 32
_WOOD, _LINE, _MARK = "#e4b96f", "#5c4020", "#d62828"
_FILL = {Colour.BLACK: "#181818", Colour.WHITE: "#f7f7f2"}
_TEXT_ON = {Colour.BLACK: "#f7f7f2", Colour.WHITE: "#181818"}
_STONE_RADIUS = 0.45


@dataclass(frozen=True, kw_only=True)
class PictureOptions:
    """Options for a picture: whether to draw move numbers and coordinates."""

    numbers: bool = False
    coordinates: bool = True


def draw_svg(position: Position, options: PictureOptions) -> str:
    """Draw a position as SVG. It contains no text from users, so it is safe to embed in a page."""
    ruleset = position.ruleset
    margin = 1.0 if options.coordinates else 0.6
    width, height = (ruleset.width - 1 + 2 * margin) * _CELL, (ruleset.height - 1 + 2 * margin) * _CELL
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" width="{width:g}"'
        f' height="{height:g}" font-family="sans-serif" font-size="{_CELL * 0.4:g}" text-anchor="middle">'
    )
    parts = [
        head,
        f'<rect width="100%" height="100%" fill="{_WOOD}"/>',
        f'<g transform="translate({margin * _CELL:g} {margin * _CELL:g})">',
        *_svg_lines(ruleset),
        *(_svg_coordinates(ruleset) if options.coordinates else ()),
        *_svg_stones(position, options),
        "</g></svg>",
    ]
    return "\n".join(parts)


def _svg_lines(ruleset: Ruleset) -> Iterator[str]:
    right, bottom = (ruleset.width - 1) * _CELL, (ruleset.height - 1) * _CELL
    columns = "".join(f"M{x * _CELL} 0V{bottom}" for x in range(ruleset.width))
    rows = "".join(f"M0 {y * _CELL}H{right}" for y in range(ruleset.height))
    yield f'<path d="{columns}{rows}" stroke="{_LINE}" fill="none"/>'
    for point in _star_points(ruleset):
        x, y = _place(ruleset, point)
        yield f'<circle cx="{x}" cy="{y}" r="{_CELL * 0.1:g}" fill="{_LINE}"/>'


def _svg_coordinates(ruleset: Ruleset) -> Iterator[str]:
    below = (ruleset.height - 1) * _CELL + _CELL * 0.85
    for x in range(ruleset.width):
        yield f'<text x="{x * _CELL}" y="{below:g}" fill="{_LINE}">{chr(ord("a") + x)}</text>'
    for y in range(ruleset.height):
        _, place = _place(ruleset, Point.at(0, y))
        yield f'<text x="{-_CELL * 0.7:g}" y="{place + _CELL * 0.14:g}" fill="{_LINE}">{y + 1}</text>'


def _svg_stones(position: Position, options: PictureOptions) -> Iterator[str]:
    ruleset = position.ruleset
    numbers = _numbers(position) if options.numbers else {}
    for colour in Colour:
        for point in position.points_of(colour):
            x, y = _place(ruleset, point)
            yield f'<circle cx="{x}" cy="{y}" r="{_CELL * _STONE_RADIUS:g}" fill="{_FILL[colour]}" stroke="#303030"/>'
            if point in numbers:
                yield f'<text x="{x}" y="{y + _CELL * 0.14:g}" fill="{_TEXT_ON[colour]}">{numbers[point]}</text>'
    for point in _marked(position):
        x, y = _place(ruleset, point)
        radius = _CELL * (0.5 if numbers else 0.14)
        paint = f'fill="none" stroke="{_MARK}" stroke-width="2"' if numbers else f'fill="{_MARK}"'
        yield f'<circle cx="{x}" cy="{y}" r="{radius:g}" {paint}/>'


def _place(ruleset: Ruleset, point: Point) -> tuple[int, int]:
    return point.x * _CELL, (ruleset.height - 1 - point.y) * _CELL


def _numbers(position: Position) -> dict[Point, int]:
    return {point: number for number, point in enumerate(position.moves, start=1)}


def _marked(position: Position) -> tuple[Point, ...]:
    """Return the points to mark: the winning line if there is one, otherwise the last move."""
    last = position.last_move
    return position.winning_line or (() if last is None else (last,))


def _star_points(ruleset: Ruleset) -> list[Point]:
    """Return the star points: the centre if there is one and, on 13×13 and larger boards, the four 4-4 points."""
    points = [ruleset.centre] if ruleset.width % 2 and ruleset.height % 2 else []
    if min(ruleset.width, ruleset.height) >= 13:
        points += [Point.at(x, y) for x in (3, ruleset.width - 4) for y in (3, ruleset.height - 4)]
    return points


@dataclass(frozen=True, kw_only=True)
class DrawPng(Job):
    """Draw a position as PNG bytes."""

    position: Position
    options: PictureOptions

    @property
    def limit_ms(self) -> int:
        return _DRAW_MS

    def run(self, desk: Desk) -> bytes:
        try:
            from matplotlib.figure import Figure
        except ModuleNotFoundError:
            raise MissingExtraError(
                "PNG pictures need matplotlib on the server: pip install 'tengen[plots]'; SVG pictures work without it"
            ) from None

        ruleset, margin = self.position.ruleset, 1.0 if self.options.coordinates else 0.6
        width, height = ruleset.width - 1 + 2 * margin, ruleset.height - 1 + 2 * margin
        figure = Figure(figsize=(width * 0.4, height * 0.4), dpi=100, facecolor=_WOOD)
        axes = figure.add_axes((0, 0, 1, 1))
        axes.set_axis_off()
        axes.set_xlim(-margin, ruleset.width - 1 + margin)
        axes.set_ylim(-margin, ruleset.height - 1 + margin)
        self._draw(axes)
        out = io.BytesIO()
        figure.savefig(out, format="png", facecolor=_WOOD)
        return out.getvalue()

    def _draw(self, axes: Any) -> None:
        from matplotlib.patches import Circle

        position, ruleset = self.position, self.position.ruleset
        axes.vlines(range(ruleset.width), 0, ruleset.height - 1, colors=_LINE, linewidth=1, zorder=1)
        axes.hlines(range(ruleset.height), 0, ruleset.width - 1, colors=_LINE, linewidth=1, zorder=1)
        for point in _star_points(ruleset):
            axes.add_patch(Circle((point.x, point.y), 0.1, color=_LINE, zorder=2))
        centred = {"ha": "center", "va": "center", "fontsize": 11}
        if self.options.coordinates:
            for x in range(ruleset.width):
                axes.text(x, -0.72, chr(ord("a") + x), color=_LINE, **centred)
            for y in range(ruleset.height):
                axes.text(-0.68, y, str(y + 1), color=_LINE, **centred)
        numbers = _numbers(position) if self.options.numbers else {}
        for colour in Colour:
            for point in position.points_of(colour):
                face, place = _FILL[colour], (point.x, point.y)
                axes.add_patch(Circle(place, _STONE_RADIUS, facecolor=face, edgecolor="#303030", zorder=3))
                if point in numbers:
                    axes.text(*place, str(numbers[point]), color=_TEXT_ON[colour], zorder=4, **centred)
        for point in _marked(position):
            radius = 0.48 if numbers else 0.14
            axes.add_patch(Circle((point.x, point.y), radius, fill=not numbers, color=_MARK, zorder=5))
