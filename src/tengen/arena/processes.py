"""Ending processes together with everything they started.

Every worker has a mark in its environment, which the engines it runs inherit: they are found by it even when the worker
that started them is gone.
"""

from __future__ import annotations

import os
from contextlib import suppress

import psutil

_MARK = "TENGEN_WORKER"


def mark_this_process(mark: str) -> None:
    """Let `kill_marked` find this process's children from now on."""
    os.environ[_MARK] = mark


def kill_marked(mark: str) -> None:
    """End all processes that were started, directly or not, by the process with the mark; itself is spared."""
    for process in psutil.process_iter():
        with suppress(psutil.Error, OSError):
            # What a process was started with: the marked one itself got its mark later.
            if process.environ().get(_MARK) == mark:
                process.kill()
