"""Where the files are that come with Tengen beside its code: openings, puzzles, levels."""

from __future__ import annotations

from pathlib import Path


def shipped_folder(name: str) -> Path:
    """`tengen/NAME` of an installed package; in a clone, `NAME` beside `src`."""
    package = Path(__file__).parents[1]
    installed = package / name
    return installed if installed.is_dir() else package.parents[1] / name
