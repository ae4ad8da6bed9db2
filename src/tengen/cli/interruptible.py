"""Clean handling of Ctrl-C."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from typing import TypeVar

T = TypeVar("T")


def run_interruptibly(work: Callable[[], T], stop: Callable[[], None]) -> T:
    """Run `work` in a thread, because Ctrl-C does not interrupt native code, and call `stop` on Ctrl-C.

    Returns the result of `work`, whether it finished or was stopped, and raises its exceptions.
    """
    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(work)
        try:
            while not wait([future], timeout=0.1).done:
                pass
        except KeyboardInterrupt:
            stop()
        return future.result()


@contextmanager
def deferred_interrupts() -> Iterator[Callable[[], None]]:
    """Defer Ctrl-C: the yielded function raises KeyboardInterrupt once it has been pressed.

    Pressing it twice raises KeyboardInterrupt immediately. Without this, an interrupt that arrives inside a destructor
    would be lost, and the work would continue.
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
