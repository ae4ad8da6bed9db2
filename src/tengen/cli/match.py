"""`tengen match A B`: a match of two agents, with its Elo or a sequential test."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from tengen.cli.place_option import OnOption, warn


class Proofs(StrEnum):
    """Whose claims of a proved result end a game."""

    NONE = "none"
    ONE = "one"
    BOTH = "both"


class Model(StrEnum):
    """The Elo in which a sequential test is stated."""

    LOGISTIC = "logistic"
    NORMALISED = "normalised"


def register(app: typer.Typer) -> None:
    """Add the subcommand."""
    app.command("match")(match)


def match(
    a: Annotated[str, typer.Argument(metavar="A", help="The player whose results are counted.", show_default=False)],
    b: Annotated[str, typer.Argument(metavar="B", help="Its opponent (see `tengen agents`).", show_default=False)],
    rules: Annotated[str, typer.Option(help="What is played.")] = "15x15:5:freestyle",
    games: Annotated[int, typer.Option(min=1, help="Games; each opening is played with both colours.")] = 40,
    time_ms: Annotated[int | None, typer.Option(min=1, help="Milliseconds a move.")] = None,
    match_ms: Annotated[int | None, typer.Option(min=1, help="Milliseconds a player has for the whole game.")] = None,
    increment_ms: Annotated[int, typer.Option(min=0, help="Milliseconds the clock gains with each move.")] = 0,
    nodes: Annotated[int | None, typer.Option(min=1, help="Positions a tree search may visit a move.")] = None,
    depth: Annotated[int | None, typer.Option(min=1, help="Plies of iterative deepening.")] = None,
    simulations: Annotated[int | None, typer.Option(min=1, help="Simulations of a Monte Carlo search a move.")] = None,
    threads: Annotated[int, typer.Option(min=1, help="Threads a search may use.")] = 1,
    openings: Annotated[Path | None, typer.Option(help="A file of openings; random ones unless given.")] = None,
    shuffle: Annotated[bool, typer.Option("--shuffle", help="Mix the order of the openings by the seed.")] = False,
    transform: Annotated[bool, typer.Option("--transform", help="Turn and mirror the openings.")] = False,
    stones: Annotated[
        int | None, typer.Option(min=0, help="Stones of a random opening; by the size of the board unless told.")
    ] = None,
    sprt: Annotated[str | None, typer.Option(help="Stop when elo0,elo1[,alpha,beta] is decided, such as 0,10.")] = None,
    sprt_model: Annotated[Model, typer.Option(help="The Elo in which --sprt is stated.")] = Model.LOGISTIC,
    proofs: Annotated[Proofs, typer.Option(help="Whose claims of a proved result end a game.")] = Proofs.NONE,
    max_moves: Annotated[int | None, typer.Option(min=1, help="Call it a draw after so many stones.")] = None,
    tolerance_ms: Annotated[int, typer.Option(min=0, help="How much later a move may come without losing.")] = 1000,
    concurrency: Annotated[
        int | None,
        typer.Option(
            min=1, help="Games played at the same time (default: 1, on a cluster its free CPUs).", show_default=False
        ),
    ] = None,
    on: OnOption = "local",
    affinity: Annotated[bool, typer.Option("--affinity", help="Keep each worker on a core of its own.")] = False,
    seed: Annotated[int, typer.Option(help="Decides random openings and random players.")] = 0,
    db: Annotated[Path | None, typer.Option(help="Keep the games in this file, and go on with what it holds.")] = None,
    json_file: Annotated[Path | None, typer.Option("--json", help="Write the result to this file.")] = None,
    save: Annotated[Path | None, typer.Option(help="Write the games as SGF and PSQ into this folder.")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="Print the result only.")] = False,
) -> None:
    """Play a match between two agents and say how much stronger A is.

    Each opening is played twice, with colours exchanged. Without --openings, games begin with a few random stones near
    the centre. Ctrl-C ends it with the result so far.
    """
    import json

    from tengen.arena.entrant import Entrant
    from tengen.arena.export import save_games
    from tengen.arena.live import LiveView
    from tengen.arena.match import Adjudication, ProofTrust, TimeControl
    from tengen.arena.match_report import match_lines, match_report
    from tengen.arena.sprt import EloModel, Sprt
    from tengen.arena.store import GameStore
    from tengen.arena.tournament import OpeningSettings, Progress, Tournament, play
    from tengen.cli.interruptible import heeding_interrupts
    from tengen.cli.output import check_writable, make_folder, write_text
    from tengen.cluster.pool import open_pools
    from tengen.core.contracts import Ruleset

    check_writable(json_file)
    make_folder(save)
    tournament = Tournament(
        name=f"{a} – {b}",
        rules=(Ruleset.parse(rules),),
        players=(Entrant(agent=a), Entrant(agent=b)),
        rounds=(games + 1) // 2,
        games=games,
        seed=seed,
        limits=TimeControl(
            time_ms=time_ms,
            match_ms=match_ms,
            increment_ms=increment_ms,
            nodes=nodes,
            depth=depth,
            simulations=simulations,
            threads=threads,
            tolerance_ms=tolerance_ms,
        ),
        openings=OpeningSettings(file=openings, shuffle=shuffle, transform=transform, stones=stones),
        adjudication=Adjudication(proofs=ProofTrust(proofs.value), max_moves=max_moves),
        sprt=None if sprt is None else Sprt.parse(sprt, EloModel(sprt_model.value)),
    )
    latest: Progress | None = None
    is_stopped = False
    with GameStore(db) as store:
        try:
            with (
                open_pools(on, workers=concurrency or 0, warn=warn) as make_pool,
                LiveView(is_quiet=quiet) as view,
                heeding_interrupts() as heed,
            ):

                def watch(progress: Progress) -> None:
                    nonlocal latest
                    latest = progress
                    view.update(progress)
                    heed()

                latest = play(
                    tournament,
                    store,
                    concurrency=concurrency or 1,
                    pins_cores=affinity,
                    make_pool=make_pool,
                    on_result=watch,
                    on_idle=watch,
                )
        except KeyboardInterrupt:
            is_stopped = True
        if latest is not None and latest.tally.games:
            for line in match_lines(latest):
                typer.echo(line)
            if json_file is not None:
                write_text(json_file, json.dumps(match_report(latest), indent=2, ensure_ascii=False) + "\n")
            if save is not None:
                save_games(store, save, tournament.name)
        if is_stopped:
            where = "" if db is None else f" in {db}; the same command goes on"
            typer.echo(f"stopped with {len(store)} of {games} games{where}", err=True)
            raise typer.Exit(130)
