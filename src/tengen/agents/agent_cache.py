"""A cache of agents, so that a worker does not reload networks, tables and engines for each game."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from contextlib import suppress
from typing import Generic, Self, TypeVar

import psutil

from tengen.core.contracts import Agent

K = TypeVar("K", bound=Hashable)


class AgentCache(Generic[K]):
    """A cache of agents by key. Agents are created on first use, and the least recently used one is closed first."""

    def __init__(self, make: Callable[[K], Agent], *, max_agents: int, max_process_bytes: int | None = None) -> None:
        """Create an empty cache.

        Before it adds an agent, the cache closes others until it holds fewer than `max_agents` and the process uses at
        most `max_process_bytes`.
        """
        self._make = make
        self._max_agents = max_agents
        self._max_process_bytes = max_process_bytes
        self._agents: OrderedDict[K, Agent] = OrderedDict()

    def get(self, key: K) -> Agent:
        """Return the agent for a key. This call may close agents that were returned earlier."""
        if key not in self._agents:
            while self._agents and self._is_full():
                self.drop(next(iter(self._agents)))
            self._agents[key] = self._make(key)
        self._agents.move_to_end(key)
        return self._agents[key]

    def drop(self, key: K) -> None:
        """Close an agent, so that the next `get` creates a new one."""
        with suppress(Exception):  # the agent is discarded even if it fails to close
            self._agents.pop(key).close()

    def items(self) -> list[tuple[K, Agent]]:
        """Return the agents, least recently used first."""
        return list(self._agents.items())

    def close(self) -> None:
        """Close all agents."""
        for key in list(self._agents):
            self.drop(key)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _is_full(self) -> bool:
        if len(self._agents) >= self._max_agents:
            return True
        limit = self._max_process_bytes
        return limit is not None and psutil.Process().memory_info().rss > limit
