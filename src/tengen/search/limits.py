"""Time and thread limits for searches."""

from __future__ import annotations

from tengen.core.contracts import Limits

MAX_THREADS = 256
"""Maximum number of search threads, even if the limits allow more."""
RESERVE_MS = 4
"""Milliseconds reserved from every time limit for returning from the native search to the caller."""
CLOCK_SHARE = 20
"""Divisor for the remaining clock time: one move uses about a twentieth of it."""


def move_time_ms(limits: Limits) -> int | None:
    """Return the time for one move: the time limit, or the move's share of the clock if that is less.

    >>> move_time_ms(Limits(time_ms=5000, clock_ms=60_000, increment_ms=1000))
    3750
    """
    times = [] if limits.time_ms is None else [limits.time_ms]
    if limits.clock_ms is not None:
        share = limits.clock_ms // CLOCK_SHARE + limits.increment_ms * 3 // 4
        times.append(min(share, limits.clock_ms))
    return min(times, default=None)
