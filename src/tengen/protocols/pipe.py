"""Lines on a pipe: splitting a byte stream into lines of bounded length, and logging them."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import IO, Protocol

from tengen.errors import AgentError

MAX_LINE = 8192
"""Maximum bytes per line; longer lines are truncated. Piskvork's own buffer is about this size."""

_LOGGED_CHARACTERS = 500


class LineSplitter:
    r"""Splits a byte stream into lines that end in LF, CR LF or CR. Memory use is bounded, however long a line is.

    >>> splitter = LineSplitter()
    >>> splitter.feed(b"START 15\r\nINFO ru"), splitter.feed(b"le 4\rEND")
    (['START 15'], ['INFO rule 4'])
    >>> splitter.flush()
    ['END']
    """

    def __init__(self, max_line: int = MAX_LINE) -> None:
        self._max_line = max_line
        self._rest = b""

    def feed(self, data: bytes) -> list[str]:
        """Return the lines that `data` completes, without line endings; empty lines are dropped."""
        pieces = data.replace(b"\r", b"\n").split(b"\n")
        pieces[0] = self._rest + pieces[0]
        self._rest = pieces.pop()[: self._max_line]
        return self._decode(pieces)

    def flush(self) -> list[str]:
        """Return the unfinished last line, if there is one."""
        rest, self._rest = self._rest, b""
        return self._decode([rest])

    def _decode(self, lines: list[bytes]) -> list[str]:
        texts = (line[: self._max_line].decode("utf-8", "replace").strip() for line in lines)
        return [text for text in texts if text]


class TrafficLog(Protocol):
    """Receives every line sent over a pipe, from several threads."""

    def write(self, mark: str, line: str) -> None:
        """Log one line: `->` to the engine, `<-` from it, `!!` from its stderr."""
        ...


class PipeLog:
    """A text file with every line sent over a pipe: `->` to the engine, `<-` from it, `!!` from its stderr."""

    def __init__(self, path: str | Path) -> None:
        try:
            self._file: IO[str] | None = Path(path).open("a", encoding="utf-8", buffering=1)  # noqa: SIM115
        except OSError as error:
            raise AgentError(f"cannot write the pipe log {str(path)!r}: {error.strerror}") from None
        self._lock = threading.Lock()

    def write(self, mark: str, line: str) -> None:
        """Log one line with a timestamp; long lines are shortened. If writing fails, logging stops without an error."""
        now = time.time()
        clock = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(now))
        shown = line if len(line) <= _LOGGED_CHARACTERS else line[:_LOGGED_CHARACTERS] + "…"
        with self._lock:
            if self._file is not None:
                try:
                    self._file.write(f"{clock}.{int(now * 1000) % 1000:03d} {mark} {shown}\n")
                except OSError:
                    self._file = None

    def close(self) -> None:
        """Close the file; later lines are dropped."""
        with self._lock:
            if self._file is not None:
                self._file.close()
                self._file = None
