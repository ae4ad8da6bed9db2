"""Tengen, the Gomoku AI laboratory: play, train, rate and explain every family of Gomoku player.

Start with `Position` and `make_agent`. `load_game`, `analyse`, `threats`, `find_win`, `play_match`, `rate` and `train`
perform common tasks in one call; they are imported on first use (`tengen.front`). Importing this package needs only
numpy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tengen.agents.registry import make_agent
from tengen.core.contracts import (
    Agent,
    Analysis,
    AnalysisLine,
    Colour,
    Decision,
    Foul,
    Limits,
    Opening,
    Outcome,
    Proof,
    Rule,
    Ruleset,
)
from tengen.core.geometry import Point
from tengen.core.position import Position
from tengen.errors import TengenError

if TYPE_CHECKING:
    from tengen.front import analyse, find_win, load_game, play_match, rate, threats, train

__version__ = "0.2.0"

__all__ = [
    "Agent",
    "Analysis",
    "AnalysisLine",
    "Colour",
    "Decision",
    "Foul",
    "Limits",
    "Opening",
    "Outcome",
    "Point",
    "Position",
    "Proof",
    "Rule",
    "Ruleset",
    "TengenError",
    "__version__",
    "analyse",
    "find_win",
    "load_game",
    "make_agent",
    "play_match",
    "rate",
    "threats",
    "train",
]

_FRONT = frozenset({"analyse", "find_win", "load_game", "play_match", "rate", "threats", "train"})


def __getattr__(name: str) -> Any:
    """Import a function of `tengen.front` when it is first used."""
    if name not in _FRONT:
        raise AttributeError(f"module 'tengen' has no attribute {name!r}")
    from tengen import front

    function = globals()[name] = getattr(front, name)
    return function


def __dir__() -> list[str]:
    return __all__
