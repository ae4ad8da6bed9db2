"""`tengen openings generate`: use an engine to find balanced openings for matches."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tengen.cli.command import Group, add_subgroup, command
from tengen.cli.options import DEFAULT_RULES, RulesOption

_EXAMPLES = """
    tengen openings generate --count 20 --out openings.txt
    tengen openings generate --rules renju --nodes 100000
    tengen match alphabeta fudan --openings openings.txt   # use them
"""


def register(app: typer.Typer) -> None:
    """Add the subcommands."""
    openings = add_subgroup(app, "openings", help="Generate openings for matches.", group=Group.RATE)
    command(openings, "generate", examples=_EXAMPLES)(generate)


def generate(
    rules: RulesOption = DEFAULT_RULES,
    count: Annotated[int, typer.Option(min=1, help="Number of openings.")] = 50,
    seed: Annotated[int, typer.Option(help="Random seed; each seed finds different openings.")] = 0,
    agent: Annotated[str, typer.Option(metavar="AGENT", help="Agent that evaluates the openings.")] = "alphabeta",
    nodes: Annotated[int, typer.Option(min=1, help="Nodes per evaluation.")] = 20_000,
    max_value: Annotated[float, typer.Option(help="Maximum absolute value of an opening, from 0 to 1.")] = 0.15,
    min_stones: Annotated[int, typer.Option(min=1, help="Minimum number of stones.")] = 3,
    max_stones: Annotated[int, typer.Option(min=1, help="Maximum number of stones.")] = 6,
    reach: Annotated[int, typer.Option(min=1, help="Maximum distance from the centre to a stone, in points.")] = 3,
    max_tries: Annotated[
        int, typer.Option(min=1, help="Give up after this many unsuccessful candidates in a row.")
    ] = 1000,
    out: Annotated[Path | None, typer.Option(help="File to write (default: standard output).")] = None,
) -> None:
    """Find balanced openings: random stones near the centre that a search evaluates close to 0.

    No two openings are symmetric to each other. Pass the file to `tengen match --openings`.
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
