"""`tengen runs`: list training runs with their state, progress and strength."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tengen.cli.command import Group, command

if TYPE_CHECKING:
    from tengen.learning.run.reading import Metrics, StrengthPoint


_SHOWN_NODES = 4
_EXAMPLES = """
    tengen runs                       # all runs in the folder runs
    tengen runs runs/alphazero-6x6x4  # one run
    tengen runs --plots               # draw their curves
"""


def register(app: typer.Typer) -> None:
    """Add the subcommand."""
    command(app, "runs", group=Group.TRAIN, examples=_EXAMPLES)(runs)


def runs(
    folder: Annotated[Path, typer.Argument(help="A run, or a folder that contains runs.")] = Path("runs"),
    plots: Annotated[bool, typer.Option("--plots", help="Write plots of each run to its folder.")] = False,
) -> None:
    """List training runs with their progress and strength."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from tengen.errors import InputError, RunError, TengenError
    from tengen.learning.run.plots import draw_run
    from tengen.learning.run.reading import LeftOut, RunReader, find_run_folders, strength_curve

    console = Console(highlight=False)
    found = find_run_folders(folder)
    if not found:
        raise InputError(
            f"no training run found in {folder}; start one with `tengen train`, or pass the folder of an existing run"
        )
    table = Table()
    table.add_column("run", overflow="fold")
    table.add_column("state", no_wrap=True)
    for column in ("iteration", "minutes", "games", "Elo"):
        table.add_column(column, justify="right", no_wrap=True)
    problems: list[str] = []
    below: list[str] = []
    for path in found:
        name = str(path.relative_to(folder)) if path != folder else path.name
        left_out = LeftOut()
        try:
            run = RunReader.open(path)
            metrics = list(run.readable_metrics(left_out))
        except TengenError as problem:
            problems.append(str(problem))
            table.add_row(Text(name, "bold"), "damaged", "", "", "", "")
            continue
        if str(left_out):
            problems.append(f"{path}: {left_out}")
        curve = strength_curve(metrics)
        kind = f"{run.header.algorithm} {run.header.preset}".rstrip()
        table.add_row(Text.assemble((name, "bold"), "\n", kind), str(run.state()), *_numbers(metrics, curve))
        below += [f"{name}: {line}" for line in (_hardest(curve), _cluster(metrics)) if line]
        if plots:
            for picture in draw_run(metrics, path, path.name):
                console.print(f"wrote {picture}", soft_wrap=True)
    console.print(table)
    for line in below:
        console.print(line, markup=False)
    if problems:
        raise RunError("; ".join(problems))


def _numbers(metrics: Metrics, curve: list[StrengthPoint]) -> tuple[str, ...]:
    from tengen.learning.run.reading import is_number

    if not metrics:
        return "0", "", "", ""
    last = metrics[-1]
    elo = f"{curve[-1].elo:+.0f} ±{curve[-1].error:.0f}" if curve else ""
    minutes = f"{last['seconds'] / 60:.1f}" if is_number(last.get("seconds")) else ""
    return str(last["iteration"]), minutes, f"{last.get('games', '')}", elo


def _hardest(curve: list[StrengthPoint]) -> str:
    """Format the scores against the last two opponents on the ladder; empty if strength was never measured."""
    pairs = list(curve[-1].scores.items())[-2:] if curve else []
    return ", ".join(f"{100 * score:.0f} % against {opponent}" for opponent, score in pairs)


def _cluster(metrics: Metrics) -> str:
    """Format the worker statistics of the last iteration; empty if its games were played in one process."""
    last = metrics[-1] if metrics else {}
    if "cluster" not in last:
        return ""
    cluster = last["cluster"]
    nodes = ", ".join(f"{name} {rate:.1f} games/s" for name, rate in cluster["nodes"][:_SHOWN_NODES])
    rest = len(cluster["nodes"]) - _SHOWN_NODES
    more = f" and {rest} more nodes" if rest > 0 else ""
    staleness = last["self_play"]["staleness"]
    return f"{cluster['workers']} workers, {nodes}{more}, staleness {staleness:.1f}, {cluster['restarts']} restarts"
