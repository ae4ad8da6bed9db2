"""Options shared by several commands, with the same meaning everywhere."""

from __future__ import annotations

from typing import Annotated

import typer

DEFAULT_RULES = "15x15:5:freestyle"

RulesOption = Annotated[
    str,
    typer.Option(
        "--rules", metavar="RULES", help="Rule (such as renju, played on 15x15) or ruleset (such as 9x9:5:standard)."
    ),
]
StatedRulesOption = Annotated[
    str | None,
    typer.Option(
        "--rules",
        metavar="RULES",
        help="Rule (such as renju) or ruleset (such as 20x20:5:standard) for games and positions that specify neither"
        " (default: depends on the format, usually 15x15:5:freestyle).",
    ),
]
NodesOption = Annotated[
    int | None,
    typer.Option(
        "--nodes", min=1, help="Maximum number of nodes, or Monte Carlo simulations, per search (default: no limit)."
    ),
]
SimulationsOption = Annotated[
    int | None,
    typer.Option(
        "--simulations", min=1, help="Maximum number of simulations per Monte Carlo search (default: set by the agent)."
    ),
]
DepthOption = Annotated[
    int | None,
    typer.Option("--depth", min=1, help="Maximum depth of iterative deepening, in plies (default: no limit)."),
]
ThreadsOption = Annotated[int, typer.Option("--threads", min=1, help="Number of threads per search.")]

OnOption = Annotated[
    str,
    typer.Option("--on", metavar="PLACE", help="Where to play the games: local, or ray[=ADDRESS] for a Ray cluster."),
]


def warn(line: str) -> None:
    """Print a message about the cluster to stderr."""
    typer.echo(line, err=True)
