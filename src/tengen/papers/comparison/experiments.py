"""The comparison that "AlphaGomoku" asked for: every learner on the same machine with the same time.

    python -m tengen.papers.comparison --minutes 10

trains AlphaZero, PPO, DQN, policy gradient and ADP by their presets for the board, each for so many minutes by the
clock, one after the other, on four in a row on 6×6 and five in a row on 9×9. All are rated on the same ladder.
It draws rating against minutes with 95 % intervals and writes the numbers as JSON. A comparison that was stopped goes
on where it was; runs of another plan are refused. Time for measuring strength is part of the minutes, for all alike. On
a machine that has other work as well, `--clock cpu` counts the CPU time of all threads together instead.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console

from tengen.arena.pictures import new_figure, save_figure
from tengen.errors import InputError, TengenError
from tengen.learning.algorithms.registry import algorithm_names, find_algorithm
from tengen.learning.config import load_config, preset_names
from tengen.learning.progress import Progress
from tengen.learning.run import CONFIG_FILE, Run, new_header

BOARDS = ("6x6x4", "9x9")
"""Presets of these names exist for every learner that is compared."""
ALGORITHMS = ("alphazero", "ppo", "dqn", "pg", "adp")
_POINTS = 8
"""Measurements of a curve."""
_COLOURS = {"alphazero": "#1f77b4", "ppo": "#d62728", "dqn": "#2ca02c", "pg": "#9467bd", "adp": "#8b5a2b"}

Curve = list[dict[str, Any]]
"""Points {minutes, games, elo, error, scores} of a strength curve."""


@dataclass(frozen=True)
class Plan:
    """What is compared."""

    minutes: float
    """Of each learner on each board."""
    clock: str = "wall"
    """What measures them: "wall", or "cpu" for the CPU time of all threads together."""
    boards: Sequence[str] = BOARDS
    algorithms: Sequence[str] = ALGORITHMS
    seed: int = 1
    settings: Sequence[str] = ()
    """Changes of all presets, such as strength.games=4."""

    def learners(self, board: str) -> list[str]:
        """The algorithms that have a preset for the board."""
        known = algorithm_names()
        return [name for name in self.algorithms if name in known and board in preset_names(name)]


def compare(plan: Plan, folder: Path, console: Console) -> dict[str, dict[str, Curve]]:
    """Train what is not trained yet, into `folder`/runs, and write curves and pictures; returns board → curves."""
    curves: dict[str, dict[str, Curve]] = {}
    for board in plan.boards:
        curves[board] = {}
        for algorithm in plan.learners(board):
            run = _train(plan, board, algorithm, folder / "runs" / f"{board}-{algorithm}", console)
            curves[board][algorithm] = _curve(run, "seconds" if plan.clock == "wall" else "cpu_seconds")
            _write(plan, curves, folder)
    return curves


def _train(plan: Plan, board: str, algorithm: str, folder: Path, console: Console) -> Run:
    module = find_algorithm(algorithm)
    by_wall, by_cpu = (plan.minutes, 0.0) if plan.clock == "wall" else (0.0, plan.minutes)
    settings = [f"minutes={by_wall}", f"cpu_minutes={by_cpu}", f"strength.points={_POINTS}", *plan.settings]
    config = load_config(module.Config, algorithm, board, settings)
    if (folder / CONFIG_FILE).exists():
        run = Run.open(folder)
        if (run.header.seed, run.config(module.Config)) != (plan.seed, config):
            raise InputError(f"{folder} is a run with other settings or another seed: name another folder by --out")
    else:
        run = Run.create(folder, new_header(algorithm, board, plan.seed), config)
    with Progress(console, folder.name) as progress:
        module.train(run, progress)
    return run


def _curve(run: Run, seconds: str) -> Curve:
    return [
        {"minutes": round(line[seconds] / 60, 3), "games": line["games"], **line["strength"]}
        for line in run.metrics()
        if "strength" in line
    ]


def _write(plan: Plan, curves: Mapping[str, Mapping[str, Curve]], folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    table = {"minutes": plan.minutes, "clock": plan.clock, "seed": plan.seed, "curves": curves}
    (folder / "comparison.json").write_text(json.dumps(table, indent=1) + "\n", encoding="utf-8")
    for board, by_algorithm in curves.items():
        clock = "minutes" if plan.clock == "wall" else "CPU minutes"
        draw(by_algorithm, folder / f"comparison-{board}", f"{board}: {plan.minutes:g} {clock} each", clock)


def draw(curves: Mapping[str, Curve], path: Path, title: str, clock: str) -> None:
    """Rating against minutes with 95 % intervals, as SVG and PNG."""
    figure = new_figure(7, 4.5)
    axes = figure.subplots()
    for algorithm, points in curves.items():
        axes.errorbar(
            [point["minutes"] for point in points],
            [point["elo"] for point in points],
            yerr=[point["error"] for point in points],
            fmt="o-",
            color=_COLOURS.get(algorithm),
            label=algorithm,
            capsize=2,
            markersize=3,
            linewidth=1.2,
            elinewidth=0.6,
        )
    axes.set_xlabel(f"{clock} of training")
    axes.set_ylabel("Elo above the anchor, 95 % interval")
    axes.set_title(title, loc="left", fontsize="medium")
    axes.legend(fontsize="small", frameon=False)
    axes.grid(alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
    save_figure(figure, path)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python -m tengen.papers.comparison", description="Every learner with the same time, rated over minutes."
    )
    parser.add_argument("--minutes", type=float, required=True, help="of each learner on each board")
    parser.add_argument("--clock", choices=("wall", "cpu"), default="wall", help="what measures the minutes")
    parser.add_argument("--boards", nargs="+", choices=BOARDS, default=BOARDS)
    parser.add_argument("--algorithms", nargs="+", choices=ALGORITHMS, default=ALGORITHMS)
    parser.add_argument("--out", type=Path, default=Path("papers/comparison/results"), help="folder of what is written")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="change all presets")
    chosen = parser.parse_args(arguments)
    plan = Plan(chosen.minutes, chosen.clock, chosen.boards, chosen.algorithms, chosen.seed, chosen.set)
    try:
        curves = compare(plan, chosen.out, Console(highlight=False))
    except TengenError as error:
        print(f"comparison: {error}", file=sys.stderr)
        return 2
    for board, by_algorithm in curves.items():
        for algorithm, points in by_algorithm.items():
            last = points[-1]
            print(
                f"{board} {algorithm}: {last['elo']:+.0f} ±{last['error']:.0f} Elo after {last['minutes']:.1f} minutes"
            )
    return 0
