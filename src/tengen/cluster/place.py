"""Where the work of a command is done: in processes of this machine, or on the Ray cluster of `--on ray`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TypeVar

from tengen.cluster.pool import FleetPool, open_pool
from tengen.core.worker_pool import Loss
from tengen.core.worker_process import Prepare

OrderT = TypeVar("OrderT")
ResultT = TypeVar("ResultT")


def ray_pool(
    prepare: Prepare,
    *,
    name: str,
    workers: int = 0,
    on_loss: Callable[[OrderT, Loss], ResultT] | None = None,
    warn: Callable[[str], None] = lambda _: None,
) -> FleetPool[OrderT, ResultT]:
    """Return a pool on the cluster that this process is connected to; 0 workers means every free CPU."""
    from tengen.cluster.ray_site import RaySite

    return FleetPool(RaySite(partial(open_pool, prepare, name, on_loss)), workers=workers, warn=warn)
