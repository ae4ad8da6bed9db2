"""Find and kill processes by a mark in their environment.

Children inherit the environment, so the mark finds everything that a program started, directly or indirectly, even
after that program has exited.
"""

from __future__ import annotations

from contextlib import suppress

import psutil


def kill_marked(variable: str, mark: str) -> None:
    """Kill all processes that were started with `variable` set to `mark`.

    A process that sets the variable in its own environment is not killed, because only the environment it was started
    with counts. Other users' processes do not show their environment and are skipped.
    """
    for process in psutil.process_iter():
        with suppress(psutil.Error, OSError):
            if process.environ().get(variable) == mark:
                process.kill()
