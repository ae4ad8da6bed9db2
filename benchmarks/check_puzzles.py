"""Count the puzzles in a collection that the threat solvers solve, each within a time limit on one core.

    python -m benchmarks.check_puzzles FILE.jsonl --kind VCT --seconds 10 [--solver VCT] [--first 0] [--workers 2]

A puzzle counts as solved when a win is proved and, if the file lists all winning moves, the first move is one of them.
"""

from __future__ import annotations

import argparse
import json
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

from tengen.core.contracts import Limits, Ruleset
from tengen.core.position import Position
from tengen.search.threats import Verdict, solve_threats


def solve(puzzle: dict[str, Any], solver: str, seconds: float) -> tuple[str, float]:
    """Return the result for a puzzle and the seconds it took."""
    size, rule = puzzle["board_size"], puzzle["rule"]
    position = Position.from_stones(
        Ruleset.parse(f"{size}x{size}:5:{rule}"),
        black=puzzle["black"],
        white=puzzle["white"],
        to_move=puzzle["to_move"],
    )
    began = time.monotonic()
    result = solve_threats(position, solver.lower(), Limits(time_ms=round(1000 * seconds)))
    took = time.monotonic() - began
    if result.verdict is not Verdict.WIN:
        return "unsolved", took
    listed = result.line[0] in puzzle["win_moves"]
    return "solved" if listed or not puzzle["win_moves_complete"] else "another move", took


def main() -> None:
    """Solve the puzzles of a file and print how many were solved."""
    parser = argparse.ArgumentParser(description="Count the puzzles that the threat solvers solve.")
    parser.add_argument("file", type=Path)
    parser.add_argument("--kind", choices=("VCF", "VCT"), default="VCT")
    parser.add_argument("--solver", choices=("VCF", "VCT"), help="solver to use (default: the value of --kind)")
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--first", type=int, default=0, help="number of puzzles to skip")
    parser.add_argument("--workers", type=int, default=1)
    arguments = parser.parse_args()
    with open(arguments.file, encoding="utf-8") as file:
        puzzles = [puzzle for line in file if (puzzle := json.loads(line))["type"] == arguments.kind]
    puzzles = puzzles[arguments.first :]
    counts = {"solved": 0, "another move": 0, "unsolved": 0}
    slowest = 0.0
    with ProcessPoolExecutor(arguments.workers) as pool:
        solvers = [arguments.solver or arguments.kind] * len(puzzles)
        limits = [arguments.seconds] * len(puzzles)
        for outcome, took in pool.map(solve, puzzles, solvers, limits, chunksize=4):
            counts[outcome] += 1
            slowest = max(slowest, took) if outcome == "solved" else slowest
    print(f"{len(puzzles)} puzzles: " + ", ".join(f"{count} {name}" for name, count in counts.items()))
    print(f"slowest solved {slowest:.2f} s")


if __name__ == "__main__":
    main()
