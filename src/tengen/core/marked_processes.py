"""Find and kill processes by a mark in their environment.

Children inherit the environment, so the mark finds everything that a program started, directly or indirectly, even
after that program has exited.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

import psutil


def find_marked(variable: str, mark: str) -> Iterator[psutil.Process]:
    """Yield all processes that were started with `variable` set to `mark`.

    A process that sets the variable in its own environment is not found, because only the environment it was started
    with counts. Other users' processes do not show their environment and are skipped.
    """
    for process in psutil.process_iter():
        with suppress(psutil.Error, OSError):
            if process.environ().get(variable) == mark:
                yield process


def kill_marked(variable: str, mark: str) -> None:
    """Kill all processes that `find_marked` yields."""
    for process in find_marked(variable, mark):
        with suppress(psutil.Error, OSError):
            process.kill()
