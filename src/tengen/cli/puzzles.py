"""`tengen puzzles generate`: puzzles from games that the engine plays against itself."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    """Add the subcommands."""
    puzzles = typer.Typer(name="puzzles", help="Puzzles: win by continuous fours or threats.", no_args_is_help=True)

    @puzzles.callback()
    def _group() -> None:
        """Puzzles: win by continuous fours or threats."""

    puzzles.command("generate")(generate)
    app.add_typer(puzzles)


def generate(
    rules: Annotated[str, typer.Option(help="What is played.")] = "15x15:5:freestyle",
    vcf: Annotated[int, typer.Option(min=0, help="How many to win by continuous fours.")] = 10,
    vct: Annotated[int, typer.Option(min=0, help="How many to win by continuous threats.")] = 10,
    seed: Annotated[int, typer.Option(help="Another seed finds other puzzles.")] = 0,
    out: Annotated[Path | None, typer.Option(help="Write them to this file instead of the screen.")] = None,
) -> None:
    """Find puzzles: positions with exactly one first move that wins, proved by the solver, graded by their depth."""
    from rich.progress import Progress

    from tengen.cli.output import check_writable, write_text
    from tengen.core.contracts import Ruleset
    from tengen.puzzles.puzzle import format_puzzle, make_puzzles
    from tengen.search.threats import ThreatKind

    check_writable(out)
    left = {ThreatKind.VCF: vcf, ThreatKind.VCT: vct}
    lines: list[str] = []
    with Progress(transient=True) as progress:
        task = progress.add_task("puzzles", total=vcf + vct)
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
