"""The alpha-beta search of "Final report for Gomoku project" as Python sees it (papers/fudan/README.md)."""

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
"""Thinking time when neither the limits nor the depth end the search."""
MIN_BOARD = 5
"""Smallest width and height of a board."""

_HALF_WON = 10_000
"""The score at which a value is 0.5: one blocked four."""


class Evaluation(StrEnum):
    """How the shape of a line is scored."""

    DICTIONARY = "dictionary"
    """Find the key (a, b, c, d, e) of the shape and read its score in the dictionary."""
    TABLE = "table"
    """Read the score in a table of 256 by 256 entries, by the stones of both colours four cells to each side."""


class Checkmate(StrEnum):
    """The checkmate search at the root."""

    OFF = "off"
    BOTH_SIDES = "both-sides"
    """Fours and open threes to 16 plies, to win and to avoid moves after which the enemy wins so."""
    AUTHORS = "authors"
    """Fours and double threes to 11 moves among the six best neighbours, to win only."""


@dataclass(frozen=True, kw_only=True)
class FudanConfig:
    """How the search is set up. The defaults are the report's."""

    all_keys: bool = True
    """Whether the dictionary knows all keys; otherwise those that the authors forgot are worth 0."""
    evaluation: Evaluation = Evaluation.DICTIONARY
    blocked_update: bool = True
    """Do not update the points behind an enemy stone. Changes only the speed."""
    peer_update: bool = True
    """Copy the score of an adjacent stone of the same colour. Changes only the speed; not used with the table."""
    hash_index: bool = True
    """Remember the values of positions by their Zobrist key. Changes only the speed."""
    checkmate: Checkmate = Checkmate.BOTH_SIDES
    prefers_fast_wins: bool = True
    """Prefer wins that are nearer; otherwise all wins are equal."""

    def native_scores(self) -> _native.FudanScoreOptions:
        """Return the options of the native point scores."""
        options = _native.FudanScoreOptions()
        options.keys = _native.FudanKeys.ALL if self.all_keys else _native.FudanKeys.AS_AUTHORED
        options.evaluation = _native.FudanEvaluation[self.evaluation.name]
        options.blocked_update = self.blocked_update
        options.peer_update = self.peer_update
        return options

    def native(self) -> _native.FudanOptions:
        """Return the options of the native search."""
        options = _native.FudanOptions()
        options.scores = self.native_scores()
        options.hash_index = self.hash_index
        options.checkmate = _native.FudanCheckmate[self.checkmate.name]
        options.prefers_fast_wins = self.prefers_fast_wins
        return options


def supports(ruleset: Ruleset) -> bool:
    """Return whether the search plays the ruleset: five in a row, freestyle or standard, boards of 5 to 22 lines."""
    return (
        ruleset.win_length == 5
        and ruleset.rule in (Rule.FREESTYLE, Rule.STANDARD)
        and min(ruleset.width, ruleset.height) >= MIN_BOARD
    )


def check_supports(ruleset: Ruleset) -> None:
    """Raise `RulesetError` if the search does not play the ruleset."""
    if not supports(ruleset):
        raise RulesetError(
            f"fudan plays five in a row, freestyle or standard, on boards from {MIN_BOARD}x{MIN_BOARD}; not {ruleset}"
        )


class Fudan:
    """The search. It runs one search at a time and keeps nothing from one to the next."""

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
        """Search a position whose game is not over; `on_analysis` receives a snapshot after each iteration."""
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
    """What each point of a position is worth to both colours, kept up to date as stones come and go."""

    def __init__(self, position: Position, config: FudanConfig | None = None) -> None:
        check_supports(position.ruleset)
        self._width = position.ruleset.width
        self._scores = _native.FudanPointScores((config or FudanConfig()).native_scores(), position.native)

    def place(self, point: Point, colour: Colour) -> None:
        """Put a stone on an empty point."""
        self._scores.place(point.index(self._width), colour_to_native(colour))

    def remove(self, point: Point) -> None:
        """Take a stone away."""
        self._scores.remove(point.index(self._width))

    def score(self, colour: Colour, point: Point) -> int:
        """Return what a stone is worth there, standing or about to be played; 0 on a stone of the other colour."""
        return self._scores.score(colour_to_native(colour), point.index(self._width))

    def direction_scores(self, colour: Colour, point: Point) -> tuple[int, ...]:
        """Return the parts of the score: row, column, rising diagonal, falling diagonal."""
        return tuple(self._scores.direction_scores(colour_to_native(colour), point.index(self._width)))

    def stone_sum(self, colour: Colour) -> int:
        """Return the sum of the scores of all stones of a colour."""
        return self._scores.stone_sum(colour_to_native(colour))

    def neighbours(self) -> list[Point]:
        """Return the empty points next to a stone."""
        return [Point.from_index(index, self._width) for index in self._scores.neighbours]


def _native_limits(limits: Limits) -> _native.FudanLimits:
    native = _native.FudanLimits()
    # 0 means no limit in native code; a search needs at least one node and one ply.
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
    """Squeeze a value into [-1, 1]. It orders positions; it is no probability."""
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
