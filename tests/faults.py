"""A disk that fails on demand: the n-th write, fsync, rename or commit of this process raises an error.

    with fail_nth(3, "no space", under=tmp_path) as fault:
        with pytest.raises(RunError):
            train(...)
    assert fault.happened
    ...                                     # the disk works again: restart, and check what was acknowledged

To try every operation of a scenario, count up until nothing fails any more:

    for n in itertools.count(1):
        with fail_nth(n, kind, under=folder) as fault:
            scenario(folder)
        if not fault.happened:
            break

`fail_nth(0, kind)` fails nothing and counts: `fault.operations` lists what the scenario did. With `lasting=True` every
operation from the n-th on fails until the block ends, as on a disk that stays full.

These operations count, in the order in which they happen, if their file is below `under`:

| operation | calls |
|---|---|
| create | `open` and `Path.open` for writing, `os.mkdir` |
| write | each write that reaches the file; a failing one leaves half of its bytes, unless the disk is read-only |
| fsync | `os.fsync`, of any file |
| rename | `os.replace`, `os.rename` |
| commit | each statement of an SQLite connection that changes the file: INSERT, DELETE, CREATE, COMMIT, a script … |

Files and databases must be opened inside the block. The layer replaces functions of the standard library for all
threads of this process, so nothing in the package knows about it. It does not see writes of child processes and of
native libraries that open files themselves; SQLite is covered by its connection class.
"""

from __future__ import annotations

import builtins
import errno
import io
import os
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal
from unittest.mock import patch

Kind = Literal["no space", "io error", "read-only"]
KINDS: tuple[Kind, ...] = ("no space", "io error", "read-only")
_NUMBERS = {"no space": errno.ENOSPC, "io error": errno.EIO, "read-only": errno.EROFS}
_SQLITE_TEXTS = {
    "no space": "database or disk is full",
    "io error": "disk I/O error",
    "read-only": "attempt to write a readonly database",
}
_WRITING_STATEMENTS = ("INSERT", "REPLACE", "UPDATE", "DELETE", "CREATE", "DROP", "COMMIT", "PRAGMA JOURNAL_MODE")


@dataclass
class Fault:
    """The fault of a `fail_nth` block, and what was counted there."""

    n: int
    kind: Kind
    under: Path | None
    lasting: bool
    operations: list[str] = field(default_factory=list)
    """All counted operations, such as `rename model.onnx`."""
    failed: list[str] = field(default_factory=list)
    """The operations that failed."""
    is_armed: bool = True
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def happened(self) -> bool:
        """Whether an operation failed."""
        return bool(self.failed)

    def concerns(self, path: Any) -> bool:
        """Whether operations on this path are counted."""
        if isinstance(path, int):
            return False
        absolute = Path(os.path.abspath(os.fsdecode(path)))
        return self.under is None or absolute.is_relative_to(self.under.absolute())

    def is_due(self, operation: str) -> bool:
        """Count an operation and return whether it must fail."""
        with self._lock:
            if not self.is_armed:
                return False
            self.operations.append(operation)
            count = len(self.operations)
            fails = self.n > 0 and (count >= self.n if self.lasting else count == self.n)
            if fails:
                self.failed.append(operation)
            return fails

    def check(self, operation: str, path: Any) -> None:
        """Count an operation on a file; raise the `OSError` if it must fail."""
        if self.is_due(f"{operation} {_name(path)}"):
            raise self.os_error(path)

    def os_error(self, path: Any) -> OSError:
        """Return the error that the operating system would raise."""
        number = _NUMBERS[self.kind]
        return OSError(number, os.strerror(number), os.fsdecode(path))


@contextmanager
def fail_nth(n: int, kind: Kind, under: Path | None = None, *, lasting: bool = False) -> Iterator[Fault]:
    """Let the n-th operation below the folder `under` fail (default: anywhere); see the module for what counts."""
    fault = Fault(n, kind, under, lasting)
    real_open, real_fsync, real_connect = io.open, os.fsync, sqlite3.connect

    def open_(file: Any, mode: str = "r", buffering: int = -1, *arguments: Any, **options: Any) -> Any:
        if not set(mode) & set("wax+") or not fault.concerns(file) or options.get("opener") or len(arguments) > 3:
            return real_open(file, mode, buffering, *arguments, **options)
        fault.check("create", file)
        return _open_faulty(fault, file, mode, buffering, *arguments, **options)

    def fsync(descriptor: Any) -> None:
        fault.check("fsync", "")
        real_fsync(descriptor)

    def renaming(real: Callable[..., None]) -> Callable[..., None]:
        def rename(source: Any, target: Any, **options: Any) -> None:
            if fault.concerns(target):
                fault.check("rename", target)
            real(source, target, **options)

        return rename

    def making(real: Callable[..., None]) -> Callable[..., None]:
        def mkdir(path: Any, *arguments: Any, **options: Any) -> None:
            if fault.concerns(path) and not os.path.isdir(path):
                fault.check("create", path)
            real(path, *arguments, **options)

        return mkdir

    def connect(database: Any, *arguments: Any, **options: Any) -> sqlite3.Connection:
        text = os.fsdecode(database)
        if text == ":memory:" or not fault.concerns(text.removeprefix("file://").partition("?")[0]):
            return real_connect(database, *arguments, **options)

        class Faulty(_FaultyConnection):
            disk = fault
            name = _name(text)

        return real_connect(database, *arguments, factory=Faulty, **options)

    with (
        patch.object(builtins, "open", open_),
        patch.object(io, "open", open_),
        patch.object(os, "fsync", fsync),
        patch.object(os, "replace", renaming(os.replace)),
        patch.object(os, "rename", renaming(os.rename)),
        patch.object(os, "mkdir", making(os.mkdir)),
        patch.object(sqlite3, "connect", connect),
    ):
        try:
            yield fault
        finally:
            fault.is_armed = False


def _name(path: Any) -> str:
    return Path(os.fsdecode(path)).name


class _FaultyFile(io.FileIO):
    """An unbuffered file whose writes are counted."""

    disk: Fault

    def write(self, data: Any) -> int:
        """Write the data, or half of it and fail."""
        if self.disk.is_due(f"write {_name(self.name)}"):
            if self.disk.kind != "read-only":
                view = memoryview(data).cast("B")
                super().write(view[: len(view) // 2])
            raise self.disk.os_error(self.name)
        return super().write(data)


def _open_faulty(
    fault: Fault,
    file: Any,
    mode: str,
    buffering: int,
    encoding: str | None = None,
    errors: str | None = None,
    newline: str | None = None,
    **options: Any,
) -> Any:
    """Build the same stack of files as `open`, on a file whose writes are counted."""
    is_text = "b" not in mode
    raw = _FaultyFile(file, mode.replace("b", "").replace("t", ""), **options)
    raw.disk = fault
    if buffering == 0:
        return raw
    size = buffering if buffering > 1 else io.DEFAULT_BUFFER_SIZE
    buffered: Any = io.BufferedRandom(raw, size) if "+" in mode else io.BufferedWriter(raw, size)
    if not is_text:
        return buffered
    return io.TextIOWrapper(buffered, encoding, errors, newline, line_buffering=buffering == 1)


class _FaultyConnection(sqlite3.Connection):
    """A connection whose writing statements are counted. A failing one is not executed."""

    disk: Fault
    name: str

    def _check(self, statement: str) -> None:
        words = " ".join(statement.upper().split())
        if words.startswith(_WRITING_STATEMENTS) and self.disk.is_due(f"commit {self.name}: {words[:40]}"):
            raise sqlite3.OperationalError(_SQLITE_TEXTS[self.disk.kind])

    def execute(self, sql: str, *arguments: Any) -> sqlite3.Cursor:
        """Execute a statement, or fail."""
        self._check(sql)
        return super().execute(sql, *arguments)

    def executemany(self, sql: str, *arguments: Any) -> sqlite3.Cursor:
        """Execute a statement for many rows, or fail."""
        self._check(sql)
        return super().executemany(sql, *arguments)

    def executescript(self, sql_script: str) -> sqlite3.Cursor:
        """Execute a script, or fail."""
        self._check("CREATE")
        return super().executescript(sql_script)

    def commit(self) -> None:
        """Commit, or fail."""
        self._check("COMMIT")
        super().commit()
