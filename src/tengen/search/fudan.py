"""Python interface to the alpha-beta search of "Final report for Gomoku project" (papers/fudan/README.md)."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from tengen import _native
from tengen.core.contracts import Analysis, AnalysisLine, Colour, Limits, Proof, Rule, Ruleset
from tengen.core.geometry import Point
from tengen.core.native_enums import colour_to_native
from tengen.core.position import Position
from tengen.core.stop_signal import StopSignal
from tengen.errors import InputError, RulesetError
from tengen.search.limits import RESERVE_MS, move_time_ms

DEFAULT_TIME_MS = 1000
"""Default time per move in milliseconds, used if there are no limits."""
MIN_BOARD = 5
"""Smallest width and height of a board."""

_HALF_WON = 10_000
"""Score that is mapped to the value 0.5: one blocked four."""


class Evaluation(StrEnum):
    """Method of scoring line shapes."""

    DICTIONARY = "dictionary"
    """Look up the score of the shape's key (a, b, c, d, e) in the dictionary."""
    TABLE = "table"
    """Look up the score in a 256x256 table, indexed by own stones and blockers within four cells on each side."""


class Checkmate(StrEnum):
    """The checkmate search at the root."""

    OFF = "off"
    BOTH_SIDES = "both-sides"
    """Fours and open threes up to 16 plies, to find wins and to avoid moves that let the enemy win."""
    AUTHORS = "authors"
    """Fours and double threes up to 11 moves deep, for the side to move only; only the six best neighbouring points are
    tried."""


@dataclass(frozen=True, kw_only=True)
class FudanConfig:
    """Settings for the search. The defaults are those of the report."""

    all_keys: bool = True
    """Whether the dictionary has all keys; otherwise the keys missing from the authors' dictionary score 0."""
    evaluation: Evaluation = Evaluation.DICTIONARY
    blocked_update: bool = True
    """Do not update the points behind an enemy stone. Affects only the speed."""
    peer_update: bool = True
    """Copy the score of an adjacent stone of the same colour. Affects only the speed; not used with the table."""
    hash_index: bool = True
    """Cache the values of positions by their Zobrist key. Affects only the speed."""
    checkmate: Checkmate = Checkmate.BOTH_SIDES
    prefers_fast_wins: bool = True
    """Prefer short wins; otherwise all wins have the same value."""

    def native_scores(self) -> _native.FudanScoreOptions:
        """Return the options for the native point scores."""
        options = _native.FudanScoreOptions()
        options.keys = _native.FudanKeys.ALL if self.all_keys else _native.FudanKeys.AS_AUTHORED
        options.evaluation = _native.FudanEvaluation[self.evaluation.name]
        options.blocked_update = self.blocked_update
        options.peer_update = self.peer_update
        return options

    def native(self) -> _native.FudanOptions:
        """Return the options for the native search."""
        options = _native.FudanOptions()
        options.scores = self.native_scores()
        options.hash_index = self.hash_index
        options.checkmate = _native.FudanCheckmate[self.checkmate.name]
        options.prefers_fast_wins = self.prefers_fast_wins
        return options


def supports(ruleset: Ruleset) -> bool:
    """Return whether the search supports the ruleset: five in a row, freestyle or standard, with 5 to 22 lines."""
    return (
        ruleset.win_length == 5
        and ruleset.rule in (Rule.FREESTYLE, Rule.STANDARD)
        and min(ruleset.width, ruleset.height) >= MIN_BOARD
    )


def check_supports(ruleset: Ruleset) -> None:
    """Raise `RulesetError` if the search does not support the ruleset."""
    if not supports(ruleset):
        raise RulesetError(
            f"fudan plays only five in a row (freestyle or standard) on boards of at least {MIN_BOARD}x{MIN_BOARD},"
            f" not {ruleset}"
        )


class Fudan:
    """The fudan engine. It runs one search at a time and keeps no state between searches."""

    def __init__(self, config: FudanConfig | None = None) -> None:
        self.config = config or FudanConfig()
        self._search = _native.FudanSearch(self.config.native())

    def search(
        self,
        position: Position,
        limits: Limits,
        *,
        lines: int = 1,
        stop: StopSignal | None = None,
        on_analysis: Callable[[Analysis], None] | None = None,
    ) -> Analysis:
        """Search a position; `on_analysis` receives a snapshot after each iteration. The game must not be over."""
        if position.is_over:
            raise InputError(f"cannot search: the game is over\n{position}")
        check_supports(position.ruleset)
        native = _native_limits(limits)
        native.lines = max(1, lines)
        width = position.ruleset.width
        callback = None if on_analysis is None else lambda report: on_analysis(_analysis(report, width))
        report = self._search.search(position.native, native, callback, None if stop is None else stop.native)
        return _analysis(report, width)


class PointScores:
    """Scores of all points in a position for both colours, updated incrementally."""

    def __init__(self, position: Position, config: FudanConfig | None = None) -> None:
        check_supports(position.ruleset)
        self._width = position.ruleset.width
        self._scores = _native.FudanPointScores((config or FudanConfig()).native_scores(), position.native)

    def place(self, point: Point, colour: Colour) -> None:
        """Place a stone on an empty point."""
        self._scores.place(point.index(self._width), colour_to_native(colour))

    def remove(self, point: Point) -> None:
        """Remove a stone."""
        self._scores.remove(point.index(self._width))

    def score(self, colour: Colour, point: Point) -> int:
        """Return the score of a stone of `colour` on the point, real or hypothetical; 0 if an enemy stone is there."""
        return self._scores.score(colour_to_native(colour), point.index(self._width))

    def direction_scores(self, colour: Colour, point: Point) -> tuple[int, ...]:
        """Return the score in each direction: row, column, rising diagonal, falling diagonal."""
        return tuple(self._scores.direction_scores(colour_to_native(colour), point.index(self._width)))

    def stone_sum(self, colour: Colour) -> int:
        """Return the total score of a colour's stones."""
        return self._scores.stone_sum(colour_to_native(colour))

    def neighbours(self) -> list[Point]:
        """Return the empty points that are next to a stone."""
        return [Point.from_index(index, self._width) for index in self._scores.neighbours]


def _native_limits(limits: Limits) -> _native.FudanLimits:
    native = _native.FudanLimits()
    # In native code, 0 means no limit, so a limit of 0 becomes 1 here.
    bounds = [max(1, bound) for bound in (limits.nodes, limits.simulations) if bound is not None]
    native.nodes = min(bounds, default=0)
    native.depth = 0 if limits.depth is None else max(1, limits.depth)
    time_ms = move_time_ms(limits)
    if time_ms is None and not native.nodes and not native.depth:
        time_ms = DEFAULT_TIME_MS
    if time_ms is not None:
        native.time_ms = max(1, time_ms - RESERVE_MS)
    return native


def _value_to_move(value: int) -> float:
    """Map a value to [-1, 1], preserving the order; the result is not a probability."""
    if abs(value) >= _native.FUDAN_WIN_BOUND:
        return math.copysign(1.0, value)
    score = value / _native.FUDAN_SCORE_UNIT
    return score / (abs(score) + _HALF_WON)


def _analysis(report: _native.FudanReport, width: int) -> Analysis:
    proof = Proof("win", report.win_plies) if report.win_plies else None
    lines = tuple(
        AnalysisLine(
            move=Point.from_index(line.moves[0], width),
            value_to_move=_value_to_move(line.value),
            line=tuple(Point.from_index(move, width) for move in line.moves),
            proof=proof,
            depth=report.depth,
        )
        for line in report.lines
    )
    return Analysis(lines=lines, depth=report.depth, nodes=report.nodes, elapsed_ms=report.elapsed_ms)
