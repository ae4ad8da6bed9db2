"""Output files for commands."""

from __future__ import annotations

from pathlib import Path

from tengen.core.files import writing


def check_writable(*paths: Path | None) -> None:
    """Raise `InputError` if a file cannot be written. Commands call this before they start work; None is ignored."""
    for path in paths:
        if path is not None:
            is_new = not path.exists()
            with writing(path):
                path.open("ab").close()
                if is_new:
                    path.unlink()


def make_folder(path: Path | None) -> None:
    """Create an output folder, or raise `InputError`. Commands call this before they start work; None is ignored."""
    if path is not None:
        with writing(path):
            path.mkdir(parents=True, exist_ok=True)


def write_text(path: Path, text: str) -> None:
    """Write a text file in place, so that it may be a device. Raises `InputError` if that fails."""
    with writing(path):
        path.write_text(text, encoding="utf-8")
