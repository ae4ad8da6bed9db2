"""The option `--on` for commands that can play their games on other machines."""

from __future__ import annotations

from typing import Annotated

import typer

OnOption = Annotated[
    str,
    typer.Option(
        "--on", metavar="PLACE", help="Where games are played: local, or ray[=ADDRESS] for a cluster (docs/cluster.md)."
    ),
]


def warn(line: str) -> None:
    """Print a message about the cluster to stderr."""
    typer.echo(line, err=True)
