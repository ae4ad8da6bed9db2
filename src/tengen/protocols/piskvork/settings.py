"""The settings that a brain receives with `INFO`, and the time per move that results from them."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from dataclasses import dataclass

from tengen.core.contracts import Limits, Rule
from tengen.protocols.piskvork.notation import UNLIMITED_MS, rule_of_number

DEFAULT_TURN_MS = 5_000
"""Milliseconds per move if the manager sets no time."""
RESERVE_MS = 60
"""Safety margin in milliseconds per move, to cover delays in the pipe, in other processes and in Python itself."""
MAX_RESERVE_FRACTION = 0.3
"""Maximum fraction of a move's time that is reserved; limits the margin for very short moves."""
IMMEDIATE_MS = 100
"""Milliseconds to wait for the player after `timeout_turn 0`, which requests an immediate answer."""

# Yixin-Board sends these values if there is no clock.
_YIXIN_UNLIMITED_TURN_MS = 2_000_000
_YIXIN_UNLIMITED_MATCH_MS = 100_000_000
_MAX_THREADS = 256
# Some clients send larger numbers to mean "no limit".
_MAX_DEPTH = 1_000
_MAX_NUMBER = 2**62


# A search writes about a million entries of 16 bytes a second, and a table is useful for several moves.
_TABLE_BYTES_PER_MS = 8 * 16 * 1000
_LEAST_TABLE_BYTES = 64 << 20
# Number of average delays for which time is reserved on the clock.
_DELAYS_RESERVED = 10
_MAX_DELAY_MS = 1_000
_MOVES_PER_CLOCK = 20


def _half_of_memory() -> int:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
    except (AttributeError, ValueError, OSError):  # not on Unix
        return 2 << 30


MAX_TABLE_BYTES = _half_of_memory()
"""Upper limit for the hash table size that a manager can request."""


@dataclass(frozen=True, slots=True)
class Budget:
    """The deadlines for a search, in seconds of the monotonic clock; infinite if there is no time limit."""

    think_until: float
    """The time limit passed to the player."""
    stop_at: float
    """Time at which a player that is still searching is stopped."""
    answer_at: float
    """Time at which the brain answers without waiting for the player any longer."""
    clock_until: float = math.inf
    """Time at which the game clock runs out, minus the reserve."""
    increment_ms: int = 0
    """Time added to the game clock after the move."""

    def limits(self, now: float, *, nodes: int | None, depth: int | None, threads: int | None) -> Limits:
        """Return the limits for a search that starts now."""
        return Limits(
            time_ms=_milliseconds_until(self.think_until, now),
            clock_ms=_milliseconds_until(self.clock_until, now),
            increment_ms=self.increment_ms,
            nodes=nodes,
            depth=depth,
            threads=threads or 1,
        )


class Settings:
    """The current values of the `INFO` keys; START and RESTART do not reset them."""

    def __init__(self) -> None:
        self.turn_ms: int | None = DEFAULT_TURN_MS
        """Time per move; None for no limit, 0 for an immediate answer."""
        self.match_ms: int | None = None
        self.time_left_ms: int | None = None
        """The last `time_left`, possibly negative; None if there is no clock or the manager never sent it."""
        self.increment_ms = 0
        """Time added to the clock after each move."""
        self._used_ms = 0.0
        """Time used since the last `time_left`, or since the start of the game if the manager never sent it, minus the
        increments."""
        self._has_moved = False
        """Whether the brain has moved since the last `time_left`."""
        self._delay_ms = 0.0
        """Average time per move that the manager counts but the brain cannot measure, such as pipe delays."""
        self.memory_bytes: int | None = None
        self.rule: Rule | None = Rule.FREESTYLE
        """None if the manager sent an unsupported rule number."""
        self.rule_number = 0
        self.max_depth: int | None = None
        self.max_nodes: int | None = None
        self.hash_bytes: int | None = None
        self.threads: int | None = None
        """None until the manager sets it; until then, the player uses its own default."""
        self.detail: int | None = None
        """Bit 0 enables MESSAGE REALTIME lines, bit 1 INFO lines; None if the manager never set it."""
        self.is_pondering = False
        """Whether the brain thinks on the opponent's time."""

    def store(self, key: str, value: str) -> None:
        """Store a value; unknown keys and invalid values are ignored, as the protocol requires."""
        setter = _KEYS.get(key.lower())
        if setter is None:
            return
        try:
            setter(self, int(value))
        except ValueError:
            return

    def start_clock(self, used_ms: float = 0.0) -> None:
        """Start the clock of a new game, on which `used_ms` have already elapsed."""
        self._used_ms = used_ms
        self._has_moved = False

    def count_move(self, used_ms: float) -> None:
        """Subtract the time of a move from the clock; the result applies until the manager sends `time_left` again."""
        self._used_ms += used_ms - self.increment_ms
        self._has_moved = True

    def set_time_left(self, time_left_ms: int | None) -> None:
        """Set the clock to the manager's value. The difference from the brain's own count is the delay per move."""
        expected_ms = self._clock_ms()
        if self._has_moved and expected_ms is not None and time_left_ms is not None:
            delay_ms = min(max(0, expected_ms - time_left_ms), _MAX_DELAY_MS)
            self._delay_ms = (self._delay_ms + delay_ms) / 2
        self.time_left_ms = time_left_ms
        self.start_clock()

    @property
    def table_bytes(self) -> int | None:
        """The table size requested by `hash_size`, or the part of `max_memory` that searches of this length can fill.

        None selects the player's default: neither was set, or `hash_size` is not below `max_memory`. The player
        subtracts the memory that it needs for other purposes from `max_memory`.
        """
        if self.hash_bytes is not None:
            return None if self.memory_bytes is not None and self.hash_bytes >= self.memory_bytes else self.hash_bytes
        if self.memory_bytes is None:
            return None
        move_ms = min((ms for ms in (self._turn_ms(), self._clock_share_ms()) if ms is not None), default=None)
        if move_ms is None:
            return self.memory_bytes
        wanted = _TABLE_BYTES_PER_MS * move_ms * (self.threads or 1)
        return min(max(wanted, _LEAST_TABLE_BYTES), self.memory_bytes)

    def budget(self, started: float) -> Budget:
        """Return the deadlines for a move whose command was read at `started`."""
        clock_ms = self._clock_ms()
        bounds = [ms for ms in (self._turn_ms(), clock_ms) if ms is not None]
        if not bounds:
            return Budget(math.inf, math.inf, math.inf)
        total_ms = min(bounds)
        if total_ms <= 0:
            return _immediate(started)
        reserve_ms = min(RESERVE_MS, MAX_RESERVE_FRACTION * total_ms)
        think_ms = total_ms - reserve_ms
        if clock_ms is None:
            clock_until, increment_ms = math.inf, 0
        else:
            delays_ms = min(_DELAYS_RESERVED * self._delay_ms, MAX_RESERVE_FRACTION * clock_ms)
            clock_until = started + (clock_ms - reserve_ms - delays_ms) / 1000
            increment_ms = max(0, self.increment_ms - round(self._delay_ms))
        return Budget(
            think_until=started + think_ms / 1000,
            stop_at=started + (think_ms + reserve_ms / 3) / 1000,
            answer_at=started + (think_ms + reserve_ms * 2 / 3) / 1000,
            clock_until=clock_until,
            increment_ms=increment_ms,
        )

    def _is_yixin_unlimited(self) -> bool:
        return (
            self.turn_ms is not None
            and self.turn_ms >= _YIXIN_UNLIMITED_TURN_MS
            and (self.match_ms is None or self.match_ms >= _YIXIN_UNLIMITED_MATCH_MS)
        )

    def _turn_ms(self) -> int | None:
        return None if self._is_yixin_unlimited() else self.turn_ms

    def _clock_share_ms(self) -> int | None:
        clock_ms = self._clock_ms()
        return None if clock_ms is None else clock_ms // _MOVES_PER_CLOCK + self.increment_ms

    def _clock_ms(self) -> int | None:
        if self._is_yixin_unlimited():
            return None
        clock_ms = self.match_ms if self.time_left_ms is None else self.time_left_ms
        return None if clock_ms is None else int(clock_ms - self._used_ms)


def _immediate(now: float) -> Budget:
    stop_at = now + IMMEDIATE_MS / 2000
    return Budget(think_until=now, stop_at=stop_at, answer_at=now + IMMEDIATE_MS / 1000, clock_until=math.inf)


def _milliseconds_until(end: float, now: float) -> int | None:
    return None if math.isinf(end) else max(0, int((end - now) * 1000))


def _set_turn(settings: Settings, value: int) -> None:
    settings.turn_ms = None if value < 0 or value >= UNLIMITED_MS else value


def _set_match(settings: Settings, value: int) -> None:
    settings.match_ms = None if value <= 0 or value >= UNLIMITED_MS else value


def _set_time_left(settings: Settings, value: int) -> None:
    # Managers send the largest number if there is no match clock.
    if value >= UNLIMITED_MS:
        settings.match_ms = None
    settings.set_time_left(None if value >= UNLIMITED_MS else value)


def _set_increment(settings: Settings, value: int) -> None:
    settings.increment_ms = value if 0 < value < UNLIMITED_MS else 0


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
    # 0, -1, and the unsigned form of -1 all mean "no limit".
    settings.max_nodes = value if 0 < value < _MAX_NUMBER else None


def _set_threads(settings: Settings, value: int) -> None:
    settings.threads = min(max(value, 1), _MAX_THREADS)


def _set_detail(settings: Settings, value: int) -> None:
    settings.detail = value & 3


def _set_pondering(settings: Settings, value: int) -> None:
    settings.is_pondering = value > 0


# The other keys of the protocol and its dialects, such as game_type, folder and caution_factor, are ignored.
_KEYS: dict[str, Callable[[Settings, int], None]] = {
    "timeout_turn": _set_turn,
    "timeout_match": _set_match,
    "time_left": _set_time_left,
    "time_increment": _set_increment,
    "max_memory": _set_memory,
    "rule": _set_rule,
    "max_depth": _set_depth,
    "max_node": _set_nodes,
    "hash_size": _set_hash,
    "thread_num": _set_threads,
    "show_detail": _set_detail,
    "pondering": _set_pondering,
}
