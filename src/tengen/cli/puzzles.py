"""`tengen puzzles generate`: create puzzles from the engine's self-play games."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tengen.cli.command import Group, add_subgroup, command
from tengen.cli.options import DEFAULT_RULES, RulesOption

_EXAMPLES = """
    tengen puzzles generate --vcf 20 --vct 5 --out puzzles.txt
    tengen puzzles generate --rules renju --seed 7
    tengen puzzles generate --vcf 0 --vct 0 --defence 50
"""


def register(app: typer.Typer) -> None:
    """Add the subcommands."""
    puzzles = add_subgroup(
        app,
        "puzzles",
        help="Create puzzles: wins by continuous threats, and positions with a single defence.",
        group=Group.DATA,
    )
    command(puzzles, "generate", examples=_EXAMPLES)(generate)


def generate(
    rules: RulesOption = DEFAULT_RULES,
    vcf: Annotated[int, typer.Option(min=0, help="Number of puzzles won by continuous fours.")] = 10,
    vct: Annotated[int, typer.Option(min=0, help="Number of puzzles won by continuous threats.")] = 10,
    defence: Annotated[int, typer.Option(min=0, help="Number of puzzles with a single move that does not lose.")] = 0,
    seed: Annotated[int, typer.Option(help="Random seed; different seeds give different puzzles.")] = 0,
    out: Annotated[Path | None, typer.Option(help="File to write (default: standard output).")] = None,
) -> None:
    """Find positions with exactly one right move, proved by the solver, and grade them by depth."""
    from rich.progress import Progress

    from tengen.cli.output import check_writable, write_text
    from tengen.core.contracts import Ruleset
    from tengen.puzzles.making import make_puzzles
    from tengen.puzzles.puzzle import PuzzleKind, format_puzzle

    check_writable(out)
    left = {PuzzleKind.VCF: vcf, PuzzleKind.VCT: vct, PuzzleKind.DEFENCE: defence}
    lines: list[str] = []
    with Progress(transient=True) as progress:
        task = progress.add_task("puzzles", total=sum(left.values()))
        for puzzle in make_puzzles(Ruleset.parse(rules), [kind for kind, count in left.items() if count], seed):
            if left[puzzle.kind]:
                left[puzzle.kind] -= 1
                lines.append(format_puzzle(puzzle))
                progress.advance(task)
            if not any(left.values()):
                break
    text = "\n".join(sorted(lines)) + "\n"
    if out is None:
        typer.echo(text, nl=False)
    else:
        write_text(out, text)
