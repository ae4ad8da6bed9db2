"""Native work that Ctrl-C can end."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
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
