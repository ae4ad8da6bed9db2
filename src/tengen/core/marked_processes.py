"""Find and kill processes by a marker variable in their environment.

Children inherit the environment, so the marker identifies every process that a program started, directly or
indirectly, even after that program has exited.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

import psutil


def find_marked(variable: str, mark: str) -> Iterator[psutil.Process]:
    """Yield all processes that were started with `variable` set to `mark`.

    Only the environment at process start is visible, so a process that sets the variable itself is not found. Other
    users' processes are skipped, because their environment cannot be read.
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
