"""The worker process: runs one job at a time and caches agents between jobs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any
from weakref import WeakKeyDictionary

from tengen.agents.agent_cache import AgentCache
from tengen.agents.registry import AgentRegistry
from tengen.core.contracts import Agent, Limits, Ruleset
from tengen.core.position import Position
from tengen.core.stop_signal import StopSignal
from tengen.core.worker_process import CarryOut, OrderContext
from tengen.web.workers.jobs import Job

_MAX_AGENTS = 16
"""Maximum number of cached agents; exceeds the number of levels, so that games do not evict analysis agents."""
_MAX_PROCESS_BYTES = 512 << 20
"""Resident memory above which cached agents are closed before another one is created."""
_AGENT_BYTES = 264 << 20
"""Process memory limit passed to each agent; it leaves about 64 MB for tables and trees."""
_WARM_AGENT = "alphabeta"


@contextmanager
def prepare_worker(registry: AgentRegistry) -> Iterator[CarryOut]:
    """Warm up the worker: load everything that nearly every job needs, so that the first job does not wait for it."""
    make = partial(_make_agent, registry)
    with AgentCache(make, max_agents=_MAX_AGENTS, max_process_bytes=_MAX_PROCESS_BYTES) as agents:
        agents.get(_WARM_AGENT).choose(Position.start(Ruleset()), Limits(depth=1))
        yield JobRunner(agents).run


def _make_agent(registry: AgentRegistry, text: str) -> Agent:
    agent = registry.make(text)
    agent.configure(memory_bytes=_AGENT_BYTES, threads=1)
    return agent


class JobRunner:
    """Runs jobs one at a time and serves as the `Desk` of the running job."""

    _context: OrderContext

    def __init__(self, agents: AgentCache[str]) -> None:
        self._agents = agents
        self._games: WeakKeyDictionary[Agent, tuple[Ruleset, int]] = WeakKeyDictionary()
        """Ruleset and seed of the game that each agent is playing."""

    def run(self, job: Job, context: OrderContext) -> Any:
        """Run a job and return its result."""
        self._context = context
        return job.run(self)

    def agent(self, text: str, ruleset: Ruleset, seed: int | None = None) -> Agent:
        """See `Desk.agent`."""
        agent = self._agents.get(text)
        if seed is not None and self._games.get(agent) != (ruleset, seed):
            agent.new_game(ruleset, seed)
            self._games[agent] = (ruleset, seed)
        return agent

    def report(self, payload: Any) -> None:
        """See `Desk.report`."""
        self._context.report(payload)

    @property
    def stop(self) -> StopSignal:
        """See `Desk.stop`."""
        return self._context.stop
