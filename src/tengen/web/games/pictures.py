"""The job that draws a position as PNG in a worker process."""

from __future__ import annotations

from dataclasses import dataclass

from tengen.core.board_picture import PictureOptions
from tengen.core.board_png import draw_png
from tengen.core.position import Position
from tengen.web.workers.jobs import Desk, Job

_DRAW_MS = 10_000  # the first picture takes longer because it loads the system fonts


@dataclass(frozen=True, kw_only=True)
class DrawPng(Job):
    """Draw a position as PNG bytes."""

    position: Position
    options: PictureOptions

    @property
    def limit_ms(self) -> int:
        return _DRAW_MS

    def run(self, desk: Desk) -> bytes:
        return draw_png(self.position, self.options)
