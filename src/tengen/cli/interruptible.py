"""Work that Ctrl-C ends in an orderly way."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from typing import TypeVar

T = TypeVar("T")


def run_interruptibly(work: Callable[[], T], stop: Callable[[], None]) -> T:
    """Do the work in a thread of its own, since native code does not hear Ctrl-C; on Ctrl-C call `stop`.

    Returns what the work returns, be it whole or cut short by `stop`, and raises what it raises.
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
def heeding_interrupts() -> Iterator[Callable[[], None]]:
    """Ctrl-C raises KeyboardInterrupt where the given function is called next; a second one raises it at once.

    One that is raised wherever the program happens to be may be lost, as in a destructor, and the work would go on.
    """
    is_pressed = False

    def hear(*_: object) -> None:
        nonlocal is_pressed
        if is_pressed:
            raise KeyboardInterrupt
        is_pressed = True

    def heed() -> None:
        if is_pressed:
            raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, hear)
    try:
        yield heed
    finally:
        signal.signal(signal.SIGINT, before)
