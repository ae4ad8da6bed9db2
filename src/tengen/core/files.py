"""Atomic writes and safe reads of files.

A written file is either complete or absent, even if the process is killed. In a folder that others can write to, only
regular files are opened, and links that lead out of the folder are rejected.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from shutil import rmtree
from typing import BinaryIO

from tengen.errors import InputError, TengenError

_READ_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
PART = ".part"
"""Suffix of a file that is still being written. Its name also starts with a dot."""


def partial_path(path: Path) -> Path:
    """Return the temporary name under which a file or folder is written before it is renamed."""
    return path.with_name(f".{path.name}{PART}")


def replace_file(path: Path, data: bytes) -> None:
    """Replace the content of a file atomically. After an `OSError`, only the old file is left."""
    with atomic_write(path) as file:
        file.write(data)


@contextlib.contextmanager
def atomic_write(path: Path) -> Iterator[BinaryIO]:
    """Open a file that replaces `path` when the block ends. After an exception, only the old file is left."""
    # The name is unique, so that two processes writing the same file do not write to the same partial file.
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
    """Create or replace a folder; `fill` writes its files. An `OSError` in `fill` leaves the old folder unchanged."""
    partial = partial_path(path)
    rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    fill(partial)
    for file in partial.iterdir():
        with open(file, "rb+") as handle:
            os.fsync(handle.fileno())
    if not path.exists():
        os.replace(partial, path)
        return
    old = partial_path(path.with_name(f"{path.name}.old"))
    rmtree(old, ignore_errors=True)
    os.replace(path, old)
    try:
        os.replace(partial, path)
    except OSError:
        os.replace(old, path)
        raise
    rmtree(old, ignore_errors=True)


def remove_partial(folder: Path) -> None:
    """Delete the partial files and folders that a killed process left in `folder`."""
    for partial in folder.glob(f".*{PART}"):
        if partial.is_dir():
            rmtree(partial, ignore_errors=True)
        else:
            partial.unlink(missing_ok=True)


@contextlib.contextmanager
def writing(path: Path, error: type[TengenError] = InputError, hint: str = "") -> Iterator[None]:
    """Convert an `OSError` raised while writing `path`, such as a full disk, to `error` with an optional `hint`."""
    try:
        yield
    except OSError as problem:
        remedy = f"; {hint}" if hint else ""
        raise error(f"cannot write {path}: {problem.strerror or problem}{remedy}") from None


def write_text(path: Path, text: str) -> None:
    """Replace a text file atomically; its folder is created if necessary. Raises `InputError` if that fails."""
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, text.encode("utf-8"))


def open_regular(path: Path, within: Path | None = None) -> BinaryIO:
    """Open a file for reading. Raises `OSError` if it is a folder, a FIFO or a device, which could block.

    If `within` is given, a link that leads out of that folder also raises `OSError`.
    """
    if within is not None and not is_within(path, within):
        raise OSError(errno.EPERM, "it is a link that points outside its folder", str(path))
    descriptor = os.open(path, _READ_FLAGS)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "it is not a regular file", str(path))
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def is_within(path: Path, folder: Path) -> bool:
    """Return whether a path is inside a folder after all links are resolved."""
    try:
        return path.resolve().is_relative_to(folder.resolve())
    except (OSError, RuntimeError):  # circular links
        return False
