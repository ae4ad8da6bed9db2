"""Agents that wrap other objects: a function that chooses moves, or an agent that the caller owns."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tengen.core.contracts import Agent, Analysis, Decision, Limits, Ruleset, Search
from tengen.core.geometry import Point
from tengen.core.position import Move, Position

MoveFunction = Callable[[Position], Move]
"""A function that chooses a legal move for the side to move."""


class FunctionAgent(Agent):
    """A function from positions to moves as an agent. It ignores all limits."""

    def __init__(self, function: MoveFunction, name: str) -> None:
        self.name = name
        self._function = function

    def choose(self, position: Position, limits: Limits) -> Decision:
        """Return the function's move, whether it is legal or not."""
        move = self._function(position)
        if isinstance(move, str):
            return Decision(move=Point(move))
        return Decision(move=Point.from_index(int(move), position.ruleset.width))


class LentAgent(Agent):
    """Wraps an agent that only its owner may close: `close` has no effect, and all other calls are forwarded."""

    def __init__(self, agent: Agent) -> None:
        self.name = agent.name
        self._agent = agent

    @property
    def agent(self) -> Agent:
        """The wrapped agent."""
        return self._agent

    def supports(self, ruleset: Ruleset) -> bool:
        """See `Agent.supports`."""
        return self._agent.supports(ruleset)

    def check_supports(self, ruleset: Ruleset) -> None:
        """See `Agent.check_supports`."""
        self._agent.check_supports(ruleset)

    def new_game(self, ruleset: Ruleset, seed: int = 0) -> None:
        """See `Agent.new_game`."""
        self._agent.new_game(ruleset, seed)

    def configure(self, *, memory_bytes: int | None = None, threads: int | None = None) -> None:
        """See `Agent.configure`."""
        self._agent.configure(memory_bytes=memory_bytes, threads=threads)

    def start(self, position: Position, limits: Limits, lines: int = 1) -> Search:
        """See `Agent.start`."""
        return self._agent.start(position, limits, lines)

    def choose(self, position: Position, limits: Limits) -> Decision:
        """See `Agent.choose`."""
        return self._agent.choose(position, limits)

    def analyse(self, position: Position, limits: Limits, lines: int = 1) -> Iterator[Analysis]:
        """See `Agent.analyse`."""
        return self._agent.analyse(position, limits, lines)
