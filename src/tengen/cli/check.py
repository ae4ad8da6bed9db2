"""`tengen check`: verify runs, data sets, networks, game stores and game files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tengen.cli.command import Group, command

_EXAMPLES = """
    tengen check runs games.db     # all runs, and a game store
    tengen check models/9x9        # a model
    tengen check games/*.sgf       # game files
"""


def register(app: typer.Typer) -> None:
    """Add the subcommand."""
    command(app, "check", group=Group.DATA, examples=_EXAMPLES)(check)


def check(
    paths: Annotated[
        list[Path],
        typer.Argument(metavar="PATH", help="Files or folders; folders are searched recursively.", show_default=False),
    ],
) -> None:
    """Find damaged files and folders, and report what can be recovered.

    Checks training runs, data sets, networks, game stores, game files, puzzles and engine weights. Prints one line per
    item and changes nothing. The exit code is 1 if anything is damaged.
    """
    from tengen.cli.file_checks import find_items
    from tengen.errors import InputError

    items = damaged = 0
    for path in paths:
        for item in find_items(path):
            findings = item.check(item.path)
            typer.echo(findings.line(item.path))
            items += 1
            damaged += bool(findings.damage)
    if not items:
        raise InputError(f"nothing to check in {', '.join(map(str, paths))}")
    typer.echo(f"{items} checked, {damaged} damaged")
    if damaged:
        raise typer.Exit(1)
