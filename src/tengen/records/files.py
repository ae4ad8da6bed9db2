"""Loading and saving game files in any format."""

from __future__ import annotations

import contextlib
import gzip
import os
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from tengen.core.contracts import Ruleset
from tengen.core.files import atomic_write
from tengen.errors import RecordError
from tengen.records.compression import decompressed
from tengen.records.formats import Format, Options, format_of
from tengen.records.game import GameRecord, collect
from tengen.records.report import ReadReport

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from tengen.records.position_string import Rows


def load(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,
    ruleset: Ruleset | str | None = None,
    rows: Rows = "bottom",
    encoding: str | None = None,
    report: ReadReport | None = None,
) -> list[GameRecord]:
    """Read all games in a file, gzipped or not.

    `ruleset` supplies any rules that the file does not state; `rows` states whether row 1 in position strings is the
    top or the bottom row; `encoding` is the code page of the text; `report` counts skipped games. Every failure raises
    a `RecordError` that names the file and the location.
    """
    return collect(iterate(path, format=format, ruleset=ruleset, rows=rows, encoding=encoding, report=report))


def iterate(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,
    ruleset: Ruleset | str | None = None,
    rows: Rows = "bottom",
    encoding: str | None = None,
    report: ReadReport | None = None,
    skips_damage: bool = False,
    on_progress: Callable[[float], None] | None = None,
) -> Iterator[GameRecord]:
    """Yield the games in a file; the options are those of `load`. An error is raised when the reader reaches it.

    With `skips_damage`, formats with one game per line count unreadable lines in the report instead of raising an
    error. `on_progress` is called before each game with the fraction of the file read so far.
    """
    if os.path.isdir(path):
        raise RecordError(f"{os.fspath(path)} is a folder; pass a game file")
    entry = format_of(path, format)
    report = report if report is not None else ReadReport()
    given = None if ruleset is None else Ruleset.of(ruleset)
    options = Options(ruleset=given, rows=rows, encoding=encoding, report=report, skips_damage=skips_damage)
    found = False
    try:
        with open(path, "rb") as raw, decompressed(raw) as file:
            size = max(1, os.fstat(raw.fileno()).st_size)
            for record in entry.stream(file, options):
                found = True
                if on_progress is not None:
                    on_progress(raw.tell() / size)
                yield record
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise RecordError(f"{os.fspath(path)}: damaged gzip data: {error}") from None
    except OSError as error:
        raise RecordError(f"cannot read {os.fspath(path)}: {error.strerror or error}") from None
    except RecordError as error:
        raise RecordError(f"{os.fspath(path)}: {error}") from None
    if not found and report.notes:
        raise RecordError(f"{os.fspath(path)}: no usable game; {report.notes[0]}")


def save(
    path: str | os.PathLike[str],
    records: GameRecord | Iterable[GameRecord],
    *,
    format: str | None = None,
    rows: Rows = "bottom",
    encoding: str | None = None,
) -> None:
    """Write one or more games to a file atomically, gzipped if the name ends in `.gz`.

    `records` may be a generator; if it raises, an existing file stays unchanged.
    """
    if isinstance(records, GameRecord):
        records = [records]
    entry = format_of(path, format)
    write = entry.writer(path)
    target = Path(os.path.realpath(path))
    options = Options(rows=rows, encoding=encoding)
    try:
        with (
            atomic_write(target) as file,
            _gzip_writer(file) if target.name.endswith(".gz") else contextlib.nullcontext(file) as out,
        ):
            for chunk in _encode(entry, write, records, options):
                out.write(chunk)
    except OSError as error:
        raise RecordError(f"cannot write {os.fspath(path)}: {error.strerror or error}") from None


def _gzip_writer(file: BinaryIO) -> gzip.GzipFile:
    """Return a gzip writer that stores no file name and no date. The same games then always produce the same bytes."""
    return gzip.GzipFile(filename="", fileobj=file, mode="wb", mtime=0)


def _encode(
    entry: Format,
    write: Callable[[Iterable[GameRecord], Options], bytes],
    records: Iterable[GameRecord],
    options: Options,
) -> Iterator[bytes]:
    """Yield the content of the file, game by game if the format allows it."""
    checked = _check_all(records)
    if not entry.games_appended:
        yield write(list(checked), options)
        return
    for number, record in enumerate(checked, start=1):
        try:
            yield write([record], options)
        except RecordError as error:
            raise RecordError(f"game {number}: {error}") from None


def _check_all(records: Iterable[GameRecord]) -> Iterator[GameRecord]:
    for number, record in enumerate(records, start=1):
        try:
            record.check()
        except RecordError as error:
            raise RecordError(f"game {number}: {error}") from None
        yield record
