"""The server's log: warnings and errors on stderr, limited so that no client can flood it."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

_PER_PLACE = 10
_WINDOW_S = 60.0


class FloodFilter(logging.Filter):
    """Log filter that passes a few messages per minute from each logging call and counts the rest.

    The number of logging calls in the code is fixed, so clients cannot make the log grow without bound.
    """

    def __init__(
        self, per_place: int = _PER_PLACE, window_s: float = _WINDOW_S, clock: Callable[[], float] = time.monotonic
    ) -> None:
        super().__init__()
        self._per_place = per_place
        self._window_s = window_s
        self._clock = clock
        self._seen: dict[tuple[str, int], tuple[float, int]] = {}
        """Start of the time window and number of messages since then, by logging call."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether to log a message. Adds the number of dropped messages to the first message after a flood."""
        place = (record.pathname, record.lineno)
        now = self._clock()
        began, count = self._seen.get(place, (now, 0))
        if now - began >= self._window_s:
            left_out = count - self._per_place
            if left_out > 0:
                record.msg = f"{record.getMessage()} (and {left_out} more like this in the last minute)"
                record.args = ()
            began, count = now, 0
        self._seen[place] = (began, count + 1)
        return count < self._per_place


def set_up_logging() -> None:
    """Log warnings and errors from all libraries to stderr, through the `FloodFilter`."""
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    handler.addFilter(FloodFilter())
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
