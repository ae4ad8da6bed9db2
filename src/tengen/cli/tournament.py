"""`tengen tournament FILE`: play the games of a tournament file and report the results."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tengen.cli.command import Group, command
from tengen.cli.options import OnOption, warn

_EXAMPLES = """
    tengen tournament data/demo.toml --concurrency 2
    tengen tournament mine.toml --resume         # play the missing games
    tengen tournament mine.toml --report report  # tables, plots and games
"""


def register(app: typer.Typer) -> None:
    """Add the subcommand."""
    command(app, "tournament", group=Group.RATE, examples=_EXAMPLES)(tournament)


def tournament(
    file: Annotated[Path, typer.Argument(help="Tournament file (TOML; docs/reference/arena.md).", show_default=False)],
    resume: Annotated[
        bool, typer.Option("--resume", help="Continue after the games that have already been played.")
    ] = False,
    concurrency: Annotated[
        int | None,
        typer.Option(
            min=1, help="Number of games to play in parallel (default: as in FILE; with --on ray, all free CPUs)."
        ),
    ] = None,
    on: OnOption = "local",
    report: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Folder for the report, plots and game files (default: as in FILE)."),
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="Do not show progress.")] = False,
) -> None:
    """Play a round-robin, gauntlet or Swiss tournament and report the results.

    Each game is stored when it ends. After an interruption or a crash, --resume plays the remaining games.
    """
    from rich.console import Console

    from tengen.arena.export import save_games
    from tengen.arena.live import LiveView
    from tengen.arena.match_report import match_lines
    from tengen.arena.render import print_tables, write_report
    from tengen.arena.standings import collect
    from tengen.arena.store import GameStore
    from tengen.arena.tournament import Progress, play
    from tengen.arena.tournament_file import load
    from tengen.cli.faults import report_faults
    from tengen.cli.interruptible import deferred_interrupts
    from tengen.cluster.pool import open_pools
    from tengen.errors import InputError

    described, run = load(file)
    with GameStore(run.database, max_mb=run.disk_mb) as store:
        if len(store) and not resume:
            raise InputError(
                f"{run.database} contains {len(store)} games: pass --resume to continue, or delete the file to restart"
            )
        try:
            with (
                open_pools(on, workers=concurrency or 0, warn=warn) as make_pool,
                LiveView(is_quiet=quiet) as view,
                deferred_interrupts() as raise_if_interrupted,
            ):

                def watch(progress: Progress) -> None:
                    view.update(progress)
                    raise_if_interrupted()

                progress = play(
                    described,
                    store,
                    concurrency=concurrency or run.concurrency,
                    pins_cores=run.affinity,
                    make_pool=make_pool,
                    on_result=watch,
                    on_idle=watch,
                )
        except KeyboardInterrupt:
            typer.echo(f"stopped with {len(store)} games in {run.database}; pass --resume to continue", err=True)
            raise typer.Exit(130) from None
        standings = collect([store])
        if len(described.players) == 2:
            for line in match_lines(progress):
                typer.echo(line)
        print_tables(standings, Console(markup=False))
        folder = report or run.report
        if folder is not None:
            if missing := write_report(standings, folder):
                typer.echo(f"warning: {missing}", err=True)
            save_games(store, folder / "games", described.name)
            typer.echo(f"wrote the report to {folder}")
        report_faults(store)
