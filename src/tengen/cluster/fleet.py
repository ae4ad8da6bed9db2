"""A fleet of workers on other machines: distributes orders and replaces lost workers.

This module does not depend on Ray. A `Site` starts workers and delivers calls to them; the fleet schedules the calls.
The fleet grows with the site's free slots, gives each worker one order to execute and one to queue, and replaces
workers that die. Every call has a unique number, and its answer is returned at most once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, Self, TypeVar

from tengen import __version__
from tengen.errors import WorkerError

CALLS_PER_WORKER = 2
"""Calls in flight per worker: one is executed while the other is queued in the worker."""
LOOK_S = 1.0
"""Interval in seconds between checks for free slots."""
START_S = 120.0
"""Seconds after which a worker that is not ready is killed: it hangs, or another program has taken its slot."""
ALONE_S = 600.0
"""Seconds without any worker after which the fleet gives up."""
_WARN_S = 30.0
_MAX_STARTS = 64
"""Maximum number of workers started per check, so that a large cluster does not start all of them at once."""

OrderT = TypeVar("OrderT")


class WorkerLostError(Exception):
    """The worker executing a call died or cannot be reached. Raised by `Site.fetch` and always handled by the fleet."""


@dataclass(frozen=True, slots=True)
class Started:
    """Information that a worker sends when it is ready."""

    node: str
    """Name of the worker's machine, the same for all workers on it."""
    pid: int
    version: str
    """Version of Tengen."""


class Site(Protocol):
    """A place where workers run. References are hashable and identify answers that may still be pending."""

    def now(self) -> float:
        """Return the time in seconds."""
        ...

    def free_slots(self) -> int:
        """Return the number of additional workers that the site has room for."""
        ...

    def start(self, number: int) -> tuple[Any, Hashable]:
        """Start the worker with this number; return a handle and a reference to its `Started` message."""
        ...

    def call(self, handle: Any, order: Any) -> Hashable:
        """Send an order to a worker; return a reference to its answer.

        A worker executes its calls in sequence, but their answers may arrive out of sequence.
        """
        ...

    def wait(self, references: Sequence[Hashable], timeout_s: float) -> Sequence[Hashable]:
        """Return the references whose answers have arrived. Wait at most `timeout_s` for the first one."""
        ...

    def fetch(self, reference: Any) -> Any:
        """Return an answer that has arrived, or raise `WorkerLostError` or the error that the worker raised."""
        ...

    def end(self, handle: Any) -> None:
        """Kill a worker, even if it is busy."""
        ...


class Orders(Protocol[OrderT]):
    """The source of a fleet's orders."""

    def take(self) -> OrderT | None:
        """Return the next order; None if no order is available at the moment."""
        ...

    def lose(self, order: OrderT, *, was_running: bool) -> None:
        """Handle an order that was lost with its worker; `was_running` is set if the worker may have started it."""
        ...


@dataclass(frozen=True, slots=True, order=True)
class CallNumber:
    """Identifier of a call, unique within a run."""

    worker: int
    call: int

    def __str__(self) -> str:
        return f"{self.worker}.{self.call}"


@dataclass(frozen=True, slots=True)
class Answer(Generic[OrderT]):
    """The result of an order, with the call and the node it came from."""

    number: CallNumber
    node: str
    order: OrderT
    result: Any


@dataclass(slots=True)
class _Worker(Generic[OrderT]):
    number: int
    handle: Any
    ready: Hashable | None
    """Reference to the worker's `Started` message; None once the message has arrived."""
    started_at: float
    node: str = ""
    calls: dict[Hashable, tuple[CallNumber, OrderT]] = field(default_factory=dict)
    """Calls in flight, oldest first."""
    calls_made: int = 0
    has_answered: bool = False
    is_lost: bool = False
    """Whether the worker gets no more calls. Its calls in flight either fail or were answered before it died."""


class Fleet(Generic[OrderT]):
    """The workers of one run; a context manager that stops all of them on exit."""

    def __init__(
        self,
        site: Site,
        *,
        workers: int = 0,
        first_number: int = 0,
        warn: Callable[[str], None] = lambda _: None,
    ) -> None:
        """Use `workers` workers (0: every free slot). Worker numbers start at `first_number`."""
        self._site = site
        self._wanted = workers
        self._warn = warn
        self._workers: list[_Worker[OrderT]] = []
        self._next_look = self._had_worker_at = self._next_warning = site.now()
        self._next_warning += _WARN_S
        self._fruitless = 0
        """Workers lost before their first answer, counted since the last answer from any worker."""
        self._most_workers = 0
        self.next_number = first_number
        """Number of the next worker to start."""
        self.restarts = 0
        """Number of workers lost."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Stop all workers, even in the middle of an order."""
        for worker in self._workers:
            self._site.end(worker.handle)
        self._workers.clear()

    @property
    def nodes(self) -> dict[str, int]:
        """Number of ready workers by node."""
        workers = list(self._workers)  # another thread may read this property
        return dict(Counter(worker.node for worker in workers if worker.ready is None and not worker.is_lost))

    @property
    def open_calls(self) -> int:
        """Number of calls in flight."""
        return sum(len(worker.calls) for worker in self._workers)

    def poll(self, orders: Orders[OrderT], timeout_s: float) -> list[Answer[OrderT]]:
        """Start workers, send orders and return the answers that have arrived, waiting at most `timeout_s` for one.

        Errors raised by workers are raised again here. Raises `WorkerError` if the fleet cannot make progress.
        """
        self._grow()
        self._hand_out(orders)
        references = [reference for worker in self._workers for reference in worker.calls]
        references += [worker.ready for worker in self._workers if worker.ready is not None]
        ready = set(self._site.wait(references, timeout_s))
        answers: list[Answer[OrderT]] = []
        for worker in list(self._workers):
            if worker.ready in ready:
                self._welcome(worker)
            # Process the calls in order, because an answer that arrived before the worker died still counts.
            for reference in [reference for reference in worker.calls if reference in ready]:
                answers += self._receive(worker, reference, orders)
            if worker.is_lost and not worker.calls:
                self._workers.remove(worker)
        self._check_alone()
        return answers

    # -- workers -------------------------------------------------------------------------------------------------------

    def _grow(self) -> None:
        now = self._site.now()
        if now < self._next_look:
            return
        self._next_look = now + LOOK_S
        for worker in [worker for worker in self._workers if worker.ready is not None]:
            if now - worker.started_at > START_S:
                self._lose(worker)
                self._workers.remove(worker)
        living = [worker for worker in self._workers if not worker.is_lost]
        if self._wanted:
            missing = self._wanted - len(living)
        else:
            # A starting worker may not occupy its slot yet.
            missing = self._site.free_slots() - sum(worker.ready is not None for worker in living)
        for _ in range(min(missing, _MAX_STARTS)):
            handle, ready = self._site.start(self.next_number)
            self._workers.append(_Worker(self.next_number, handle, ready, now))
            self.next_number += 1

    def _welcome(self, worker: _Worker[OrderT]) -> None:
        """Handle a worker that has become ready or died while starting."""
        reference, worker.ready = worker.ready, None
        try:
            started: Started = self._site.fetch(reference)
        except WorkerLostError as error:
            self._lose(worker, str(error))
            return
        if started.version != __version__:
            raise WorkerError(
                f"node {started.node} has Tengen {started.version}, but this machine has {__version__}:"
                " install the same version on every node"
            )
        worker.node = started.node
        self._most_workers = max(self._most_workers, sum(self.nodes.values()))

    def _lose(self, worker: _Worker[OrderT], reason: str = "it was not ready in time") -> None:
        """Stop a worker and give it no more calls. Its calls in flight are lost when their references fail."""
        if worker.is_lost:
            return
        worker.is_lost = True
        self._site.end(worker.handle)
        self.restarts += 1
        if not worker.has_answered:
            self._fruitless += 1
        if self._fruitless > 10 + 3 * self._most_workers:
            raise WorkerError(f"{self._fruitless} workers in a row were lost before responding; last error: {reason}")

    def _check_alone(self) -> None:
        now = self._site.now()
        if any(worker.ready is None and not worker.is_lost for worker in self._workers):
            self._had_worker_at = now
            self._next_warning = now + _WARN_S
        elif now - self._had_worker_at > ALONE_S:
            raise WorkerError(f"the cluster has had no free CPU for {ALONE_S / 60:.0f} minutes: add a node")
        elif now > self._next_warning:
            self._next_warning = now + _WARN_S
            self._warn("no worker is ready; waiting for a free CPU in the cluster")

    # -- calls ---------------------------------------------------------------------------------------------------------

    def _hand_out(self, orders: Orders[OrderT]) -> None:
        """Give every worker its first order before any worker gets a second one."""
        for held in range(CALLS_PER_WORKER):
            for worker in self._workers:
                if worker.ready is not None or worker.is_lost or len(worker.calls) > held:
                    continue
                order = orders.take()
                if order is None:
                    return
                worker.calls_made += 1
                number = CallNumber(worker.number, worker.calls_made)
                worker.calls[self._site.call(worker.handle, order)] = number, order

    def _receive(self, worker: _Worker[OrderT], reference: Hashable, orders: Orders[OrderT]) -> list[Answer[OrderT]]:
        was_running = not worker.is_lost and next(iter(worker.calls)) == reference
        number, order = worker.calls.pop(reference)
        try:
            result = self._site.fetch(reference)
        except WorkerLostError as error:
            self._lose(worker, str(error))
            orders.lose(order, was_running=was_running)
            return []
        worker.has_answered = True
        self._fruitless = 0
        return [Answer(number, worker.node, order, result)]
