"""Progress of a long task: a live line on a terminal, one line per minute elsewhere."""

from __future__ import annotations

import time
from types import TracebackType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import Console, RenderableType

_SECONDS_BETWEEN_LINES = 60.0


class Progress:
    """Progress bar with speeds and the time left. A context manager; `say` prints a permanent line."""

    def __init__(self, console: Console, title: str) -> None:
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn
        from rich.text import Text

        class TwoLines(Progress):
            """Progress bar with the text on a second line, truncated to the width of the terminal."""

            def get_renderables(self) -> Iterator[RenderableType]:
                yield from super().get_renderables()
                for task in self.tasks:
                    yield Text(task.fields["text"], overflow="ellipsis", no_wrap=True)

        self._console = console
        self._title = title
        self._said = time.monotonic()
        self._bar = TwoLines(
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=24),
            TaskProgressColumn(),
            TextColumn("{task.fields[left]}", markup=False),
            console=console,
        )
        self._task = self._bar.add_task(title, total=1.0, text="", left="")

    def __enter__(self) -> Progress:
        if self._console.is_terminal:
            self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._console.is_terminal:
            self._bar.stop()

    def update(self, fraction: float, seconds_left: float | None, text: str) -> None:
        """Show the fraction done, the time left, and `text` with speeds or losses."""
        fraction = min(fraction, 1.0)  # the last iteration of a run can exceed its limit
        left = "" if seconds_left is None else f"{format_seconds(seconds_left)} left"
        self._bar.update(self._task, completed=fraction, text=text, left=left)
        now = time.monotonic()
        if not self._console.is_terminal and now - self._said >= _SECONDS_BETWEEN_LINES:
            self._said = now
            line = ", ".join(part for part in (f"{100 * fraction:.0f} %", text, left) if part)
            self.say(f"{self._title}: {line}")

    def say(self, line: str) -> None:
        """Print a line above the bar; in a terminal, it is wrapped between words."""
        self._console.print(line, soft_wrap=not self._console.is_terminal, highlight=False, markup=False)


def format_seconds(seconds: float) -> str:
    """Format a duration.

    >>> format_seconds(75), format_seconds(7300)
    ('1:15 min', '2:01 h')
    """
    whole = max(0, round(seconds))
    if whole < 3600:
        return f"{whole // 60}:{whole % 60:02} min"
    return f"{whole // 3600}:{whole % 3600 // 60:02} h"
