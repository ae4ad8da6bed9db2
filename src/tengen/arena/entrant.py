"""A player as tournaments know it: from the tournament file through the worker processes to the stored games."""

from __future__ import annotations

from dataclasses import dataclass

from tengen.arena.match import TimeControl
from tengen.errors import InputError


@dataclass(frozen=True, slots=True, kw_only=True)
class Entrant:
    """A player of a tournament, described but not running; `make_agent` turns its agent text into an `Agent`.

    `Tournament.entrants` fills in the names and limits that a tournament file leaves out. A game store keeps the name
    and the agent text only.
    """

    agent: str
    """Agent text, such as `alphabeta:hash-mb=16`."""
    name: str = ""
    """Name in tables; empty for the agent text."""
    limits: TimeControl | None = None
    """Limits of this player; None for those of the tournament."""
    memory_mb: int | None = None
    """Memory limit passed to the agent. A foreign engine that uses more loses the game."""
    anchor: float | None = None
    """Known rating in Elo; the other players are rated relative to it."""

    def __post_init__(self) -> None:
        if self.memory_mb is not None and self.memory_mb < 1:
            raise InputError(f"memory_mb={self.memory_mb} must be at least 1")

    @classmethod
    def parse(cls, text: str) -> Entrant:
        """Make an entrant from an agent text alone."""
        return cls(agent=text)
