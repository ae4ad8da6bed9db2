"""Append-only text files in which a long task writes one line for each completed item.

A killed task leaves at most one incomplete line. Readers ignore this line, and it is removed before the next line is
appended.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from tengen.core.files import writing
from tengen.errors import RecordError

MAX_LINE = 1 << 16
"""Maximum length of a line in bytes."""


def complete_lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Yield the number, from 1, and the bytes of each complete line.

    Raises `RecordError` if the file cannot be read or a line is too long.
    """
    try:
        with open(path, "rb") as file:
            number = 0
            while line := file.readline(MAX_LINE):
                number += 1
                if not line.endswith(b"\n"):
                    if len(line) == MAX_LINE:
                        raise RecordError(f"{path}: line {number} is longer than {MAX_LINE} bytes")
                    return
                yield number, line
    except OSError as error:
        raise RecordError(f"cannot read {path}: {error.strerror or error}") from None


def append_line(path: Path, line: bytes) -> None:
    """Append a line, which includes its newline, in a single write; create the file if necessary.

    Raises `InputError` if the file cannot be written.
    """
    with writing(path), open(path, "ab", buffering=0) as file:
        file.write(line)


def cut_partial_line(path: Path) -> None:
    """Remove an incomplete last line. Raises `InputError` if the file cannot be changed."""
    with writing(path), open(path, "r+b") as file:
        file.seek(0, os.SEEK_END)
        end = file.tell()
        file.seek(max(0, end - MAX_LINE))
        tail = file.read()
        file.truncate(end - len(tail) + tail.rfind(b"\n") + 1)
