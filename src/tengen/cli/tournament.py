"""`tengen tournament FILE`: all games of a tournament file, and a report of them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tengen.cli.place_option import OnOption, warn


def register(app: typer.Typer) -> None:
    """Add the subcommand."""
    app.command("tournament")(tournament)


def tournament(
    file: Annotated[Path, typer.Argument(help="The description (TOML, see docs/arena.md).", show_default=False)],
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the games that were played before.")] = False,
    concurrency: Annotated[int | None, typer.Option(min=1, help="Games at the same time; as the file says.")] = None,
    on: OnOption = "local",
    report: Annotated[Path | None, typer.Option(help="A folder for report, pictures and game files.")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="Show nothing while it runs.")] = False,
) -> None:
    """Play a tournament and report its results.

    Each game is kept as it ends. After a stop of any kind, --resume plays the games that are missing.
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
    from tengen.cli.interruptible import heeding_interrupts
    from tengen.cluster.pool import open_pools
    from tengen.errors import InputError

    described, run = load(file)
    with GameStore(run.database) as store:
        if len(store) and not resume:
            raise InputError(
                f"{run.database} holds {len(store)} games: say --resume to go on, or remove it to begin again"
            )
        try:
            with (
                open_pools(on, workers=concurrency or 0, warn=warn) as make_pool,
                LiveView(is_quiet=quiet) as view,
                heeding_interrupts() as heed,
            ):

                def watch(progress: Progress) -> None:
                    view.update(progress)
                    heed()

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
            typer.echo(f"stopped with {len(store)} games in {run.database}; --resume goes on", err=True)
            raise typer.Exit(130) from None
        standings = collect([store])
        if len(described.players) == 2:
            for line in match_lines(progress):
                typer.echo(line)
        print_tables(standings, Console())
        folder = report or run.report
        if folder is not None:
            write_report(standings, folder)
            save_games(store, folder / "games", described.name)
            typer.echo(f"report in {folder}")
