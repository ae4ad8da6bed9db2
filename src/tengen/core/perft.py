"""Perft: count move sequences, to check the rules against known counts."""

from __future__ import annotations

from typing import NamedTuple

from tengen.core.contracts import Ruleset
from tengen.core.position import Position
from tengen.errors import InputError


class PerftPly(NamedTuple):
    """The perft counts of one ply."""

    nodes: int
    """Number of legal move sequences of this length; finished games are not extended."""
    wins: int
    """Number of those sequences that end with a win."""


def perft(start: Ruleset | Position, depth: int) -> list[PerftPly]:
    """Count the move sequences of 1 to `depth` plies from a position or from the empty board of a ruleset.

    >>> perft(Ruleset(3, 3, 3), 5)[-1]
    PerftPly(nodes=15120, wins=1440)
    """
    if depth < 1:
        raise InputError(f"the perft depth must be at least 1, not {depth}")
    position = Position.start(start) if isinstance(start, Ruleset) else start
    return [PerftPly(*counts) for counts in position.native.perft(depth)]
