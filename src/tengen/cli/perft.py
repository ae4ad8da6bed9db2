"""`tengen perft`: count move sequences, to check the rules and measure the speed of the board."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Annotated

import typer

from tengen.cli.command import Group, command

if TYPE_CHECKING:
    from tengen.core.contracts import Ruleset
    from tengen.core.perft import PerftPly

_EXAMPLES = """
    tengen perft 3x3:3 9      # all games of tic-tac-toe
    tengen perft renju 3      # the first three moves of renju
"""


def register(app: typer.Typer) -> None:
    """Add the subcommand."""

    @command(app, "perft", group=Group.DEVELOP, examples=_EXAMPLES)
    def perft(
        ruleset: Annotated[
            str,
            typer.Argument(
                metavar="RULES", help="Rule (such as renju) or ruleset (such as 3x3:3:freestyle).", show_default=False
            ),
        ],
        depth: Annotated[
            int, typer.Argument(min=1, help="Maximum length of the move sequences, in plies.", show_default=False)
        ],
    ) -> None:
        """Count the legal move sequences of each length up to a depth, and how many of them win."""
        from rich.console import Console
        from rich.table import Table

        from tengen.core.contracts import Ruleset

        rules = Ruleset.parse(ruleset)
        started = time.perf_counter()
        plies = _count_interruptibly(rules, min(depth, rules.area))
        seconds = time.perf_counter() - started

        table = Table(title=f"perft {rules}", title_justify="left")
        for heading in ("ply", "nodes", "wins"):
            table.add_column(heading, justify="right")
        for ply, (nodes, wins) in enumerate(plies, 1):
            table.add_row(str(ply), f"{nodes:,}", f"{wins:,}")
        total = sum(nodes for nodes, _ in plies)
        console = Console(highlight=False, markup=False)
        console.print(table)
        console.print(f"{total:,} nodes in {seconds:.2f} s, {total / max(seconds, 1e-9):,.0f} nodes/s")


def _count_interruptibly(rules: Ruleset, depth: int) -> list[PerftPly]:
    """Count in a separate thread, because Ctrl-C does not interrupt native code."""
    from tengen.core.perft import perft

    counts: list[list[PerftPly]] = []
    worker = threading.Thread(target=lambda: counts.append(perft(rules, depth)), daemon=True)
    worker.start()
    while worker.is_alive():
        worker.join(0.1)
    return counts[0]
