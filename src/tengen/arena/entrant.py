"""Description of a tournament player, for tournament files, worker processes and stored games."""

from __future__ import annotations

from dataclasses import dataclass

from tengen.arena.match import TimeControl
from tengen.errors import InputError


@dataclass(frozen=True, slots=True, kw_only=True)
class Entrant:
    """Description of a tournament player. `make_agent` creates the `Agent` from its agent specification.

    `Tournament.entrants` fills in the names and limits that a tournament file leaves out. A game store has only
    the name and the agent specification.
    """

    agent: str
    """Agent specification, such as `alphabeta:hash-mb=16`."""
    name: str = ""
    """Name in tables (default: the agent specification)."""
    limits: TimeControl | None = None
    """Limits for this player (default: those of the tournament)."""
    memory_mb: int | None = None
    """Memory limit passed to the agent. An external engine that uses more loses the game."""
    anchor: float | None = None
    """Known rating in Elo; the other players are rated relative to it."""

    def __post_init__(self) -> None:
        if self.memory_mb is not None and self.memory_mb < 1:
            raise InputError(f"memory_mb must be at least 1, not {self.memory_mb}")

    @classmethod
    def parse(cls, text: str) -> Entrant:
        """Create an entrant from an agent specification, with defaults for everything else."""
        return cls(agent=text)
