"""Workers as Ray actors.

An actor executes one order per call. Ray is configured never to restart an actor or retry a call, because either could
run an order twice. Instead, the fleet starts another worker and sends the order again. All actors and objects belong to
this process and die with it.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Hashable, Sequence
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from typing import Any, TypeAlias

import ray
from ray.exceptions import ObjectLostError, RayActorError, RayTaskError

from tengen import __version__
from tengen.cluster.fleet import Started, WorkerLostError
from tengen.errors import TengenError, WorkerError

CarryOut: TypeAlias = Callable[..., Any]
"""Function that executes one order, whose parts are passed as arguments."""
Prepare: TypeAlias = Callable[[int], AbstractContextManager[CarryOut]]
"""Function called in the new process with the worker's number; must be picklable."""


class RaySite:
    """The cluster that this process is connected to. An order is a tuple; references in it are resolved on arrival."""

    def __init__(self, prepare: Prepare, *, gpus: float = 0.0) -> None:
        """Call `prepare` in each worker. A worker uses one CPU and `gpus` GPUs (possibly a fraction of one)."""
        self._prepare = prepare
        self._folder = Path.cwd()
        self._gpus = gpus
        self._actors = ray.remote(
            num_cpus=1, num_gpus=gpus, max_restarts=0, max_task_retries=0, scheduling_strategy="SPREAD"
        )(_Actor)

    def now(self) -> float:
        """Return the monotonic time of this machine."""
        return time.monotonic()

    def free_slots(self) -> int:
        """Return the number of workers that fit on the free CPUs and GPUs."""
        free = ray.available_resources()
        slots = free.get("CPU", 0.0)
        if self._gpus:
            slots = min(slots, free.get("GPU", 0.0) / self._gpus)
        return int(slots)

    def start(self, number: int) -> tuple[Any, Hashable]:
        """Start an actor; it may have to wait for a CPU."""
        actor = self._actors.remote(self._prepare, number, self._folder)
        return actor, actor.start.remote()

    def call(self, handle: Any, order: Sequence[Any]) -> Hashable:
        """Send an order."""
        reference: Hashable = handle.carry_out.remote(*order)
        return reference

    def wait(self, references: Sequence[Hashable], timeout_s: float) -> Sequence[Hashable]:
        """Wait for the first answer, then return all that have arrived."""
        if not references:
            time.sleep(timeout_s)
            return []
        first, others = ray.wait(list(references), num_returns=1, timeout=timeout_s)
        if not first or not others:
            return list(first)
        return [*first, *ray.wait(others, num_returns=len(others), timeout=0)[0]]

    def fetch(self, reference: Any) -> Any:
        """Return an answer. A `TengenError` is raised unchanged, any other error as `WorkerError`."""
        try:
            return ray.get(reference)
        except (RayActorError, ObjectLostError) as error:
            raise WorkerLostError(_first_line(error)) from None
        except RayTaskError as error:
            if isinstance(error.cause, TengenError):
                raise error.cause from None
            raise WorkerError(str(error)) from None

    def end(self, handle: Any) -> None:
        """Kill an actor."""
        ray.kill(handle, no_restart=True)

    def put(self, value: Any) -> Any:
        """Store a value once for all workers; orders can contain the returned reference."""
        return ray.put(value)


class _Actor:
    """One worker."""

    def __init__(self, prepare: Prepare, number: int, folder: Path) -> None:
        # Nothing here may fail, because an error in the constructor looks like a lost worker.
        self._prepare = prepare
        self._number = number
        self._folder = folder
        self._closing = ExitStack()
        self._carry_out: CarryOut | None = None

    def start(self) -> Started:
        if self._folder.is_dir():  # so that relative paths have the same meaning as in the driver
            os.chdir(self._folder)
        self._carry_out = self._closing.enter_context(self._prepare(self._number))
        return Started(node_name(), os.getpid(), __version__)

    def carry_out(self, *order: Any) -> Any:
        assert self._carry_out is not None
        return self._carry_out(*order)


def node_name() -> str:
    """Return the address of this node and the start of its id, because one machine can host several nodes."""
    return f"{ray.util.get_node_ip_address()}-{ray.get_runtime_context().get_node_id()[:6]}"


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0]
