"""Tengen, the Gomoku AI laboratory: play, train, rate and explain every family of Gomoku player.

Start with `Ruleset`, `Position`, `Limits` and `make_agent`. Importing this package needs only numpy.
"""

from __future__ import annotations

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
    "make_agent",
]
