"""Counting move sequences, to check the rules against known numbers."""

from __future__ import annotations

from typing import NamedTuple

from tengen.core.contracts import Ruleset
from tengen.core.position import Position
from tengen.errors import InputError


class PerftPly(NamedTuple):
    """What perft counts at one ply."""

    nodes: int
    """Sequences of that many legal moves; a finished game is not extended."""
    wins: int
    """Those whose last move won."""


def perft(start: Ruleset | Position, depth: int) -> list[PerftPly]:
    """Count the move sequences of 1 to `depth` plies from the start of a ruleset or from a position.

    >>> perft(Ruleset(3, 3, 3), 5)[-1]
    PerftPly(nodes=15120, wins=1440)
    """
    if depth < 1:
        raise InputError(f"perft depth {depth} is below 1")
    position = Position.start(start) if isinstance(start, Ruleset) else start
    return [PerftPly(*counts) for counts in position.native.perft(depth)]
