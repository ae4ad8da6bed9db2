"""`tengen openings`: use an engine to find balanced openings for matches, and to check existing ones."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tengen.cli.command import Group, add_subgroup, command
from tengen.cli.options import DEFAULT_RULES, RulesOption

_GENERATE_EXAMPLES = """
    tengen openings generate --count 20 --out openings.txt
    tengen openings generate --rules renju --nodes 5000000 --journal renju.jsonl
    tengen match alphabeta fudan --openings openings.txt   # use them
"""
_CHECK_EXAMPLES = """
    tengen openings check openings.txt
    tengen openings check renju15.txt --rules renju --nodes 100000 --first 20
"""

_AgentOption = Annotated[str, typer.Option("--agent", metavar="AGENT", help="Agent that judges the openings.")]
_GamesOption = Annotated[
    int, typer.Option("--games", min=0, help="Number of self-play trial games per opening; must be even.")
]
_GameNodesOption = Annotated[int, typer.Option("--game-nodes", min=2, help="Mean nodes per move in the trial games.")]
_WorkersOption = Annotated[int, typer.Option("--workers", min=1, help="Number of processes.")]


def register(app: typer.Typer) -> None:
    """Add the subcommands."""
    openings = add_subgroup(app, "openings", help="Generate and check openings for matches.", group=Group.RATE)
    command(openings, "generate", examples=_GENERATE_EXAMPLES)(generate)
    command(openings, "check", examples=_CHECK_EXAMPLES)(check)


def generate(
    rules: RulesOption = DEFAULT_RULES,
    count: Annotated[int, typer.Option(min=1, help="Number of openings to find.")] = 50,
    seed: Annotated[int, typer.Option(help="Random seed; different seeds give different openings.")] = 0,
    agent: _AgentOption = "alphabeta",
    nodes: Annotated[int, typer.Option(min=1, help="Node limit of the final (longest) search per opening.")] = 20_000,
    max_value: Annotated[float, typer.Option(help="Maximum absolute value of an opening, from 0 to 1.")] = 0.15,
    min_stones: Annotated[int, typer.Option(min=1, help="Minimum number of stones.")] = 3,
    max_stones: Annotated[int, typer.Option(min=1, help="Maximum number of stones.")] = 6,
    reach: Annotated[int, typer.Option(min=1, help="Maximum distance from the centre to a stone, in points.")] = 3,
    games: _GamesOption = 10,
    game_nodes: _GameNodesOption = 2_000,
    min_share: Annotated[
        float,
        typer.Option(
            min=0, max=0.5, help="Minimum score of each colour in the trial games, 0 to 0.5; a draw is half a win."
        ),
    ] = 0.3,
    max_tries: Annotated[
        int, typer.Option(min=1, help="Give up after this many unsuccessful candidates in a row.")
    ] = 1000,
    workers: _WorkersOption = 1,
    journal: Annotated[
        Path | None,
        typer.Option(help="File that records every judged candidate; the same command resumes from it."),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="File to write (default: standard output).")] = None,
) -> None:
    """Find balanced openings: random stones near the centre, a value close to 0, and trial games won by both colours.

    No two openings are symmetric to each other. The same seed and agent find the same openings with any number of
    workers. Pass the file to `tengen match --openings`.
    """
    from rich.console import Console

    from tengen.arena.balanced_openings import BalanceSettings, find_balanced, format_openings
    from tengen.arena.trial_games import TrialSettings
    from tengen.cli.output import check_writable, write_text
    from tengen.core.contracts import Ruleset
    from tengen.learning.run.progress import Progress

    check_writable(out, journal)
    ruleset = Ruleset.parse(rules)
    settings = BalanceSettings(
        agent=agent,
        nodes=nodes,
        max_value=max_value,
        min_stones=min_stones,
        max_stones=max_stones,
        reach=reach,
        trials=TrialSettings(games=games, nodes=game_nodes),
        min_share=min_share,
    )
    with Progress(Console(stderr=True, markup=False), str(ruleset)) as progress:

        def show(judged: int, found: int) -> None:
            progress.update(found / count, None, f"{found:,} of {count:,} openings, {judged:,} candidates")

        openings = find_balanced(
            ruleset,
            count,
            seed,
            settings,
            max_tries=max_tries,
            journal=journal,
            workers=workers,
            on_progress=show,
        )
    text = format_openings(ruleset, openings, seed, settings)
    if out is None:
        typer.echo(text, nl=False)
    else:
        write_text(out, text)


def check(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Opening file.", show_default=False)],
    rules: RulesOption = DEFAULT_RULES,
    agent: _AgentOption = "alphabeta",
    nodes: Annotated[int, typer.Option(min=1, help="Node limit of the search per opening.")] = 1_000_000,
    games: _GamesOption = 20,
    game_nodes: _GameNodesOption = 3_000,
    seed: Annotated[int, typer.Option(help="Random seed for the trial games.")] = 0,
    first: Annotated[
        int | None, typer.Option(min=1, help="Check only the first N openings (default: all).", metavar="N")
    ] = None,
    workers: _WorkersOption = 1,
    json_file: Annotated[Path | None, typer.Option("--json", help="Also write the report to this JSON file.")] = None,
) -> None:
    """Report how balanced the openings in a file are: values, proofs, and the share of split pairs.

    In a match, each opening is played twice, with colours exchanged. If the same colour wins both games, the pair is
    split: each player wins once, so the pair does not show which player is stronger.
    """
    import json

    from rich.console import Console

    from tengen.arena.opening_check import check_openings, report_lines
    from tengen.arena.openings import load_openings
    from tengen.arena.trial_games import TrialSettings
    from tengen.cli.output import check_writable, write_text
    from tengen.core.contracts import Ruleset
    from tengen.learning.run.progress import Progress

    check_writable(json_file)
    ruleset = Ruleset.parse(rules)
    openings = load_openings(file, ruleset)[:first]
    trials = TrialSettings(games=games, nodes=game_nodes)
    with Progress(Console(stderr=True, markup=False), file.name) as progress:

        def show(checked: int) -> None:
            progress.update(checked / len(openings), None, f"{checked:,} of {len(openings):,} openings")

        report = check_openings(
            ruleset, openings, agent=agent, nodes=nodes, trials=trials, seed=seed, workers=workers, on_progress=show
        )
    for line in report_lines(report):
        typer.echo(line)
    if json_file is not None:
        write_text(json_file, json.dumps(report.to_json(), indent=1) + "\n")
