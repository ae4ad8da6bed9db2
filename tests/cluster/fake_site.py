"""A cluster in simulated time: workers that answer after a while, die when told, and never run in parallel."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any

from tengen import __version__
from tengen.cluster.fleet import Started, WorkerLostError


@dataclass
class FakeWorker:
    number: int
    node: str
    is_placed: bool
    free_at: float
    is_dead: bool = False
    carry_out: Callable[..., Any] | None = None


@dataclass
class _Call:
    worker: FakeWorker
    done_at: float | None
    """None while the worker waits for a slot."""
    value: Any
    error: Exception | None = None


@dataclass
class FakeSite:
    """Slots by node; `open(number)` makes what carries out the orders of a worker."""

    open: Callable[[int], Callable[..., Any]] = lambda number: lambda *order: order
    slots: dict[str, int] = field(default_factory=lambda: {"a": 1, "b": 1})
    seconds_per_call: Callable[[FakeWorker], float] = lambda worker: 1.0
    version: str = __version__
    start_error: Exception | None = None
    places_workers: bool = True
    """False leaves new workers without a slot, as when somebody else was quicker."""

    def __post_init__(self) -> None:
        self.time = 0.0
        self.events: list[tuple[float, Callable[[], None]]] = []
        self.workers: dict[int, FakeWorker] = {}
        self.calls: dict[Hashable, _Call] = {}
        self.most_calls_of_a_worker = 0
        self._ids = itertools.count()

    # -- what tests do -----------------------------------------------------------------------------------------------

    def now(self) -> float:
        return self.time

    def at(self, time: float, event: Callable[[], None]) -> None:
        self.events.append((time, event))
        self.events.sort(key=lambda pair: pair[0])

    def living(self) -> list[FakeWorker]:
        return [worker for worker in self.workers.values() if worker.is_placed and not worker.is_dead]

    def kill(self, worker: FakeWorker) -> None:
        worker.is_dead = True
        for call in self.calls.values():
            if call.worker is worker and (call.done_at is None or call.done_at > self.time):
                call.done_at, call.error = self.time, WorkerLostError("killed")

    def remove_node(self, node: str) -> None:
        del self.slots[node]
        for worker in self.living():
            if worker.node == node:
                self.kill(worker)

    # -- the site ----------------------------------------------------------------------------------------------------

    def _free_node(self) -> str | None:
        used = [worker.node for worker in self.living()]
        free = [node for node, slots in self.slots.items() if used.count(node) < slots]
        return min(free, key=used.count) if free else None

    def free_slots(self) -> int:
        return max(0, sum(self.slots.values()) - len(self.living()))

    def start(self, number: int) -> tuple[FakeWorker, Hashable]:
        node = self._free_node() if self.places_workers else None
        worker = self.workers[number] = FakeWorker(number, node or "", node is not None, self.time)
        worker.carry_out = self.open(number)
        done_at = None if node is None else self.time + 0.1
        return worker, self._new_call(worker, done_at, Started(worker.node, 1000 + number, self.version))

    def call(self, handle: FakeWorker, order: Sequence[Any]) -> Hashable:
        assert handle.is_placed, "calls go to workers that are ready"
        handle.free_at = max(handle.free_at, self.time) + self.seconds_per_call(handle)
        assert handle.carry_out is not None
        reference = self._new_call(handle, handle.free_at, handle.carry_out(*order))
        if handle.is_dead:
            self.calls[reference].done_at, self.calls[reference].error = self.time, WorkerLostError("dead")
        open_calls = sum(call.worker is handle for call in self.calls.values())
        self.most_calls_of_a_worker = max(self.most_calls_of_a_worker, open_calls)
        return reference

    def _new_call(self, worker: FakeWorker, done_at: float | None, value: Any) -> Hashable:
        reference = f"reference {next(self._ids)}"
        error = self.start_error if isinstance(value, Started) else None
        self.calls[reference] = _Call(worker, done_at, value, error)
        return reference

    def wait(self, references: Sequence[Hashable], timeout_s: float) -> Sequence[Hashable]:
        end = self.time + timeout_s
        while True:
            ready = [one for one in references if (done := self.calls[one].done_at) is not None and done <= self.time]
            if ready or self.time >= end:
                return ready
            times = [done for one in references if (done := self.calls[one].done_at) is not None]
            times += [self.events[0][0]] if self.events else []
            self.time = min([end, *times])
            while self.events and self.events[0][0] <= self.time:
                self.events.pop(0)[1]()

    def fetch(self, reference: Any) -> Any:
        call = self.calls.pop(reference)
        if call.error is not None:
            raise call.error
        return call.value

    def end(self, handle: FakeWorker) -> None:
        if not handle.is_dead:
            self.kill(handle)

    def put(self, value: Any) -> Any:
        return value
