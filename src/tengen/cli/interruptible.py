"""Helpers for commands that stop cleanly on Ctrl-C or SIGTERM."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Generic, TypeVar

T = TypeVar("T")


class BackgroundCall(Generic[T]):
    """A call in its own thread, because Ctrl-C does not interrupt native code."""

    def __init__(self, work: Callable[[], T]) -> None:
        """Prepare the call, which `wait` starts. Its thread does not keep the process alive."""
        self._results: list[T] = []
        self._errors: list[BaseException] = []
        self._done = threading.Event()  # an interrupted `Thread.join` may mistake a running thread for a finished one

        def run() -> None:
            try:
                self._results.append(work())
            except BaseException as error:
                self._errors.append(error)
            self._done.set()

        self._thread = threading.Thread(target=run, name="background call", daemon=True)

    def wait(self) -> T:
        """Start the call if it is not running; return its result or raise its exception.

        Ctrl-C ends the wait, not the call.
        """
        if self._thread.ident is None:
            self._thread.start()
        while not self._done.wait(0.1):
            pass
        if self._errors:
            raise self._errors[0]
        return self._results[0]


def run_interruptibly(work: Callable[[], T], stop: Callable[[], None]) -> T:
    """Run `work` in a thread and call `stop` on Ctrl-C.

    Returns the result of `work`, whether it finished or was stopped, and raises its exceptions.
    """
    call = BackgroundCall(work)
    try:
        return call.wait()
    except KeyboardInterrupt:
        stop()
        return call.wait()


@contextmanager
def deferred_interrupts() -> Iterator[Callable[[], None]]:
    """Defer Ctrl-C: the yielded function raises KeyboardInterrupt if Ctrl-C has been pressed.

    Pressing Ctrl-C twice raises KeyboardInterrupt immediately. Without this deferral, an interrupt that arrives inside
    a destructor would be lost, and the work would continue.
    """
    is_pressed = False

    def handle(*_: object) -> None:
        nonlocal is_pressed
        if is_pressed:
            raise KeyboardInterrupt
        is_pressed = True

    def raise_if_interrupted() -> None:
        if is_pressed:
            raise KeyboardInterrupt

    previous = signal.signal(signal.SIGINT, handle)
    try:
        yield raise_if_interrupted
    finally:
        signal.signal(signal.SIGINT, previous)
