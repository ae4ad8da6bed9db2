"""Opponents by strength: the ladder of levels 1 to 10, read from `data/levels.toml`.

A level is an agent text with a name; its rating is on the scale of the ladder and missing until it is measured. Levels
whose agent needs patterns name another agent for rulesets without (win lengths 3 and 6).
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, fields
from functools import cache

from tengen.core.contracts import Ruleset
from tengen.core.shipped import shipped_folder
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


@cache
def load_levels() -> tuple[Level, ...]:
    """The shipped levels, weakest first."""
    return parse_levels((shipped_folder("data") / "levels.toml").read_text(encoding="utf-8"))


def parse_levels(text: str) -> tuple[Level, ...]:
    """The levels of a TOML text: an array `level` of tables with the fields of `Level`; they count from 1.

    >>> [level.level for level in load_levels()]
    [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
    """
    try:
        tables = tomllib.loads(text).get("level", [])
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"the levels are not TOML: {error}") from None
    known = {field.name for field in fields(Level)}
    for table in tables:
        if unknown := set(table) - known:
            raise InputError(f"level {table.get('level')} has unknown keys: {', '.join(sorted(unknown))}")
    try:
        levels = tuple(Level(**table) for table in tables)
    except TypeError as error:
        raise InputError(f"a level is incomplete: {error}") from None
    if [level.level for level in levels] != list(range(1, len(levels) + 1)):
        raise InputError(f"levels must count from 1: {[level.level for level in levels]}")
    return levels
