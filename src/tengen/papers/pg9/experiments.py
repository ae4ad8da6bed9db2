"""The experiments in "Using DRL to train a Gomoku agent" (pg9), each from its preset, next to the paper's results.

    python -m tengen.papers.pg9

trains them sequentially, plays 1,000 games with each network as black against its experiment's opponent, and writes a
table, the running-reward curves and, for experiment A, the share of illegal moves. Stopped runs are resumed;
`--share 0.1` runs a tenth of each experiment; `--report` only reports on existing runs.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from tengen.arena.pictures import new_figure, save_figure
from tengen.core.contracts import Evaluator, Ruleset
from tengen.core.files import write_text
from tengen.core.game_batch import NO_POLICY, POLICIES, GameBatch
from tengen.errors import TengenError
from tengen.learning.algorithms import policy_gradient
from tengen.learning.config import load_config
from tengen.learning.run.folder import Run, new_header
from tengen.learning.run.progress import Progress
from tengen.learning.run.reading import CONFIG_FILE, Metrics, RunReader
from tengen.nets.models import load_evaluator

_OUT = Path("papers/pg9/results")


@dataclass(frozen=True)
class Experiment:
    """An experiment from the paper."""

    preset: str
    opponent: str
    """Opponent in the 1,000 games."""
    paper: str
    """Result that the paper reports."""
    after: str = ""
    """Experiment whose network this one starts from."""


EXPERIMENTS = (
    Experiment("pg9-valid-moves", "random", "A: did not learn legal moves in a night"),
    Experiment("pg9-random", "random", "B: easy to beat"),
    Experiment("pg9-level-0", "naive:level=0", "C: running reward 5.0 after 18,000 games"),
    Experiment("pg9-level-2", "naive:level=2", "C: running reward 4.0, 5.0 never quite reached"),
    Experiment("pg9-level-3", "naive:level=3", "C: no progress in 250,000 games"),
    Experiment("pg9", "naive:level=0", "D: after 1,000,000 games of self-play beats level 0, not level 1"),
    Experiment("pg9-self-play-level-3", "naive:level=3", "D: beats level 3 after 80,000 games, 72.5 %", after="pg9"),
)


def reproduce(names: Sequence[str], folder: Path, share: float, console: Console) -> list[dict[str, Any]]:
    """Train the missing runs in `folder`/runs, write the table and plots, and return the rows of the table.

    With a share of 0, nothing is trained and experiments without a run are left out.
    """
    rows: list[dict[str, Any]] = []
    curves: dict[str, Metrics] = {}
    for experiment in EXPERIMENTS:
        target = folder / "runs" / experiment.preset
        if experiment.preset not in names or not (share or (target / CONFIG_FILE).exists()):
            continue
        run = _train(experiment, target, share, console) if share else RunReader.open(target)
        curves[experiment.preset] = metrics = run.metrics()
        ruleset = Ruleset.parse(run.config_table["ruleset"])
        won, drawn, lost = play_as_black(load_evaluator(run.folder), ruleset, experiment.opponent, games=1000, seed=1)
        reached = next((line["games"] for line in metrics if line["running_reward"] >= 5.0), None)
        rows.append(
            {
                "preset": experiment.preset,
                "paper": experiment.paper,
                "games": metrics[-1]["games"],
                "cpu_minutes": round(metrics[-1]["cpu_seconds"] / 60, 1),
                "running_reward": metrics[-1]["running_reward"],
                "running_reward_5_after": reached,
                "opponent": experiment.opponent,
                "as_black": [won, drawn, lost],
            }
        )
        _write(rows, curves, folder)
    return rows


def play_as_black(
    evaluator: Evaluator, ruleset: Ruleset, opponent: str, *, games: int, seed: int
) -> tuple[int, int, int]:
    """Play games from the empty board with the network's best legal moves; return wins, draws and losses."""
    batch = GameBatch(ruleset, games, evaluator.plane_layout)
    batch.begin(seed)
    while len(unfinished := np.flatnonzero(~batch.is_over)):
        actions = np.full(games, -1, np.int64)
        own = unfinished[batch.plies[unfinished] % 2 == 0]
        if len(own):
            planes, legal = batch.look(own, np.zeros(len(own), np.int8))
            actions[own] = np.where(legal, evaluator.evaluate(planes)[0], -np.inf).argmax(axis=1)
        policies = np.full(games, NO_POLICY, np.int8)
        policies[unfinished[batch.plies[unfinished] % 2 == 1]] = POLICIES[opponent].value
        batch.choose(policies, actions)
        batch.play(actions)
    results = batch.black_results
    return int((results > 0).sum()), int((results == 0).sum()), int((results < 0).sum())


def _train(experiment: Experiment, target: Path, share: float, console: Console) -> Run:
    if (target / CONFIG_FILE).exists():
        run = Run.open(target)
    else:
        whole = load_config(policy_gradient.Config, "pg", experiment.preset)
        settings = [f"iterations={max(1, round(share * whole.iterations))}"]
        if experiment.after:
            settings.append(f'init_from="{target.with_name(experiment.after)}"')
        config = load_config(policy_gradient.Config, "pg", experiment.preset, settings)
        run = Run.create(target, new_header("pg", experiment.preset, seed=1), config)
    with Progress(console, experiment.preset) as progress:
        policy_gradient.train(run, progress)
    return run


def _write(rows: Sequence[Mapping[str, Any]], curves: Mapping[str, Metrics], folder: Path) -> None:
    write_text(folder / "pg9.json", json.dumps(rows, indent=1) + "\n")
    write_text(folder / "table.md", format_table(rows))
    _draw(curves, lambda line: line["running_reward"], "running reward", folder / "running-reward")
    if "pg9-valid-moves" in curves:
        only = {"pg9-valid-moves": curves["pg9-valid-moves"]}
        _draw(only, lambda line: 100 * line["play"]["illegal"], "illegal moves, %", folder / "valid-moves")


def format_table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Format the results as a Markdown table."""
    lines = [
        "| preset | the paper | games | CPU minutes | running reward | 5.0 after | black against | won, drawn, lost |",
        "|---|---|--:|--:|--:|--:|---|---|",
    ]
    for row in rows:
        reached = row["running_reward_5_after"]
        won, drawn, lost = row["as_black"]
        cells = (
            f"`{row['preset']}`",
            row["paper"],
            f"{row['games']:,}",
            row["cpu_minutes"],
            f"{row['running_reward']:+.2f}",
            f"{reached:,}" if reached else "never",
            f"`{row['opponent']}`",
            f"+{won} ={drawn} −{lost}",
        )
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    return "\n".join(lines) + "\n"


def _draw(curves: Mapping[str, Metrics], height: Any, label: str, path: Path) -> None:
    figure = new_figure(7, 4)
    axes = figure.subplots()
    for name, metrics in curves.items():
        axes.plot([line["games"] for line in metrics], [height(line) for line in metrics], label=name, linewidth=1)
    axes.set_xlabel("games")
    axes.set_ylabel(label)
    axes.legend(fontsize="small", frameon=False)
    axes.grid(alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
    save_figure(figure, path)


def main(arguments: Sequence[str] | None = None) -> int:
    """Command-line entry point."""
    names = [experiment.preset for experiment in EXPERIMENTS]
    parser = argparse.ArgumentParser(prog="python -m tengen.papers.pg9", description="Run the pg9 experiments.")
    parser.add_argument("--only", nargs="+", choices=names, default=names, help="experiments to run (default: all)")
    parser.add_argument("--share", type=float, default=1.0, help="fraction of each experiment to run (default: 1)")
    parser.add_argument(
        "--out", type=Path, default=Path("papers/pg9/results"), help="output folder (default: papers/pg9/results)"
    )
    parser.add_argument("--report", action="store_true", help="report on the existing runs without training")
    chosen = parser.parse_args(arguments)
    try:
        rows = reproduce(chosen.only, chosen.out, 0.0 if chosen.report else chosen.share, Console(highlight=False))
    except TengenError as error:
        print(f"pg9: {error}", file=sys.stderr)
        return 2
    print(format_table(rows), end="")
    return 0
