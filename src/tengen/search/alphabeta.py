"""Python interface to the alpha-beta engine. A search takes a position and limits and returns lines with values."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from tengen import _native
from tengen.core.contracts import Analysis, AnalysisLine, Limits, Proof, Report, Rule, Ruleset
from tengen.core.geometry import Point
from tengen.core.position import Position
from tengen.core.stop_signal import StopSignal
from tengen.errors import InputError, RulesetError
from tengen.search.limits import MAX_THREADS, RESERVE_MS
from tengen.search.weights import Weights, load_weights, weights_for

DEFAULT_TIME_MS = 1000
"""Default time per move in milliseconds, used if there are no limits."""

DEFAULT_TABLE_MB = 64

EXPECTED_VALUE = 0.9999
"""Value of a win that is expected but not proved."""


Ingredient = _native.Ingredient
"""A part of the search that can be disabled to measure its contribution (docs/how/engine.md). Sets are bit masks."""

ALL_INGREDIENTS: int = _native.ALL_INGREDIENTS


def parse_ingredients(names: str) -> int:
    """Return the bit mask of the ingredients in a text such as `singular+history`."""
    result = 0
    for name in filter(None, names.split("+")):
        try:
            result |= _native.Ingredient[name.strip().upper().replace("-", "_")]
        except KeyError:
            known = ", ".join(member.name.lower().replace("_", "-") for member in _native.Ingredient)
            raise InputError(f"unknown ingredient {name!r} (known: {known})") from None
    return result


@dataclass(frozen=True, kw_only=True)
class AlphaBetaConfig:
    """Settings for an engine."""

    table_mb: int = DEFAULT_TABLE_MB
    """Size of the transposition table in MB."""
    ingredients: int = ALL_INGREDIENTS
    """Bit mask of the enabled ingredients."""
    max_four_depth: int = 0
    """Maximum number of fours in a chain searched below depth zero; 0 for no limit."""
    weights: Path | None = None
    """Weights file (default: the shipped weights for the ruleset)."""


class AlphaBeta:
    """One engine with its transposition table. It runs one search at a time."""

    def __init__(self, config: AlphaBetaConfig | None = None) -> None:
        self.config = config or AlphaBetaConfig()
        try:
            self._engine = _native.Engine(self.config.table_mb << 20)
        except MemoryError:
            raise InputError(
                f"not enough memory for a table of {self.config.table_mb} MB; choose a smaller size"
            ) from None
        self._engine.set_options(self.config.ingredients, self.config.max_four_depth)
        self._ruleset: Ruleset | None = None
        self._weights: dict[Rule, Weights] = {}

    @staticmethod
    def supports(ruleset: Ruleset) -> bool:
        """Return whether the engine supports the ruleset: it has patterns for win lengths 4 and 5."""
        return ruleset.win_length in (4, 5)

    def new_game(self, ruleset: Ruleset) -> None:
        """Clear the transposition table and load the weights for the ruleset."""
        self._prepare(ruleset)
        self._engine.new_game()

    def warm_up(self, rulesets: Iterable[Ruleset]) -> None:
        """Load the weights and pattern tables for the rulesets, and allocate the transposition table's memory."""
        for ruleset in filter(self.supports, rulesets):
            self._weights_for(ruleset).evaluate(Position.start(ruleset).native)
        self._engine.touch_table()

    def set_table_mb(self, megabytes: int) -> None:
        """Resize the transposition table. If the size changes, the table is cleared."""
        self._engine.set_table_bytes(megabytes << 20)

    def search(
        self,
        position: Position,
        limits: Limits,
        *,
        lines: int = 1,
        excluded: Iterable[Point] = (),
        stop: StopSignal | None = None,
        on_analysis: Report | None = None,
    ) -> Analysis:
        """Search a position; the game must not be over.

        `on_analysis` receives a snapshot after each completed iteration, and the result if its lines differ from the
        last snapshot.
        """
        if position.is_over:
            raise InputError(f"cannot search: the game is over\n{position}")
        self._prepare(position.ruleset)
        native = native_limits(limits)
        native.lines = lines
        native.excluded = [point.index(position.ruleset.width) for point in excluded]
        reported: tuple[AnalysisLine, ...] = ()

        def callback(report: _native.SearchReport) -> None:
            nonlocal reported
            analysis = _analysis(position, report)
            reported = analysis.lines
            if on_analysis is not None:
                on_analysis(analysis)

        report = self._engine.search(
            position.native,
            native,
            None if on_analysis is None else callback,
            None if stop is None else stop.native,
        )
        if not report.lines:
            raise InputError(f"every legal move is excluded; allow at least one\n{position}")
        result = _analysis(position, report)
        if on_analysis is not None and result.lines != reported:
            on_analysis(result)
        return result

    @property
    def table_mb(self) -> int:
        """Size of the transposition table in MB."""
        return self._engine.table_bytes >> 20

    @property
    def table_usage(self) -> float:
        """Fraction of the table filled by the last search, estimated from a sample."""
        return self._engine.table_usage / 1000

    def _prepare(self, ruleset: Ruleset) -> None:
        if ruleset == self._ruleset:
            return
        if not self.supports(ruleset):
            raise RulesetError(f"alpha-beta cannot search {ruleset}: the win length must be 4 or 5")
        # Positions under different rulesets may have the same hash.
        self._engine.new_game()
        self._engine.set_weights(self._weights_for(ruleset))
        self._ruleset = ruleset

    def _weights_for(self, ruleset: Ruleset) -> Weights:
        if ruleset.rule not in self._weights:
            path = self.config.weights
            self._weights[ruleset.rule] = weights_for(ruleset) if path is None else load_weights(path)
        return self._weights[ruleset.rule]


def native_limits(limits: Limits) -> _native.SearchLimits:
    """Convert limits to those of the native search; without any limit, `DEFAULT_TIME_MS` applies."""
    native = _native.SearchLimits()
    native.threads = min(limits.threads, MAX_THREADS)
    native.nodes = limits.nodes or limits.simulations or 0
    native.depth = limits.depth or 0
    time_ms = limits.time_ms
    if limits.clock_ms is not None:
        native.clock_ms = max(1, limits.clock_ms - RESERVE_MS)
        native.increment_ms = limits.increment_ms
    elif time_ms is None and not native.nodes and not native.depth:
        time_ms = DEFAULT_TIME_MS
    if time_ms is not None:
        native.time_ms = max(1, time_ms - RESERVE_MS)
    return native


def value_to_move(value: int) -> float:
    """Convert a search value to an expected result in [-1, 1]."""
    if abs(value) >= _native.MATE_BOUND:
        return math.copysign(1.0 if _native.is_proved(value) else EXPECTED_VALUE, value)
    return math.tanh(value / (2 * _native.LOGISTIC_UNIT))


def proof_of(value: int) -> Proof | None:
    """Return the win or loss that a search value proves; None if it proves nothing.

    An expected result is not a proof, because the search has not tried every defence.
    """
    if not _native.is_proved(value):
        return None
    return Proof("win" if value > 0 else "loss", _native.plies_to_end(value))


def _analysis(position: Position, report: _native.SearchReport) -> Analysis:
    width = position.ruleset.width
    lines = tuple(
        AnalysisLine(
            move=Point.from_index(line.moves[0], width),
            value_to_move=value_to_move(line.value),
            line=tuple(Point.from_index(move, width) for move in line.moves),
            proof=proof_of(line.value),
            depth=line.depth,
            selective_depth=line.reach,
        )
        for line in report.lines
    )
    return Analysis(lines=lines, depth=report.depth, nodes=report.nodes, elapsed_ms=float(report.elapsed_ms))
