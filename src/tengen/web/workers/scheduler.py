"""Scheduler that shares a few search processes fairly among many clients, with limits on time and memory.

Scheduling is weighted fair queueing (Demers, Keshav and Shenker 1989). An owner is a game, a browser tab or a
client address. The scheduler tracks the CPU time used by each owner; a new owner starts at the lowest usage among the
active ones. The next job is the one after which its owner would have the lowest usage. The expected cost of a job is a
running average over similar jobs.

If other jobs are waiting, an analysis is preempted after its time slice and resumed later. While people are playing,
one worker is kept free of analyses. A worker that dies or exceeds its limits is replaced. The job of a worker that
died is retried once on another worker. If that worker dies as well, or if a job exceeds a limit, the owner of the job
gets an error.
"""

from __future__ import annotations

import asyncio
import logging
import os
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from tengen.agents.registry import AgentRegistry
from tengen.core.worker_process import OrderReport, OrderResult, WorkerProcess
from tengen.errors import AgentError, BusyError, TengenError, WorkerError
from tengen.web.workers.jobs import SHORT_MS, WAITED_FOR, Job
from tengen.web.workers.process import prepare_worker

_log = logging.getLogger(__name__)

_NICENESS = 5
"""Niceness of the workers, so that the server process stays responsive."""
_TICK_S = 0.05
"""Interval at which running analyses are checked while jobs wait."""
_WATCH_S = 0.5
"""Interval at which time and memory limits are checked."""
_QUICK_SLICE_S = 0.08
"""Time slice for an analysis while a move or the first report of another analysis is pending."""
_PATIENCE_S = 1.0
"""Time after which an analysis can be preempted even if it has not reported."""
_MAX_FAILED_STARTS = 5
_RETRY_S = 1.0
"""Delay before retrying to start a process that could not be started."""
_AWAY_COST_S = 0.5
"""Cost of resuming an analysis on a different worker, whose transposition table has no entries from the analysis."""
_FIRST_GUESS_S = 0.1
"""Expected cost of a job whose family has not run yet."""
_LEARNING_RATE = 0.3
"""Weight of the latest job in its family's running average."""
_MAX_FAMILIES = 1000


@dataclass(frozen=True, kw_only=True)
class SearchPoolConfig:
    """Limits and time slices of the search processes."""

    workers: int = 0
    """Number of processes; 0 for one per core, but at least two."""
    memory_mb: int = 1024
    """Memory limit per worker; a worker that exceeds it is replaced."""
    grace_ms: int = 10_000
    """Time by which a job may exceed its limit, or may take to stop, before its worker is replaced."""
    max_waiting: int = 1000
    """Maximum number of waiting jobs."""
    max_waiting_of_owner: int = 50
    """Maximum number of waiting jobs per owner."""
    first_slice_ms: int = 200
    """First time slice for an analysis while other analyses wait."""
    slice_ms: int = 400
    """Later time slices for an analysis while other analyses wait."""
    play_ms: int = 2000
    """How long one worker is kept free of analyses after the last request for a move, if there are several workers."""

    agents: AgentRegistry = field(default_factory=AgentRegistry().restricted)
    """Creates the agents. It must be restricted, because browsers choose their names."""

    @property
    def worker_count(self) -> int:
        """The actual number of processes."""
        return self.workers or max(2, os.cpu_count() or 2)


class SearchTask:
    """A submitted job. It waits for a worker, runs in one or more time slices, and then sets `result`."""

    def __init__(self, pool: SearchPool, job: Job, owner: str, on_report: Callable[[Any], None] | None) -> None:
        self._pool = pool
        self.job = job
        self.owner = owner
        self.on_report = on_report
        self.result: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self.used_s = 0.0
        """The owner's weighted usage when the search was queued."""
        self.due_s = 0.0
        """The owner's expected usage after the next time slice; the search with the lowest value runs first."""
        self.slices = 0
        self.has_reported = False
        self.worker: _Worker | None = None
        self.home: int | None = None
        """Index of the worker that ran the last time slice."""
        self.is_stopped = False
        self.is_second_try = False
        """Whether the job has already run on a worker that died."""

    def stop(self) -> None:
        """End the search early. It still returns its best result so far, even if it has not started yet."""
        self.is_stopped = True
        if self.worker is not None:
            self.worker.stop()

    def cancel(self) -> None:
        """End the search and discard its result."""
        self.result.cancel()
        self.on_report = None
        if self in self._pool.waiting:
            self._pool.waiting.remove(self)
        self.stop()

    @property
    def weight(self) -> float:
        """Weight of the job. Before its first report, an analysis weighs as much as a move: a person is waiting."""
        return self.job.weight if self.has_reported else max(self.job.weight, WAITED_FOR)

    @property
    def slice_s(self) -> float:
        """Time slice while other analyses wait."""
        config = self._pool.config
        return (config.slice_ms if self.slices else config.first_slice_ms) / 1000


class SearchPool:
    """The workers and their queue. All methods must be called on the event loop that ran `start`."""

    def __init__(self, config: SearchPoolConfig | None = None) -> None:
        self.config = config or SearchPoolConfig()
        self._workers: list[_Worker] = []
        self.waiting: list[SearchTask] = []
        self._usage_s: dict[str, float] = {}
        """Weighted CPU time by owner."""
        self._level_s = 0.0
        """Usage at which a new owner starts; it never decreases."""
        self._expected_s: dict[str, float] = {}
        """Running average of job cost by family."""
        self._last_move_at = float("-inf")
        self._tick: asyncio.TimerHandle | None = None
        self._watch: asyncio.Task[None] | None = None
        self._is_closed = False
        self._failed_starts = 0

    # -- start and end -------------------------------------------------------------------------------------------------

    async def start(self) -> None:
        """Start the workers and wait until they are ready. Raises `AgentError` if they cannot be started."""
        self._workers = [_Worker(self, place) for place in range(self.config.worker_count)]
        self._watch = asyncio.create_task(self._keep_watch())
        while not all(worker.process.is_ready for worker in self._workers):
            if self._failed_starts > _MAX_FAILED_STARTS:
                await self.close()
                raise AgentError("the search processes keep crashing on startup; see the server log for the reason")
            await asyncio.sleep(_TICK_S)

    async def close(self) -> None:
        """End all workers. Waiting and running searches fail."""
        self._is_closed = True
        if self._watch is not None:
            self._watch.cancel()
        if self._tick is not None:
            self._tick.cancel()
        for search in [*self.waiting, *self._running()]:
            _fail(search, AgentError("the server is closing"))
        self.waiting.clear()
        for worker in self._workers:
            worker.process.kill()
        await asyncio.gather(*(asyncio.to_thread(worker.listener.join) for worker in self._workers))

    # -- requests ------------------------------------------------------------------------------------------------------

    async def run(self, job: Job, *, owner: str, on_report: Callable[[Any], None] | None = None) -> Any:
        """Run a job and return its result. Cancelling the caller cancels the job."""
        search = self.submit(job, owner=owner, on_report=on_report)
        try:
            return await search.result
        except asyncio.CancelledError:
            search.cancel()
            raise

    def submit(self, job: Job, *, owner: str, on_report: Callable[[Any], None] | None = None) -> SearchTask:
        """Queue a job. The caller must await the task's `result`. Raises `BusyError` if the queue is full."""
        waiting_of_owner = sum(search.owner == owner for search in self.waiting)
        is_full = len(self.waiting) >= self.config.max_waiting
        if self._is_closed or is_full or waiting_of_owner >= self.config.max_waiting_of_owner:
            raise BusyError("too many searches are waiting; try again later")
        search = SearchTask(self, job, owner, on_report)
        if not job.is_preemptible and job.weight > 1:
            self._last_move_at = time.monotonic()
        self._enqueue(search)
        self._schedule()
        return search

    @property
    def load(self) -> tuple[int, int]:
        """Numbers of running and waiting searches."""
        return len(self._running()), len(self.waiting)

    # -- the queue -----------------------------------------------------------------------------------------------------

    def _running(self) -> list[SearchTask]:
        return [worker.search for worker in self._workers if worker.search is not None]

    def _enqueue(self, search: SearchTask) -> None:
        # An idle owner does not save up time: its usage is raised to the lowest among the active owners.
        active = (one.used_s for one in (*self.waiting, *self._running()))
        self._level_s = max(self._level_s, min(active, default=0.0))
        search.used_s = max(self._level_s, self._usage_s.get(search.owner, 0.0))
        search.due_s = search.used_s + self._turn_s(search) / search.weight
        self.waiting.append(search)

    def _turn_s(self, search: SearchTask) -> float:
        """Return how many seconds a search is expected to occupy a worker."""
        if search.job.is_preemptible:
            return search.slice_s if search.has_reported else _QUICK_SLICE_S
        return self._expected_s.get(search.job.family, min(_FIRST_GUESS_S, search.job.limit_ms / 1000))

    def _is_long(self, search: SearchTask) -> bool:
        return not search.job.is_preemptible and self._turn_s(search) > SHORT_MS / 1000

    def _schedule(self) -> None:
        for worker in self._workers:
            if worker.is_idle and (search := self._pick(worker)) is not None:
                self.waiting.remove(search)
                worker.begin(search)
        if self.waiting and not self._is_closed:
            self._preempt()
            if self._tick is not None:
                self._tick.cancel()
            self._tick = asyncio.get_running_loop().call_later(_TICK_S, self._schedule)

    def _pick(self, worker: _Worker) -> SearchTask | None:
        """Return the search that runs next on a worker, or None to leave the worker free."""
        # Long jobs always leave one worker free for other jobs; analyses do so while people are playing.
        bound = max(1, len(self._workers) - 1)
        allows_long = sum(map(self._is_long, self._running())) < bound
        is_played = time.monotonic() - self._last_move_at < self.config.play_ms / 1000
        analyses = sum(search.job.is_preemptible and not search.result.done() for search in self._running())
        allows_analyses = not is_played or len(self._workers) == 1 or analyses < bound
        candidates = (
            search
            for search in self.waiting
            if (allows_analyses if search.job.is_preemptible else allows_long or not self._is_long(search))
        )
        return min(
            candidates,
            key=lambda search: search.due_s + _AWAY_COST_S * (search.home not in (None, worker.place)),
            default=None,
        )

    def _preempt(self) -> None:
        """Interrupt the analysis whose owner has the highest usage, if it has had its time slice."""
        head = min(self.waiting, key=lambda search: search.due_s)
        preemptible = [(search, worker) for worker in self._workers if (search := worker.preemptible) is not None]
        if preemptible:
            search, worker = max(preemptible, key=lambda pair: pair[0].used_s + pair[1].elapsed_s)
            if worker.elapsed_s >= (search.slice_s if head.has_reported else _QUICK_SLICE_S):
                worker.interrupt()

    # -- messages from workers -----------------------------------------------------------------------------------------

    def received(self, worker: _Worker, message: OrderReport | OrderResult | None) -> None:
        """Handle a message from a worker; None means that the worker is ready."""
        search = worker.search
        if isinstance(message, OrderResult) and search is not None:
            self._finish(worker, search, message)
        elif isinstance(message, OrderReport) and search is not None:
            search.has_reported = worker.has_reported = True
            if search.on_report is not None:
                search.on_report(message.payload)
            return
        self._schedule()

    def _finish(self, worker: _Worker, search: SearchTask, result: OrderResult) -> None:
        """Finish a search, or queue the rest of it if it was interrupted."""
        self._charge(search, result.cpu_s)
        self._learn(search.job, result.cpu_s)
        used_ms = round(1000 * worker.elapsed_s)
        worker.search = search.worker = None
        if isinstance(result.error, WorkerError):
            _log.error("job failed: %r\n%s", search.job, result.error)
            _fail(search, AgentError("internal error"))
        elif result.error is not None:
            _fail(search, result.error)
        elif not search.result.done():
            rest = search.job.resumed(used_ms) if worker.is_interrupted and not search.is_stopped else None
            if rest is None:
                search.result.set_result(result.payload)
            else:
                search.job = rest
                search.slices += 1
                search.home = worker.place
                self._enqueue(search)

    def died(self, worker: _Worker) -> None:
        """Replace a worker whose process died, and run its search again unless it was already retried."""
        search = worker.search
        if search is not None and not search.is_second_try and not search.result.done() and not self._is_closed:
            search.is_second_try = True
            worker.search = search.worker = None
            self._charge(search, worker.elapsed_s)
            self._enqueue(search)
        self.lost(worker, "the worker process died")

    def lost(self, worker: _Worker, reason: str) -> None:
        """Replace a worker that died or exceeded its limits, and fail its search."""
        if self._is_closed or worker not in self._workers:
            return
        _log.warning("replacing a search process: %s", reason)
        self._failed_starts += not worker.process.is_ready
        worker.process.kill()
        worker.process.is_ready = False
        if (search := worker.search) is not None:
            worker.search = search.worker = None
            self._charge(search, worker.elapsed_s)
            _fail(search, AgentError(f"the search was aborted: {reason}"))
        try:
            self._workers[worker.place] = _Worker(self, worker.place)
        except OSError as error:  # out of file descriptors, processes or memory
            asyncio.get_running_loop().call_later(
                _RETRY_S, self.lost, worker, f"the process could not be started: {error}"
            )
        self._schedule()

    def _charge(self, search: SearchTask, used_s: float) -> None:
        usage = max(self._usage_s.get(search.owner, 0.0), search.used_s) + used_s / search.weight
        self._usage_s[search.owner] = usage
        if len(self._usage_s) > 4 * self.config.max_waiting:
            self._usage_s = {owner: used for owner, used in self._usage_s.items() if used > self._level_s}

    def _learn(self, job: Job, used_s: float) -> None:
        if not job.is_preemptible:
            if len(self._expected_s) >= _MAX_FAMILIES:
                self._expected_s.clear()
            before = self._expected_s.get(job.family, used_s)
            self._expected_s[job.family] = before + _LEARNING_RATE * (used_s - before)

    async def _keep_watch(self) -> None:
        while True:
            await asyncio.sleep(_WATCH_S)
            for worker in list(self._workers):
                if worker.process.is_hung and not worker.is_idle:
                    self.lost(worker, "the worker exceeded its time limit")
                elif worker.process.memory_bytes() > self.config.memory_mb << 20:
                    self.lost(worker, f"the worker used more than {self.config.memory_mb} MB of memory")


def _fail(search: SearchTask, error: Exception) -> None:
    if not search.result.done():
        search.result.set_exception(error)


class _Worker:
    """A search process and the search it runs."""

    def __init__(self, pool: SearchPool, place: int) -> None:
        self._pool = pool
        self._loop = asyncio.get_running_loop()
        self.place = place
        prepare = partial(prepare_worker, pool.config.agents)
        self.process = WorkerProcess(prepare, name=f"search worker {place + 1}", niceness=_NICENESS)
        self.search: SearchTask | None = None
        self.has_reported = False
        """Whether the running slice has sent a report."""
        self.is_interrupted = False
        self._is_stopping = False
        self._number = 0
        self._began = 0.0
        self.listener = threading.Thread(target=self._listen, name=f"search worker {place + 1}", daemon=True)
        self.listener.start()

    @property
    def is_idle(self) -> bool:
        """Whether the worker can start a search."""
        return self.search is None and self.process.is_ready

    @property
    def elapsed_s(self) -> float:
        """Seconds since the search started."""
        return time.monotonic() - self._began

    @property
    def preemptible(self) -> SearchTask | None:
        """The running analysis, if it may be interrupted now."""
        if self.search is None or not self.search.job.is_preemptible or self._is_stopping:
            return None
        return self.search if self.has_reported or self.elapsed_s > _PATIENCE_S else None

    def begin(self, search: SearchTask) -> None:
        """Start a search."""
        self.search, search.worker = search, self
        self.has_reported = self.is_interrupted = self._is_stopping = False
        self._number += 1
        self._began = time.monotonic()
        self.process.expect_within((search.job.limit_ms + self._pool.config.grace_ms) / 1000)
        with suppress(OSError):  # the process is dead, which `_listen` will report
            self.process.send(self._number, search.job)
        if search.is_stopped:
            self.stop()

    def stop(self) -> None:
        """Ask the search to stop and return its result."""
        if not self._is_stopping:
            self._is_stopping = True
            self.process.expect_within(self._pool.config.grace_ms / 1000)
            with suppress(OSError):
                self.process.stop(self._number)

    def interrupt(self) -> None:
        """Ask the analysis to end its time slice."""
        self.is_interrupted = True
        self.stop()

    def _listen(self) -> None:
        """Forward messages to the event loop, in a separate thread. Ends the process when its pipe is closed."""
        with suppress(RuntimeError):  # the event loop is closed
            try:
                while True:
                    self._loop.call_soon_threadsafe(self._pool.received, self, self.process.receive())
            except (EOFError, OSError):
                self._loop.call_soon_threadsafe(self._pool.died, self)
            except TengenError as error:
                self._loop.call_soon_threadsafe(self._pool.lost, self, str(error))
        self.process.end()
