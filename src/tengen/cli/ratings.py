"""`tengen ratings FILE.db`: rate the players in stored matches and tournaments."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tengen.cli.command import Group, command

_EXAMPLES = """
    tengen ratings games.db                         # one store
    tengen ratings a.db b.db --anchor rule-based=0  # two stores, fixed scale
    tengen ratings games.db --report report --json ratings.json
"""


def register(app: typer.Typer) -> None:
    """Add the subcommand."""
    command(app, "ratings", group=Group.RATE, examples=_EXAMPLES)(ratings)


def ratings(
    files: Annotated[
        list[Path],
        typer.Argument(metavar="FILE.db", help="Game stores; players with the same name are treated as one player."),
    ],
    anchor: Annotated[
        list[str] | None, typer.Option(metavar="NAME=ELO", help="Fixed rating for a player; repeatable.")
    ] = None,
    mix_limits: Annotated[
        bool, typer.Option("--mix-limits", help="Rate games together even if a player's time or node limits differ.")
    ] = False,
    json_file: Annotated[Path | None, typer.Option("--json", help="Write all results to this JSON file.")] = None,
    pgn: Annotated[
        Path | None, typer.Option(help="Write the results as PGN for other rating programs (Ordo, BayesElo).")
    ] = None,
    report: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Write a report with plots to this folder.")
    ] = None,
) -> None:
    """Rate all players in one or more game stores, by ruleset. The tournament may still be running."""
    import contextlib
    import json

    from rich.console import Console

    from tengen.arena.export import write_pgn
    from tengen.arena.render import print_tables, write_report
    from tengen.arena.report import as_json
    from tengen.arena.standings import collect
    from tengen.arena.store import GameStore
    from tengen.cli.output import write_text

    anchors = dict(_parse_anchor(text) for text in anchor or [])
    with contextlib.ExitStack() as stack:
        stores = [stack.enter_context(GameStore(path, is_writer=False)) for path in files]
        standings = collect(stores, anchors, mixes_limits=mix_limits)
        if pgn is not None:
            write_pgn(stores, pgn)
    print_tables(standings, Console(markup=False))
    if json_file is not None:
        write_text(json_file, json.dumps(as_json(standings), indent=2, ensure_ascii=False) + "\n")
    if report is not None and (missing := write_report(standings, report)):
        typer.echo(f"warning: {missing}", err=True)


def _parse_anchor(text: str) -> tuple[str, float]:
    """Parse NAME=ELO; the name itself may contain equals signs."""
    from tengen.errors import InputError

    name, equals, elo = text.rpartition("=")
    try:
        if not equals or not name:
            raise ValueError
        return name, float(elo)
    except ValueError:
        raise InputError(f"--anchor must have the form NAME=ELO, not {text!r}") from None
