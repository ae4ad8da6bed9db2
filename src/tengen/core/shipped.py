"""Where the files are that come with Tengen beside its code: openings, puzzles, levels."""

from __future__ import annotations

from pathlib import Path


def shipped_folder(name: str) -> Path:
    """`tengen/NAME` of an installed package; in a clone, `NAME` beside `src`. Code of that name is not meant."""
    package = Path(__file__).parents[1]
    installed = package / name
    is_code = (installed / "__init__.py").exists()
    return installed if installed.is_dir() and not is_code else package.parents[1] / name
