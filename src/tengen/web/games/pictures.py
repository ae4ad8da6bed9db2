"""Pictures of a position as PNG, drawn with matplotlib in a worker process."""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import Any

from tengen.core.board_picture import (
    FILL,
    LINE,
    MARK,
    STONE_RADIUS,
    TEXT_ON,
    WOOD,
    PictureOptions,
    marked_points,
    move_numbers,
    star_points,
)
from tengen.core.contracts import Colour
from tengen.core.position import Position
from tengen.errors import MissingExtraError
from tengen.web.workers.jobs import Desk, Job

_DRAW_MS = 60_000  # importing matplotlib takes a second, or much longer the first time after installation


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
        figure = Figure(figsize=(width * 0.4, height * 0.4), dpi=100, facecolor=WOOD)
        axes = figure.add_axes((0, 0, 1, 1))
        axes.set_axis_off()
        axes.set_xlim(-margin, ruleset.width - 1 + margin)
        axes.set_ylim(-margin, ruleset.height - 1 + margin)
        self._draw(axes)
        out = io.BytesIO()
        figure.savefig(out, format="png", facecolor=WOOD)
        return out.getvalue()

    def _draw(self, axes: Any) -> None:
        from matplotlib.patches import Circle

        position, ruleset = self.position, self.position.ruleset
        axes.vlines(range(ruleset.width), 0, ruleset.height - 1, colors=LINE, linewidth=1, zorder=1)
        axes.hlines(range(ruleset.height), 0, ruleset.width - 1, colors=LINE, linewidth=1, zorder=1)
        for point in star_points(ruleset):
            axes.add_patch(Circle((point.x, point.y), 0.1, color=LINE, zorder=2))
        centred = {"ha": "center", "va": "center", "fontsize": 11}
        if self.options.coordinates:
            for x in range(ruleset.width):
                axes.text(x, -0.72, chr(ord("a") + x), color=LINE, **centred)
            for y in range(ruleset.height):
                axes.text(-0.68, y, str(y + 1), color=LINE, **centred)
        numbers = move_numbers(position) if self.options.numbers else {}
        for colour in Colour:
            for point in position.points_of(colour):
                face, place = FILL[colour], (point.x, point.y)
                axes.add_patch(Circle(place, STONE_RADIUS, facecolor=face, edgecolor="#303030", zorder=3))
                if point in numbers:
                    axes.text(*place, str(numbers[point]), color=TEXT_ON[colour], zorder=4, **centred)
        for point in marked_points(position):
            radius = 0.48 if numbers else 0.14
            axes.add_patch(Circle((point.x, point.y), radius, fill=not numbers, color=MARK, zorder=5))
