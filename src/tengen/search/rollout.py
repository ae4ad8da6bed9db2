"""Searches by playouts as Python sees them: UCT and HMCTS, and the playouts themselves (docs/rollouts.md)."""

from __future__ import annotations

import math
from abc import ABC
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from tengen import _native
from tengen.core.contracts import Analysis, AnalysisLine, Limits, Outcome
from tengen.core.geometry import MAX_SIZE, Point
from tengen.core.native_enums import outcome_from_native, proof_from_native
from tengen.core.position import Position
from tengen.errors import InputError
from tengen.search.limits import MAX_THREADS, RESERVE_MS, move_time_ms

__all__ = [
    "Hmcts",
    "HmctsConfig",
    "Playout",
    "PlayoutPolicy",
    "PlayoutTally",
    "RolloutSearch",
    "Uct",
    "UctConfig",
    "play_out",
    "tally_playouts",
]

DEFAULT_TIME_MS = 1000
"""How long to think when nobody says."""


class PlayoutPolicy(StrEnum):
    """How a game is played to its end."""

    HEURISTIC = "heuristic"
    """Complete a four, block a four, extend a three, block a three, else any point."""
    RANDOM = "random"
    """Any legal point."""


@dataclass(frozen=True, slots=True)
class Playout:
    """One game played to its end."""

    moves: tuple[Point, ...]
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class PlayoutTally:
    """How many playouts ended how, and how many moves all of them had."""

    black: int
    white: int
    draws: int
    moves: int


def play_out(position: Position, policy: PlayoutPolicy, seed: int = 0) -> Playout:
    """Play the game to its end; nothing is played when it is over already."""
    if position.is_over:
        return Playout((), position.outcome)
    moves, outcome = _native.play_out(position.native, _native_policy(policy), seed & _WORD)
    width = position.ruleset.width
    return Playout(tuple(Point.from_index(move, width) for move in moves), outcome_from_native(outcome))


def tally_playouts(position: Position, policy: PlayoutPolicy, count: int, seed: int = 0) -> PlayoutTally:
    """Play `count` games from here on one thread, the GIL released."""
    if count < 0:
        raise InputError(f"cannot play {count} games")
    return PlayoutTally(*_native.tally_playouts(position.native, _native_policy(policy), count, seed & _WORD))


@dataclass(frozen=True, kw_only=True)
class UctConfig:
    """How UCT is set up."""

    exploration: float = math.sqrt(2)
    """The c of UCB1, for results between 0 and 1."""
    policy: PlayoutPolicy = PlayoutPolicy.HEURISTIC
    """How playouts are played."""
    radius: int = 1
    """Moves of the tree lie at most so many rows and columns from a stone; 0 for no bound."""
    expand_after: int = 4
    """A node gets children once it has been visited so often; 1 in the textbook."""
    solve: bool = True
    """Prove wins and losses in the tree, take wins and answer fours at sight."""
    memory_mb: int = 256
    """Bound of the tree; once it is full, it stops growing and playouts go on from its leaves."""

    def __post_init__(self) -> None:
        if not (math.isfinite(self.exploration) and self.exploration >= 0):
            raise InputError(f"exploration {self.exploration} is not a number from 0 up")
        _check_range("radius", self.radius, 0, MAX_SIZE)
        _check_range("expand_after", self.expand_after, 1, 1_000_000)
        _check_range("memory_mb", self.memory_mb, 1, 1 << 17)

    def native(self) -> _native.UctOptions:
        """The same for the native search."""
        options = _native.UctOptions()
        options.exploration = self.exploration
        options.policy = _native_policy(self.policy)
        options.radius = self.radius
        options.expand_after = self.expand_after
        options.solve = self.solve
        options.memory_bytes = self.memory_mb << 20
        return options


@dataclass(frozen=True, kw_only=True)
class HmctsConfig:
    """How HMCTS is set up."""

    playouts_a_candidate: int = 0
    """Playouts for each move that is considered; 0 leaves it to the limits."""
    policy: PlayoutPolicy = PlayoutPolicy.HEURISTIC
    """How playouts are played."""
    radius: int = 1
    """Moves lie at most so many rows and columns from a stone; 0 for no bound."""

    def __post_init__(self) -> None:
        _check_range("playouts_a_candidate", self.playouts_a_candidate, 0, 1 << 40)
        _check_range("radius", self.radius, 0, MAX_SIZE)

    def native(self) -> _native.HmctsOptions:
        """The same for the native search."""
        options = _native.HmctsOptions()
        options.playouts_a_candidate = self.playouts_a_candidate
        options.policy = _native_policy(self.policy)
        options.radius = self.radius
        return options


class _NativeSearch(Protocol):
    def search(
        self,
        board: _native.Board,
        limits: _native.RolloutLimits,
        seed: int,
        on_report: Callable[[_native.RolloutReport], None] | None = None,
    ) -> _native.RolloutReport: ...

    def stop(self) -> None: ...

    def clear_stop(self) -> None: ...


class RolloutSearch(ABC):
    """What UCT and HMCTS share. One search at a time; `stop` may come from any thread."""

    _native: _NativeSearch
    _needs_limit: bool

    def search(
        self,
        position: Position,
        limits: Limits,
        *,
        seed: int = 0,
        lines: int = 1,
        excluded: Iterable[Point] = (),
        on_analysis: Callable[[Analysis], None] | None = None,
    ) -> Analysis:
        """Think about a position whose game is not over; `on_analysis` hears of the progress.

        `simulations` and `nodes` both bound the playouts, `depth` means nothing here; without any bound,
        `DEFAULT_TIME_MS`. The policy of an analysis is each root move's share of the playouts.
        """
        if position.is_over:
            raise InputError(f"the game is over, there is nothing to search\n{position}")
        width = position.ruleset.width
        native = _native_limits(limits, needs_limit=self._needs_limit)
        native.lines = max(1, lines)
        native.excluded = [point.index(width) for point in excluded if position.ruleset.contains(point)]
        callback = None if on_analysis is None else lambda report: on_analysis(_analysis(report, width, lines))
        return _analysis(self._native.search(position.native, native, seed & _WORD, callback), width, lines)

    def stop(self) -> None:
        """End a running search; it still returns what it has."""
        self._native.stop()

    def clear_stop(self) -> None:
        """Take back an earlier `stop`."""
        self._native.clear_stop()


class Uct(RolloutSearch):
    """A tree grown by playouts that go where UCB1 is highest. The tree is not kept between searches."""

    def __init__(self, config: UctConfig | None = None) -> None:
        self.config = config or UctConfig()
        self._native = _native.Uct(self.config.native())
        self._needs_limit = True


class Hmcts(RolloutSearch):
    """The same number of playouts for every move near a stone."""

    def __init__(self, config: HmctsConfig | None = None) -> None:
        self.config = config or HmctsConfig()
        self._native = _native.Hmcts(self.config.native())
        self._needs_limit = self.config.playouts_a_candidate == 0


_WORD = 0xFFFF_FFFF_FFFF_FFFF


def _check_range(name: str, value: int, low: int, high: int) -> None:
    if not low <= value <= high:
        raise InputError(f"{name} {value} is outside {low}–{high}")


def _native_policy(policy: PlayoutPolicy) -> _native.PlayoutPolicy:
    return _native.PlayoutPolicy[policy.name]


def _native_limits(limits: Limits, *, needs_limit: bool) -> _native.RolloutLimits:
    native = _native.RolloutLimits()
    native.threads = min(limits.threads, MAX_THREADS)
    # 0 means no limit in native code, but not here; one playout there has to be.
    bounds = [max(1, bound) for bound in (limits.simulations, limits.nodes) if bound is not None]
    native.playouts = min(bounds, default=0)
    time_ms = move_time_ms(limits)
    if time_ms is None and not bounds and needs_limit:
        time_ms = DEFAULT_TIME_MS
    if time_ms is not None:
        native.time_ms = max(1, time_ms - RESERVE_MS)
    return native


def _analysis(report: _native.RolloutReport, width: int, lines: int) -> Analysis:
    shown = tuple(
        AnalysisLine(
            move=Point.from_index(move.move, width),
            value_to_move=move.value_to_move,
            line=tuple(Point.from_index(point, width) for point in move.line),
            proof=proof_from_native(move.proof, move.proof_plies),
            depth=len(move.line),
            visits=move.visits,
        )
        for move in report.moves[: max(1, lines)]
    )
    total = sum(move.visits for move in report.moves)
    if total:
        policy = {Point.from_index(move.move, width): move.visits / total for move in report.moves if move.visits}
    else:
        policy = {shown[0].move: 1.0}
    return Analysis(lines=shown, nodes=report.playouts, elapsed_ms=report.elapsed_ms, policy=policy)
