"""Where the work of a command is done: in processes of this machine, or on the Ray cluster of `--on ray`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TypeVar

from tengen.cluster.connection import On, connected
from tengen.cluster.pool import FleetPool, open_pool
from tengen.core.worker_pool import Loss, MakePool
from tengen.core.worker_process import Prepare

OrderT = TypeVar("OrderT")
ResultT = TypeVar("ResultT")

Warn = Callable[[str], None]


@contextmanager
def open_pools(on: str, *, workers: int = 0, warn: Warn = lambda _: None) -> Iterator[MakePool | None]:
    """Yield what makes pools on the cluster of `--on`, None for worker processes of this machine.

    `workers` is the wanted number of each pool; 0 uses every free CPU.
    """
    place = On.parse(on)
    if not place.is_ray:
        yield None
        return
    with connected(place):
        yield RayPools(workers, warn)


class RayPools:
    """Makes pools on the cluster that this process is connected to."""

    def __init__(self, workers: int = 0, warn: Warn = lambda _: None) -> None:
        self._workers = workers
        self._warn = warn

    def __call__(
        self, prepare: Prepare, *, name: str, on_loss: Callable[[OrderT, Loss], ResultT] | None = None
    ) -> FleetPool[OrderT, ResultT]:
        """Return a pool; the arguments are those of `WorkerPool`."""
        from tengen.cluster.ray_site import RaySite

        site = RaySite(partial(open_pool, prepare, name, on_loss))
        return FleetPool(site, workers=self._workers, warn=self._warn)
