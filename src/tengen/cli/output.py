"""Writing what a command made to files."""

from __future__ import annotations

from pathlib import Path

from tengen.errors import InputError


def check_writable(*paths: Path | None) -> None:
    """`InputError` for a file that cannot be written, before the work whose result it shall hold; None is no file."""
    for path in paths:
        if path is not None:
            is_new = not path.exists()
            try:
                path.open("ab").close()
                if is_new:
                    path.unlink()
            except OSError as error:
                raise InputError(f"cannot write {path}: {error.strerror}") from None


def make_folder(path: Path | None) -> None:
    """Make a folder for results before the work for them; None is no folder."""
    if path is not None:
        try:
            path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"cannot make the folder {path}: {error.strerror}") from None


def write_text(path: Path, text: str) -> None:
    """Write a text file; `InputError` when that is not possible."""
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror}") from None
