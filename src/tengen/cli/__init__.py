"""The command line: one module per subcommand, each with a function `register(app)`.

A subcommand imports slow packages only when it runs, which keeps `tengen --help` fast.
"""

from __future__ import annotations

import importlib
import inspect
from typing import Annotated

import typer

from tengen.cli.command import CommandGroup
from tengen.cli.running import run_app

SUBCOMMANDS: tuple[str, ...] = (
    "play",
    "serve",
    "agents",
    "brain",
    "analyse",
    "explain",
    "solve_threats",
    "show",
    "review",
    "train",
    "runs",
    "ship",
    "paper",
    "match",
    "tournament",
    "ratings",
    "openings",
    "compliance",
    "convert",
    "check",
    "data",
    "puzzles",
    "doctor",
    "bench",
    "perft",
    "tune",
)
"""Modules in this package that register subcommands, in the order shown by the help.

A module is named after its command. At module level it imports only typer and other fast packages.
"""

app = typer.Typer(
    name="tengen",
    help="Tengen, the Gomoku AI laboratory.",
    epilog=inspect.cleandoc("""
        tengen play alphabeta --rules renju   # a game in the terminal
        tengen analyse h8i9i8                 # the best moves of a position
        tengen train alphazero --preset 6x6x4 # train a player
    """),
    cls=CommandGroup,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        from tengen import __version__

        typer.echo(f"tengen {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Tengen, the Gomoku AI laboratory."""


for _module in SUBCOMMANDS:
    importlib.import_module(f"tengen.cli.{_module}").register(app)


def main() -> None:
    """Run the command line. A user error prints one line on stderr and exits with code 2."""
    run_app(app, "tengen")
