"""The counterpart of `WorkerPool` on a cluster: executes orders on other machines.

Each Ray worker has a pool of one process, so a player that crashes or hangs is handled exactly as on one machine. If a
Ray worker or its node is lost, the pool sends the worker's orders again.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Generic, Self, TypeVar

from tengen.cluster.connection import On, connected
from tengen.cluster.fleet import Fleet, Site
from tengen.core.worker_pool import LostOrder, MakePool, WorkerPool
from tengen.core.worker_process import Prepare
from tengen.errors import WorkerError

_LOOK_S = 0.5
MAX_LOSSES = 10
"""The pool gives up after losing this many workers that were executing the same order."""

OrderT = TypeVar("OrderT")
ResultT = TypeVar("ResultT")

Warn = Callable[[str], None]


class FleetPool(Generic[OrderT, ResultT]):
    """A fleet with the interface of `WorkerPool`; a context manager that stops all workers on exit."""

    def __init__(self, site: Site, *, workers: int = 0, warn: Warn = lambda _: None) -> None:
        """Use `workers` workers (0: every free CPU). The workers of `site` must be prepared by `open_pool`."""
        self._fleet = Fleet[tuple[int, OrderT]](site, workers=workers, warn=warn)

    def run(
        self, orders: Iterable[OrderT], on_idle: Callable[[], None] | None = None
    ) -> Iterator[tuple[OrderT, ResultT]]:
        """Yield each order with its result as soon as it is finished; see `WorkerPool.run`."""
        queue = _Queue(orders)
        while True:
            for answer in self._fleet.poll(queue, _LOOK_S):
                yield answer.order[1], answer.result
                queue.open -= 1
            if queue.is_done:
                return
            if on_idle is not None:
                on_idle()

    def close(self) -> None:
        """Stop all workers."""
        self._fleet.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


class _Queue(Generic[OrderT]):
    """Numbered orders from an iterable; lost orders are sent again before new ones."""

    def __init__(self, orders: Iterable[OrderT]) -> None:
        self._source = enumerate(orders)
        self._lost: deque[tuple[int, OrderT]] = deque()
        self._losses: Counter[int] = Counter()
        self._is_exhausted = False
        self.open = 0
        """Number of orders in flight."""

    @property
    def is_done(self) -> bool:
        return self._is_exhausted and not self.open

    def take(self) -> tuple[int, OrderT] | None:
        if self._lost:
            order: tuple[int, OrderT] | None = self._lost.popleft()
        else:
            order = next(self._source, None)
            self._is_exhausted = order is None
        if order is not None:
            self.open += 1
        return order

    def lose(self, order: tuple[int, OrderT], *, was_running: bool) -> None:
        self.open -= 1
        self._lost.append(order)
        self._is_exhausted = False
        if was_running:
            self._losses[order[0]] += 1
            if self._losses[order[0]] >= MAX_LOSSES:
                raise WorkerError(f"{MAX_LOSSES} workers were lost while executing the same task: {order[1]}")


@contextmanager
def open_pool(
    prepare: Prepare, name: str, on_loss: Callable[[OrderT, LostOrder], ResultT] | None, number: int
) -> Iterator[Callable[[int, OrderT], ResultT]]:
    """Prepare a Ray worker: a pool of one process that executes the incoming orders."""
    with WorkerPool[OrderT, ResultT](prepare, name=f"{name} {number}", on_loss=on_loss) as pool:

        def carry_out(_: int, order: OrderT) -> ResultT:
            return next(result for _, result in pool.run([order]))

        yield carry_out


# -- on Ray -----------------------------------------------------------------------------------------------------------


@contextmanager
def open_pools(on: str, *, workers: int = 0, warn: Warn = lambda _: None) -> Iterator[MakePool | None]:
    """Yield a factory for pools on the cluster given by `--on`; None for worker processes on this machine.

    Each pool has `workers` workers; 0 uses every free CPU.
    """
    place = On.parse(on)
    if not place.is_ray:
        yield None
        return
    with connected(place):
        yield RayPools(workers, warn)


class RayPools:
    """Creates pools on the cluster that this process is connected to."""

    def __init__(self, workers: int = 0, warn: Warn = lambda _: None) -> None:
        self._workers = workers
        self._warn = warn

    def __call__(
        self, prepare: Prepare, *, name: str, on_loss: Callable[[OrderT, LostOrder], ResultT] | None = None
    ) -> FleetPool[OrderT, ResultT]:
        """Return a pool; the arguments are the same as for `WorkerPool`."""
        from tengen.cluster.ray_site import RaySite

        site = RaySite(partial(open_pool, prepare, name, on_loss))
        return FleetPool(site, workers=self._workers, warn=self._warn)
