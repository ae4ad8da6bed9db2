"""One worker process: it receives orders over a pipe and sends back reports and results.

A worker executes one order at a time with a plain function, which uses an `OrderContext` and does not depend on pipes
or processes. The worker exits when its parent exits, and all processes that it started are killed with it.

`concurrent.futures` is not sufficient: one dead process breaks its whole pool, hung processes are not killed, and a
running call can neither report progress nor be stopped.
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
"""Time limit in seconds for a process to become ready; after that, the process counts as hung."""

# Cells of the memory shared by a worker and its parent. Times are from `time.monotonic`; 0 means no deadline.
_ORDER, _DEADLINE, _NOTE = range(3)
_NO_ORDER = -1


class OrderContext(Protocol):
    """Interface that a worker provides to the function that executes an order."""

    def report(self, payload: Any) -> None:
        """Send a report before the result."""
        ...

    @property
    def stop(self) -> StopSignal:
        """Stop signal for the order; it may be set before the order starts."""
        ...

    def expect_within(self, seconds: float, note: int = 0) -> None:
        """Set the deadline for the next step. Once it passes, the worker counts as hung; `note` identifies the step."""
        ...


CarryOut: TypeAlias = Callable[[Any, OrderContext], Any]
"""Executes one order and returns its result."""
Prepare: TypeAlias = Callable[[], AbstractContextManager[CarryOut]]
"""Called in the new process before it is ready; must be picklable. The context is closed when the worker exits."""


class OrderReport(NamedTuple):
    """A report from a running order, sent before its result."""

    number: int
    payload: Any


class OrderResult(NamedTuple):
    """The result of an order."""

    number: int
    payload: Any = None
    error: TengenError | None = None
    """Error that ended the order. Exceptions other than `TengenError` become a `WorkerError` with the traceback."""
    cpu_s: float = 0.0
    """CPU time used by the order, in seconds."""


class _Ready(NamedTuple):
    error: TengenError | None = None


class _Order(NamedTuple):
    number: int
    payload: Any


class _Stop(NamedTuple):
    number: int


class WorkerProcess:
    """The parent's side of a worker. Call `end` when done; otherwise it is called when the interpreter exits."""

    def __init__(self, prepare: Prepare, *, name: str, core: int | None = None, niceness: int = 0) -> None:
        """Start the process. `core` pins it and all its child processes to that core."""
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
        """Queue an order. Raises `OSError` if the process has exited."""
        self.connection.send(_Order(number, payload))

    def stop(self, number: int) -> None:
        """Request that an order end early; its result is still sent. Raises `OSError` if the process has exited."""
        self.connection.send(_Stop(number))

    def receive(self) -> OrderReport | OrderResult | None:
        """Wait for the next message; None means that the process is ready.

        Raises `EOFError` or `OSError` if the process has exited, or the error from `prepare` if that failed.
        """
        message: OrderReport | OrderResult | _Ready = self.connection.recv()
        if not isinstance(message, _Ready):
            return message
        if message.error is not None:
            raise message.error
        self.is_ready = True
        return None

    # -- state ---------------------------------------------------------------------------------------------------------

    @property
    def running(self) -> int | None:
        """Number of the running order; None while the process is idle. Still readable after the process has ended."""
        number = int(self._cells[_ORDER])
        return None if number == _NO_ORDER else number

    @property
    def note(self) -> int:
        """Note passed to the last call of `OrderContext.expect_within`."""
        return int(self._cells[_NOTE])

    @property
    def is_hung(self) -> bool:
        """Whether the deadline has passed."""
        return 0 < self._cells[_DEADLINE] < time.monotonic()

    def expect_within(self, seconds: float) -> None:
        """Set the deadline for the running order, or for the next one."""
        self._cells[_DEADLINE] = time.monotonic() + seconds

    def memory_bytes(self) -> int:
        """Return the resident memory; 0 if the process has exited."""
        with suppress(psutil.Error):
            return int(psutil.Process(self._pid).memory_info().rss)
        return 0

    # -- shutdown ------------------------------------------------------------------------------------------------------

    def ask_to_exit(self) -> None:
        """Ask the worker to finish its orders, free its resources and exit."""
        with suppress(OSError):
            self.connection.send(None)

    def kill(self) -> None:
        """Kill the process without waiting. `end` must still be called."""
        with suppress(ValueError):  # `end` has been called
            self._process.kill()

    def end(self, grace_s: float = 0.0) -> int | None:
        """Wait up to `grace_s` seconds, kill the process and all its children, and return the exit code.

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
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent also receives Ctrl-C and ends this process
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
    """The worker's side of the pipe, and the `OrderContext` for every order."""

    def __init__(self, connection: Connection, cells: Array[c_double]) -> None:
        self._connection = connection
        self._cells = cells
        self._orders: queue.SimpleQueue[_Order | None] = queue.SimpleQueue()
        self._running = _NO_ORDER
        self._stops: dict[int, StopSignal] = {}
        """Stop signals for the orders that are pending or running."""

    def listen(self, mark: str) -> None:
        """Receive messages, and exit when the parent exits. Runs in its own thread, so it can stop a running order."""
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
        with suppress(OSError):  # the parent has exited; `listen` ends this process
            self._connection.send(message)

    def serve(self, carry_out: CarryOut) -> None:
        """Execute orders until the parent asks the worker to exit."""
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
