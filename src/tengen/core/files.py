"""Atomic file writes: a file is either complete or absent, even if the process is killed."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

PART = ".part"
"""Suffix of a file that is still being written. Its name also starts with a dot."""


def partial_path(path: Path) -> Path:
    """Return the temporary name under which a file or folder is written before it is renamed."""
    return path.with_name(f".{path.name}{PART}")


def replace_file(path: Path, data: bytes) -> None:
    """Replace the content of a file atomically. An `OSError` leaves the old file intact and no temporary one."""
    partial = partial_path(path)
    try:
        with open(partial, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(partial, path)
    except OSError:
        with contextlib.suppress(OSError):
            partial.unlink()
        raise
