"""Messages of the opening explorer."""

from __future__ import annotations

from tengen.web.messages.base import Message, PointName


class Tally(Message):
    """Results of a set of games; white won the games that are neither black wins nor draws."""

    games: int
    black_wins: int
    draws: int


class ExplorerMove(Message):
    """A move that was played in a position. Moves that are equal under a symmetry count as one."""

    move: PointName
    shipped: Tally
    """Results in the engine games that are shipped with Tengen."""
    mine: Tally
    """Results in the games of this browser."""


class ExplorerResult(Message):
    """The moves that were played in a position, the most frequent first."""

    moves: list[ExplorerMove]
    shipped_games: int
    """Number of shipped games under the rules of the position."""
