"""Loading and saving game files, whatever their format."""

from __future__ import annotations

import contextlib
import gzip
import os
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, cast

from tengen.core.files import atomic_write
from tengen.errors import RecordError
from tengen.records.formats import Format, Options, format_of
from tengen.records.game import GameRecord, collect
from tengen.records.limits import MAX_FILE_BYTES
from tengen.records.report import ReadReport

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from tengen.core.contracts import Ruleset
    from tengen.records.position_string import Rows

_GZIP_MAGIC = b"\x1f\x8b"


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
    skips_damage: bool = False,
    on_progress: Callable[[float], None] | None = None,
) -> Iterator[GameRecord]:
    """The games of a file one by one; options as for `load`. An error comes when the reading gets there.

    With `skips_damage` a line that cannot be read, in formats of one game a line, is counted in the report instead.
    `on_progress` hears before each game which share of the file has been read.
    """
    entry = format_of(path, format)
    report = report if report is not None else ReadReport()
    options = Options(ruleset=ruleset, rows=rows, encoding=encoding, report=report, skips_damage=skips_damage)
    found = False
    try:
        with open(path, "rb") as packed, _unpack(packed) as file:
            size = max(1, os.fstat(packed.fileno()).st_size)
            for record in entry.stream(file, options) if entry.stream else entry.read(_read_whole(file), options):
                found = True
                if on_progress is not None:
                    on_progress(packed.tell() / size)
                yield record
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise RecordError(f"{os.fspath(path)}: damaged gzip data: {error}") from None
    except OSError as error:
        raise RecordError(f"cannot read {os.fspath(path)}: {error.strerror or error}") from None
    except RecordError as error:
        raise RecordError(f"{os.fspath(path)}: {error}") from None
    if not found and report.notes:
        raise RecordError(f"{os.fspath(path)}: no usable game; {report.notes[0]}")


def _unpack(file: BinaryIO) -> BinaryIO:
    """The file itself, or what is packed in it."""
    is_packed = file.read(len(_GZIP_MAGIC)) == _GZIP_MAGIC
    file.seek(0)
    return cast("BinaryIO", gzip.GzipFile(fileobj=file)) if is_packed else file


def _read_whole(file: BinaryIO) -> bytes:
    data = file.read(MAX_FILE_BYTES + 1)
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
    options = Options(rows=rows, encoding=encoding)
    try:
        with (
            atomic_write(target) as file,
            _packed(file) if target.name.endswith(".gz") else contextlib.nullcontext(file) as out,
        ):
            for chunk in _written(entry, entry.write, records, options):
                out.write(chunk)
    except OSError as error:
        raise RecordError(f"cannot write {os.fspath(path)}: {error.strerror or error}") from None


def _packed(file: BinaryIO) -> gzip.GzipFile:
    """A packer that gives the same bytes every time: no name, no date."""
    return gzip.GzipFile(filename="", fileobj=file, mode="wb", mtime=0)


def _written(
    entry: Format,
    write: Callable[[Iterable[GameRecord], Options], bytes],
    records: Iterable[GameRecord],
    options: Options,
) -> Iterator[bytes]:
    """The bytes of the file, game by game where the format allows."""
    checked = _checked(records)
    if not entry.games_appended:
        yield write(list(checked), options)
        return
    for number, record in enumerate(checked, start=1):
        try:
            yield write([record], options)
        except RecordError as error:
            raise RecordError(f"game {number}: {error}") from None


def _checked(records: Iterable[GameRecord]) -> Iterator[GameRecord]:
    for number, record in enumerate(records, start=1):
        try:
            record.check()
        except RecordError as error:
            raise RecordError(f"game {number}: {error}") from None
        yield record
