"""`tengen match A B`: a match between two agents, with the Elo difference or a sequential test."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from tengen.cli.command import Group, command
from tengen.cli.options import (
    DEFAULT_RULES,
    DepthOption,
    NodesOption,
    OnOption,
    RulesOption,
    SimulationsOption,
    ThreadsOption,
    warn,
)

_EXAMPLES = """
    tengen match alphabeta naive:level=3 --time-ms 100
    tengen match alphabeta uct --rules renju --games 100 --concurrency 2
    tengen match "brain:cmd=./pbrain-x" alphabeta --nodes 10000 --sprt 0,10
"""


class Proofs(StrEnum):
    """Players that must claim a proved result to end a game early; with `NONE`, no game ends early."""

    NONE = "none"
    ONE = "one"
    BOTH = "both"


class Model(StrEnum):
    """The Elo model of a sequential test."""

    LOGISTIC = "logistic"
    NORMALISED = "normalised"


def register(app: typer.Typer) -> None:
    """Add the subcommand."""
    command(app, "match", group=Group.RATE, examples=_EXAMPLES)(match)


def match(
    a: Annotated[
        str, typer.Argument(metavar="A", help="First agent; the result is from its point of view.", show_default=False)
    ],
    b: Annotated[str, typer.Argument(metavar="B", help="Second agent (see `tengen agents`).", show_default=False)],
    rules: RulesOption = DEFAULT_RULES,
    games: Annotated[int, typer.Option(min=1, help="Number of games; each opening is played with both colours.")] = 40,
    time_ms: Annotated[int | None, typer.Option(min=1, help="Milliseconds per move (default: no limit).")] = None,
    match_ms: Annotated[
        int | None, typer.Option(min=1, help="Milliseconds per player for the whole game (default: no limit).")
    ] = None,
    increment_ms: Annotated[int, typer.Option(min=0, help="Milliseconds added to the clock after each move.")] = 0,
    nodes: NodesOption = None,
    depth: DepthOption = None,
    simulations: SimulationsOption = None,
    threads: ThreadsOption = 1,
    openings: Annotated[Path | None, typer.Option(help="Opening file (default: random openings).")] = None,
    shuffle: Annotated[bool, typer.Option("--shuffle", help="Shuffle the openings, using the seed.")] = False,
    transform: Annotated[bool, typer.Option("--transform", help="Rotate and mirror the openings.")] = False,
    stones: Annotated[
        int | None, typer.Option(min=0, help="Stones in a random opening (default: depends on the board size).")
    ] = None,
    sprt: Annotated[
        str | None,
        typer.Option(
            metavar="BOUNDS",
            help="Stop when an SPRT reaches a verdict. BOUNDS is elo0,elo1[,alpha,beta], for example 0,10.",
        ),
    ] = None,
    sprt_model: Annotated[Model, typer.Option(help="Elo model for --sprt.")] = Model.LOGISTIC,
    proofs: Annotated[
        Proofs, typer.Option(help="Players that must claim a proved result to end a game early (none: never).")
    ] = Proofs.NONE,
    resign: Annotated[
        str | None,
        typer.Option(
            metavar="RULE",
            help="A player resigns after valuing its position at -VALUE or worse for MOVES moves in a row"
            " (VALUE[,MOVES], for example 0.95,4; default: never).",
        ),
    ] = None,
    draw: Annotated[
        str | None,
        typer.Option(
            metavar="RULE",
            help="The game is drawn when each player has valued it within ±VALUE for MOVES of its moves in a row and"
            " there are at least AFTER stones (VALUE[,MOVES[,AFTER]], for example 0.02,10,60; default: never).",
        ),
    ] = None,
    max_moves: Annotated[
        int | None, typer.Option(min=1, help="Adjudicate a draw after this many stones (default: no limit).")
    ] = None,
    tolerance_ms: Annotated[
        int, typer.Option(min=0, help="Milliseconds by which a move may exceed its time limit.")
    ] = 1000,
    concurrency: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Number of games to play in parallel (default: 1; with --on ray, all free CPUs).",
            show_default=False,
        ),
    ] = None,
    on: OnOption = "local",
    affinity: Annotated[bool, typer.Option("--affinity", help="Pin each worker to its own core.")] = False,
    seed: Annotated[int, typer.Option(help="Seed for random openings and players.")] = 0,
    db: Annotated[
        Path | None, typer.Option(help="Store the games in this file; games already in it are not played again.")
    ] = None,
    disk_mb: Annotated[
        int | None, typer.Option(min=1, help="Stop when the --db file reaches this size in MB (default: no limit).")
    ] = None,
    json_file: Annotated[Path | None, typer.Option("--json", help="Also write the result to this JSON file.")] = None,
    save: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Write the games as SGF, PSQ and PGN to this folder.")
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="Print only the result.")] = False,
) -> None:
    """Play a match between two agents and print the Elo difference from A's point of view.

    Each opening is played twice, with colours exchanged. Without --openings, games start from a few random stones near
    the centre. Ctrl-C stops the match and prints the result so far.
    """
    import json

    from tengen.arena.adjudication import Adjudication, DrawRule, ProofTrust, ResignRule
    from tengen.arena.entrant import Entrant
    from tengen.arena.export import save_games
    from tengen.arena.live import LiveView
    from tengen.arena.match import TimeControl
    from tengen.arena.match_report import match_lines, match_report
    from tengen.arena.sprt import EloModel, Sprt
    from tengen.arena.store import GameStore
    from tengen.arena.tournament import OpeningSettings, Progress, Tournament, play
    from tengen.cli.faults import report_faults
    from tengen.cli.interruptible import deferred_interrupts
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
        adjudication=Adjudication(
            proofs=ProofTrust(proofs.value),
            max_moves=max_moves,
            resign=None if resign is None else ResignRule.parse(resign),
            draw=None if draw is None else DrawRule.parse(draw),
        ),
        sprt=None if sprt is None else Sprt.parse(sprt, EloModel(sprt_model.value)),
    )
    latest: Progress | None = None
    is_stopped = False
    with GameStore(db, max_mb=disk_mb) as store:
        try:
            with (
                open_pools(on, workers=concurrency or 0, warn=warn) as make_pool,
                LiveView(is_quiet=quiet) as view,
                deferred_interrupts() as raise_if_interrupted,
            ):

                def watch(progress: Progress) -> None:
                    nonlocal latest
                    latest = progress
                    view.update(progress)
                    raise_if_interrupted()

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
            report_faults(store)
        if is_stopped:
            where = "" if db is None else f" in {db}; repeat the command to continue"
            typer.echo(f"stopped with {len(store)} of {games} games{where}", err=True)
            raise typer.Exit(130)
