"""The names and titles of the papers, which can be listed without the packages that run them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from tengen.core.tables import read_toml

_PACKAGE = Path(__file__).parent


def paper_names() -> list[str]:
    """Return the names of all papers."""
    return sorted(path.parent.name for path in _PACKAGE.glob("*/config.toml"))


def paper_titles() -> Mapping[str, str]:
    """Return the title of each paper by its name."""
    return {name: read_toml(_PACKAGE / name / "config.toml").get("title", name) for name in paper_names()}
