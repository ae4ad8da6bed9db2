"""The table of file formats: how each is read and written, and what it cannot store."""

from __future__ import annotations

import io
import os
from collections import Counter
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from tengen.core.contracts import Opening, Rule, Ruleset
from tengen.errors import RecordError
from tengen.records import json_record, lib, opening_file, position_string, psq, rif, sgf
from tengen.records.features import Feature, count_features, describe
from tengen.records.limits import MAX_FILE_BYTES
from tengen.records.text import split_lines, stream_bytes, stream_text, text_chunks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from tengen.records.game import GameRecord
    from tengen.records.position_string import Rows
    from tengen.records.report import ReadReport


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Options for reading or writing a file; each format uses those that apply to it."""

    ruleset: Ruleset | None = None
    rows: Rows = "bottom"
    encoding: str | None = None
    report: ReadReport | None = None
    skips_damage: bool = False

    @property
    def damage_report(self) -> ReadReport | None:
        """The report in which a line-based format counts damaged lines; None if a damaged line is an error."""
        return self.report if self.skips_damage else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """A file format: its name, file extensions, reader, writer, and what it can store."""

    name: str
    title: str
    endings: tuple[str, ...] = ()
    stream: Callable[[BinaryIO, Options], Iterable[GameRecord]]
    """Reads an open file, game by game if the format allows it."""
    write: Callable[[Iterable[GameRecord], Options], bytes] | None = None
    """Converts games to the content of a file; None if the format is read-only."""
    holds: Callable[[GameRecord], frozenset[Feature]] = lambda _: frozenset()
    """Returns the features of a record that the format can store."""
    own_properties: frozenset[str] = frozenset()
    """Properties of a record that the format can store."""
    assumed_rule: Rule | None = None
    """The rule that the reader assumes if the file does not state one."""
    games_appended: bool = False
    """Whether a file with several games is the concatenation of one-game files."""
    one_tree: bool = False
    """Whether several games are merged into one tree, as variations of the root."""

    def read(self, data: bytes, options: Options) -> Iterable[GameRecord]:
        """Read the games in the content of a file."""
        return self.stream(io.BytesIO(data), options)

    def writer(self, path: str | os.PathLike[str]) -> Callable[[Iterable[GameRecord], Options], bytes]:
        """Return `write`; raise a `RecordError` that names the path if the format is read-only."""
        if self.write is None:
            raise RecordError(
                f"{os.fspath(path)}: {self.title} ({self.name}) can be read but not written; choose another format"
            )
        return self.write


def _read_whole(file: BinaryIO) -> bytes:
    data = file.read(MAX_FILE_BYTES + 1)
    if len(data) > MAX_FILE_BYTES:
        raise RecordError(f"the file is larger than the limit of {MAX_FILE_BYTES} bytes")
    return data


def _lines(file: BinaryIO) -> Iterator[str]:
    return split_lines(text_chunks(file))


def _stream_positions(file: BinaryIO, options: Options) -> Iterator[GameRecord]:
    """Read a `.pos` or `.txt` file: position strings, offsets (openings), or the binary format of renju programs."""
    chunks = stream_bytes(file)
    start = next(chunks, b"")
    if position_string.is_packed(start):
        return iter(position_string.read_packed(start, ruleset=options.ruleset))
    lines = split_lines(stream_text(chain([start], chunks)))
    if opening_file.is_offsets(start):
        return opening_file.iterate_offsets(lines, ruleset=options.ruleset)
    return position_string.iterate_lines(
        lines, ruleset=options.ruleset, rows=options.rows, damage=options.damage_report
    )


FORMATS: dict[str, Format] = {
    entry.name: entry
    for entry in (
        Format(
            name="pos",
            title="position strings",
            endings=(".pos", ".txt"),
            stream=_stream_positions,
            write=lambda records, options: position_string.write(records, rows=options.rows),
            holds=lambda _: position_string.HOLDS,
            games_appended=True,
        ),
        Format(
            name="offsets",
            title="openings as offsets from the centre",
            stream=lambda file, options: opening_file.iterate_offsets(_lines(file), ruleset=options.ruleset),
            write=lambda records, _: opening_file.write_offsets(records),
            holds=lambda _: opening_file.HOLDS,
            assumed_rule=Rule.FREESTYLE,
            games_appended=True,
        ),
        Format(
            name="psq",
            title="Piskvork game",
            endings=(".psq",),
            stream=lambda file, options: psq.read(
                _read_whole(file), ruleset=options.ruleset, encoding=options.encoding
            ),
            write=lambda records, options: psq.write(records, encoding=options.encoding),
            holds=psq.holds,
            own_properties=psq.OWN_PROPERTIES,
            assumed_rule=Rule.FREESTYLE,
        ),
        Format(
            name="sgf",
            title="Smart Game Format",
            endings=(".sgf",),
            stream=lambda file, options: sgf.iterate(file, ruleset=options.ruleset, encoding=options.encoding),
            write=lambda records, _: sgf.write(records),
            holds=lambda _: sgf.HOLDS,
            games_appended=True,
        ),
        Format(
            name="rif",
            title="RenjuNet database",
            endings=(".rif", ".xml"),
            stream=lambda file, options: rif.read(file, report=options.report),
        ),
        Format(
            name="lib",
            title="RenLib library",
            endings=(".lib",),
            stream=lambda file, options: lib.read(
                _read_whole(file), ruleset=options.ruleset, encoding=options.encoding, report=options.report
            ),
            write=lambda records, options: lib.write(records, encoding=options.encoding),
            holds=lambda _: lib.HOLDS,
            own_properties=lib.OWN_PROPERTIES,
            assumed_rule=Rule.RENJU,
            one_tree=True,
        ),
        Format(
            name="json",
            title="Tengen's JSON",
            endings=(".json",),
            stream=lambda file, options: json_record.iterate(_read_whole(file), ruleset=options.ruleset),
            write=lambda records, _: json_record.write(records),
            holds=lambda _: json_record.HOLDS,
        ),
        Format(
            name="jsonl",
            title="JSON lines",
            endings=(".jsonl",),
            stream=lambda file, options: json_record.iterate_lines(
                _lines(file), ruleset=options.ruleset, damage=options.damage_report
            ),
            write=lambda records, _: json_record.write_lines(records),
            holds=lambda _: json_record.HOLDS,
            games_appended=True,
        ),
    )
}
"""The formats by name."""


def format_of(path: str | os.PathLike[str], name: str | None = None) -> Format:
    """Return the format called `name`, or the one for the file extension; a final `.gz` is ignored."""
    if name is not None:
        if name not in FORMATS:
            raise RecordError(f"unknown format {name!r} (known: {', '.join(FORMATS)})")
        return FORMATS[name]
    file_name = Path(path).name.lower().removesuffix(".gz")
    for entry in FORMATS.values():
        if file_name.endswith(entry.endings):
            return entry
    known = ", ".join(ending for entry in FORMATS.values() for ending in entry.endings)
    raise RecordError(
        f"{os.fspath(path)}: unknown file extension (known: {known});"
        f" rename the file or specify a format ({', '.join(FORMATS)})"
    )


class Losses:
    """Counts the parts of the given records that a format cannot store."""

    def __init__(self, format: str) -> None:
        self._format = format_of("", format)
        self._games = 0
        self._lost: Counter[Feature] = Counter()

    def add(self, record: GameRecord) -> None:
        """Add one record to the counts."""
        self._games += 1
        found = count_features(record, self._format.own_properties)
        holds = self._format.holds(record)
        if Feature.RULE not in holds and _states_rule(record.ruleset, self._format.assumed_rule):
            found[Feature.RULE] += 1
        for feature in Feature:
            if feature not in holds and found[feature]:
                self._lost[feature] += found[feature]

    def lines(self) -> list[str]:
        """Return what would be lost, such as `["3 comments", "1 variation"]`; empty if nothing is lost."""
        lost = Counter(self._lost)
        if self._format.one_tree and self._games > 1:
            lost[Feature.GAME] = self._games
        return describe((feature, lost[feature]) for feature in Feature)


def _states_rule(ruleset: Ruleset, assumed: Rule | None) -> bool:
    return ruleset.rule is not assumed or ruleset.win_length != 5 or ruleset.opening is not Opening.FREE


def losses(records: Iterable[GameRecord], format: str) -> list[str]:
    """Return the counts of the content that the format cannot store, such as `["3 comments", "2 variations"]`."""
    counter = Losses(format)
    for record in records:
        counter.add(record)
    return counter.lines()
