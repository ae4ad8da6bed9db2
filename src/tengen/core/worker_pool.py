"""A pool of worker processes that executes orders (tasks) and tolerates the death of any worker.

If a worker dies, another worker executes its order, so the death only causes a delay. An order is abandoned if several
workers have died while executing it, or if its worker hangs.
"""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from multiprocessing.connection import wait
from typing import Any, Generic, NoReturn, Protocol, Self, TypeVar

from tengen.core.stop_signal import StopSignal
from tengen.core.worker_process import CarryOut, OrderResult, Prepare, WorkerProcess
from tengen.errors import WorkerError

MAX_DEATHS = 3
"""Maximum number of worker deaths per order, and per worker slot during start-up."""
_ORDERS_PER_WORKER = 2
"""Maximum number of orders sent to a worker. The second one is queued in the worker, so that it starts immediately."""
_LOOK_S = 0.5
"""Interval between checks for hung workers, in seconds."""
_EXIT_S = 3.0

OrderT = TypeVar("OrderT")
ResultT = TypeVar("ResultT")
ResultT_co = TypeVar("ResultT_co", covariant=True)


@dataclass(frozen=True, slots=True)
class LostOrder:
    """Reason why an order was abandoned."""

    reason: str
    is_hung: bool
    """Whether the worker exceeded its deadline; otherwise too many workers died."""
    note: int
    """Last note passed to `OrderContext.expect_within`."""


class Pool(Protocol[OrderT, ResultT_co]):
    """Workers of any kind, local or on other machines; a context manager that stops them on exit."""

    def run(
        self, orders: Iterable[OrderT], on_idle: Callable[[], None] | None = None
    ) -> Iterator[tuple[OrderT, ResultT_co]]:
        """Yield each order with its result as soon as it is finished; see `WorkerPool.run`."""
        ...

    def __enter__(self) -> Self: ...
    def __exit__(self, *exception: object) -> None: ...


class MakePool(Protocol):
    """Factory for pools; the factory determines the number of workers and their machines."""

    def __call__(
        self, prepare: Prepare, *, name: str, on_loss: Callable[[OrderT, LostOrder], ResultT] | None = None
    ) -> Pool[OrderT, ResultT]:
        """Return a pool; the arguments are the same as for `WorkerPool`."""
        ...


class DirectPool(Generic[OrderT, ResultT]):
    """A pool that executes orders in this process, one after the other; `make_pool=DirectPool` uses it.

    Nothing is pickled, so the orders can involve any Python object. A hung order is not detected.
    """

    def __init__(
        self, prepare: Prepare, *, name: str, on_loss: Callable[[OrderT, LostOrder], ResultT] | None = None
    ) -> None:
        self._prepared = prepare()
        self._carry_out: CarryOut | None = None

    def run(
        self, orders: Iterable[OrderT], on_idle: Callable[[], None] | None = None
    ) -> Iterator[tuple[OrderT, ResultT]]:
        """Execute each order and yield it with its result."""
        assert self._carry_out is not None
        for order in orders:
            yield order, self._carry_out(order, _DirectContext())
            if on_idle is not None:
                on_idle()

    def __enter__(self) -> Self:
        self._carry_out = self._prepared.__enter__()
        return self

    def __exit__(self, *exception: Any) -> None:
        self._prepared.__exit__(*exception)


class _DirectContext:
    """The context of an order that runs in this process: reports are ignored, and nothing stops the order."""

    def __init__(self) -> None:
        self.stop = StopSignal()

    def report(self, payload: Any) -> None:
        """Ignore the report."""

    def expect_within(self, seconds: float, note: int = 0) -> None:
        """Ignore the deadline."""


@dataclass(slots=True)
class _Worker(Generic[OrderT]):
    process: WorkerProcess
    orders: deque[tuple[int, OrderT]] = field(default_factory=deque)
    """Numbered orders that the worker has not completed, oldest first."""


def _raise_loss(order: object, lost: LostOrder) -> NoReturn:
    raise WorkerError(lost.reason)


class WorkerPool(Generic[OrderT, ResultT]):
    """A fixed number of workers, started on demand; a context manager that stops all processes on exit."""

    def __init__(
        self,
        prepare: Prepare,
        *,
        name: str,
        workers: int = 1,
        pins_cores: bool = False,
        on_loss: Callable[[OrderT, LostOrder], ResultT] | None = None,
    ) -> None:
        """Create a pool. `prepare` is called in each worker; `pins_cores` pins each worker to its own core.

        `on_loss` returns the result of an abandoned order. By default the pool raises `WorkerError` instead.
        """
        self._prepare = prepare
        self._name = name
        self._on_loss = on_loss or _raise_loss
        self._pins_cores = pins_cores
        self._workers: list[_Worker[OrderT] | None] = [None] * workers
        self._returned: deque[tuple[int, OrderT]] = deque()
        """Orders taken back from terminated workers."""
        self._numbers = count()
        self._deaths: Counter[int] = Counter()
        """Number of worker deaths by order number."""
        self._failed_starts = 0

    def run(
        self, orders: Iterable[OrderT], on_idle: Callable[[], None] | None = None
    ) -> Iterator[tuple[OrderT, ResultT]]:
        """Yield each order with its result as soon as it is finished.

        An order is taken from the iterable when a worker can accept it. `on_idle` is called at least every half second.
        Exceptions from workers are raised here. Either consume all results or close the pool.
        """
        source = ((next(self._numbers), order) for order in orders)
        while True:
            self._hand_out(source)
            busy = [worker for worker in self._workers if worker is not None and worker.orders]
            if not busy and not self._returned:
                return
            ready = wait([worker.process.connection for worker in busy], timeout=_LOOK_S)
            for place, worker in enumerate(self._workers):
                if worker is None or not worker.orders:
                    continue
                if worker.process.connection in ready:
                    yield from self._receive(place, worker)
                elif worker.process.is_hung:
                    yield from self._replace(place, worker, is_hung=True)
            if on_idle is not None:
                on_idle()

    def close(self) -> None:
        """Terminate all workers, even if their orders are not finished."""
        living = [worker for worker in self._workers if worker is not None]
        self._workers = [None] * len(self._workers)
        for worker in living:
            if not worker.orders:
                worker.process.ask_to_exit()
        deadline = time.monotonic() + _EXIT_S
        for worker in living:
            worker.process.end(0.0 if worker.orders else max(0.0, deadline - time.monotonic()))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _hand_out(self, source: Iterator[tuple[int, OrderT]]) -> None:
        """Give every worker its first order before any worker gets a second one."""
        for held in range(_ORDERS_PER_WORKER):
            for place, worker in enumerate(self._workers):
                if worker is not None and len(worker.orders) > held:
                    continue
                order = self._returned.popleft() if self._returned else next(source, None)
                if order is None:
                    return
                if worker is None:
                    worker = self._workers[place] = self._start(place)  # noqa: PLW2901
                worker.orders.append(order)
                with suppress(OSError):  # the process is dead; `_receive` handles it
                    worker.process.send(*order)

    def _start(self, place: int) -> _Worker[OrderT]:
        core = place if self._pins_cores else None
        return _Worker(WorkerProcess(self._prepare, name=f"{self._name} {place + 1}", core=core))

    def _receive(self, place: int, worker: _Worker[OrderT]) -> Iterator[tuple[OrderT, ResultT]]:
        try:
            message = worker.process.receive()
        except (EOFError, OSError):
            yield from self._replace(place, worker, is_hung=False)
            return
        if message is None:
            self._failed_starts = 0
        elif isinstance(message, OrderResult):
            if message.error is not None:
                raise message.error
            number, order = worker.orders.popleft()
            assert number == message.number, "a worker answers in order"
            self._deaths.pop(number, None)
            yield order, message.payload

    def _replace(self, place: int, worker: _Worker[OrderT], *, is_hung: bool) -> Iterator[tuple[OrderT, ResultT]]:
        """Terminate a worker and take back its orders, except one that hung or has killed too many workers."""
        process, orders = worker.process, worker.orders
        self._workers[place] = None
        exit_code = process.end(0.0 if is_hung else _EXIT_S)
        number, order = orders[0]
        is_lost = False
        if not process.is_ready:
            self._failed_starts += 1
            if self._failed_starts >= MAX_DEATHS * len(self._workers):
                raise WorkerError(f"{self._name} processes keep dying during start-up (last exit code {exit_code})")
        elif process.running == number:
            self._deaths[number] += 1
            is_lost = is_hung or self._deaths[number] == MAX_DEATHS
        if is_lost:
            orders.popleft()
        self._returned.extendleft(reversed(orders))
        if is_lost:
            reason = f"the worker process died {self._deaths.pop(number)} times (exit code {exit_code})"
            if is_hung:
                reason = "the worker did not answer in time; its process was killed"
            yield order, self._on_loss(order, LostOrder(reason, is_hung, process.note))
