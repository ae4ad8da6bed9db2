"""The process that does jobs, one at a time. It holds agents between jobs and nothing else.

A thread reads the pipe so that a stop is heard while a job runs. When the parent is gone, so is the process.
"""

from __future__ import annotations

import logging
import os
import queue
import signal
import sys
import threading
import time
from collections import OrderedDict
from contextlib import suppress
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection
from typing import Any

import psutil

from tengen.agents.registry import make_agent
from tengen.core.contracts import Agent, Limits, Ruleset
from tengen.core.position import Position
from tengen.core.stop_signal import StopSignal
from tengen.errors import AgentError, TengenError
from tengen.web.workers.jobs import Job

AGENTS_KEPT = 16
"""More than there are levels, so that games and analyses do not take each other's agents away."""
_MEMORY_OF_AGENTS = 512 << 20
"""What a process may hold before it gives agents up that were not used lately."""
AGENT_MEMORY = 264 << 20
"""What an agent is told that its process may hold; tables and trees get what is left beside the rest, about 64 MB."""
_WARM_AGENT = "alphabeta"
_NICENESS = 5
"""Searches give way to the server, which answers clicks."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Order:
    """Do a job."""

    number: int
    job: Job


@dataclass(frozen=True, slots=True)
class Stop:
    """End the job with that number early; its result still comes."""

    number: int


@dataclass(frozen=True, slots=True)
class Report:
    """Something that a job says before it is done."""

    number: int
    payload: Any


@dataclass(frozen=True, slots=True)
class Result:
    """What became of a job."""

    number: int
    payload: Any = None
    error: TengenError | None = None
    cpu_s: float = 0.0
    """Processor time that it took."""


def work(connection: Connection) -> None:
    """Do the jobs that come over the connection until its end."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends its workers
    if sys.platform != "win32":
        os.nice(_NICENESS)
    desk = WorkerDesk(connection)
    threading.Thread(target=desk.listen, name="orders", daemon=True).start()
    desk.warm_up()
    connection.send(None)  # ready
    desk.serve()


class WorkerDesk:
    """The worker's side of the pipe, and what jobs find here."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._orders: queue.SimpleQueue[Order] = queue.SimpleQueue()
        self._stops: dict[int, StopSignal] = {}
        """The signal of each job that has arrived and is not done."""
        self._number: int | None = None
        """The job that runs."""
        self._agents: OrderedDict[str, Agent] = OrderedDict()
        self._games: dict[str, tuple[Ruleset, int]] = {}

    # -- the pipe --------------------------------------------------------------------------------------------------

    def listen(self) -> None:
        """Take orders; leave with the parent."""
        with suppress(EOFError, OSError):
            while True:
                message = self._connection.recv()
                if isinstance(message, Order):
                    self._stops[message.number] = StopSignal()
                    self._orders.put(message)
                elif isinstance(message, Stop) and (stop := self._stops.get(message.number)) is not None:
                    stop.set()
        os._exit(0)

    def warm_up(self) -> None:
        """Import and build what nearly every job needs, so that the first one does not wait for it."""
        start = Position.start(Ruleset())
        self.agent(_WARM_AGENT, start.ruleset).choose(start, Limits(depth=1))

    def serve(self) -> None:
        """Do jobs for ever."""
        while True:
            order = self._orders.get()
            began = time.process_time()
            result = self._done(order)
            self._connection.send(replace(result, cpu_s=time.process_time() - began))

    def _done(self, order: Order) -> Result:
        self._number = order.number
        try:
            return Result(order.number, order.job.run(self))
        except TengenError as error:
            return Result(order.number, error=error)
        except Exception:
            _log.exception("a job failed: %r", order.job)
            return Result(order.number, error=AgentError("internal error"))
        finally:
            self._number = None
            del self._stops[order.number]

    # -- what jobs find --------------------------------------------------------------------------------------------

    def report(self, payload: Any) -> None:
        """Send something before the job is done."""
        assert self._number is not None
        self._connection.send(Report(self._number, payload))

    @property
    def stop(self) -> StopSignal:
        """Set when the job has to end early, perhaps before it starts."""
        assert self._number is not None
        return self._stops[self._number]

    def agent(self, text: str, ruleset: Ruleset, seed: int | None = None) -> Agent:
        """The agent with that text, ready to play; with a seed, in the game of that seed."""
        if text not in self._agents:
            while len(self._agents) >= AGENTS_KEPT or (self._agents and _resident_bytes() > _MEMORY_OF_AGENTS):
                name, oldest = self._agents.popitem(last=False)
                self._games.pop(name, None)
                oldest.close()
                del oldest
            agent = make_agent(text)
            agent.configure(memory_bytes=AGENT_MEMORY, threads=1)
            self._agents[text] = agent
        self._agents.move_to_end(text)
        agent = self._agents[text]
        if seed is not None and self._games.get(text) != (ruleset, seed):
            agent.new_game(ruleset, seed)
            self._games[text] = (ruleset, seed)
        return agent


def _resident_bytes() -> int:
    """What this process holds."""
    return int(psutil.Process().memory_info().rss)
