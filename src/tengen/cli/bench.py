"""`tengen bench`: the node signature of the alpha-beta engine."""

from __future__ import annotations

from typing import Annotated

import typer

from tengen.cli.command import Group, command

_EXAMPLES = """
    tengen bench            # the signature for commit messages
    tengen bench --depth 8  # a shorter search
"""


def register(app: typer.Typer) -> None:
    """Add the subcommand."""

    @command(app, "bench", group=Group.DEVELOP, examples=_EXAMPLES)
    def bench(
        depth: Annotated[
            int | None,
            typer.Option(min=1, max=40, help="Search depth in plies (default: 10); the signature depends on it."),
        ] = None,
    ) -> None:
        """Search ten fixed positions with one thread; the node count changes whenever the search changes.

        The message of a commit that changes the search must end with the last line of the output.
        """
        from rich.console import Console
        from rich.table import Table

        from tengen.search.bench import DEFAULT_DEPTH, BenchRow, run_bench

        table = Table(title=f"bench, depth {depth or DEFAULT_DEPTH}", title_justify="left")
        table.add_column("ruleset")
        for heading in ("stones", "nodes", "seconds"):
            table.add_column(heading, justify="right")

        def add(row: BenchRow) -> None:
            position = row.position.position()
            table.add_row(str(position.ruleset), str(position.stones), f"{row.nodes:,}", f"{row.seconds:.2f}")

        console = Console(highlight=False, markup=False)
        with console.status("searching …"):
            result = run_bench(depth or DEFAULT_DEPTH, on_row=add)
        console.print(table)
        console.print(f"{result.seconds:.2f} s, {result.nodes_per_second:,.0f} nodes/s")
        console.print(f"Bench: {result.nodes}")
