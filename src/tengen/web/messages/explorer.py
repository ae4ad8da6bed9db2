"""Messages of the opening explorer."""

from __future__ import annotations

from tengen.web.messages.base import Message, PointName


class Tally(Message):
    """Results of some games; the remaining games were won by white."""

    games: int
    black_wins: int
    draws: int


class ExplorerMove(Message):
    """A move that was played in a position. Moves that are equal under a symmetry of the position are one move."""

    move: PointName
    shipped: Tally
    """The games of the engine that are shipped with Tengen."""
    mine: Tally
    """The games of this browser."""


class ExplorerResult(Message):
    """The moves that were played in a position, the most frequent first."""

    moves: list[ExplorerMove]
    shipped_games: int
    """Number of shipped games under the rules of the position."""
