"""`tengen review FILE`: judge every move of a game, in the terminal and as a file."""

from __future__ import annotations

import io
import os
import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tengen.cli.command import Group, command
from tengen.cli.convert import RowOne, parse_rule, place_in_file, select_games, warn
from tengen.cli.options import StatedRulesOption
from tengen.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console
    from rich.table import Table

    from tengen.records import GameRecord
    from tengen.review import Effort, MoveReview, Review, Thresholds

_BARS = "▁▂▃▄▅▆▇█"
_PLAIN_BARS = "0123456789"
_PAGES = (".html", ".htm")
_EXAMPLES = """
    tengen review game.sgf                      # the bad moves and the reasons
    tengen review game.psq --all --effort deep  # every move, searched longer
    tengen review game.sgf --save review.sgf    # with comments and variations
    tengen review games.rif --game 7 --save review.html
"""


class EffortName(StrEnum):
    """Names of the efforts in `tengen.review.EFFORTS`."""

    QUICK = "quick"
    NORMAL = "normal"
    DEEP = "deep"


def register(app: typer.Typer) -> None:
    """Add the subcommand."""
    command(app, "review", group=Group.ANALYSE, examples=_EXAMPLES)(review)


def review(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Game file.", show_default=False)],
    game: Annotated[int, typer.Option(min=1, help="Number of the game in the file, starting from 1.")] = 1,
    effort: Annotated[EffortName, typer.Option(help="Search effort per position.")] = EffortName.NORMAL,
    all_moves: Annotated[
        bool, typer.Option("--all", help="List every move, not only those that lowered the win rate.")
    ] = False,
    save: Annotated[
        list[Path] | None,
        typer.Option(help="Write the review to this file: .html, or a game file such as .sgf; repeatable."),
    ] = None,
    thresholds: Annotated[
        str | None,
        typer.Option(
            metavar="X,X,X",
            help="Minimum loss of win rate, in percentage points, for an inaccuracy, a mistake and a blunder"
            " (default: 6,14,28).",
        ),
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option(min=1, help="Number of positions to search in parallel (default: one per core)."),
    ] = None,
    rules: StatedRulesOption = None,
    rows: Annotated[
        RowOne, typer.Option(help="Whether row 1 is at the top or bottom in position strings.")
    ] = RowOne.BOTTOM,
    encoding: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Code page of the text, such as cp1252 or gbk (default: as the file states, or utf-8)."
        ),
    ] = None,
    from_format: Annotated[
        str | None,
        typer.Option("--from", metavar="FORMAT", help="Format of the file (default: inferred from its extension)."),
    ] = None,
) -> None:
    """Judge every move of a game, explain the bad ones, and show the accuracy of both players.

    A move is judged by how much it lowers the win rate. The effort is counted in nodes, so a game gets the same review
    on every machine and in the browser. Ctrl-C prints the review of the moves so far.
    """
    from rich.console import Console

    from tengen.cli.show import header_lines
    from tengen.records import ReadReport, iterate
    from tengen.review import EFFORTS

    report = ReadReport()
    targets = save or []
    check_targets(file, targets)
    limits = _parse_thresholds(thresholds)
    records = iter(
        iterate(file, format=from_format, ruleset=parse_rule(rules), rows=rows.value, encoding=encoding, report=report)
    )
    record = next(select_games(records, game, file), None)
    if record is None:
        raise InputError(f"{file} contains no games")
    if not record.moves():
        raise InputError(f"game {game} of {file} has no moves to review")
    if record.opening_stones == len(record.moves()):
        raise InputError(f"game {game} of {file} has no moves after its given opening")
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # names may contain characters that the terminal cannot show
    console = Console(highlight=False, emoji=False, markup=False)
    warnings = report.summary()
    place = place_in_file(game, records)
    reviewed, is_stopped = _review(file, record, EFFORTS[effort], limits, workers or os.cpu_count() or 1)
    header = header_lines(record)
    for line in filter(None, (place, *header)):
        console.print(line)
    if reviewed.given_sentence:
        console.print(reviewed.given_sentence)
    _print_review(console, reviewed, all_moves=all_moves)
    for target in targets:
        _save(target, record, reviewed, header)
    warn(warnings)
    if is_stopped:
        typer.echo(f"stopped after {len(reviewed.moves)} of {len(record.moves()) - reviewed.given} moves", err=True)
        raise typer.Exit(130)


def check_targets(source: Path, targets: Sequence[Path]) -> None:
    """Raise an `InputError` if a target cannot be written, has an unknown format, or is the source."""
    from tengen.cli.output import check_writable
    from tengen.records import format_of

    for target in targets:
        if source.exists() and target.exists() and os.path.samefile(source, target):
            raise InputError(f"cannot write the review to {source} itself: choose another file name")
        if target.suffix.lower() not in _PAGES:
            format_of(target)
    check_writable(*targets)


def _parse_thresholds(text: str | None) -> Thresholds | None:
    from tengen.review import Thresholds

    if text is None:
        return None
    try:
        inaccuracy, mistake, blunder = (float(part) / 100 for part in text.split(","))
    except ValueError:
        raise InputError(f"--thresholds must be three percentages such as 6,14,28, not {text!r}") from None
    if not 0 < inaccuracy <= mistake <= blunder <= 1:
        raise InputError(f"--thresholds must be ascending, above 0 and at most 100, such as 6,14,28, not {text!r}")
    return Thresholds(inaccuracy=inaccuracy, mistake=mistake, blunder=blunder)


def _review(
    file: Path, record: GameRecord, effort: Effort, thresholds: Thresholds | None, threads: int
) -> tuple[Review, bool]:
    """Review the game with a progress bar on stderr; also return whether Ctrl-C ended the review early."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    from tengen.cli.interruptible import run_interruptibly
    from tengen.core.stop_signal import StopSignal
    from tengen.review import review_game

    stop = StopSignal()
    columns = (TextColumn("reviewing"), BarColumn(), MofNCompleteColumn(), TextColumn("moves"), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True, markup=False), transient=True) as progress:
        task = progress.add_task("", total=len(record.moves()) - record.opening_stones)
        try:
            found = run_interruptibly(
                lambda: review_game(
                    record, effort, thresholds, lambda _: progress.advance(task), threads=threads, stop=stop
                ),
                stop.set,
            )
        except InputError as error:
            raise type(error)(f"{file}: {str(error).partition(chr(10))[0]}") from None
    return found, stop.is_set()


def _print_review(console: Console, reviewed: Review, *, all_moves: bool) -> None:
    console.print()
    _print_graph(console, reviewed)
    console.print()
    shown = [move for move in reviewed.moves if all_moves or move.quality.is_bad]
    for move in shown:
        _print_move(console, move)
    if not any(move.quality.is_bad for move in reviewed.moves):
        console.print("No bad moves.")
    elif reviewed.key_moves:
        console.print("* turning point")
    console.print()
    console.print(_accuracy_table(reviewed))


def _print_graph(console: Console, reviewed: Review) -> None:
    """Print black's win rate after each move as bars, wrapped to the width of the console."""
    bars = _BARS if console.encoding.lower().startswith("utf") else _PLAIN_BARS
    values = [move.black_value_after for move in reviewed.moves]
    levels = [bars[min(len(bars) - 1, int((value + 1) / 2 * len(bars)))] for value in values]
    console.print("Black's win rate after each move:")
    room = max(10, (console.width - 6) // 10 * 10)
    for start in range(0, len(levels), room):
        console.print(f"{reviewed.given + start + 1:>4}  {''.join(levels[start : start + room])}")


def _print_move(console: Console, move: MoveReview) -> None:
    import textwrap

    from tengen.review import explanation

    star = "*" if move.is_key else " "
    loss = f"−{100 * move.winrate_loss:.0f} %" if move.quality.is_bad else ""
    black = f"black {50 * (move.black_value_after + 1):.0f} %"
    style = {"blunder": "bold red", "mistake": "red", "inaccuracy": "yellow"}.get(move.quality, "")
    console.print(
        f"{move.turn_number:>4}.{star}{move.colour:<5} {move.move:<4} {move.quality:<11}{loss:>6}   {black}",
        style=style,
    )
    if move.quality.is_bad:
        for sentence in explanation(move):
            console.print(textwrap.fill(sentence, console.width - 1, initial_indent=" " * 6, subsequent_indent=" " * 6))


def _accuracy_table(reviewed: Review) -> Table:
    from rich.table import Table

    from tengen.review import Phase, Quality

    table = Table(box=None, pad_edge=False)
    for column in ("", "accuracy", *Phase, *(f"{quality}" for quality in Quality)):
        table.add_column(column, justify="right" if column else "left", no_wrap=True)
    for colour, side in reviewed.sides.items():
        accuracies = [side.accuracy, *(side.accuracy_by_phase[phase] for phase in Phase)]
        cells = ["–" if value is None else f"{value:.0f}" for value in accuracies]
        table.add_row(colour, *cells, *(str(side.counts[quality]) for quality in Quality))
    return table


def _save(target: Path, record: GameRecord, reviewed: Review, header: Sequence[str]) -> None:
    from tengen.cli.output import write_text
    from tengen.records import Losses, format_of, save
    from tengen.review import annotate, review_page

    if target.suffix.lower() in _PAGES:
        write_text(target, review_page(record, reviewed, header))
    else:
        annotated = annotate(record, reviewed)
        losses = Losses(format_of(target).name)
        losses.add(annotated)
        save(target, [annotated])
        if losses.lines():
            warn([f"lost: {', '.join(losses.lines())}"])
    typer.echo(f"wrote {target}")
