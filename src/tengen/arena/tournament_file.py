"""Tournament files: TOML descriptions of a `Tournament` (docs/reference/arena.md)."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path

from tengen.arena.tournament import Tournament
from tengen.core.tables import TableReader, read_toml
from tengen.errors import InputError


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSettings:
    """Settings in a tournament file that do not affect the games: workers and output."""

    database: Path
    """Database for the games (default: the tournament file with the suffix `.db`)."""
    concurrency: int = 1
    """Games played at the same time."""
    affinity: bool = False
    """Pin each worker to its own core."""
    report: Path | None = None
    """Folder for reports, pictures and game files."""

    disk_mb: int | None = None
    """Size of the database in MB at which the tournament stops (default: no limit)."""

    def __post_init__(self) -> None:
        if self.disk_mb is not None and self.disk_mb < 1:
            raise InputError(f"disk_mb must be at least 1, not {self.disk_mb}")
        if self.concurrency < 1:
            raise InputError(f"concurrency must be at least 1, not {self.concurrency}")


def load(path: Path) -> tuple[Tournament, RunSettings]:
    """Read a tournament file and reject unknown keys.

    Paths are relative to the file, except those in agent specifications, which are relative to the current folder.
    """
    table = read_toml(path)
    reader = TableReader(str(path), path.parent)
    run_keys = {one.name for one in dataclasses.fields(RunSettings)}
    run = {"database": path.with_suffix(".db").name, **{key: table.pop(key) for key in run_keys & table.keys()}}
    known = [one.name for kind in (Tournament, RunSettings) for one in dataclasses.fields(kind)]
    return reader.make(Tournament, table, "", known), reader.make(RunSettings, run, "")
