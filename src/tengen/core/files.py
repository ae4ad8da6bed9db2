"""Files that are there whole or not at all, whenever the process is killed."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

PART = ".part"
"""How the name of a file ends while it is being written; it begins with a dot."""


def partial_path(path: Path) -> Path:
    """Under which name a file or folder is written before it is renamed."""
    return path.with_name(f".{path.name}{PART}")


def replace_file(path: Path, data: bytes) -> None:
    """Replace a file by new content. An `OSError` leaves what was there before, and nothing beside it."""
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
