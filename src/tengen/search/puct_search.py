"""One position searched with a network (docs/mcts.md), by one thread or by several that share the tree."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import replace

import numpy as np

from tengen import _native
from tengen.core.contracts import Analysis, AnalysisLine, Evaluator, Limits, Ruleset
from tengen.core.geometry import Point
from tengen.core.native_enums import proof_from_native
from tengen.core.planes import check_layout, native_layout, plane_count
from tengen.core.position import Position
from tengen.errors import InputError
from tengen.search.limits import MAX_THREADS, RESERVE_MS, move_time_ms
from tengen.search.puct import WORD, PuctConfig, check_answers

__all__ = ["PuctSearch"]

_UNLIMITED = 10**9
# Sequential halving plans every simulation beforehand.
_MOST_PLANNED = 10**6
_REPORT_SECONDS = 0.25
_FIRST_REPORT = 32


class PuctSearch:
    """A tree over positions of one ruleset, guided by one network.

    Each thread gathers leaves (`config.leaves` of them once the tree is large enough), asks the evaluator and brings
    the answers back, all on the same tree. The evaluator is asked by several threads at a time. One search at a time;
    `stop` may come from any thread. With one thread and no time limit the same calls give the same answers.

    >>> from tengen.search.puct import PuctConfig, UniformEvaluator
    >>> search = PuctSearch(Ruleset.parse("3x3:3"), UniformEvaluator(), PuctConfig(solve=True, simulations=100_000))
    >>> str(search.search(Position.start(search.ruleset), Limits()).lines[0].proof)
    '=M9'
    """

    def __init__(
        self, ruleset: Ruleset, evaluator: Evaluator, config: PuctConfig | None = None, *, memory_mb: int = 512
    ) -> None:
        self.ruleset = ruleset
        self.config = config or PuctConfig()
        self._evaluator = evaluator
        self._layout = evaluator.plane_layout
        check_layout(self._layout, ruleset)
        self._native = _native.PuctSearch(
            Position.start(ruleset).native, native_layout(self._layout), self.config.native(), memory_mb << 20
        )
        self._stop_requested = threading.Event()

    def search(
        self,
        position: Position,
        limits: Limits,
        *,
        seed: int = 0,
        lines: int = 1,
        excluded: Iterable[Point] = (),
        temperature: float = 0.0,
        on_analysis: Callable[[Analysis], None] | None = None,
    ) -> Analysis:
        """Think about a position whose game is not over; `on_analysis` hears of the progress.

        `simulations` and `nodes` both bound the simulations, `depth` means nothing here; without any bound, those of
        the configuration count. Gumbel search has to know its simulations beforehand: under a time limit it makes at
        most those of the configuration, without one at most a million. The first line is the move to play: the most
        visited one, or at a `temperature` above 0 one drawn from the visits. The analysis' policy is the policy target
        of training, its lines have priors, visits and values.
        """
        if position.is_over:
            raise InputError(f"the game is over, there is nothing to search\n{position}")
        if position.ruleset != self.ruleset:
            raise InputError(f"this search is for {self.ruleset}, not {position.ruleset}")
        return _Run(self, position, limits, seed, lines, excluded, temperature, on_analysis).result()

    def stop(self) -> None:
        """End a running search; it still returns what it has."""
        self._stop_requested.set()
        self._native.end()

    def clear_stop(self) -> None:
        """Take back an earlier `stop`."""
        self._stop_requested.clear()

    def clear(self) -> None:
        """Forget the tree and all evaluations: to be called when the network has changed."""
        self._native.clear()


class _Run:
    """One call of `PuctSearch.search`."""

    def __init__(
        self,
        search: PuctSearch,
        position: Position,
        limits: Limits,
        seed: int,
        lines: int,
        excluded: Iterable[Point],
        temperature: float,
        on_analysis: Callable[[Analysis], None] | None,
    ) -> None:
        self._started = time.perf_counter()
        self._native = search._native
        self._evaluator = search._evaluator
        self._width = search.ruleset.width
        self._lines = max(1, lines)
        self._temperature = temperature
        self._on_analysis = on_analysis
        self._threads = min(limits.threads, MAX_THREADS)
        self._planes_shape = (
            self._native.max_rows,
            plane_count(search._layout),
            search.ruleset.height,
            search.ruleset.width,
        )
        allowed_ms = move_time_ms(limits)
        time_ms = None if allowed_ms is None else max(0, allowed_ms - RESERVE_MS)
        self._deadline = float("inf") if time_ms is None else self._started + time_ms / 1000
        self._next_report = (_FIRST_REPORT, self._started + _REPORT_SECONDS)
        self._error: BaseException | None = None
        points = [point.index(self._width) for point in excluded if search.ruleset.contains(point)]
        simulations = _simulations(limits, search.config, time_ms)
        native_time = -1 if time_ms is None else time_ms
        self._native.begin(position.native, simulations, native_time, points, self._threads, seed & WORD)
        # A stop that came before the beginning counts as well.
        if search._stop_requested.is_set():
            self._native.end()

    def result(self) -> Analysis:
        helpers = [
            threading.Thread(target=self._work, args=(worker,), name="puct", daemon=True)
            for worker in range(1, self._threads)
        ]
        for helper in helpers:
            helper.start()
        self._work(0)
        for helper in helpers:
            helper.join()
        if self._error is not None:
            raise self._error
        return self._analysis(self._temperature)

    def _work(self, worker: int) -> None:
        """Gather leaves, ask the network, bring the answers back, until the search is over."""
        planes = np.zeros(self._planes_shape, dtype=np.float32)
        try:
            while not self._native.is_over:
                begun = time.perf_counter()
                rows = self._native.collect(worker, planes)
                if not rows:
                    break
                log_policy, value = self._evaluator.evaluate(planes[:rows])
                check_answers(log_policy, value)
                self._native.supply(worker, log_policy, value)
                # The next batch will take about as long.
                now = time.perf_counter()
                if 2 * now - begun >= self._deadline:
                    self._native.end()
                if worker == 0 and self._on_analysis is not None:
                    self._report(now, self._on_analysis)
        except BaseException as error:
            self._native.abandon(worker)
            self._error = self._error or error
            self._native.end()

    def _report(self, now: float, on_analysis: Callable[[Analysis], None]) -> None:
        """Report when the simulations have doubled, and at the latest every quarter of a second."""
        simulations, moment = self._next_report
        if now < moment and self._native.simulations < simulations:
            return
        analysis = self._analysis(0.0)
        while simulations <= analysis.nodes:
            simulations *= 2
        self._next_report = (simulations, now + _REPORT_SECONDS)
        on_analysis(analysis)

    def _analysis(self, temperature: float) -> Analysis:
        report = self._native.report(self._lines, temperature)
        shown = [self._line(move) for move in report.moves[: self._lines]]
        # What is said of the first line holds for the position.
        shown[0] = replace(shown[0], proof=proof_from_native(report.proof, report.proof_plies))
        policy = {Point.from_index(i, self._width): share for i, share in enumerate(report.policy) if share > 0}
        return Analysis(
            lines=tuple(shown),
            nodes=report.simulations,
            elapsed_ms=1000 * (time.perf_counter() - self._started),
            policy=policy,
        )

    def _line(self, move: _native.PuctMove) -> AnalysisLine:
        return AnalysisLine(
            move=Point.from_index(move.move, self._width),
            value_to_move=move.value_to_move,
            line=tuple(Point.from_index(point, self._width) for point in move.line),
            proof=proof_from_native(move.proof, move.proof_plies),
            depth=len(move.line),
            visits=move.visits,
            prior=move.prior,
        )


def _simulations(limits: Limits, config: PuctConfig, time_ms: int | None) -> int:
    bounds = [max(1, bound) for bound in (limits.simulations, limits.nodes) if bound is not None]
    if not bounds and time_ms is None:
        bounds.append(config.simulations)
    if config.gumbel:
        # Sequential halving has to know beforehand how many there are, which a clock does not tell.
        bounds.append(_MOST_PLANNED if time_ms is None else config.simulations)
    return min(bounds, default=_UNLIMITED)
