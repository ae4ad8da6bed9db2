"""Persistent storage for games, reviews, puzzles and studies: one SQLite file.

Every change is committed, in write-ahead mode, before the server confirms it, so a killed server loses no confirmed
move. If the disk is full or fails, a change raises `StorageError` and leaves the file unchanged. When there are too
many entries, the oldest ones are deleted.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

from tengen.errors import InputError, StorageError

Kind: TypeAlias = Literal["game", "review", "study", "puzzles"]

_VERSION = 2
_APPLICATION_ID = 0x54574542  # "TWEB"
_SCHEMA = """
CREATE TABLE IF NOT EXISTS entries (
  id TEXT PRIMARY KEY,
  kind TEXT NOT NULL,
  changed_at REAL NOT NULL,
  body TEXT NOT NULL,
  owner TEXT NOT NULL DEFAULT '',
  created_at REAL NOT NULL DEFAULT 0,
  summary TEXT NOT NULL DEFAULT ''
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS by_age ON entries (kind, changed_at);
CREATE INDEX IF NOT EXISTS by_owner ON entries (kind, owner, changed_at);
"""
_FROM_VERSION_1 = """
ALTER TABLE entries ADD COLUMN owner TEXT NOT NULL DEFAULT '';
ALTER TABLE entries ADD COLUMN created_at REAL NOT NULL DEFAULT 0;
ALTER TABLE entries ADD COLUMN summary TEXT NOT NULL DEFAULT '';
UPDATE entries SET created_at = changed_at;
"""

_PUT = """
INSERT INTO entries (id, kind, changed_at, body, owner, created_at, summary) VALUES (?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (id) DO UPDATE SET changed_at = excluded.changed_at, body = excluded.body, summary = excluded.summary
"""
_DELETE_BEYOND = """
DELETE FROM entries WHERE kind = ? AND id IN
  (SELECT id FROM entries WHERE kind = ? ORDER BY changed_at DESC LIMIT -1 OFFSET ?)
"""
# Reviews can be recreated, so they are deleted before studies.
_DELETE_OLDEST_LARGE = """
DELETE FROM entries WHERE id =
  (SELECT id FROM entries WHERE kind IN ('review', 'study') AND id <> ? ORDER BY kind, changed_at LIMIT 1)
"""


@dataclass(frozen=True, slots=True)
class Listed:
    """An entry in a list, without its body."""

    id: str
    owner: str
    created_at: float
    """Seconds since 1970."""
    changed_at: float
    summary: str


_LISTED = "id, owner, created_at, changed_at, summary"


class Store:
    """An open store. Without a path, all entries are kept in memory and lost when the process ends."""

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
        if tables and (identity != _APPLICATION_ID or not 1 <= version <= _VERSION):
            raise InputError(f"{path} is not a game store for this version of Tengen; choose another --data folder")
        self._database.execute("PRAGMA journal_mode = WAL")
        self._database.execute("PRAGMA synchronous = NORMAL")
        migration = _FROM_VERSION_1 if tables and version == 1 else ""
        identify = f"PRAGMA application_id = {_APPLICATION_ID}; PRAGMA user_version = {_VERSION};"
        self._database.executescript(f"BEGIN; {migration} {_SCHEMA} {identify} COMMIT;")

    def put(self, kind: Kind, id: str, body: str, *, is_new: bool = False, owner: str = "", summary: str = "") -> None:
        """Insert or replace an entry. Once this returns, the entry survives a crash of the process.

        A game belongs to a browser, and reviews and puzzles belong to a game; a replaced entry keeps its owner. If a
        new entry exceeds the maximum number, the oldest entry of its kind is deleted. If the maximum size is exceeded,
        the oldest reviews and then the oldest studies are deleted, because these can be large. Raises `StorageError`
        and changes nothing if the disk is full or fails.
        """
        now = time.time()
        with self._transaction(kind):
            self._database.execute(_PUT, (id, kind, now, body, owner, now, summary))
            if is_new:
                self._database.execute(_DELETE_BEYOND, (kind, kind, self._max_entries))
            while self._used_bytes() > self._max_bytes:
                if not self._database.execute(_DELETE_OLDEST_LARGE, (id,)).rowcount:
                    break

    def set_summary(self, kind: Kind, id: str, summary: str) -> None:
        """Replace the summary of an entry without changing its date. Raises `StorageError` if the disk fails."""
        with self._transaction(kind):
            self._database.execute("UPDATE entries SET summary = ? WHERE id = ? AND kind = ?", (summary, id, kind))

    def delete(self, kind: Kind, id: str) -> None:
        """Delete an entry and the reviews and puzzles that belong to it. Raises `StorageError` if the disk fails."""
        with self._transaction(kind):
            self._database.execute("DELETE FROM entries WHERE id = ? AND kind = ?", (id, kind))
            self._database.execute("DELETE FROM entries WHERE owner = ? AND kind IN ('review', 'puzzles')", (id,))

    def _used_bytes(self) -> int:
        pages, free, size = (
            int(self._database.execute(f"PRAGMA {name}").fetchone()[0])
            for name in ("page_count", "freelist_count", "page_size")
        )
        return (pages - free) * size

    def get(self, kind: Kind, id: str) -> str | None:
        """Return the body of an entry, or None if there is no such entry. Raises `StorageError` if the disk fails."""
        rows = self._select(kind, "SELECT body FROM entries WHERE id = ? AND kind = ?", (id, kind))
        return str(rows[0][0]) if rows else None

    def find(self, kind: Kind, id: str) -> Listed | None:
        """Return an entry without its body, or None. Raises `StorageError` if the disk fails."""
        rows = self._select(kind, f"SELECT {_LISTED} FROM entries WHERE id = ? AND kind = ?", (id, kind))
        return Listed(*rows[0]) if rows else None

    def listed(self, kind: Kind, owner: str, limit: int, offset: int = 0) -> list[Listed]:
        """Return the entries of an owner, newest first."""
        rows = self._select(
            kind,
            f"SELECT {_LISTED} FROM entries WHERE kind = ? AND owner = ? ORDER BY changed_at DESC, id LIMIT ? OFFSET ?",
            (kind, owner, limit, offset),
        )
        return [Listed(*row) for row in rows]

    def _select(self, kind: Kind, query: str, values: tuple[str | int, ...]) -> list[Any]:
        try:
            return self._database.execute(query, values).fetchall()
        except sqlite3.Error as error:
            raise StorageError(f"cannot read the {kind}: {error}; check the server's disk and try again") from None

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
