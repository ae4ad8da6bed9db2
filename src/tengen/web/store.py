"""What the server keeps over a restart: games and studies, in one SQLite file.

Written at every change and in write-ahead mode: a server that is killed has every move that was answered. The oldest
entries make room when there are too many.
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
    """The open file; without a path it lives in memory and is gone with the process."""

    def __init__(self, path: Path | None, max_entries: int = 20_000) -> None:
        """Open or make the file. `InputError` when it is something else or cannot be written."""
        self._max_entries = max_entries
        if path is not None:
            _make_folder(path.parent)
        try:
            # Used by the event loop alone, which may run in another thread than the one that opened it.
            self._database = sqlite3.connect(path or ":memory:", isolation_level=None, check_same_thread=False)
            (identity,) = self._database.execute("PRAGMA application_id").fetchone()
            (tables,) = self._database.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()
            (version,) = self._database.execute("PRAGMA user_version").fetchone()
            if tables and (identity, version) != (_APPLICATION_ID, _VERSION):
                raise InputError(f"{path} is a database, but not one of this server and version")
            self._database.execute("PRAGMA journal_mode = WAL")
            self._database.execute("PRAGMA synchronous = NORMAL")
            self._database.executescript(
                f"PRAGMA application_id = {_APPLICATION_ID}; PRAGMA user_version = {_VERSION}; {_SCHEMA}"
            )
        except sqlite3.Error as error:
            raise InputError(f"cannot use {path} to keep games: {error}") from None

    def put(self, kind: Kind, id: str, body: str) -> None:
        """Keep an entry, in place of an earlier one with its id; when this returns it survives the process."""
        self._database.execute("INSERT OR REPLACE INTO entries VALUES (?, ?, ?, ?)", (id, kind, time.time(), body))

    def get(self, kind: Kind, id: str) -> str | None:
        """An entry by its id."""
        row = self._database.execute("SELECT body FROM entries WHERE id = ? AND kind = ?", (id, kind)).fetchone()
        return None if row is None else str(row[0])

    def make_room(self, kind: Kind) -> None:
        """Forget the oldest entries beyond the number that is kept."""
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
        raise InputError(f"cannot keep games in {folder}: {reason}") from None
