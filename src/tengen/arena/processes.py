"""Ending processes together with everything they started."""

from __future__ import annotations

import os
import signal
from contextlib import suppress

import psutil


def kill_children(pid: int) -> None:
    """End the children of a process, theirs too, and the process groups that those lead."""
    try:
        children = psutil.Process(pid).children(recursive=True)
    except psutil.Error:
        return
    for child in children:
        if os.name == "posix":
            # A foreign engine leads a group of its own; what it started and left behind is still in that group.
            with suppress(OSError):
                if os.getpgid(child.pid) == child.pid:
                    os.killpg(child.pid, signal.SIGKILL)
        with suppress(psutil.Error):
            child.kill()


def kill_tree(pid: int) -> None:
    """End a process and its children."""
    kill_children(pid)
    with suppress(psutil.Error):
        psutil.Process(pid).kill()
