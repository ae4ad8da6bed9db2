"""Helpers for players that search: combined limits, and a seed for each position."""

from __future__ import annotations

from tengen.core.position import Position
from tengen.search.seeds import seed_word


def least(a: int | None, b: int | None) -> int | None:
    """Return the tighter of two limits; None means no limit."""
    return min((bound for bound in (a, b) if bound is not None), default=None)


def seed_at(position: Position, seed: int, game_seed: int) -> int:
    """Combine the player's and the game's seeds into one for this position."""
    # Different odd factors distinguish agent seeds from game seeds.
    return seed_word(seed * 0x9E3779B97F4A7C15 + game_seed * 0xD1342543DE82EF95 + position.hash)
