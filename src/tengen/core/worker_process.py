"""One worker process: orders go in over a pipe, reports and results come out.

A worker carries out one order at a time. What it does with an order is a plain function that is given to it; that
function knows its `OrderContext` and nothing about pipes or processes. The worker exits when its parent does, and
everything it started is killed with it.

`concurrent.futures` is not enough here: one dead process breaks its whole pool, nothing ends a process that hangs, and
a running call can neither report nor be stopped.
"""

from __future__ import annotations

import atexit
import multiprocessing
import os
import queue
import signal
import sys
import threading
import time
import traceback
import uuid
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack, suppress
from ctypes import Array, c_double
from multiprocessing.connection import Connection
from multiprocessing.sharedctypes import RawArray
from typing import Any, NamedTuple, Protocol, TypeAlias

import psutil

from tengen.core.marked_processes import kill_marked
from tengen.core.stop_signal import StopSignal
from tengen.errors import TengenError, WorkerError

_MARK = "TENGEN_WORKER"
_START_S = 300.0
"""A process that is not ready by then counts as hung."""

# Cells of the memory that a worker shares with its parent. Times are those of `time.monotonic`, 0 is no deadline.
_ORDER, _DEADLINE, _NOTE = range(3)
_NO_ORDER = -1


class OrderContext(Protocol):
    """What the function that carries out an order can tell its parent, and hear from it."""

    def report(self, payload: Any) -> None:
        """Send something before the result."""
        ...

    @property
    def stop(self) -> StopSignal:
        """Set when the order should end early, perhaps before it starts."""
        ...

    def expect_within(self, seconds: float, note: int = 0) -> None:
        """Set the deadline of the next step. After it, the worker counts as hung; `note` says what it waited for."""
        ...


CarryOut: TypeAlias = Callable[[Any, OrderContext], Any]
"""Carries out one order and returns its result."""
Prepare: TypeAlias = Callable[[], AbstractContextManager[CarryOut]]
"""Called in the new process before it is ready; must be picklable. The context is left when the worker exits."""


class OrderReport(NamedTuple):
    """Something that an order says before its result."""

    number: int
    payload: Any


class OrderResult(NamedTuple):
    """The end of an order."""

    number: int
    payload: Any = None
    error: TengenError | None = None
    """Set instead of the payload; a `WorkerError` holds the traceback of an exception that is not one of ours."""
    cpu_s: float = 0.0
    """Processor time that the order took."""


class _Ready(NamedTuple):
    error: TengenError | None = None


class _Order(NamedTuple):
    number: int
    payload: Any


class _Stop(NamedTuple):
    number: int


class WorkerProcess:
    """The parent's side of a worker. `end` must be called; at the latest it is called when the interpreter exits."""

    def __init__(self, prepare: Prepare, *, name: str, core: int | None = None, niceness: int = 0) -> None:
        """Start the process. `core` pins it, with everything it starts, to that core."""
        context = multiprocessing.get_context("spawn")
        self.connection, theirs = context.Pipe()
        self._cells: Array[c_double] = RawArray("d", (_NO_ORDER, time.monotonic() + _START_S, 0.0))
        self._mark = uuid.uuid4().hex
        arguments = (theirs, prepare, self._cells, self._mark, core, niceness)
        self._process = context.Process(target=_work, args=arguments, name=name)
        self._process.start()
        self._pid = self._process.pid
        theirs.close()
        self.is_ready = False
        atexit.register(self.end)

    # -- orders --------------------------------------------------------------------------------------------------------

    def send(self, number: int, payload: Any) -> None:
        """Queue an order. `OSError` if the process is gone."""
        self.connection.send(_Order(number, payload))

    def stop(self, number: int) -> None:
        """Ask the order to end early; its result still comes. `OSError` if the process is gone."""
        self.connection.send(_Stop(number))

    def receive(self) -> OrderReport | OrderResult | None:
        """Wait for the next message; None means that the process is ready.

        `EOFError` or `OSError` if the process is gone, and the error of `prepare` if that failed.
        """
        message: OrderReport | OrderResult | _Ready = self.connection.recv()
        if not isinstance(message, _Ready):
            return message
        if message.error is not None:
            raise message.error
        self.is_ready = True
        return None

    # -- what it is doing ----------------------------------------------------------------------------------------------

    @property
    def running(self) -> int | None:
        """Number of the running order, None if there is none. Stays readable after the end."""
        number = int(self._cells[_ORDER])
        return None if number == _NO_ORDER else number

    @property
    def note(self) -> int:
        """Note of the last `OrderContext.expect_within`."""
        return int(self._cells[_NOTE])

    @property
    def is_hung(self) -> bool:
        """Whether the deadline has passed."""
        return 0 < self._cells[_DEADLINE] < time.monotonic()

    def expect_within(self, seconds: float) -> None:
        """Set the deadline for the order that is sent next, or that is running."""
        self._cells[_DEADLINE] = time.monotonic() + seconds

    def memory_bytes(self) -> int:
        """Return the resident memory, 0 if the process is gone."""
        with suppress(psutil.Error):
            return int(psutil.Process(self._pid).memory_info().rss)
        return 0

    # -- its end -------------------------------------------------------------------------------------------------------

    def ask_to_exit(self) -> None:
        """Ask the worker to finish its orders, close what it opened and exit."""
        with suppress(OSError):
            self.connection.send(None)

    def kill(self) -> None:
        """Kill the process without waiting. `end` must still be called."""
        with suppress(ValueError):  # `end` has been called
            self._process.kill()

    def end(self, grace_s: float = 0.0) -> int | None:
        """Wait up to `grace_s` seconds for the exit, kill the process and everything it started, return the exit code.

        Nothing is killed if the exit code is 0.
        """
        atexit.unregister(self.end)
        self._process.join(grace_s)
        if self._process.exitcode != 0:
            self._process.kill()
            self._process.join()
            kill_marked(_MARK, self._mark)
        exit_code = self._process.exitcode
        self._process.close()
        self.connection.close()
        return exit_code


# -- inside the process ------------------------------------------------------------------------------------------------


def _work(
    connection: Connection, prepare: Prepare, cells: Array[c_double], mark: str, core: int | None, niceness: int
) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches every process of a terminal; the parent ends this one
    os.environ[_MARK] = mark
    if core is not None:
        _pin_to_core(core)
    if niceness and sys.platform != "win32":
        os.nice(niceness)
    desk = _Desk(connection, cells)
    threading.Thread(target=desk.listen, args=(mark,), name="orders", daemon=True).start()
    with ExitStack() as stack:
        try:
            carry_out = stack.enter_context(prepare())
        except Exception as error:
            desk.send(_Ready(_ours(error)))
            return
        cells[_DEADLINE] = 0.0
        desk.send(_Ready())
        desk.serve(carry_out)


class _Desk:
    """The worker's side of the pipe, and the `OrderContext` of every order."""

    def __init__(self, connection: Connection, cells: Array[c_double]) -> None:
        self._connection = connection
        self._cells = cells
        self._orders: queue.SimpleQueue[_Order | None] = queue.SimpleQueue()
        self._running = _NO_ORDER
        self._stops: dict[int, StopSignal] = {}
        """Signals of the orders that have arrived and are not finished."""

    def listen(self, mark: str) -> None:
        """Take orders, and exit with the parent. Runs in its own thread, so that a running order can be stopped."""
        with suppress(EOFError, OSError):
            while True:
                message = self._connection.recv()
                if isinstance(message, _Stop):
                    if (stop := self._stops.get(message.number)) is not None:
                        stop.set()
                    continue
                if message is not None:
                    self._stops[message.number] = StopSignal()
                self._orders.put(message)
        kill_marked(_MARK, mark)
        os._exit(1)

    def send(self, message: OrderReport | OrderResult | _Ready) -> None:
        with suppress(OSError):  # the parent is gone; `listen` ends this process
            self._connection.send(message)

    def serve(self, carry_out: CarryOut) -> None:
        """Carry out orders until the parent asks for the exit."""
        while (order := self._orders.get()) is not None:
            started = time.process_time()
            self._cells[_ORDER] = self._running = order.number
            payload, failure = None, None
            try:
                payload = carry_out(order.payload, self)
            except Exception as error:
                failure = _ours(error)
            del self._stops[order.number]
            self._cells[_ORDER], self._cells[_DEADLINE] = _NO_ORDER, 0.0
            self.send(OrderResult(order.number, payload, failure, time.process_time() - started))

    def report(self, payload: Any) -> None:
        self.send(OrderReport(self._running, payload))

    @property
    def stop(self) -> StopSignal:
        return self._stops[self._running]

    def expect_within(self, seconds: float, note: int = 0) -> None:
        self._cells[_NOTE] = note
        self._cells[_DEADLINE] = time.monotonic() + seconds


def _ours(error: Exception) -> TengenError:
    return error if isinstance(error, TengenError) else WorkerError(traceback.format_exc())


def _pin_to_core(core: int) -> None:
    if sys.platform == "linux":
        allowed = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, {allowed[core % len(allowed)]})
    elif sys.platform == "win32":
        cores = psutil.Process().cpu_affinity() or [0]
        psutil.Process().cpu_affinity([cores[core % len(cores)]])
