"""Opponents of increasing strength: levels 1 to 10, read from `data/levels.toml`.

A level is an agent specification with a name and, once measured, a rating on the ladder's scale
(docs/results/ladder.md). A level whose agent needs patterns has a second agent for rulesets without patterns (win
lengths 3 and 6).
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
    """A strength level."""

    level: int
    name: str
    agent: str
    """Agent specification, including limits."""
    description: str
    rating: int | None = None
    """Elo rating on the ladder's scale; None until measured."""
    agent_without_patterns: str | None = None
    """Agent specification for rulesets without patterns (default: `agent`)."""

    def agent_for(self, ruleset: Ruleset) -> str:
        """Return the agent specification for a ruleset."""
        if ruleset.win_length in _PATTERN_WIN_LENGTHS or self.agent_without_patterns is None:
            return self.agent
        return self.agent_without_patterns


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ladder:
    """Content of a level file; the levels are numbered from 1."""

    level: tuple[Level, ...]

    def __post_init__(self) -> None:
        numbers = [one.level for one in self.level]
        if numbers != list(range(1, len(numbers) + 1)):
            raise InputError(f"levels must be numbered 1, 2, 3, …, not {numbers}")


@cache
def load_levels() -> tuple[Level, ...]:
    """Return the shipped levels, weakest first."""
    return read_levels(shipped_folder("data") / "levels.toml")


def read_levels(path: Path) -> tuple[Level, ...]:
    """Read a TOML file of levels: an array `level` of tables with the fields of `Level`.

    >>> [level.level for level in load_levels()]
    [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
    """
    return TableReader(str(path), path.parent).make(_Ladder, read_toml(path), "").level
