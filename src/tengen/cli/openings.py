"""`tengen openings generate`: balanced openings for matches, found with an engine."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    """Add the subcommands."""
    openings = typer.Typer(name="openings", help="Openings for matches.", no_args_is_help=True)

    @openings.callback()
    def _group() -> None:
        """Openings for matches."""

    openings.command("generate")(generate)
    app.add_typer(openings)


def generate(
    rules: Annotated[str, typer.Option(help="What the openings are for.")] = "15x15:5:freestyle",
    count: Annotated[int, typer.Option(min=1, help="How many.")] = 50,
    seed: Annotated[int, typer.Option(help="Another seed finds other openings.")] = 0,
    agent: Annotated[str, typer.Option(help="Who judges them.")] = "alphabeta",
    nodes: Annotated[int, typer.Option(min=1, help="Positions visited for a judgement.")] = 20_000,
    max_value: Annotated[float, typer.Option(help="Largest |value| of an opening that is kept, 0…1.")] = 0.15,
    min_stones: Annotated[int, typer.Option(min=1, help="Fewest stones.")] = 3,
    max_stones: Annotated[int, typer.Option(min=1, help="Most stones.")] = 6,
    reach: Annotated[int, typer.Option(min=1, help="Stones lie within so many lines of the centre.")] = 3,
    max_tries: Annotated[int, typer.Option(min=1, help="Give up after so many candidates without a new one.")] = 1000,
    out: Annotated[Path | None, typer.Option(help="Write them to this file instead of the screen.")] = None,
) -> None:
    """Find openings that are balanced: random stones near the centre whose value after a search is small.

    No two are the same under turns and mirrors of the board. The file can be given to `tengen match --openings`.
    """
    from tengen.arena.openings import BalanceSettings, find_balanced, format_openings
    from tengen.cli.output import check_writable, write_text
    from tengen.core.contracts import Ruleset

    check_writable(out)
    ruleset = Ruleset.parse(rules)
    settings = BalanceSettings(
        agent=agent, nodes=nodes, max_value=max_value, min_stones=min_stones, max_stones=max_stones, reach=reach
    )
    found = find_balanced(ruleset, count, seed, settings, max_tries=max_tries)
    text = format_openings(ruleset, found, seed, settings)
    if out is None:
        typer.echo(text, nl=False)
    else:
        write_text(out, text)
