"""`tengen agents`: list the players and their parameters."""

from __future__ import annotations

from typing import Annotated

import typer

from tengen.cli.command import Group, command

_EXAMPLES = """
    tengen agents            # all players
    tengen agents alphabeta  # one player with its parameters
"""


def register(app: typer.Typer) -> None:
    """Add the subcommand."""

    @command(app, "agents", group=Group.PLAY, examples=_EXAMPLES)
    def agents(
        name: Annotated[str | None, typer.Argument(help="Agent to show (default: all agents).")] = None,
    ) -> None:
        """List the players with their parameters. A player is written as NAME:key=value,key=value."""
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text

        from tengen.agents.registry import agent_kind, agent_names
        from tengen.errors import MissingExtraError

        table = Table(show_lines=True, title="Players: NAME[:key=value,…]", title_justify="left")
        table.add_column("name", style="bold", no_wrap=True)
        table.add_column("description", ratio=2)
        table.add_column("parameters", ratio=3)
        for known in (name,) if name is not None else agent_names():
            try:
                kind = agent_kind(known)
            except MissingExtraError as error:
                table.add_row(known, Text(str(error), style="yellow"), "")
                continue
            parameters = Text()
            for row in kind.describe_parameters():
                default = "required" if row.default is None else row.default
                parameters.append(f"{row.key}", style="bold")
                parameters.append(f" = {default}", style="cyan")
                parameters.append(f" ({row.type})  {row.help}\n")
            parameters.rstrip()
            table.add_row(kind.name, Text(kind.summary), parameters)
        Console(highlight=False, markup=False).print(table)
