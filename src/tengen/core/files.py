"""Atomic file writes: a file is either complete or absent, even if the process is killed."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

PART = ".part"
"""Suffix of a file that is still being written; its name also starts with a dot."""


def partial_path(path: Path) -> Path:
    """Return the temporary name under which a file or folder is written before it is renamed."""
    return path.with_name(f".{path.name}{PART}")


def replace_file(path: Path, data: bytes) -> None:
    """Replace the content of a file atomically. An `OSError` leaves the old file intact and no temporary one."""
    with atomic_write(path) as file:
        file.write(data)


@contextlib.contextmanager
def atomic_write(path: Path) -> Iterator[BinaryIO]:
    """Open a file that replaces `path` when the block ends. An exception leaves the old file and no temporary one."""
    # The name is unique, so that two writers of one file cannot mix their content.
    partial = path.with_name(f".{path.name}.{os.getpid()}-{threading.get_ident()}{PART}")
    try:
        with open(partial, "xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(partial, path)
    except BaseException:
        with contextlib.suppress(OSError):
            partial.unlink()
        raise
