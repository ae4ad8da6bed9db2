"""A stop request that cannot be lost: the caller owns it, it exists before the work starts, and it is never cleared."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tengen import _native


class StopSignal:
    """A flag that signals running work to stop. Any thread may set it at any time; it is never cleared.

    Native searches read the flag `native` directly. Python code polls `is_set`, or registers a callback with `calling`:

    >>> stop = StopSignal()
    >>> with stop.calling(lambda: print("stopping")):
    ...     stop.set()
    stopping
    >>> stop.is_set()
    True
    """

    def __init__(self) -> None:
        self.native = _native.StopSignal()
        self._callbacks: list[Callable[[], None]] = []
        self._lock = threading.RLock()

    def set(self) -> None:
        """Request the stop. The registered callbacks run in this thread; setting the signal again does nothing."""
        with self._lock:
            self.native.set()
            while self._callbacks:
                self._callbacks.pop()()

    def is_set(self) -> bool:
        """Whether the stop was requested. Takes no lock."""
        return self.native.is_set()

    @contextmanager
    def calling(self, callback: Callable[[], None]) -> Iterator[None]:
        """Call `callback` once if the signal is set within the block, or immediately if it is set already.

        The callback may run in any thread. It never runs after the block has ended.
        """
        with self._lock:
            self._callbacks.append(callback)
            if self.is_set():
                self.set()
        try:
            yield
        finally:
            with self._lock:
                if callback in self._callbacks:
                    self._callbacks.remove(callback)
