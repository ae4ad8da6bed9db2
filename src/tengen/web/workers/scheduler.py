"""Searches in worker processes: few processes, many who ask, fair shares, limits of time and memory.

Every owner (a game, a browser tab) has an account of processor time, and who comes new begins with as much as the one
of the others who has used least. Served first is whose account would be lowest after what it asks for: what is quick
goes before what is slow, and what waits is passed by less and less, since the accounts of those who are served rise
(weighted fair queueing: Demers, Keshav and Shenker 1989). How long a job will take is what jobs of its kind have taken.
An analysis gives its worker up after a slice when somebody waits, and goes on later; while people play, one worker is
kept free of analyses. A worker that outlasts its limit, holds too much memory or dies is replaced; the one who asked
gets an error.
"""

from __future__ import annotations

import asyncio
import logging
import multiprocessing
import os
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from typing import Any

import psutil

from tengen.errors import AgentError, BusyError
from tengen.web.workers.jobs import SHORT_MS, WAITED_FOR, Job
from tengen.web.workers.process import Order, Report, Result, Stop, work

_log = logging.getLogger(__name__)

_TICK_S = 0.05
"""How often running analyses are looked at while others wait."""
_WATCH_S = 0.5
"""How often limits are looked at."""
_QUICK_SLICE_S = 0.08
"""What an analysis keeps of its worker when a move, or an analysis without any lines yet, waits."""
_PATIENCE_S = 1.0
"""How long an analysis may take to say something before it can be interrupted all the same."""
_MAX_FAILED_STARTS = 5
_HOME_BONUS_S = 0.5
"""An analysis goes on where its tables are if that costs others no more than this."""
_FIRST_GUESS_S = 0.1
"""How long a job of a new kind is taken to last."""
_LEARNT_SHARE = 0.3
"""How much of what is expected of a kind comes from its last job."""
_KINDS_KEPT = 1000


@dataclass(frozen=True, kw_only=True)
class PoolConfig:
    """How searches are run."""

    workers: int = 0
    """Processes; 0 for one a core, two at least."""
    memory_mb: int = 1024
    """A worker that holds more is ended."""
    grace_ms: int = 10_000
    """How much longer than its limit a job may take, and how long after a stop, before its worker is ended."""
    max_waiting: int = 1000
    """Jobs beyond these are refused …"""
    max_waiting_of_owner: int = 50
    """… and beyond these, those of one owner."""
    first_slice_ms: int = 200
    """Processor time that an analysis gets while others like it wait; doubled each time …"""
    longest_slice_ms: int = 400
    """… up to this."""
    play_ms: int = 2000
    """So long after somebody asked for a move, one of several workers is kept free of analyses for the next one."""

    @property
    def worker_count(self) -> int:
        """How many processes there are."""
        return self.workers or max(2, os.cpu_count() or 2)


class Search:
    """A job under way: waits for a worker, runs, perhaps in several slices, and ends with `result`."""

    def __init__(self, pool: WorkerPool, job: Job, owner: str, on_report: Callable[[Any], None] | None) -> None:
        self._pool = pool
        self.job = job
        self.owner = owner
        self.on_report = on_report
        self.result: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self.tag = 0.0
        """The seconds that its owner had used when it came."""
        self.cost_s = 0.0
        """The seconds that its next turn will add to that."""
        self.slices = 0
        self.has_reported = False
        self.home: _Worker | None = None
        self.is_stopped = False

    def stop(self) -> None:
        """End it now with what it has found; one that has not begun still finds something."""
        self._pool.stop(self)

    def cancel(self) -> None:
        """End it; nobody wants the result."""
        self._pool.cancel(self)

    @property
    def weight(self) -> float:
        """That of its job; an analysis that has shown nothing yet is waited for as a move is."""
        return self.job.weight if self.has_reported else max(self.job.weight, WAITED_FOR)

    @property
    def slice_s(self) -> float:
        """The processor time it may have when an analysis like itself waits."""
        config = self._pool.config
        return min(config.first_slice_ms << min(self.slices, 10), config.longest_slice_ms) / 1000


class WorkerPool:
    """The workers and the queue before them. Everything happens in the event loop that `start` ran in."""

    def __init__(self, config: PoolConfig | None = None) -> None:
        self.config = config or PoolConfig()
        self._workers: list[_Worker] = []
        self._waiting: list[Search] = []
        self._level = 0.0
        self._accounts: dict[str, float] = {}
        self._expected_s: dict[str, float] = {}
        """What jobs of each kind have taken lately."""
        self._last_move_at = float("-inf")
        """When somebody began to wait for a move."""
        self._tick: asyncio.TimerHandle | None = None
        self._watch: asyncio.Task[None] | None = None
        self._is_closed = False
        self._failed_starts = 0
        """Workers that ended before they were ready."""

    # -- beginning and end -----------------------------------------------------------------------------------------

    async def start(self) -> None:
        """Start the workers; they are ready when this returns. `AgentError` when they cannot be started."""
        self._workers = [_Worker(self) for _ in range(self.config.worker_count)]
        while not all(worker.ready.is_set() for worker in self._workers):
            if self._failed_starts > _MAX_FAILED_STARTS:
                await self.close()
                raise AgentError("the search processes end as soon as they are started")
            await asyncio.sleep(_TICK_S)
        self._watch = asyncio.create_task(self._keep_watch())

    async def close(self) -> None:
        """End everything; who still waits gets an error."""
        self._is_closed = True
        if self._watch is not None:
            self._watch.cancel()
        if self._tick is not None:
            self._tick.cancel()
        for search in [*self._waiting, *(worker.search for worker in self._workers if worker.search)]:
            _fail(search, AgentError("the server is closing"))
        self._waiting.clear()
        for worker in self._workers:
            worker.end()
        await asyncio.gather(*(asyncio.to_thread(worker.join) for worker in self._workers))

    # -- asking ----------------------------------------------------------------------------------------------------

    async def run(self, job: Job, *, owner: str, on_report: Callable[[Any], None] | None = None) -> Any:
        """Have a job done. Cancelling the caller cancels the job."""
        search = self.submit(job, owner=owner, on_report=on_report)
        try:
            return await search.result
        except asyncio.CancelledError:
            search.cancel()
            raise

    def submit(self, job: Job, *, owner: str, on_report: Callable[[Any], None] | None = None) -> Search:
        """Put a job into the queue; `result` of what is returned has to be awaited."""
        waiting_of_owner = sum(search.owner == owner for search in self._waiting)
        is_full = len(self._waiting) >= self.config.max_waiting
        if self._is_closed or is_full or waiting_of_owner >= self.config.max_waiting_of_owner:
            raise BusyError("too many searches are waiting; try again later")
        search = Search(self, job, owner, on_report)
        if not job.is_preemptible and job.weight > 1:
            self._last_move_at = time.monotonic()
        self._enqueue(search)
        self._schedule()
        return search

    def stop(self, search: Search) -> None:
        """As `Search.stop`."""
        search.is_stopped = True
        worker = self._worker_of(search)
        if worker is not None:
            worker.stop()

    def cancel(self, search: Search) -> None:
        """As `Search.cancel`."""
        search.result.cancel()
        search.on_report = None
        if search in self._waiting:
            self._waiting.remove(search)
        self.stop(search)

    @property
    def load(self) -> tuple[int, int]:
        """Jobs that run and jobs that wait."""
        return sum(worker.search is not None for worker in self._workers), len(self._waiting)

    def memory_bytes(self) -> int:
        """What all workers hold together."""
        return sum(worker.memory_bytes() for worker in self._workers)

    # -- the queue -------------------------------------------------------------------------------------------------

    def _enqueue(self, search: Search) -> None:
        # Nobody saves up time by being idle: the level is the least that anybody busy has used, and never sinks.
        busy = [*self._waiting, *(worker.search for worker in self._workers if worker.search is not None)]
        self._level = max(self._level, min((one.tag for one in busy), default=0.0))
        search.tag = max(self._level, self._accounts.get(search.owner, 0.0))
        search.cost_s = self._turn_s(search) / search.weight
        self._waiting.append(search)

    def _turn_s(self, search: Search) -> float:
        """How long it will keep its worker."""
        if search.job.is_preemptible:
            return search.slice_s if search.has_reported else _QUICK_SLICE_S
        guess_s = min(_FIRST_GUESS_S, search.job.limit_ms / 1000)
        return self._expected_s.get(search.job.family, guess_s)

    def _is_long(self, search: Search) -> bool:
        """Whether it would shut others out for long: such jobs do not occupy all workers at once."""
        return not search.job.is_preemptible and self._turn_s(search) > SHORT_MS / 1000

    def _schedule(self) -> None:
        for worker in self._workers:
            if worker.is_idle and (search := self._pick(worker)) is not None:
                self._waiting.remove(search)
                worker.begin(search)
        if self._waiting:
            self._make_room()
            if self._tick is None and not self._is_closed:
                self._tick = asyncio.get_running_loop().call_later(_TICK_S, self._on_tick)

    def _on_tick(self) -> None:
        self._tick = None
        self._schedule()

    def _pick(self, worker: _Worker) -> Search | None:
        """Whose turn it is: least used first, at home if there is little difference."""
        candidates = self._waiting
        if self._long_jobs() >= max(1, len(self._workers) - 1):
            candidates = [search for search in candidates if not self._is_long(search)]
        if self._keeps_last_free():
            candidates = [search for search in candidates if not search.job.is_preemptible]
        if not candidates:
            return None
        first = min(candidates, key=_turn)
        last = _turn(first) + _HOME_BONUS_S
        at_home = (search for search in candidates if search.home is worker and _turn(search) < last)
        return first if first.home in (None, worker) else min(at_home, key=_turn, default=first)

    def _keeps_last_free(self) -> bool:
        """Whether people play, and only one of several workers is not at an analysis."""
        analyses = sum(worker.is_analysing for worker in self._workers)
        is_played = time.monotonic() - self._last_move_at < self.config.play_ms / 1000
        return is_played and 1 <= len(self._workers) - 1 <= analyses

    def _long_jobs(self) -> int:
        return sum(worker.search is not None and self._is_long(worker.search) for worker in self._workers)

    def _make_room(self) -> None:
        """Interrupt the analysis that has used most, if it has had its slice."""
        running = [worker for worker in self._workers if worker.can_be_interrupted]
        if not running:
            return
        head = min(self._waiting, key=_turn)
        worker = max(running, key=lambda one: one.search.tag + one.elapsed_s if one.search else 0.0)
        assert worker.search is not None
        if head.has_reported:
            is_due = worker.cpu_s >= worker.search.slice_s
        else:
            is_due = worker.elapsed_s >= _QUICK_SLICE_S
        if is_due:
            worker.interrupt()

    # -- what workers say ------------------------------------------------------------------------------------------

    def received(self, worker: _Worker, message: Report | Result) -> None:
        """Pass on what a worker has sent."""
        search = worker.search
        if search is None or message.number != worker.number:
            return
        if isinstance(message, Report):
            search.has_reported = worker.has_reported = True
            if search.on_report is not None:
                search.on_report(message.payload)
            return
        used_s, was_interrupted = worker.elapsed_s, worker.is_interrupted
        worker.free()
        self._charge(search, message.cpu_s)
        self._learn(search.job, message.cpu_s)
        rest = search.job.resumed(round(1000 * used_s)) if was_interrupted and message.error is None else None
        if rest is not None and not search.is_stopped and not search.result.done():
            search.job = rest
            search.slices += 1
            search.home = worker
            self._enqueue(search)
        elif message.error is None:
            if not search.result.done():
                search.result.set_result(message.payload)
        else:
            _fail(search, message.error)
        self._schedule()

    def lost(self, worker: _Worker, why: str) -> None:
        """Replace a worker that died or had to be ended."""
        if self._is_closed or worker not in self._workers:
            return
        _log.warning("a search process was replaced: %s", why)
        self._failed_starts += not worker.ready.is_set()
        search = worker.search
        worker.end()
        self._workers[self._workers.index(worker)] = _Worker(self)
        for waiting in self._waiting:
            if waiting.home is worker:
                waiting.home = None
        if search is not None:
            self._charge(search, worker.elapsed_s)
            _fail(search, AgentError(f"the search was ended: {why}"))
        self._schedule()

    def _charge(self, search: Search, used_s: float) -> None:
        account = max(self._accounts.get(search.owner, 0.0), search.tag) + used_s / search.weight
        self._accounts[search.owner] = account
        if len(self._accounts) > 4 * self.config.max_waiting:
            self._accounts = {owner: used for owner, used in self._accounts.items() if used > self._level}

    def _learn(self, job: Job, used_s: float) -> None:
        if job.is_preemptible:
            return
        before = self._expected_s.pop(job.family, used_s)
        self._expected_s[job.family] = before + _LEARNT_SHARE * (used_s - before)
        if len(self._expected_s) > _KINDS_KEPT:
            del self._expected_s[next(iter(self._expected_s))]

    def _worker_of(self, search: Search) -> _Worker | None:
        return next((worker for worker in self._workers if worker.search is search), None)

    async def _keep_watch(self) -> None:
        while True:
            await asyncio.sleep(_WATCH_S)
            for worker in list(self._workers):
                if worker.is_overdue(self.config.grace_ms / 1000):
                    self.lost(worker, "it did not keep its time limit")
                elif worker.memory_bytes() > self.config.memory_mb << 20:
                    self.lost(worker, f"it held more than {self.config.memory_mb} MB")


def _turn(search: Search) -> float:
    """Who comes first: those who will have used least after their turn."""
    return search.tag + search.cost_s


def _fail(search: Search, error: Exception) -> None:
    if not search.result.done():
        search.result.set_exception(error)


class _Worker:
    """A process and what it is doing."""

    def __init__(self, pool: WorkerPool) -> None:
        self._pool = pool
        self._loop = asyncio.get_running_loop()
        context = multiprocessing.get_context("spawn")
        self._connection, theirs = context.Pipe()
        self.process: SpawnProcess = context.Process(target=work, args=(theirs,), name="tengen search", daemon=True)
        self.process.start()
        theirs.close()
        self.ready = asyncio.Event()
        self.search: Search | None = None
        self.number = 0
        self.is_interrupted = False
        self.has_reported = False
        self._began = 0.0
        self._cpu_before_s = 0.0
        self._stop_asked: float | None = None
        threading.Thread(target=self._listen, args=(self._connection,), name="worker", daemon=True).start()

    @property
    def is_idle(self) -> bool:
        """Whether it can begin something."""
        return self.search is None and self.ready.is_set()

    @property
    def elapsed_s(self) -> float:
        """How long its job has been running."""
        return time.monotonic() - self._began

    @property
    def cpu_s(self) -> float:
        """The processor time its job has used."""
        return self._process_cpu_s() - self._cpu_before_s

    @property
    def is_analysing(self) -> bool:
        """Whether it runs an analysis that somebody still wants."""
        return self.search is not None and self.search.job.is_preemptible and not self.search.result.done()

    @property
    def can_be_interrupted(self) -> bool:
        """Whether it runs an analysis that has said something in this slice and that nobody has asked to end yet."""
        if self.search is None or not self.search.job.is_preemptible or self._stop_asked is not None:
            return False
        return self.has_reported or self.elapsed_s > _PATIENCE_S

    def begin(self, search: Search) -> None:
        """Hand a job over."""
        self.search = search
        self.number += 1
        self.is_interrupted = False
        self.has_reported = False
        self._stop_asked = None
        self._began = time.monotonic()
        self._cpu_before_s = self._process_cpu_s()
        self._send(Order(self.number, search.job))
        if search.is_stopped:
            self.stop()

    def stop(self) -> None:
        """Ask for the result now."""
        if self._stop_asked is None:
            self._stop_asked = time.monotonic()
            self._send(Stop(self.number))

    def interrupt(self) -> None:
        """Let others have the worker for a while."""
        self.is_interrupted = True
        self.stop()

    def free(self) -> None:
        """The job is done."""
        self.search = None
        self._stop_asked = None

    def is_overdue(self, grace_s: float) -> bool:
        """Whether it should have answered long ago."""
        if self.search is None:
            return False
        now = time.monotonic()
        if self._stop_asked is not None and now - self._stop_asked > grace_s:
            return True
        return now - self._began > self.search.job.limit_ms / 1000 + grace_s

    def memory_bytes(self) -> int:
        """What the process holds, 0 when it is gone."""
        try:
            return int(psutil.Process(self.process.pid).memory_info().rss)
        except psutil.Error:
            return 0

    def _process_cpu_s(self) -> float:
        try:
            times = psutil.Process(self.process.pid).cpu_times()
        except psutil.Error:
            return 0.0
        return float(times.user + times.system)

    def end(self) -> None:
        """Kill the process."""
        with suppress(OSError):
            self.process.kill()
        with suppress(OSError):
            self._connection.close()

    def join(self) -> None:
        """Wait for its end."""
        self.process.join(timeout=5)

    def _send(self, message: Order | Stop) -> None:
        try:
            self._connection.send(message)
        except OSError:
            self._loop.call_soon(self._pool.lost, self, "its process ended")

    def _listen(self, connection: Connection) -> None:
        """Runs in a thread of its own: brings what the worker sends into the event loop."""
        with suppress(RuntimeError):  # the loop is closed
            try:
                connection.recv()
                self._loop.call_soon_threadsafe(self._on_ready)
                while True:
                    self._loop.call_soon_threadsafe(self._pool.received, self, connection.recv())
            except (EOFError, OSError, TypeError):  # TypeError: closed while it waited
                self._loop.call_soon_threadsafe(self._pool.lost, self, "its process ended")

    def _on_ready(self) -> None:
        self.ready.set()
        self._pool._schedule()
