"""`tengen show FILE`: print the header, board and moves of a game from a file."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tengen.cli.command import Group, command
from tengen.cli.convert import RowOne, parse_rule, place_in_file, select_games, warn
from tengen.cli.options import StatedRulesOption
from tengen.errors import InputError

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from tengen.records import GameRecord, Node

_EXAMPLES = """
    tengen show game.sgf             # the final position
    tengen show game.psq --move 12   # after move 12
    tengen show games.rif --game 7   # another game in the file
"""


def register(app: typer.Typer) -> None:
    """Add the subcommand."""
    command(app, "show", group=Group.ANALYSE, examples=_EXAMPLES)(show)


def show(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Game file.", show_default=False)],
    game: Annotated[int, typer.Option(min=1, help="Number of the game in the file, starting from 1.")] = 1,
    move: Annotated[
        int | None, typer.Option(min=0, help="Show the board after this move (default: the last move).")
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
    """Print a game from a file: header, board and moves. The last stone is in brackets."""
    from rich.console import Console

    from tengen.records import ReadReport, iterate

    report = ReadReport()
    records = iter(
        iterate(file, format=from_format, ruleset=parse_rule(rules), rows=rows.value, encoding=encoding, report=report)
    )
    record = next(select_games(records, game, file), None)
    if record is None:
        raise InputError(f"{file} contains no games")
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # names may contain characters that the terminal cannot show
    console = Console(highlight=False, emoji=False, markup=False)
    count = len(record.moves()) if move is None else move
    warnings = report.summary()
    for line in filter(None, (place_in_file(game, records), *header_lines(record))):
        console.print(line)
    console.print(board_text(record, count, console))
    for line in annotation_lines(record, count):
        console.print(line)
    console.print(move_list(record, count))
    warn(warnings)


def header_lines(record: GameRecord) -> list[str]:
    """Return the header, one line per item; unknown items are omitted."""
    from tengen.core.contracts import Outcome
    from tengen.records.text import displayable

    names = f"{displayable(record.black) or '?'} (black) – {displayable(record.white) or '?'} (white)"
    where = ", ".join(displayable(part) for part in (record.event, record.round, record.date) if part)
    words = {
        None: "",
        Outcome.ONGOING: "unfinished",
        Outcome.DRAW: "draw",
        Outcome.BLACK: "black wins",
        Outcome.WHITE: "white wins",
    }
    result = words[record.result]
    if record.result_reason:
        result = f"{result or 'result unknown'} ({displayable(record.result_reason)})"
    return [line for line in (names, where, str(record.ruleset), result, displayable(record.comment)) if line]


def board_text(record: GameRecord, moves: int, console: Console) -> Text:
    """Draw the board after the first `moves` moves, with row 1 at the bottom."""
    from tengen.cli.drawing import can_show_colour, draw_stones

    stones = record.stones(moves)
    last = record.moves()[moves - 1].point if moves else None
    return draw_stones(record.ruleset, stones, last=last, in_colour=can_show_colour(console))


def annotation_lines(record: GameRecord, moves: int) -> list[str]:
    """Return the annotations of the position shown: comment, evaluation, time and variations."""
    from tengen.records.text import displayable

    node = node_after(record, moves)
    lines = [displayable(node.comment)] if node.comment else []
    if node.value is not None:
        lines.append(f"evaluation for black: {node.value:+.2f}")
    if node.time_ms is not None:
        lines.append(f"time: {node.time_ms / 1000:.1f} s")
    others = [str(move.point or "pass") for child in node.children[1:] for move in child.moves[:1]]
    if others:
        lines.append(f"variations: {' '.join(others)}")
    return lines


def node_after(record: GameRecord, moves: int) -> Node:
    """Return the first node of the main line after which at least `moves` moves have been played."""
    played = 0
    node = record.root
    for node in record.main_line():
        played += len(node.moves)
        if played >= moves:
            break
    return node


def move_list(record: GameRecord, shown: int) -> Text:
    """Return the numbered moves of the main line, with move number `shown` highlighted."""
    from rich.text import Text

    text = Text()
    for number, move in enumerate(record.moves(), start=1):
        style = "reverse" if number == shown else ""
        text.append(f"{number}.{move.point or 'pass'}", style=style).append("  ")
    return text
