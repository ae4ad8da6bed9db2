"""Opponents by strength: the ladder of levels 1 to 10, read from `data/levels.toml`.

A level is an agent text with a name; its rating is on the scale of the ladder and missing until it is measured. Levels
whose agent needs patterns name another agent for rulesets without (win lengths 3 and 6).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tengen.core.contracts import Ruleset
from tengen.core.shipped import shipped_folder
from tengen.core.tables import TableReader, read_toml
from tengen.errors import InputError

_PATTERN_WIN_LENGTHS = (4, 5)


@dataclass(frozen=True, slots=True, kw_only=True)
class Level:
    """One step of the ladder."""

    level: int
    name: str
    agent: str
    """Who plays it, limits included."""
    description: str
    rating: int | None = None
    """Elo on the scale of the ladder; None until measured."""
    agent_without_patterns: str | None = None
    """Who plays it where `agent` cannot; `agent` itself unless given."""

    def agent_for(self, ruleset: Ruleset) -> str:
        """The agent text for a ruleset."""
        if ruleset.win_length in _PATTERN_WIN_LENGTHS or self.agent_without_patterns is None:
            return self.agent
        return self.agent_without_patterns


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ladder:
    """The file: an array of tables, counted from 1."""

    level: tuple[Level, ...]

    def __post_init__(self) -> None:
        numbers = [one.level for one in self.level]
        if numbers != list(range(1, len(numbers) + 1)):
            raise InputError(f"levels must count from 1, not {numbers}")


@cache
def load_levels() -> tuple[Level, ...]:
    """The shipped levels, weakest first."""
    return read_levels(shipped_folder("data") / "levels.toml")


def read_levels(path: Path) -> tuple[Level, ...]:
    """The levels of a TOML file: an array `level` of tables with the fields of `Level`.

    >>> [level.level for level in load_levels()]
    [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
    """
    return TableReader(str(path), path.parent).make(_Ladder, read_toml(path), "").level
