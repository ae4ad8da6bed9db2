"""Atomic file writes: a file is either complete or absent, even if the process is killed."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from shutil import rmtree
from typing import BinaryIO

from tengen.errors import InputError, TengenError

PART = ".part"
"""Suffix of a file that is still being written. Its name also starts with a dot."""


def partial_path(path: Path) -> Path:
    """Return the temporary name under which a file or folder is written before it is renamed."""
    return path.with_name(f".{path.name}{PART}")


def replace_file(path: Path, data: bytes) -> None:
    """Replace the content of a file atomically. An `OSError` leaves the old file intact and no temporary file."""
    with atomic_write(path) as file:
        file.write(data)


@contextlib.contextmanager
def atomic_write(path: Path) -> Iterator[BinaryIO]:
    """Open a file that replaces `path` when the block ends. An exception leaves the old file and no temporary file."""
    # The name is unique, so that two writers of one file cannot mix their content.
    partial = path.with_name(f".{path.name}.{os.getpid()}-{threading.get_ident()}{PART}")
    try:
        with open(partial, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(partial, path)
    except BaseException:
        with contextlib.suppress(OSError):
            partial.unlink()
        raise


def replace_folder(path: Path, fill: Callable[[Path], None]) -> None:
    """Create or replace a folder; `fill` writes its files. An `OSError` in `fill` leaves the old folder."""
    partial = partial_path(path)
    rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    fill(partial)
    for file in partial.iterdir():
        with open(file, "rb+") as handle:
            os.fsync(handle.fileno())
    rmtree(path, ignore_errors=True)
    os.replace(partial, path)


def remove_partial(folder: Path) -> None:
    """Delete the partial files and folders that a killed process left in `folder`."""
    for partial in folder.glob(f".*{PART}"):
        if partial.is_dir():
            rmtree(partial, ignore_errors=True)
        else:
            partial.unlink(missing_ok=True)


@contextlib.contextmanager
def writing(path: Path, error: type[TengenError] = InputError, hint: str = "") -> Iterator[None]:
    """Convert an `OSError` during the writing of `path`, such as a full disk, to `error` with an optional `hint`."""
    try:
        yield
    except OSError as problem:
        remedy = f"; {hint}" if hint else ""
        raise error(f"cannot write {path}: {problem.strerror or problem}{remedy}") from None


def write_text(path: Path, text: str) -> None:
    """Replace a text file atomically and create its folder. Raises `InputError` if that fails."""
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, text.encode("utf-8"))
