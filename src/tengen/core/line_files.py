"""Files of lines that a long task appends to, one line per finished piece of work.

A killed task leaves at most one incomplete line, which is ignored on reading and removed before the next line is
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
    """Yield the number and the bytes of each line, without an incomplete last one. Raises `RecordError`."""
    try:
        with open(path, "rb") as file:
            number = 0
            while line := file.readline(MAX_LINE):
                number += 1
                if not line.endswith(b"\n"):
                    if len(line) == MAX_LINE:
                        raise RecordError(f"{path}: line {number} is longer than {MAX_LINE} characters")
                    return
                yield number, line
    except OSError as error:
        raise RecordError(f"cannot read {path}: {error.strerror or error}") from None


def append_line(path: Path, line: bytes) -> None:
    """Append a line with its end, in one write; creates the file. Raises `InputError`."""
    with writing(path), open(path, "ab", buffering=0) as file:
        file.write(line)


def cut_partial_line(path: Path) -> None:
    """Remove an incomplete last line. Raises `InputError`."""
    with writing(path), open(path, "r+b") as file:
        file.seek(0, os.SEEK_END)
        end = file.tell()
        file.seek(max(0, end - MAX_LINE))
        tail = file.read()
        file.truncate(end - len(tail) + tail.rfind(b"\n") + 1)
