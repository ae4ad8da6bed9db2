"""Python interface to the playout searches UCT and HMCTS, and to single playouts (docs/how/rollouts.md)."""

from __future__ import annotations

import math
from abc import ABC
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from tengen import _native
from tengen.core.contracts import Analysis, AnalysisLine, Limits, Outcome, Report
from tengen.core.geometry import MAX_SIZE, Point
from tengen.core.native_enums import outcome_from_native, proof_from_native
from tengen.core.position import Position
from tengen.core.stop_signal import StopSignal
from tengen.errors import InputError
from tengen.search.checks import check_range
from tengen.search.limits import MAX_THREADS, RESERVE_MS, move_time_ms
from tengen.search.seeds import seed_word

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
"""Default time per move in milliseconds, used if there are no limits."""


class PlayoutPolicy(StrEnum):
    """Policy for the moves in a playout."""

    HEURISTIC = "heuristic"
    """The first possible of: complete a four, block a four, extend a three, block a three, play any legal point."""
    RANDOM = "random"
    """Any legal point."""


@dataclass(frozen=True, slots=True)
class Playout:
    """A game played to the end."""

    moves: tuple[Point, ...]
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class PlayoutTally:
    """Number of playouts with each result, and the total number of moves in all playouts."""

    black: int
    white: int
    draws: int
    moves: int


def play_out(position: Position, policy: PlayoutPolicy, seed: int = 0) -> Playout:
    """Play the game to the end; if it is already over, no moves are played."""
    if position.is_over:
        return Playout((), position.outcome)
    moves, outcome = _native.play_out(position.native, _native_policy(policy), seed_word(seed))
    width = position.ruleset.width
    return Playout(tuple(Point.from_index(move, width) for move in moves), outcome_from_native(outcome))


def tally_playouts(position: Position, policy: PlayoutPolicy, count: int, seed: int = 0) -> PlayoutTally:
    """Play `count` games from the position on one thread, with the GIL released."""
    if count < 0:
        raise InputError(f"cannot play {count} games: the number must be at least 0")
    return PlayoutTally(*_native.tally_playouts(position.native, _native_policy(policy), count, seed_word(seed)))


@dataclass(frozen=True, kw_only=True)
class UctConfig:
    """Settings for UCT."""

    exploration: float = math.sqrt(2)
    """Exploration constant c of UCB1, for results between 0 and 1."""
    policy: PlayoutPolicy = PlayoutPolicy.HEURISTIC
    """Policy for the moves in playouts."""
    radius: int = 1
    """Maximum distance of a tree move from the nearest stone, in rows and columns; 0 for no limit."""
    expand_after: int = 4
    """Number of visits after which a node is expanded; 1 in textbook UCT."""
    solve: bool = True
    """Prove wins and losses in the tree, complete fives and answer fours without playouts."""
    memory_mb: int = 256
    """Memory limit for the tree in MB. A full tree stops growing; playouts continue from its leaves."""

    def __post_init__(self) -> None:
        if not (math.isfinite(self.exploration) and self.exploration >= 0):
            raise InputError(f"exploration must be finite and at least 0, not {self.exploration}")
        check_range("radius", self.radius, 0, MAX_SIZE)
        check_range("expand_after", self.expand_after, 1, 1_000_000)
        check_range("memory_mb", self.memory_mb, 1, 1 << 17)

    def native(self) -> _native.UctOptions:
        """Return the options for native code."""
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
    """Settings for HMCTS."""

    playouts_a_candidate: int = 0
    """Playouts per candidate move; 0 for no fixed number (only the limits apply)."""
    policy: PlayoutPolicy = PlayoutPolicy.HEURISTIC
    """Policy for the moves in playouts."""
    radius: int = 1
    """Maximum distance of a candidate from the nearest stone, in rows and columns; 0 for no limit."""

    def __post_init__(self) -> None:
        check_range("playouts_a_candidate", self.playouts_a_candidate, 0, 1 << 40)
        check_range("radius", self.radius, 0, MAX_SIZE)

    def native(self) -> _native.HmctsOptions:
        """Return the options for native code."""
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
        stop: _native.StopSignal | None = None,
    ) -> _native.RolloutReport: ...


class RolloutSearch(ABC):
    """Common interface to UCT and HMCTS. An object runs one search at a time."""

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
        stop: StopSignal | None = None,
        on_analysis: Report | None = None,
    ) -> Analysis:
        """Search a position; `on_analysis` receives snapshots. The game must not be over.

        `simulations` and `nodes` both limit the playouts; `depth` is ignored. Without a limit, `DEFAULT_TIME_MS`
        applies. The policy of an analysis is each root move's share of the playouts.
        """
        if position.is_over:
            raise InputError(f"cannot search: the game is over\n{position}")
        width = position.ruleset.width
        native = _native_limits(limits, needs_limit=self._needs_limit)
        native.lines = max(1, lines)
        native.excluded = [point.index(width) for point in excluded if position.ruleset.contains(point)]
        callback = None if on_analysis is None else lambda report: on_analysis(_analysis(report, width, lines))
        native_stop = None if stop is None else stop.native
        report = self._native.search(position.native, native, seed_word(seed), callback, native_stop)
        return _analysis(report, width, lines)


class Uct(RolloutSearch):
    """Monte Carlo tree search with UCB1 selection. The tree is not kept between searches."""

    def __init__(self, config: UctConfig | None = None) -> None:
        self.config = config or UctConfig()
        self._native = _native.Uct(self.config.native())
        self._needs_limit = True


class Hmcts(RolloutSearch):
    """Flat search with the same number of playouts for every move near a stone."""

    def __init__(self, config: HmctsConfig | None = None) -> None:
        self.config = config or HmctsConfig()
        self._native = _native.Hmcts(self.config.native())
        self._needs_limit = self.config.playouts_a_candidate == 0


def _native_policy(policy: PlayoutPolicy) -> _native.PlayoutPolicy:
    return _native.PlayoutPolicy[policy.name]


def _native_limits(limits: Limits, *, needs_limit: bool) -> _native.RolloutLimits:
    native = _native.RolloutLimits()
    native.threads = min(limits.threads, MAX_THREADS)
    # In native code, 0 means no limit, so a limit of 0 becomes 1 here.
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
