"""`tengen runs`: list training runs with their state, progress and strength."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from tengen.learning.run.reading import Metrics, StrengthPoint


_SHOWN_NODES = 4


def register(app: typer.Typer) -> None:
    """Add the subcommand."""
    app.command("runs")(runs)


def runs(
    folder: Annotated[Path, typer.Argument(help="A run, or a folder that contains runs.")] = Path("runs"),
    plots: Annotated[bool, typer.Option("--plots", help="Draw the curves of each run into its folder.")] = False,
) -> None:
    """List training runs with their progress and strength."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from tengen.errors import InputError, RunError
    from tengen.learning.run.plots import draw_run
    from tengen.learning.run.reading import find_runs, strength_curve

    console = Console(highlight=False)
    found = find_runs(folder)
    if not found:
        raise InputError(f"no training run found in {folder}")
    table = Table()
    table.add_column("run", overflow="fold")
    table.add_column("state", no_wrap=True)
    for column in ("iteration", "minutes", "games", "Elo"):
        table.add_column(column, justify="right", no_wrap=True)
    problems: list[str] = []
    below: list[str] = []
    for run in found:
        state = str(run.state())
        try:
            metrics = run.metrics()
        except RunError as problem:
            problems.append(str(problem))
            metrics, state = [], "damaged"
        curve = strength_curve(metrics)
        name = str(run.folder.relative_to(folder)) if run.folder != folder else run.folder.name
        kind = f"{run.header.algorithm} {run.header.preset}".rstrip()
        table.add_row(Text.assemble((name, "bold"), "\n", kind), state, *_numbers(metrics, curve))
        below += [f"{name}: {line}" for line in (_hardest(curve), _cluster(metrics)) if line]
        if plots:
            for picture in draw_run(metrics, run.folder, run.folder.name):
                console.print(f"wrote {picture}", soft_wrap=True)
    console.print(table)
    for line in below:
        console.print(line, markup=False)
    if problems:
        raise RunError("; ".join(problems))


def _numbers(metrics: Metrics, curve: list[StrengthPoint]) -> tuple[str, ...]:
    if not metrics:
        return "0", "", "", ""
    last = metrics[-1]
    elo = f"{curve[-1].elo:+.0f} ±{curve[-1].error:.0f}" if curve else ""
    return str(last["iteration"]), f"{last['seconds'] / 60:.1f}", f"{last.get('games', '')}", elo


def _hardest(curve: list[StrengthPoint]) -> str:
    """Format the scores against the last two opponents of the ladder; empty if strength was never measured."""
    pairs = list(curve[-1].scores.items())[-2:] if curve else []
    return ", ".join(f"{100 * score:.0f} % against {opponent}" for opponent, score in pairs)


def _cluster(metrics: Metrics) -> str:
    """Format what the last iteration says about its workers; empty if it was played in one process."""
    last = metrics[-1] if metrics else {}
    if "cluster" not in last:
        return ""
    cluster = last["cluster"]
    nodes = ", ".join(f"{name} {rate:.1f} games/s" for name, rate in cluster["nodes"][:_SHOWN_NODES])
    rest = len(cluster["nodes"]) - _SHOWN_NODES
    more = f" and {rest} more nodes" if rest > 0 else ""
    staleness = last["self_play"]["staleness"]
    return f"{cluster['workers']} workers, {nodes}{more}, staleness {staleness:.1f}, {cluster['restarts']} restarts"
