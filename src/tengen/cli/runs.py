"""`tengen runs`: list training runs, compare them, and export their metrics."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tengen.cli.command import Group, add_subgroup, command

if TYPE_CHECKING:
    from tengen.learning.run.reading import Metrics, StrengthPoint


_SHOWN_NODES = 4
_LIST_EXAMPLES = """
    tengen runs                       # all runs in the folder runs
    tengen runs runs/alphazero-6x6x4  # one run
    tengen runs list --plots          # draw their curves
"""
_COMPARE_EXAMPLES = """
    tengen runs compare runs/a runs/b             # settings and results
    tengen runs compare runs/a runs/b --plot both # draws both.png, both.svg
"""
_EXPORT_EXAMPLES = """
    tengen runs export runs/a              # metrics as CSV
    tengen runs export runs/a --csv a.csv  # the same to a file
"""


def register(app: typer.Typer) -> None:
    """Add the subcommands."""
    group = add_subgroup(app, "runs", help="List, compare and export training runs.", group=Group.TRAIN, default="list")
    command(group, "list", examples=_LIST_EXAMPLES)(runs)
    command(group, "compare", examples=_COMPARE_EXAMPLES)(compare)
    command(group, "export", examples=_EXPORT_EXAMPLES)(export)


def runs(
    folder: Annotated[Path, typer.Argument(help="A run, or a folder that contains runs.")] = Path("runs"),
    plots: Annotated[bool, typer.Option("--plots", help="Write plots of each run to its folder.")] = False,
) -> None:
    """List training runs with their state, progress and strength."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from tengen.errors import InputError, RunError, TengenError
    from tengen.learning.run.plots import draw_run
    from tengen.learning.run.reading import LeftOut, RunReader, find_run_folders, strength_curve

    console = Console(highlight=False, markup=False)
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


def compare(
    runs: Annotated[list[Path], typer.Argument(help="Runs to compare.", show_default=False)],
    plot: Annotated[
        Path | None, typer.Option(metavar="NAME", help="Draw the strength of all runs to NAME.png and NAME.svg.")
    ] = None,
) -> None:
    """Compare training runs: the settings in which they differ, and their results."""
    from rich.console import Console
    from rich.table import Table

    from tengen.errors import InputError
    from tengen.learning.run.comparison import compare_runs, draw_comparison
    from tengen.learning.run.reading import RunReader

    if len(runs) < 2:
        raise InputError("a comparison needs at least two runs")
    compared = compare_runs([RunReader.open(folder) for folder in runs])
    table = Table()
    table.add_column("")
    for name in compared.names:
        table.add_column(name, justify="right", overflow="fold")
    for key, values in compared.settings:
        table.add_row(key, *values)
    table.add_section()
    for title, values in compared.results:
        table.add_row(title, *values, style="bold")
    console = Console(highlight=False, markup=False)
    console.print(table, markup=False)
    if plot is not None:
        draw_comparison(compared, plot)
        console.print(f"wrote {plot}.png and {plot}.svg", markup=False, soft_wrap=True)


def export(
    run: Annotated[Path, typer.Argument(help="Folder of the run.", show_default=False)],
    csv: Annotated[
        Path | None, typer.Option(help="CSV file to write (default: standard output).", show_default=False)
    ] = None,
) -> None:
    """Export the metrics of a run as CSV: one row per iteration, one column per metric."""
    import io
    import sys

    from tengen.cli.output import write_text
    from tengen.learning.run.comparison import write_csv
    from tengen.learning.run.reading import RunReader

    text = io.StringIO()
    write_csv(RunReader.open(run).metrics(), text)
    if csv is None:
        sys.stdout.write(text.getvalue())
    else:
        write_text(csv, text.getvalue())


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
    from tengen.learning.run.reading import opponent_label

    pairs = list(curve[-1].scores.items())[-2:] if curve else []
    return ", ".join(f"{100 * score:.0f} % against {opponent_label(opponent)}" for opponent, score in pairs)


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
