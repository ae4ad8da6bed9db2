"""`tengen convert A B`: convert game files between formats."""

from __future__ import annotations

import os
import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tengen.cli.command import Group, command
from tengen.cli.options import StatedRulesOption
from tengen.errors import InputError, RecordError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tengen.core.contracts import Ruleset
    from tengen.records import GameRecord

_EXAMPLES = """
    tengen convert game.psq game.sgf                 # one game
    tengen convert renjunet.rif games.jsonl.gz       # a whole database
    tengen convert openings.txt openings.sgf --rules renju
"""


_MOST_COUNTED = 1000
"""Maximum number of games to count after the chosen game."""


class RowOne(StrEnum):
    """Whether row 1 is at the top or the bottom of the board in position strings."""

    BOTTOM = "bottom"
    TOP = "top"


def register(app: typer.Typer) -> None:
    """Add the subcommand."""
    command(app, "convert", group=Group.DATA, examples=_EXAMPLES)(convert)


def convert(
    source: Annotated[Path, typer.Argument(metavar="A", help="Game file to read.", show_default=False)],
    target: Annotated[Path, typer.Argument(metavar="B", help="Game file to write.", show_default=False)],
    rules: StatedRulesOption = None,
    rows: Annotated[
        RowOne, typer.Option(help="Whether row 1 is at the top or bottom in position strings.")
    ] = RowOne.BOTTOM,
    to_rows: Annotated[
        RowOne | None, typer.Option(help="Whether row 1 is at the top or bottom in B (default: as in A).")
    ] = None,
    encoding: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Code page of the text in A, such as cp1252 or gbk (default: as A states, or utf-8)."
        ),
    ] = None,
    to_encoding: Annotated[
        str | None, typer.Option(metavar="NAME", help="Code page of the text in B, for PSQ and lib (default: utf-8).")
    ] = None,
    from_format: Annotated[
        str | None, typer.Option("--from", metavar="FORMAT", help="Format of A (default: inferred from its extension).")
    ] = None,
    to_format: Annotated[
        str | None, typer.Option("--to", metavar="FORMAT", help="Format of B (default: inferred from its extension).")
    ] = None,
    game: Annotated[
        int | None, typer.Option(min=1, help="Number of the game to convert, starting from 1 (default: all games).")
    ] = None,
    replay: Annotated[
        bool, typer.Option("--replay", help="Fill in missing results that follow from the final position.")
    ] = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="Write nothing if B cannot store everything that A contains.")
    ] = False,
) -> None:
    """Convert a game file; the file extensions select the formats.

    Supported formats: .pos and .txt (position strings, openings), .psq, .sgf, .rif and .xml (read-only), .lib, .json
    and .jsonl, all optionally gzipped. A warning lists the data that B cannot store. If A is damaged, B contains the
    games before the damage, and the exit code is 2.
    """
    from tengen.records import Losses, ReadReport, format_of, iterate, save
    from tengen.records.text import has_kept_bytes

    if source.exists() and target.exists() and os.path.samefile(source, target):
        raise InputError(f"cannot convert {source} to itself: choose another file name")
    report = ReadReport()
    losses = Losses(format_of(target, to_format).name)
    records = iterate(
        source,
        format=from_format,
        ruleset=parse_rule(rules),
        rows=rows.value,
        encoding=encoding,
        report=report,
    )
    undecodable_texts = 0
    games = 0
    damage: RecordError | None = None

    def readable() -> Iterator[GameRecord]:
        nonlocal games, damage
        try:
            for record in records:
                games += 1
                yield record
        except RecordError as error:
            if strict or game is not None or not games:
                raise
            damage = error

    def counted() -> Iterator[GameRecord]:
        nonlocal undecodable_texts
        for record in select_games(readable(), game, source):
            if replay:
                record.settle()
            undecodable_texts += sum(has_kept_bytes(text) for text in texts_of(record))
            losses.add(record)
            yield record
        if strict and losses.lines():
            raise RecordError(f"{target} was not written because it would lose {', '.join(losses.lines())}")

    save(target, counted(), format=to_format, rows=(to_rows or rows).value, encoding=to_encoding)
    written = games if game is None else 1
    typer.echo(f"wrote {target}: {written:,} {'game' if written == 1 else 'games'}")
    warn(report.summary())
    if undecodable_texts:
        warn([f"texts with bytes that the code page does not define: {undecodable_texts} (preserved); try --encoding"])
    if losses.lines():
        warn([f"lost: {', '.join(losses.lines())}"])
    if damage is not None:
        kept = "the game" if games == 1 else f"the {games:,} games"
        raise RecordError(f"{damage}; {target} contains {kept} before the damage")


def texts_of(record: GameRecord) -> Iterator[str]:
    """Yield all strings in a record, which may contain bytes from another code page."""
    yield from (record.black, record.white, record.event, record.comment)
    for node in record.nodes():
        if node.comment:
            yield node.comment
        if node.label:
            yield node.label
        yield from (mark.text for mark in node.marks)


def select_games(records: Iterable[GameRecord], game: int | None, source: Path) -> Iterator[GameRecord]:
    """Yield all records, or only record number `game`. Raises `InputError` if there is no such record."""
    count = 0
    for count, record in enumerate(records, start=1):
        if game in (None, count):
            yield record
        if game == count:
            return
    if game is not None:
        raise InputError(f"{source} has no game {game} (games in the file: {count})")


def place_in_file(game: int, later: Iterable[GameRecord]) -> str:
    """Return a line that says which game of a file is shown; empty if the file has only one game.

    `later` yields the games after it. At most `_MOST_COUNTED` of them are counted, because a file can have millions.
    """
    count = game
    more = ""
    try:
        for _ in later:
            if count >= game + _MOST_COUNTED:
                more = "more than "
                break
            count += 1
    except RecordError:  # damage after the game does not matter here
        more = "at least "
    return f"game {game} of {more}{count:,}; use --game to choose another" if count > 1 else ""


def parse_rule(text: str | None) -> Ruleset | None:
    """Return the ruleset of the option `--rules`; None if it is not given."""
    from tengen.core.contracts import Ruleset

    return None if text is None else Ruleset.parse(text)


def warn(lines: Iterable[str]) -> None:
    """Print warnings on stderr."""
    for line in lines:
        print(f"warning: {line}", file=sys.stderr)
