"""Persistent storage for games and studies: one SQLite file.

Every change is committed, in write-ahead mode, before the server confirms it, so a killed server loses no confirmed
move. If the disk is full or fails, a change raises `StorageError` and leaves the file unchanged. When there are too
many entries, the oldest ones are deleted.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Literal, TypeAlias

from tengen.errors import InputError, StorageError

Kind: TypeAlias = Literal["game", "study"]

_VERSION = 1
_APPLICATION_ID = 0x54574542  # "TWEB"
_SCHEMA = """
CREATE TABLE IF NOT EXISTS entries (
  id TEXT PRIMARY KEY,
  kind TEXT NOT NULL,
  changed_at REAL NOT NULL,
  body TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS by_age ON entries (kind, changed_at);
"""

_DELETE_BEYOND = """
DELETE FROM entries WHERE kind = ? AND id IN
  (SELECT id FROM entries WHERE kind = ? ORDER BY changed_at DESC LIMIT -1 OFFSET ?)
"""
_DELETE_OLDEST_STUDY = """
DELETE FROM entries WHERE id =
  (SELECT id FROM entries WHERE kind = 'study' AND id <> ? ORDER BY changed_at LIMIT 1)
"""


class Store:
    """An open store. Without a path, it lives in memory and is lost when the process ends."""

    def __init__(self, path: Path | None, max_entries: int = 20_000, max_bytes: int = 2 << 30) -> None:
        """Open or create the file. Raises `InputError` if it is not a store or cannot be written.

        `max_entries` limits the number of entries of each kind, and `max_bytes` the total size of all entries.
        """
        self._max_entries = max_entries
        self._max_bytes = max_bytes
        if path is not None:
            _make_folder(path.parent)
        with ExitStack() as closing:
            try:
                # Only the event loop uses the connection, but it may run in a different thread from this one.
                self._database = sqlite3.connect(path or ":memory:", isolation_level=None, check_same_thread=False)
                closing.callback(self._database.close)
                self._prepare(path)
            except sqlite3.Error as error:
                raise InputError(f"cannot store games in {path}: {error}") from None
            closing.pop_all()

    def _prepare(self, path: Path | None) -> None:
        (identity,) = self._database.execute("PRAGMA application_id").fetchone()
        (tables,) = self._database.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()
        (version,) = self._database.execute("PRAGMA user_version").fetchone()
        if tables and (identity, version) != (_APPLICATION_ID, _VERSION):
            raise InputError(f"{path} is not a game store of this version of Tengen; choose another --data folder")
        self._database.execute("PRAGMA journal_mode = WAL")
        self._database.execute("PRAGMA synchronous = NORMAL")
        self._database.executescript(
            f"PRAGMA application_id = {_APPLICATION_ID}; PRAGMA user_version = {_VERSION}; {_SCHEMA}"
        )

    def put(self, kind: Kind, id: str, body: str, *, is_new: bool = False) -> None:
        """Insert or replace an entry. Once this returns, the entry survives a crash of the process.

        If a new entry exceeds the maximum number, the oldest entry of its kind is deleted. If the maximum size is
        exceeded, the oldest studies are deleted, because studies can be large. Raises `StorageError` and changes
        nothing if the disk is full or fails.
        """
        with self._transaction(kind):
            self._database.execute("INSERT OR REPLACE INTO entries VALUES (?, ?, ?, ?)", (id, kind, time.time(), body))
            if is_new:
                self._database.execute(_DELETE_BEYOND, (kind, kind, self._max_entries))
            while self._used_bytes() > self._max_bytes:
                if not self._database.execute(_DELETE_OLDEST_STUDY, (id,)).rowcount:
                    break

    def _used_bytes(self) -> int:
        pages, free, size = (
            int(self._database.execute(f"PRAGMA {name}").fetchone()[0])
            for name in ("page_count", "freelist_count", "page_size")
        )
        return (pages - free) * size

    def get(self, kind: Kind, id: str) -> str | None:
        """Return the body of an entry, or None if there is no such entry. Raises `StorageError` if the disk fails."""
        try:
            row = self._database.execute("SELECT body FROM entries WHERE id = ? AND kind = ?", (id, kind)).fetchone()
        except sqlite3.Error as error:
            raise StorageError(f"cannot read the {kind}: {error}; check the server's disk and try again") from None
        return None if row is None else str(row[0])

    @contextmanager
    def _transaction(self, kind: Kind) -> Iterator[None]:
        try:
            self._database.execute("BEGIN IMMEDIATE")
            yield
            self._database.execute("COMMIT")
        except sqlite3.Error as error:
            if self._database.in_transaction:  # a failed COMMIT may leave the transaction open
                self._database.rollback()
            raise StorageError(f"cannot store the {kind}: {error}; check the server's disk and try again") from None

    def close(self) -> None:
        """Close the file."""
        self._database.close()


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = "it is not a folder" if isinstance(error, FileExistsError) else error.strerror
        raise InputError(f"cannot store games in {folder}: {reason}") from None
