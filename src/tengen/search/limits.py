"""What the limits of a move mean to a search."""

from __future__ import annotations

from tengen.core.contracts import Limits

MAX_THREADS = 256
"""More threads than this are not begun, whatever the limits say."""
RESERVE_MS = 4
"""Kept back from every time limit for the way from the native search to the caller."""
CLOCK_SHARE = 20
"""Of the clock, about a twentieth for one move."""


def move_time_ms(limits: Limits) -> int | None:
    """What the search of one move may take: the time limit, or its share of the clock if that is less.

    >>> move_time_ms(Limits(time_ms=5000, clock_ms=60_000, increment_ms=1000))
    3750
    """
    times = [] if limits.time_ms is None else [limits.time_ms]
    if limits.clock_ms is not None:
        share = limits.clock_ms // CLOCK_SHARE + limits.increment_ms * 3 // 4
        times.append(min(share, limits.clock_ms))
    return min(times, default=None)
