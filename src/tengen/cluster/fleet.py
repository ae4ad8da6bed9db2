"""A fleet of workers on other machines: which worker gets an order, and what happens when one is lost.

Nothing here knows Ray. A `Site` starts workers and carries calls to them; the fleet decides. It grows with the free
slots of the site, gives each worker one order to carry out and one to keep it busy, and replaces workers that die.
Every call has a number that is never used again, and its answer is returned at most once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, Self, TypeVar

from tengen import __version__
from tengen.errors import WorkerError

CALLS_PER_WORKER = 2
"""One is carried out while the other waits in the worker."""
LOOK_S = 1.0
"""Interval at which free slots are looked for."""
START_S = 120.0
"""A worker that is not ready by then is ended: its slot was taken by somebody else, or it hangs."""
ALONE_S = 600.0
"""The fleet gives up after this time without any worker."""
_WARN_S = 30.0
_MAX_STARTS = 64
"""Workers started at one look, so that a large cluster does not start all of them in the same second."""

OrderT = TypeVar("OrderT")


class WorkerLostError(Exception):
    """The worker of a call died or cannot be reached. Raised by `Site.fetch`; the fleet never lets it out."""


@dataclass(frozen=True, slots=True)
class Started:
    """What a worker says about itself when it is ready."""

    node: str
    """Name of its machine, the same for all workers there."""
    pid: int
    version: str
    """Of Tengen."""


class Site(Protocol):
    """Where workers run. References are hashable and stand for answers that may not be there yet."""

    def now(self) -> float:
        """Return the time in seconds."""
        ...

    def free_slots(self) -> int:
        """Return how many more workers the site has room for."""
        ...

    def start(self, number: int) -> tuple[Any, Hashable]:
        """Start the worker with this number; return a handle and the reference of its `Started`."""
        ...

    def call(self, handle: Any, order: Any) -> Hashable:
        """Send an order to a worker; return the reference of its answer.

        A worker carries out its calls in order, but their answers can arrive in another one.
        """
        ...

    def wait(self, references: Sequence[Hashable], timeout_s: float) -> Sequence[Hashable]:
        """Return the references whose answers are there. Wait at most `timeout_s` for the first one."""
        ...

    def fetch(self, reference: Any) -> Any:
        """Return an answer that is there; `WorkerLostError` if the worker was lost, else the worker's own error."""
        ...

    def end(self, handle: Any) -> None:
        """Kill a worker, whatever it is doing."""
        ...


class Orders(Protocol[OrderT]):
    """Where the orders of a fleet come from."""

    def take(self) -> OrderT | None:
        """Return the next order, None if there is none at the moment."""
        ...

    def lose(self, order: OrderT, *, was_running: bool) -> None:
        """Hear that an order was lost with its worker; `was_running` if it may have been begun."""
        ...


@dataclass(frozen=True, slots=True, order=True)
class CallNumber:
    """Identifies a call. No two calls of a run have the same number."""

    worker: int
    call: int

    def __str__(self) -> str:
        return f"{self.worker}.{self.call}"


@dataclass(frozen=True, slots=True)
class Answer(Generic[OrderT]):
    """What came back for an order."""

    number: CallNumber
    node: str
    order: OrderT
    result: Any


@dataclass(slots=True)
class _Worker(Generic[OrderT]):
    number: int
    handle: Any
    ready: Hashable | None
    """Reference of its `Started`, None once it is there."""
    started_at: float
    node: str = ""
    calls: dict[Hashable, tuple[CallNumber, OrderT]] = field(default_factory=dict)
    """Calls without an answer, the oldest first."""
    calls_made: int = 0
    has_answered: bool = False
    is_lost: bool = False
    """Gets no more calls; those it has fail by themselves, or were answered before the end."""


class Fleet(Generic[OrderT]):
    """The workers of one run. A context manager that ends all of them."""

    def __init__(
        self,
        site: Site,
        *,
        workers: int = 0,
        first_number: int = 0,
        warn: Callable[[str], None] = lambda _: None,
    ) -> None:
        """`workers` is the wanted number; 0 uses every free slot. Numbers of workers begin at `first_number`."""
        self._site = site
        self._wanted = workers
        self._warn = warn
        self._workers: list[_Worker[OrderT]] = []
        self._next_look = self._had_worker_at = self._next_warning = site.now()
        self._next_warning += _WARN_S
        self._fruitless = 0
        """Workers lost before their first answer, since the last answer of any."""
        self._most_workers = 0
        self.next_number = first_number
        """Of the worker that is started next."""
        self.restarts = 0
        """Workers that were lost."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """End all workers, in the middle of their orders if necessary."""
        for worker in self._workers:
            self._site.end(worker.handle)
        self._workers.clear()

    @property
    def nodes(self) -> dict[str, int]:
        """Number of ready workers by node."""
        workers = list(self._workers)  # may be asked by another thread
        return dict(Counter(worker.node for worker in workers if worker.ready is None and not worker.is_lost))

    @property
    def open_calls(self) -> int:
        """Calls without an answer."""
        return sum(len(worker.calls) for worker in self._workers)

    def poll(self, orders: Orders[OrderT], timeout_s: float) -> list[Answer[OrderT]]:
        """Start and feed workers, then return the answers that are there, waiting at most `timeout_s` for one.

        An error that a worker raised is raised here. `WorkerError` if the fleet cannot work at all.
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
            # In the order of the calls: an answer that came before the worker's end still counts.
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
            # A worker that is not ready may not have taken its slot yet.
            missing = self._site.free_slots() - sum(worker.ready is not None for worker in living)
        for _ in range(min(missing, _MAX_STARTS)):
            handle, ready = self._site.start(self.next_number)
            self._workers.append(_Worker(self.next_number, handle, ready, now))
            self.next_number += 1

    def _welcome(self, worker: _Worker[OrderT]) -> None:
        """A worker is ready, or died before it was."""
        reference, worker.ready = worker.ready, None
        try:
            started: Started = self._site.fetch(reference)
        except WorkerLostError as error:
            self._lose(worker, str(error))
            return
        if started.version != __version__:
            raise WorkerError(
                f"node {started.node} has Tengen {started.version}, this machine {__version__}: install the same"
                " version on every node"
            )
        worker.node = started.node
        self._most_workers = max(self._most_workers, sum(self.nodes.values()))

    def _lose(self, worker: _Worker[OrderT], reason: str = "it was not ready in time") -> None:
        """Give up a worker; its calls are lost as their references say so."""
        if worker.is_lost:
            return
        worker.is_lost = True
        self._site.end(worker.handle)
        self.restarts += 1
        if not worker.has_answered:
            self._fruitless += 1
        if self._fruitless > 10 + 3 * self._most_workers:
            raise WorkerError(f"{self._fruitless} workers in a row were lost before they answered; the last: {reason}")

    def _check_alone(self) -> None:
        now = self._site.now()
        if any(worker.ready is None and not worker.is_lost for worker in self._workers):
            self._had_worker_at = now
            self._next_warning = now + _WARN_S
        elif now - self._had_worker_at > ALONE_S:
            raise WorkerError(f"the cluster had no room for a worker for {ALONE_S / 60:.0f} minutes: add a node to it")
        elif now > self._next_warning:
            self._next_warning = now + _WARN_S
            self._warn("no worker is ready: waiting for a free CPU in the cluster")

    # -- calls ---------------------------------------------------------------------------------------------------------

    def _hand_out(self, orders: Orders[OrderT]) -> None:
        """Give every worker its first order before any gets its second."""
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
