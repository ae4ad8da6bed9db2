"""Output files of commands."""

from __future__ import annotations

from pathlib import Path

from tengen.errors import InputError


def check_writable(*paths: Path | None) -> None:
    """Raise `InputError` if a file cannot be written. Commands call this before long work; None is ignored."""
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
    """Create an output folder, or raise `InputError`. Commands call this before long work; None is ignored."""
    if path is not None:
        try:
            path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"cannot create the folder {path}: {error.strerror}") from None


def write_text(path: Path, text: str) -> None:
    """Write a text file. Raises `InputError` if that fails."""
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror}") from None
