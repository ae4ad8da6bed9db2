"""Game records: one module per file format, and one door to all of them.

`load` and `save` choose the format by the file's ending; `iterate` reads large collections game by game; `losses` says
what a format cannot hold. What each format means is told in its module and in docs/formats.md.
"""

from __future__ import annotations

import contextlib
import gzip
import io
import os
import threading
import zlib
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tengen.core.contracts import Opening, Rule, Ruleset
from tengen.errors import RecordError
from tengen.records import json_record, lib, openings, position_string, psq, rif, sgf
from tengen.records.features import Feature, count_features, describe
from tengen.records.game import GameRecord, Mark, MarkKind, Move, Node, Setup, collect
from tengen.records.limits import MAX_FILE_BYTES
from tengen.records.position_string import Rows
from tengen.records.report import ReadReport
from tengen.records.text import as_text, split_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

__all__ = [
    "FORMATS",
    "Format",
    "GameRecord",
    "Losses",
    "Mark",
    "MarkKind",
    "Move",
    "Node",
    "ReadReport",
    "Rows",
    "Setup",
    "format_of",
    "iterate",
    "load",
    "losses",
    "save",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Options:
    """What the caller may say about a file; each format looks at what concerns it."""

    ruleset: Ruleset | None = None
    rows: Rows = "bottom"
    encoding: str | None = None
    report: ReadReport | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """A file format: its name, its endings, how it is read and written and what it holds."""

    name: str
    title: str
    endings: tuple[str, ...] = ()
    read: Callable[[bytes, _Options], Iterable[GameRecord]]
    write: Callable[[Iterable[GameRecord], _Options], bytes] | None = None
    """None: the format is only read."""
    holds: Callable[[GameRecord], frozenset[Feature]] = lambda _: frozenset()
    own_properties: frozenset[str] = frozenset()
    assumed_rule: Rule | None = None
    """The rule that a reader assumes when the format does not state one."""
    games_appended: bool = False
    """Whether a file of several games is the files of the single games one after the other."""
    one_tree: bool = False
    """Whether several games become variations of one."""


def _read_positions(data: bytes, told: _Options) -> Iterator[GameRecord]:
    """`.pos` and `.txt` hold position strings, offsets (openings), or the packed moves of renju programs."""
    if position_string.is_packed(data):
        return iter(position_string.read_packed(data, ruleset=told.ruleset))
    lines = split_lines(as_text(data))
    if openings.is_offsets(data):
        return openings.iterate_offsets(lines, ruleset=told.ruleset)
    return position_string.iterate_lines(lines, ruleset=told.ruleset, rows=told.rows)


FORMATS: dict[str, Format] = {
    entry.name: entry
    for entry in (
        Format(
            name="pos",
            title="position strings",
            endings=(".pos", ".txt"),
            read=_read_positions,
            write=lambda records, told: position_string.write(records, rows=told.rows),
            holds=lambda _: position_string.HOLDS,
            games_appended=True,
        ),
        Format(
            name="offsets",
            title="openings as offsets from the centre",
            read=lambda data, told: openings.iterate_offsets(split_lines(as_text(data)), ruleset=told.ruleset),
            write=lambda records, _: openings.write_offsets(records),
            holds=lambda _: openings.HOLDS,
            assumed_rule=Rule.FREESTYLE,
            games_appended=True,
        ),
        Format(
            name="psq",
            title="Piskvork game",
            endings=(".psq",),
            read=lambda data, told: psq.read(data, ruleset=told.ruleset, encoding=told.encoding),
            write=lambda records, told: psq.write(records, encoding=told.encoding),
            holds=psq.holds,
            own_properties=psq.OWN_PROPERTIES,
            assumed_rule=Rule.FREESTYLE,
        ),
        Format(
            name="sgf",
            title="Smart Game Format",
            endings=(".sgf",),
            read=lambda data, told: sgf.read(data, ruleset=told.ruleset, encoding=told.encoding),
            write=lambda records, _: sgf.write(records),
            holds=lambda _: sgf.HOLDS,
            games_appended=True,
        ),
        Format(
            name="rif",
            title="RenjuNet database",
            endings=(".rif", ".xml"),
            read=lambda data, told: rif.read(data, report=told.report),
        ),
        Format(
            name="lib",
            title="RenLib library",
            endings=(".lib",),
            read=lambda data, told: lib.read(data, ruleset=told.ruleset, encoding=told.encoding, report=told.report),
            write=lambda records, told: lib.write(records, encoding=told.encoding),
            holds=lambda _: lib.HOLDS,
            own_properties=lib.OWN_PROPERTIES,
            assumed_rule=Rule.RENJU,
            one_tree=True,
        ),
        Format(
            name="json",
            title="Tengen's JSON",
            endings=(".json",),
            read=lambda data, told: json_record.read(data, ruleset=told.ruleset),
            write=lambda records, _: json_record.write(records),
            holds=lambda _: json_record.HOLDS,
        ),
        Format(
            name="jsonl",
            title="JSON lines",
            endings=(".jsonl",),
            read=lambda data, told: json_record.iterate_lines(split_lines(as_text(data)), ruleset=told.ruleset),
            write=lambda records, _: json_record.write_lines(records),
            holds=lambda _: json_record.HOLDS,
            games_appended=True,
        ),
    )
}
"""The formats by name."""

_GZIP_MAGIC = b"\x1f\x8b"


def format_of(path: str | os.PathLike[str], name: str | None = None) -> Format:
    """The format with that name, or the one that the file's ending says (`.gz` at the end is looked through)."""
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
        f"{os.fspath(path)}: unknown file ending (known: {known}); or name the format ({', '.join(FORMATS)})"
    )


def load(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,
    ruleset: Ruleset | None = None,
    rows: Rows = "bottom",
    encoding: str | None = None,
    report: ReadReport | None = None,
) -> list[GameRecord]:
    """All games of a file, gzipped or not.

    `ruleset` fills in what the file does not say; `rows` says where row 1 of position strings is; `encoding` is the
    code page of texts; `report` counts what was skipped. Every failure is a `RecordError` with the file and the place.
    """
    return collect(iterate(path, format=format, ruleset=ruleset, rows=rows, encoding=encoding, report=report))


def iterate(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,
    ruleset: Ruleset | None = None,
    rows: Rows = "bottom",
    encoding: str | None = None,
    report: ReadReport | None = None,
) -> Iterator[GameRecord]:
    """The games of a file one by one; options as for `load`. An error comes when the reading gets there."""
    entry = format_of(path, format)
    report = report if report is not None else ReadReport()
    told = _Options(ruleset=ruleset, rows=rows, encoding=encoding, report=report)
    found = False
    try:
        with contextlib.ExitStack() as stack:
            if entry.name == "rif":
                records: Iterable[GameRecord] = rif.read(stack.enter_context(open(path, "rb")), report=report)
            else:
                records = entry.read(_read_file(path), told)
            for record in records:
                found = True
                yield record
    except OSError as error:
        raise RecordError(f"cannot read {os.fspath(path)}: {error.strerror or error}") from None
    except RecordError as error:
        raise RecordError(f"{os.fspath(path)}: {error}") from None
    if not found and report.notes:
        raise RecordError(f"{os.fspath(path)}: no usable game; {report.notes[0]}")


def _read_file(path: str | os.PathLike[str]) -> bytes:
    with open(path, "rb") as file:
        data = file.read(MAX_FILE_BYTES + 1)
    if data.startswith(_GZIP_MAGIC):
        try:
            data = gzip.GzipFile(fileobj=io.BytesIO(data)).read(MAX_FILE_BYTES + 1)
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise RecordError(f"damaged gzip data: {error}") from None
    if len(data) > MAX_FILE_BYTES:
        raise RecordError(f"offset {MAX_FILE_BYTES}: the file is larger than that")
    return data


def save(
    path: str | os.PathLike[str],
    records: Iterable[GameRecord],
    *,
    format: str | None = None,
    rows: Rows = "bottom",
    encoding: str | None = None,
) -> None:
    """Write the games into a file, which appears complete or not at all; an ending `.gz` packs it.

    `records` may be a generator: if it raises, the old file stays as it was.
    """
    entry = format_of(path, format)
    if entry.write is None:
        raise RecordError(f"{os.fspath(path)}: {entry.title} ({entry.name}) can be read but not written")
    target = Path(os.path.realpath(path))
    partial = target.with_name(f".{target.name}.{os.getpid()}-{threading.get_ident()}.part")
    told = _Options(rows=rows, encoding=encoding)
    try:
        with open(partial, "xb") as file:
            packed = (
                gzip.GzipFile(filename="", fileobj=file, mode="wb", mtime=0) if target.name.endswith(".gz") else None
            )
            for chunk in _written(entry, entry.write, records, told):
                (packed or file).write(chunk)
            if packed is not None:
                packed.close()
            file.flush()
            os.fsync(file.fileno())
        os.replace(partial, target)
    except OSError as error:
        raise RecordError(f"cannot write {os.fspath(path)}: {error.strerror or error}") from None
    finally:
        with contextlib.suppress(OSError):
            partial.unlink()


def _written(
    entry: Format,
    write: Callable[[Iterable[GameRecord], _Options], bytes],
    records: Iterable[GameRecord],
    told: _Options,
) -> Iterator[bytes]:
    """The bytes of the file, game by game where the format allows."""
    checked = _checked(records)
    if not entry.games_appended:
        yield write(list(checked), told)
        return
    for number, record in enumerate(checked, start=1):
        try:
            yield write([record], told)
        except RecordError as error:
            raise RecordError(f"game {number}: {error}") from None


def _checked(records: Iterable[GameRecord]) -> Iterator[GameRecord]:
    for number, record in enumerate(records, start=1):
        try:
            record.check()
        except RecordError as error:
            raise RecordError(f"game {number}: {error}") from None
        yield record


class Losses:
    """Counts what a format cannot hold of the records that pass."""

    def __init__(self, format: str) -> None:
        self._format = format_of("", format)
        self._games = 0
        self._lost: Counter[Feature] = Counter()

    def add(self, record: GameRecord) -> None:
        """Count one record."""
        self._games += 1
        found = count_features(record, self._format.own_properties)
        holds = self._format.holds(record)
        if Feature.RULE not in holds and _states_rule(record.ruleset, self._format.assumed_rule):
            found[Feature.RULE] += 1
        for feature in Feature:
            if feature not in holds and found[feature]:
                self._lost[feature] += found[feature]

    def lines(self) -> list[str]:
        """What is lost, such as `["3 comments", "1 variation"]`; empty when nothing is."""
        lost = Counter(self._lost)
        if self._format.one_tree and self._games > 1:
            lost[Feature.GAME] = self._games
        return describe((feature, lost[feature]) for feature in Feature)


def _states_rule(ruleset: Ruleset, assumed: Rule | None) -> bool:
    return ruleset.rule is not assumed or ruleset.win_length != 5 or ruleset.opening is not Opening.FREE


def losses(records: Iterable[GameRecord], format: str) -> list[str]:
    """What the format with that name cannot hold of these records, counted: `["3 comments", "2 variations"]`."""
    counter = Losses(format)
    for record in records:
        counter.add(record)
    return counter.lines()
