"""What `INFO` has told a brain, and the time for a move that follows from it."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from dataclasses import dataclass

from tengen.core.contracts import Limits, Rule
from tengen.protocols.piskvork.notation import UNLIMITED_MS, rule_of_number

DEFAULT_TURN_MS = 5_000
"""For managers that never say how long a move may take."""
RESERVE_MS = 60
"""Kept back from every move for the pipe, other processes and Python itself."""
RESERVE_PART = 0.3
"""Of a very short move no larger part than this is kept back."""
AT_ONCE_MS = 100
"""`timeout_turn 0` asks for an answer at once; a player that needs longer than this is not waited for."""

# Yixin-Board's way to say that there is no clock.
_YIXIN_UNLIMITED_TURN_MS = 2_000_000
_YIXIN_UNLIMITED_MATCH_MS = 100_000_000
_MAX_THREADS = 256
# Numbers beyond these are some client's way to say "no limit".
_MAX_DEPTH = 1_000
_MAX_NUMBER = 2**62


def _half_of_memory() -> int:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
    except (AttributeError, ValueError, OSError):  # not a Unix
        return 2 << 30


MAX_TABLE_BYTES = _half_of_memory()
"""A hash table that a manager asks for is never larger."""


@dataclass(frozen=True, slots=True)
class Budget:
    """When a thought has to end; times in seconds of the monotonic clock, infinite when there is no clock."""

    think_until: float
    """The time limit that the player is told."""
    stop_at: float
    """When a player that still thinks is told to stop."""
    answer_at: float
    """When the brain answers without it."""
    clock_until: float = math.inf
    """When the clock of the whole game runs out, the reserve taken off."""

    def limits(self, now: float, *, nodes: int | None, depth: int | None, threads: int | None) -> Limits:
        """The limits to hand to a player that begins to think now."""
        return Limits(
            time_ms=_milliseconds_until(self.think_until, now),
            clock_ms=_milliseconds_until(self.clock_until, now),
            nodes=nodes,
            depth=depth,
            threads=threads or 1,
        )


class Settings:
    """The values of the `INFO` keys, as the last one left them; they outlive START and RESTART."""

    def __init__(self) -> None:
        self.turn_ms: int | None = DEFAULT_TURN_MS
        """Time for a move, None for as long as it likes, 0 for at once."""
        self.match_ms: int | None = None
        self.time_left_ms: int | None = None
        """What the clock shows, maybe below 0; None when there is none or it was never told."""
        self.memory_bytes: int | None = None
        self.rule: Rule | None = Rule.FREESTYLE
        """None after a number that means no game of ours."""
        self.rule_number = 0
        self.max_depth: int | None = None
        self.max_nodes: int | None = None
        self.hash_bytes: int | None = None
        self.threads: int | None = None
        """None until the manager says something: the player then does as it was made."""
        self.detail: int | None = None
        """Bit 0 asks for MESSAGE REALTIME lines, bit 1 for INFO lines; None when it was never told."""

    def store(self, key: str, value: str) -> None:
        """Keep a value; unknown keys and values that make no sense are ignored, as the protocol wants it."""
        keep = _KEYS.get(key.lower())
        if keep is None:
            return
        try:
            keep(self, int(value))
        except ValueError:
            return

    @property
    def table_bytes(self) -> int | None:
        """The table that `hash_size` asks for, None when there is no such wish or `max_memory` is against it."""
        if self.hash_bytes is None or (self.memory_bytes is not None and self.hash_bytes >= self.memory_bytes):
            return None
        return self.hash_bytes

    def budget(self, started: float) -> Budget:
        """The time for a move whose command was read at `started`."""
        clock_ms = self._clock_ms()
        bounds = [ms for ms in (self._turn_ms(), clock_ms) if ms is not None]
        if not bounds:
            return Budget(math.inf, math.inf, math.inf)
        total_ms = min(bounds)
        if total_ms <= 0:
            return at_once(started)
        reserve_ms = min(RESERVE_MS, RESERVE_PART * total_ms)
        think_ms = total_ms - reserve_ms
        return Budget(
            think_until=started + think_ms / 1000,
            stop_at=started + (think_ms + reserve_ms / 3) / 1000,
            answer_at=started + (think_ms + reserve_ms * 2 / 3) / 1000,
            clock_until=math.inf if clock_ms is None else started + (clock_ms - reserve_ms) / 1000,
        )

    def _is_yixin_unlimited(self) -> bool:
        return (
            self.turn_ms is not None
            and self.turn_ms >= _YIXIN_UNLIMITED_TURN_MS
            and (self.match_ms is None or self.match_ms >= _YIXIN_UNLIMITED_MATCH_MS)
        )

    def _turn_ms(self) -> int | None:
        return None if self._is_yixin_unlimited() else self.turn_ms

    def _clock_ms(self) -> int | None:
        if self._is_yixin_unlimited():
            return None
        return self.match_ms if self.time_left_ms is None else self.time_left_ms


def at_once(now: float) -> Budget:
    """The budget of a thought that has to end right away."""
    stop_at = now + AT_ONCE_MS / 2000
    return Budget(think_until=now, stop_at=stop_at, answer_at=now + AT_ONCE_MS / 1000, clock_until=math.inf)


def _milliseconds_until(end: float, now: float) -> int | None:
    return None if math.isinf(end) else max(0, int((end - now) * 1000))


def _set_turn(settings: Settings, value: int) -> None:
    settings.turn_ms = None if value < 0 or value >= UNLIMITED_MS else value


def _set_match(settings: Settings, value: int) -> None:
    settings.match_ms = None if value <= 0 or value >= UNLIMITED_MS else value


def _set_time_left(settings: Settings, value: int) -> None:
    # An engine that never heard of a match clock is sent the largest number.
    if value >= UNLIMITED_MS:
        settings.time_left_ms = settings.match_ms = None
    else:
        settings.time_left_ms = value


def _set_memory(settings: Settings, value: int) -> None:
    settings.memory_bytes = value if 0 < value < _MAX_NUMBER else None


def _set_hash(settings: Settings, value: int) -> None:
    settings.hash_bytes = min(1024 * value, MAX_TABLE_BYTES) if value > 0 else None


def _set_rule(settings: Settings, value: int) -> None:
    settings.rule_number = value
    settings.rule = rule_of_number(value)


def _set_depth(settings: Settings, value: int) -> None:
    settings.max_depth = value if 0 < value < _MAX_DEPTH else None


def _set_nodes(settings: Settings, value: int) -> None:
    # 0, -1 and -1 as an unsigned number all mean that there is no limit.
    settings.max_nodes = value if 0 < value < _MAX_NUMBER else None


def _set_threads(settings: Settings, value: int) -> None:
    settings.threads = min(max(value, 1), _MAX_THREADS)


def _set_detail(settings: Settings, value: int) -> None:
    settings.detail = value & 3


# game_type, folder, evaluate, caution_factor and the other keys of the protocol and its dialects change nothing here.
_KEYS: dict[str, Callable[[Settings, int], None]] = {
    "timeout_turn": _set_turn,
    "timeout_match": _set_match,
    "time_left": _set_time_left,
    "max_memory": _set_memory,
    "rule": _set_rule,
    "max_depth": _set_depth,
    "max_node": _set_nodes,
    "hash_size": _set_hash,
    "thread_num": _set_threads,
    "show_detail": _set_detail,
}
