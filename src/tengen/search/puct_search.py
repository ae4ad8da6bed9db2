"""PUCT search of one position with a network (docs/how/mcts.md), by one thread or by several that share the tree."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from tengen import _native
from tengen.core.contracts import Analysis, AnalysisLine, Evaluator, Limits, Report, Ruleset
from tengen.core.geometry import Point
from tengen.core.native_enums import proof_from_native
from tengen.core.planes import check_layout, native_layout, plane_count
from tengen.core.position import Position
from tengen.core.stop_signal import StopSignal
from tengen.errors import InputError
from tengen.search.evaluation import check_answers
from tengen.search.limits import MAX_THREADS, RESERVE_MS, move_time_ms
from tengen.search.puct_config import PuctConfig
from tengen.search.seeds import seed_word

__all__ = ["PuctSearch"]

_UNLIMITED = 10**9
# Sequential halving plans every simulation in advance.
_MOST_PLANNED = 10**6
_REPORT_SECONDS = 0.25
_FIRST_REPORT = 32


class PuctSearch:
    """A search tree for positions under one ruleset, guided by one network. It runs one search at a time.

    All threads work on the same tree. Each one collects leaves (`config.leaves` of them once the tree is large enough),
    calls the evaluator and backs up its answers. Several threads may call the evaluator at the same time. With one
    thread and no time limit, the same calls return the same results.

    >>> from tengen.search.evaluation import UniformEvaluator
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

    def search(
        self,
        position: Position,
        limits: Limits,
        *,
        seed: int = 0,
        lines: int = 1,
        excluded: Iterable[Point] = (),
        temperature: float = 0.0,
        stop: StopSignal | None = None,
        on_analysis: Report | None = None,
    ) -> Analysis:
        """Search a position; `on_analysis` receives snapshots. The game must not be over.

        `simulations` and `nodes` both limit the simulations; `depth` is ignored. Without a limit, the configured number
        of simulations applies. Gumbel search must know its number of simulations in advance. It runs at most the
        configured number with a time limit, and at most a million without one. Once the tree has used its memory, it
        stops growing, and further simulations visit existing nodes. The first line is the move to play: the most
        visited one, or one sampled from the visits if `temperature` is above 0. The policy of the analysis is the
        policy target for training; its lines have priors, visits and values.
        """
        if position.is_over:
            raise InputError(f"cannot search: the game is over\n{position}")
        if position.ruleset != self.ruleset:
            raise InputError(f"this search is for {self.ruleset}, not {position.ruleset}")
        return _Run(self, position, limits, seed, lines, excluded, temperature, stop, on_analysis).result()

    def clear(self) -> None:
        """Discard the tree and all cached evaluations; call this when the network has changed."""
        self._native.clear()


class _Run:
    """One call to `PuctSearch.search`."""

    def __init__(
        self,
        search: PuctSearch,
        position: Position,
        limits: Limits,
        seed: int,
        lines: int,
        excluded: Iterable[Point],
        temperature: float,
        stop: StopSignal | None,
        on_analysis: Report | None,
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
        self._native.begin(
            position.native,
            simulations,
            -1 if time_ms is None else time_ms,
            points,
            self._threads,
            seed_word(seed),
            None if stop is None else stop.native,
        )

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
        """Collect leaves, call the network and back up its answers until the search is over."""
        planes = np.zeros(self._planes_shape, dtype=np.float32)
        try:
            while not self._native.is_over:
                started = time.perf_counter()
                rows = self._native.collect(worker, planes)
                if rows:
                    log_policy, value = self._evaluator.evaluate(planes[:rows])
                    check_answers(log_policy, value)
                    self._native.supply(worker, log_policy, value)
                elif not self._native.has_work:
                    break
                # The next batch will take about as long as this one.
                now = time.perf_counter()
                if 2 * now - started >= self._deadline:
                    self._native.end()
                if worker == 0 and self._on_analysis is not None:
                    self._report(now, self._on_analysis)
        except BaseException as error:
            self._native.abandon(worker)
            self._error = self._error or error
            self._native.end()

    def _report(self, now: float, on_analysis: Report) -> None:
        """Report whenever the number of simulations has doubled, and at least every quarter of a second."""
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
        # The first line gets the proof for the position, which takes all moves into account and not only this one.
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
        # Sequential halving needs the number of simulations in advance, which a time limit does not provide.
        bounds.append(_MOST_PLANNED if time_ms is None else config.simulations)
    return min(bounds, default=_UNLIMITED)
