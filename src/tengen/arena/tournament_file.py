"""Tournament files: a TOML description read into a `Tournament`, anything unknown in it refused (docs/arena.md)."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path

from tengen.arena.tournament import Tournament
from tengen.core.tables import TableReader, read_toml
from tengen.errors import InputError


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSettings:
    """What a tournament file says beside the tournament: how it is run, and where its results go."""

    database: Path
    """Where the games are kept; the file's own name with `.db` unless told."""
    concurrency: int = 1
    """Games played at the same time."""
    affinity: bool = False
    """Keep each worker on a core of its own."""
    report: Path | None = None
    """A folder for reports, pictures and game files."""

    def __post_init__(self) -> None:
        if self.concurrency < 1:
            raise InputError(f"concurrency={self.concurrency} is below 1")


def load(path: Path) -> tuple[Tournament, RunSettings]:
    """Read a tournament file (docs/arena.md). Unknown keys are refused.

    Paths are relative to the file, but not those in the texts of players.
    """
    table = read_toml(path)
    reader = TableReader(str(path), path.parent)
    run_keys = {one.name for one in dataclasses.fields(RunSettings)}
    run = {"database": path.with_suffix(".db").name, **{key: table.pop(key) for key in run_keys & table.keys()}}
    known = [one.name for kind in (Tournament, RunSettings) for one in dataclasses.fields(kind)]
    return reader.make(Tournament, table, "", known), reader.make(RunSettings, run, "")
