"""Storage for games and studies that survives a restart: one SQLite file.

Every change is written before the server answers it, in write-ahead mode, so a killed server loses no move that it
has confirmed. When there are too many entries, the oldest ones are deleted.
"""

from __future__ import annotations

import sqlite3
import time
from pathlib import Path
from typing import Literal, TypeAlias

from tengen.errors import InputError

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


class Store:
    """An open store. Without a path, it is in memory and lost when the process ends."""

    def __init__(self, path: Path | None, max_entries: int = 20_000) -> None:
        """Open or create the file. Raises `InputError` if it is not a store or cannot be written."""
        self._max_entries = max_entries
        if path is not None:
            _make_folder(path.parent)
        try:
            # Only the event loop uses the connection, but it may run in a different thread from the one here.
            self._database = sqlite3.connect(path or ":memory:", isolation_level=None, check_same_thread=False)
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
        except sqlite3.Error as error:
            raise InputError(f"cannot store games in {path}: {error}") from None

    def put(self, kind: Kind, id: str, body: str) -> None:
        """Insert or replace an entry. Once this returns, the entry survives a crash of the process."""
        self._database.execute("INSERT OR REPLACE INTO entries VALUES (?, ?, ?, ?)", (id, kind, time.time(), body))

    def get(self, kind: Kind, id: str) -> str | None:
        """Return the body of an entry, or None if there is no such entry."""
        row = self._database.execute("SELECT body FROM entries WHERE id = ? AND kind = ?", (id, kind)).fetchone()
        return None if row is None else str(row[0])

    def make_room(self, kind: Kind) -> None:
        """Delete the oldest entries of a kind, down to the maximum number."""
        self._database.execute(
            "DELETE FROM entries WHERE kind = ? AND id IN"
            " (SELECT id FROM entries WHERE kind = ? ORDER BY changed_at DESC LIMIT -1 OFFSET ?)",
            (kind, kind, self._max_entries),
        )

    def close(self) -> None:
        """Close the file."""
        self._database.close()


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = "it is not a folder" if isinstance(error, FileExistsError) else error.strerror
        raise InputError(f"cannot store games in {folder}: {reason}") from None
