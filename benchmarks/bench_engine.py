"""Speed of the alpha-beta engine: pattern updates, nodes per second, two threads against one, forced wins."""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Callable
from pathlib import Path

from tengen import _native
from tengen.core.contracts import Limits, Ruleset
from tengen.core.geometry import parse_points
from tengen.core.position import Position
from tengen.search.alphabeta import AlphaBeta, AlphaBetaConfig
from tengen.search.bench import POSITIONS, TABLE_MB
from tengen.search.threats import Verdict, solve_threats
from tengen.search.weights import weights_for

ROUNDS = 5
PAIRS = 300_000
SEARCH_MS = 1000
BENCH_DEPTH = 10
MIDDLE_GAME = "h8g6j10f8h7h9i8g8e8i9"
PUZZLES = Path(__file__).resolve().parent.parent / "tests" / "data" / "forced_wins.jsonl"


def run() -> dict[str, float]:
    """Return all figures. Figures for one thread use processor time, which other programs hardly affect."""
    return {**measure_patterns(), **measure_search(), **measure_threads(), **measure_puzzles()}


def measure_patterns() -> dict[str, float]:
    """Measure make and unmake of a move with all incremental state; target: 1.5 million per second."""
    ruleset = Ruleset(15, 15)
    board = Position.start(ruleset).native
    weights = weights_for(ruleset)
    rates = [PAIRS / cpu_seconds_of(lambda: _native.run_make_unmake(board, weights, 1, PAIRS)) for _ in range(ROUNDS)]
    return {"make_unmake_per_second": max(rates), "make_unmake_per_second_median": statistics.median(rates)}


def measure_search() -> dict[str, float]:
    """Measure nodes per second over the positions of `tengen bench`; target: 500,000."""
    rates = []
    for _ in range(ROUNDS):
        engine = AlphaBeta(AlphaBetaConfig(table_mb=TABLE_MB))
        nodes, seconds = 0, 0.0
        for bench_position in POSITIONS:
            position = bench_position.position()
            engine.new_game(position.ruleset)  # clears the table outside the measured time
            before = time.process_time()
            nodes += engine.search(position, Limits(depth=BENCH_DEPTH)).nodes
            seconds += time.process_time() - before
        rates.append(nodes / seconds)
    return {"nodes_per_second": max(rates), "nodes_per_second_median": statistics.median(rates)}


def measure_threads() -> dict[str, float]:
    """Compare the nodes that two threads and one thread search in the same time; target: 1.7 on two idle cores.

    The second ratio uses processor time, as if each thread always had its own core. It shows how much the threads slow
    each other down, regardless of other load on the machine.
    """
    position = Position.from_moves(Ruleset(15, 15), MIDDLE_GAME)
    rates: dict[int, list[float]] = {1: [], 2: []}
    cpu_rates: dict[int, list[float]] = {1: [], 2: []}
    for _ in range(ROUNDS):  # in turn, so that load on the machine affects both
        for threads in (1, 2):
            engine = AlphaBeta(AlphaBetaConfig(table_mb=64))
            before = time.process_time()
            analysis = engine.search(position, Limits(time_ms=SEARCH_MS, threads=threads))
            cpu_rates[threads].append(analysis.nodes / (time.process_time() - before))
            rates[threads].append(analysis.nodes_per_second)
    return {
        "two_threads_nodes_per_second": max(rates[2]),
        "two_threads_to_one_ratio": statistics.median(b / a for a, b in zip(rates[1], rates[2], strict=True)),
        "two_threads_to_one_by_processor_time_ratio": statistics.median(
            2 * b / a for a, b in zip(cpu_rates[1], cpu_rates[2], strict=True)
        ),
    }


def measure_puzzles() -> dict[str, float]:
    """Count the forced wins that the solver finds in puzzles from the engine's games, and measure the total time."""
    figures: dict[str, float] = {}
    puzzles = [json.loads(line) for line in PUZZLES.read_text(encoding="utf-8").splitlines()]
    for kind in ("vcf", "vct"):
        chosen = [puzzle for puzzle in puzzles if puzzle["kind"] == kind]
        results = [solve_threats(position_of(puzzle), kind, Limits(time_ms=2000)) for puzzle in chosen]
        figures[f"{kind}_puzzles"] = len(chosen)
        figures[f"{kind}_puzzles_solved"] = sum(result.verdict is Verdict.WIN for result in results)
        figures[f"{kind}_puzzles_ms"] = sum(result.elapsed_ms for result in results)
    return figures


def position_of(puzzle: dict[str, str]) -> Position:
    """Return the position of a puzzle."""
    return Position.from_stones(
        Ruleset.parse(puzzle["ruleset"]),
        black=parse_points(puzzle["black"]),
        white=parse_points(puzzle["white"]),
        to_move=puzzle["to_move"],
    )


def cpu_seconds_of(work: Callable[[], object]) -> float:
    """Return the processor time of a function call."""
    started = time.process_time()
    work()
    return time.process_time() - started
