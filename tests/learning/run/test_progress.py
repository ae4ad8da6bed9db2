"""The progress of a long task."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from tengen.learning.run import progress
from tengen.learning.run.progress import Progress


def test_a_terminal_shows_the_time_left_and_at_most_100_percent() -> None:
    written = io.StringIO()
    console = Console(file=written, force_terminal=True, width=100, markup=False)
    with Progress(console, "my [red] run") as bar:
        bar.update(1.02, 75.0, "iteration 3")
    shown = written.getvalue()
    assert "my [red] run" in shown
    assert "100%" in shown
    assert "1:15 min left" in shown
    assert "0:00:0" not in shown


def test_lines_elsewhere_show_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "_SECONDS_BETWEEN_LINES", 0.0)
    written = io.StringIO()
    with Progress(Console(file=written, width=100, markup=False), "run") as bar:
        bar.update(1.02, 75.0, "iteration 3")
    assert written.getvalue() == "run: 100 %, iteration 3, 1:15 min left\n"
