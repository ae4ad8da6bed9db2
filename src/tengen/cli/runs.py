"""`tengen runs`: list training runs with their progress and strength."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer


def register(app: typer.Typer) -> None:
    """Add the subcommand."""
    app.command("runs")(runs)


def runs(
    folder: Annotated[Path, typer.Argument(help="A run, or a folder of runs.")] = Path("runs"),
    plots: Annotated[bool, typer.Option("--plots", help="Save plots of each run in its folder.")] = False,
) -> None:
    """List training runs with their progress and strength."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from tengen.errors import InputError, RunError
    from tengen.learning.plots import draw_run
    from tengen.learning.run import find_runs

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
    scores: list[str] = []
    for run in found:
        state = "running" if run.is_running() else "stopped"
        try:
            metrics = run.metrics()
        except RunError as problem:
            problems.append(str(problem))
            metrics, state = [], "damaged"
        name = str(run.folder.relative_to(folder)) if run.folder != folder else run.folder.name
        kind = f"{run.header.algorithm} {run.header.preset}".rstrip()
        table.add_row(Text.assemble((name, "bold"), "\n", kind), state, *_numbers(metrics))
        if hardest := _hardest(metrics):
            scores.append(f"{name}: {hardest}")
        if plots:
            for picture in draw_run(metrics, run.folder, run.folder.name):
                console.print(f"wrote {picture}", soft_wrap=True)
    console.print(table)
    for line in scores:
        console.print(line, markup=False)
    if problems:
        raise RunError("; ".join(problems))


def _numbers(metrics: list[dict[str, Any]]) -> tuple[str, ...]:
    if not metrics:
        return "0", "", "", ""
    last = metrics[-1]
    strength = _strength(metrics)
    elo = "" if strength is None else f"{strength['elo']:+.0f} ±{strength['error']:.0f}"
    return str(last["iteration"]), f"{last['seconds'] / 60:.1f}", f"{last.get('games', '')}", elo


def _hardest(metrics: list[dict[str, Any]]) -> str:
    """Return the scores against the two strongest opponents; empty if strength has not been measured."""
    strength = _strength(metrics)
    pairs = [] if strength is None else list(strength["scores"].items())[-2:]
    return ", ".join(f"{100 * score:.0f} % against {opponent}" for opponent, score in pairs)


def _strength(metrics: list[dict[str, Any]]) -> Any:
    """Return the latest strength measurement; None if there is none."""
    return next((line["strength"] for line in reversed(metrics) if "strength" in line), None)
