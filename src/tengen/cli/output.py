"""Writing what a command made to files."""

from __future__ import annotations

from pathlib import Path

from tengen.errors import InputError


def write_text(path: Path, text: str) -> None:
    """Write a text file; `InputError` when that is not possible."""
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror}") from None
