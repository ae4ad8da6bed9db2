"""The comparison that "AlphaGomoku" proposed: every algorithm on the same machine for the same time.

    python -m tengen.papers.comparison --minutes 10

trains AlphaZero, PPO, DQN, policy gradient and ADP sequentially, each with its preset for the board, at four in a row
on 6×6 and five in a row on 9×9. All are rated on the same ladder. The program plots rating against minutes with 95 %
intervals and writes the numbers as JSON. A stopped comparison is resumed; runs with different settings are rejected.
With `--on ray`, AlphaZero's games are played on a cluster; the other algorithms always train in this process. The
minutes include the time for strength measurements. On a shared machine, `--clock cpu` counts the CPU time of all
threads instead of wall-clock time.
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
from tengen.cluster.connection import On
from tengen.cluster.training import open_place
from tengen.core.files import write_text
from tengen.errors import InputError, TengenError
from tengen.learning.algorithms import alphazero
from tengen.learning.algorithms.registry import algorithm_names, find_algorithm
from tengen.learning.config import load_config, preset_names
from tengen.learning.run.folder import Run, new_header
from tengen.learning.run.progress import Progress
from tengen.learning.run.reading import CONFIG_FILE, strength_curve

BOARDS = ("6x6x4", "9x9")
"""Every compared algorithm has presets with these names."""
ALGORITHMS = ("alphazero", "ppo", "dqn", "pg", "adp")
_OUT = Path("papers/comparison/results")
_POINTS = 8
"""Number of strength measurements per run."""
_COLOURS = {"alphazero": "#1f77b4", "ppo": "#d62728", "dqn": "#2ca02c", "pg": "#9467bd", "adp": "#8b5a2b"}

Curve = list[dict[str, Any]]
"""Points {minutes, games, elo, error, scores} of a strength curve."""


@dataclass(frozen=True)
class Plan:
    """Settings for a comparison."""

    minutes: float
    """Training time per algorithm and board."""
    clock: str = "wall"
    """Clock that measures the training time: "wall", or "cpu" for the CPU time of all threads."""
    boards: Sequence[str] = BOARDS
    algorithms: Sequence[str] = ALGORITHMS
    seed: int = 1
    settings: Sequence[str] = ()
    """Settings that override those of all presets, such as strength.games=4."""

    def algorithms_for(self, board: str) -> list[str]:
        """Return the algorithms that have a preset for the board."""
        known = algorithm_names()
        return [name for name in self.algorithms if name in known and board in preset_names(name)]


def compare(plan: Plan, folder: Path, console: Console, on: str = "local") -> dict[str, dict[str, Curve]]:
    """Train the missing runs in `folder`/runs, write curves and plots, and return board → algorithm → curve.

    `on` is where AlphaZero's games are played, as in `--on`.
    """
    curves: dict[str, dict[str, Curve]] = {}
    for board in plan.boards:
        curves[board] = {}
        for algorithm in plan.algorithms_for(board):
            run = _train(plan, board, algorithm, folder / "runs" / f"{board}-{algorithm}", console, on)
            curves[board][algorithm] = _curve(run, plan.clock)
            _write(plan, curves, folder)
    return curves


def _train(plan: Plan, board: str, algorithm: str, folder: Path, console: Console, on: str) -> Run:
    module = find_algorithm(algorithm)
    by_wall, by_cpu = (plan.minutes, 0.0) if plan.clock == "wall" else (0.0, plan.minutes)
    settings = [f"minutes={by_wall}", f"cpu_minutes={by_cpu}", f"strength.points={_POINTS}", *plan.settings]
    config = load_config(module.Config, algorithm, board, settings)
    if (folder / CONFIG_FILE).exists():
        run = Run.open(folder)
        if (run.header.seed, run.config(module.Config)) != (plan.seed, config):
            raise InputError(
                f"{folder} holds a run with different settings or a different seed: choose another folder with --out"
            )
    else:
        run = Run.create(folder, new_header(algorithm, board, plan.seed), config)
    with Progress(console, folder.name) as progress:
        if algorithm == "alphazero":
            with open_place(on, warn=progress.say) as place:
                alphazero.train(run, progress, place)
        else:
            module.train(run, progress)
    return run


def _curve(run: Run, clock: str) -> Curve:
    return [
        {
            "minutes": round((point.seconds if clock == "wall" else point.cpu_seconds) / 60, 3),
            "games": point.games,
            "elo": point.elo,
            "error": point.error,
            "scores": point.scores,
        }
        for point in strength_curve(run.metrics())
    ]


def _write(plan: Plan, curves: Mapping[str, Mapping[str, Curve]], folder: Path) -> None:
    table = {"minutes": plan.minutes, "clock": plan.clock, "seed": plan.seed, "curves": curves}
    write_text(folder / "comparison.json", json.dumps(table, indent=1) + "\n")
    for board, by_algorithm in curves.items():
        clock = "minutes" if plan.clock == "wall" else "CPU minutes"
        draw(by_algorithm, folder / f"comparison-{board}", f"{board}: {plan.minutes:g} {clock} each", clock)


def draw(curves: Mapping[str, Curve], path: Path, title: str, clock: str) -> None:
    """Plot rating against minutes with 95 % intervals, as SVG and PNG."""
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
    """Command-line entry point."""
    parser = argparse.ArgumentParser(
        prog="python -m tengen.papers.comparison",
        description="Train every algorithm for the same time and plot its rating.",
    )
    parser.add_argument("--minutes", type=float, required=True, help="minutes of training per algorithm and board")
    parser.add_argument("--clock", choices=("wall", "cpu"), default="wall", help="clock for --minutes (default: wall)")
    parser.add_argument("--boards", nargs="+", choices=BOARDS, default=BOARDS)
    parser.add_argument("--algorithms", nargs="+", choices=ALGORITHMS, default=ALGORITHMS)
    parser.add_argument(
        "--out",
        type=Path,
        default=Path("papers/comparison/results"),
        help="output folder (default: papers/comparison/results)",
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--on", default="local", metavar="PLACE", help="where AlphaZero plays: local or ray[=ADDRESS] (default: local)"
    )
    parser.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help="override a setting in all presets; repeatable"
    )
    chosen = parser.parse_args(arguments)
    plan = Plan(chosen.minutes, chosen.clock, chosen.boards, chosen.algorithms, chosen.seed, chosen.set)
    try:
        On.parse(chosen.on)
        curves = compare(plan, chosen.out, Console(highlight=False), chosen.on)
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
