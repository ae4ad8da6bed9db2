"""Location of the data files shipped with Tengen: openings, puzzles, levels."""

from __future__ import annotations

from pathlib import Path


def shipped_folder(name: str) -> Path:
    """Return the data folder `name`: inside an installed package, or at the root of a clone.

    A Python package of the same name is ignored.
    """
    package = Path(__file__).parents[1]
    installed = package / name
    is_code = (installed / "__init__.py").exists()
    return installed if installed.is_dir() and not is_code else package.parents[1] / name
