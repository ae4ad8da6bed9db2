"""The command line: one module per subcommand, each with a function `register(app)`.

Subcommands import the packages they need only when they run, so that `tengen --help` is fast.
"""

from __future__ import annotations

import importlib
import io
import sys
from typing import Annotated

import typer

from tengen.errors import TengenError

SUBCOMMANDS: tuple[str, ...] = (
    "play",
    "serve",
    "brain",
    "match",
    "tournament",
    "ratings",
    "openings",
    "puzzles",
    "analyse",
    "explain",
    "solve_threats",
    "agents",
    "convert",
    "perft",
    "bench",
    "data",
    "tune",
    "train",
    "runs",
    "paper",
    "ship",
    "show",
    "check",
)
"""Modules in this package that register subcommands, in the order shown by the help.

A module is named after its command. At module level it imports only typer and other fast packages.
"""

app = typer.Typer(
    name="tengen",
    help="Tengen, the Gomoku AI laboratory.",
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
    """Run the command line; a `TengenError` becomes one line on stderr and exit code 2."""
    if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.errors == "strict":
        sys.stdout.reconfigure(errors="replace")  # print `?` for characters that the terminal cannot show
    try:
        app()
    except TengenError as error:
        sentence = str(error).partition("\n")[0]  # the rest is a drawing of the position
        print(f"tengen: {sentence}", file=sys.stderr)
        sys.exit(2)
