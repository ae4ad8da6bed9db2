"""What players that search have in common: bounds from two sides, and seeds for positions."""

from __future__ import annotations

from tengen.core.position import Position
from tengen.search.puct import WORD


def least(a: int | None, b: int | None) -> int | None:
    """The tighter of two bounds, of which None is no bound."""
    return min((bound for bound in (a, b) if bound is not None), default=None)


def seed_at(position: Position, seed: int, game_seed: int) -> int:
    """A seed for one position, from those of the player and of the game."""
    # Odd factors keep agent and game seeds apart.
    return (seed * 0x9E3779B97F4A7C15 + game_seed * 0xD1342543DE82EF95 + position.hash) & WORD
