"""Files of a run that are there whole or not at all, whenever the process is killed."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from shutil import rmtree

from tengen.core.files import PART, partial_path, replace_file
from tengen.errors import RunError


def write_file(path: Path, data: bytes) -> None:
    """Replace a file by new content."""
    with writing(path):
        replace_file(path, data)


def write_folder(path: Path, fill: Callable[[Path], None]) -> None:
    """Make a folder whose files `fill` writes; a folder of that name from before is replaced."""
    partial = partial_path(path)
    with writing(path):
        rmtree(partial, ignore_errors=True)
        partial.mkdir(parents=True)
        fill(partial)
        for file in partial.iterdir():
            with open(file, "rb+") as handle:
                os.fsync(handle.fileno())
        rmtree(path, ignore_errors=True)
        os.replace(partial, path)


def remove_partial(folder: Path) -> None:
    """Take away what a killed process left half-written."""
    for partial in folder.glob(f".*{PART}"):
        if partial.is_dir():
            rmtree(partial, ignore_errors=True)
        else:
            partial.unlink(missing_ok=True)


def numbered_files(folder: Path, ending: str = "") -> list[Path]:
    """What lies in a folder under the number of an iteration, in their order; other names are somebody else's."""
    suffix = f".{ending}" if ending else ""
    return sorted(path for path in folder.glob(f"*{suffix}") if path.suffix == suffix and path.stem.isdecimal())


@contextlib.contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn a full disk and its like into a `RunError` that says what was being written."""
    try:
        yield
    except OSError as error:
        raise RunError(
            f"cannot write {path}: {error.strerror or error}; a run that has begun is whole, --resume goes on"
        ) from None
