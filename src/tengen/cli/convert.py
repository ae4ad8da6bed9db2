"""`tengen convert A B`: game files from one format into another."""

from __future__ import annotations

import os
import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tengen.errors import InputError, RecordError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tengen.core.contracts import Ruleset
    from tengen.records import GameRecord


class RowOne(StrEnum):
    """Where row 1 of position strings is."""

    BOTTOM = "bottom"
    TOP = "top"


def register(app: typer.Typer) -> None:
    """Add the subcommand."""
    app.command()(convert)


def convert(
    source: Annotated[Path, typer.Argument(metavar="A", help="The game file to read.", show_default=False)],
    target: Annotated[Path, typer.Argument(metavar="B", help="The game file to write.", show_default=False)],
    rules: Annotated[
        str | None,
        typer.Option(help="Rule ('renju') or ruleset ('20x20:5:freestyle') of games in A that do not state theirs."),
    ] = None,
    rows: Annotated[RowOne, typer.Option(help="Where row 1 of position strings is, in A and in B.")] = RowOne.BOTTOM,
    to_rows: Annotated[RowOne | None, typer.Option(help="Where row 1 is in B, if not as in A.")] = None,
    encoding: Annotated[str | None, typer.Option(help="Code page of the texts in A, such as cp1252 or gbk.")] = None,
    to_encoding: Annotated[str | None, typer.Option(help="Code page of the texts in B (PSQ, lib).")] = None,
    from_format: Annotated[str | None, typer.Option("--from", help="Format of A, whatever its ending.")] = None,
    to_format: Annotated[str | None, typer.Option("--to", help="Format of B, whatever its ending.")] = None,
    game: Annotated[int | None, typer.Option(min=1, help="Convert only this game of A, counted from 1.")] = None,
    replay: Annotated[bool, typer.Option(help="Fill in missing results where the last position proves them.")] = False,
    strict: Annotated[bool, typer.Option(help="Write nothing if B cannot hold all that A says.")] = False,
) -> None:
    """Convert a game file; the endings say the formats.

    Known are .pos and .txt (position strings, openings), .psq, .sgf, .rif and .xml (read only), .lib, .json and .jsonl,
    each also gzipped. What B cannot hold is told as a warning.
    """
    from tengen.records import Losses, ReadReport, format_of, iterate, save
    from tengen.records.text import has_kept_bytes

    if source.exists() and target.exists() and os.path.samefile(source, target):
        raise InputError(f"{source} cannot be converted into itself")
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
    foreign_texts = 0

    def watched() -> Iterator[GameRecord]:
        nonlocal foreign_texts
        for record in chosen(records, game, source):
            if replay:
                record.settle()
            foreign_texts += sum(has_kept_bytes(text) for text in texts_of(record))
            losses.add(record)
            yield record
        if strict and losses.lines():
            raise RecordError(f"{target} was not written; it would lose {', '.join(losses.lines())}")

    save(target, watched(), format=to_format, rows=(to_rows or rows).value, encoding=to_encoding)
    warn(report.summary())
    if foreign_texts:
        warn([f"{foreign_texts} texts do not fit the code page; their bytes are kept. --encoding names another"])
    if losses.lines():
        warn([f"lost: {', '.join(losses.lines())}"])


def texts_of(record: GameRecord) -> Iterator[str]:
    """Everything that someone wrote in words."""
    yield from (record.black, record.white, record.event, record.comment)
    for node in record.nodes():
        if node.comment:
            yield node.comment
        if node.label:
            yield node.label
        yield from (mark.text for mark in node.marks)


def chosen(records: Iterable[GameRecord], game: int | None, source: Path) -> Iterator[GameRecord]:
    """All records, or the one with that number."""
    count = 0
    for count, record in enumerate(records, start=1):
        if game in (None, count):
            yield record
        if game == count:
            return
    if game is not None:
        raise InputError(f"{source} has no game {game}, only {count}")


def parse_rule(text: str | None) -> Ruleset | None:
    """A ruleset, or the name of a rule on the 15x15 board."""
    from tengen.core.contracts import Rule, Ruleset

    if text is None:
        return None
    return Ruleset.parse(f"15x15:5:{text}" if text.lower() in [rule.value for rule in Rule] else text)


def warn(lines: Iterable[str]) -> None:
    """Say on stderr what the user should know."""
    for line in lines:
        print(f"warning: {line}", file=sys.stderr)
