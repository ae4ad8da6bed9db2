"""Reading a training run: header, configuration, state, metrics, strength curve and games.

Everything that shows a run reads it here: `tengen runs`, the web server, the plots, the model cards and the papers. A
reader writes nothing, does not hold the lock and imports no torch, so a run can be read while it trains.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, Self, TypeVar

from tengen.core.tables import read_toml
from tengen.errors import InputError, RunError
from tengen.learning.config import read_config

C = TypeVar("C")

Metrics = list[dict[str, Any]]
"""One table per finished iteration, in order. Every table has `iteration`."""

CONFIG_FILE = "config.toml"
METRICS_FILE = "metrics.jsonl"
LOCK_FILE = "lock"
STATE_FILE = "state.json"
CHECKPOINTS_FOLDER = "checkpoints"
GAMES_FOLDER = "games"
REPLAY_FOLDER = "replay"

_MAX_SHOWN_BYTES = 64 << 20
_MAX_DEPTH = 6
"""Depth below a folder at which runs are still found."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunHeader:
    """Origin of a run."""

    algorithm: str
    preset: str = ""
    """Preset the run was started with; settings may have changed it."""
    seed: int = 0
    version: str = ""
    """Version of Tengen at the start of the run."""
    commit: str = ""
    """Commit of the source tree at the start of the run."""


class RunState(StrEnum):
    """What a run is doing."""

    RUNNING = "running"
    """A process holds the lock."""
    STOPPED = "stopped"
    """No process holds the lock and work is left; `--resume` continues it."""
    FINISHED = "finished"
    """All iterations are done, or the time is used up."""


@dataclass(frozen=True, slots=True)
class Budget:
    """When a run ends. The limit that is reached first counts."""

    iterations: int
    minutes: float = 0.0
    """Wall-clock time; 0 for no limit."""
    cpu_minutes: float = 0.0
    """CPU time of all threads; 0 for no limit."""

    def fraction_used(self, iterations: int, seconds: float, cpu_seconds: float) -> float:
        """Return the fraction of the run that is done; 1 or more at its end."""
        by_clock = seconds / (60 * self.minutes) if self.minutes else 0.0
        by_cpu = cpu_seconds / (60 * self.cpu_minutes) if self.cpu_minutes else 0.0
        return max(iterations / self.iterations, by_clock, by_cpu)


@dataclass(frozen=True, slots=True, kw_only=True)
class StrengthPoint:
    """One measurement of the strength curve."""

    iteration: int
    elo: float
    """Rating above the anchor."""
    error: float
    """Half the width of the 95 % interval."""
    scores: Mapping[str, float] = field(default_factory=dict)
    """Opponent → points per game, weakest opponent first."""
    seconds: float = 0.0
    """Wall-clock time of the run until the measurement."""
    cpu_seconds: float = 0.0
    """CPU time of the run until the measurement."""
    games: int = 0
    """Games of the run until the measurement."""


def strength_curve(metrics: Sequence[Mapping[str, Any]]) -> list[StrengthPoint]:
    """Extract the strength measurements from the metrics of a run; malformed ones are skipped."""
    points = []
    for line in metrics:
        measured = line.get("strength")
        if isinstance(measured, Mapping) and all(is_number(measured.get(key)) for key in ("elo", "error")):
            points.append(
                StrengthPoint(
                    iteration=line["iteration"],
                    elo=measured["elo"],
                    error=measured["error"],
                    scores=measured.get("scores", {}),
                    seconds=line.get("seconds", 0.0),
                    cpu_seconds=line.get("cpu_seconds", 0.0),
                    games=line.get("games", 0),
                )
            )
    return points


class RunReader:
    """The folder of a run, for reading. `tengen.learning.run.folder.Run` adds writing."""

    def __init__(self, folder: Path, header: RunHeader, config_table: Mapping[str, Any]) -> None:
        """Use `open` instead."""
        self.folder = folder
        self.header = header
        self.config_table = config_table

    @classmethod
    def open(cls, folder: Path) -> Self:
        """Open an existing run; `InputError` if the folder is not one."""
        path = folder / CONFIG_FILE
        if not path.is_file():
            raise InputError(f"{folder} is not a run: it has no {CONFIG_FILE}")
        table = read_toml(path)
        if not _has_header(table):
            raise InputError(f"{folder} is not a run: its {CONFIG_FILE} names no algorithm in a table [run]")
        header = read_config(RunHeader, table["run"], str(path))
        return cls(folder, header, table.get("config", {}))

    def config(self, kind: type[C]) -> C:
        """Return the configuration the run was started with."""
        return read_config(kind, self.config_table, str(self.folder / CONFIG_FILE))

    # -- state -----------------------------------------------------------------------------------------------------

    def state(self) -> RunState:
        """Return whether the run is running, stopped or finished. It changes the moment its process ends."""
        if self.is_running():
            return RunState.RUNNING
        return RunState.FINISHED if self.is_finished() else RunState.STOPPED

    def is_running(self) -> bool:
        """Whether a process holds the lock.

        The test is a shared lock that is released at once. A process that starts writing meanwhile tries again.
        """
        try:
            with open(self.folder / LOCK_FILE, "rb") as file:
                return not try_lock(file.fileno(), shared=True)
        except OSError:
            return False

    def is_finished(self) -> bool:
        """Whether the newest checkpoint is the last one of the run."""
        table = self.config_table
        budget = Budget(
            iterations=max(1, int(_number(table.get("iterations"), 1))),
            minutes=_number(table.get("minutes")),
            cpu_minutes=_number(table.get("cpu_minutes")),
        )
        for folder in reversed(self.checkpoint_folders()):
            try:
                counters = json.loads((folder / STATE_FILE).read_text(encoding="utf-8"))
                seconds, cpu_seconds = float(counters["seconds"]), float(counters["cpu_seconds"])
            except (OSError, ValueError, KeyError, TypeError):
                continue  # damaged; the checkpoint before it counts
            return budget.fraction_used(int(folder.name), seconds, cpu_seconds) >= 1
        return False

    def updated_at(self) -> float:
        """Return the time of the last finished iteration, or of the start of the run, in seconds since the epoch."""
        for name in (METRICS_FILE, CONFIG_FILE):
            path = self.folder / name
            if path.is_file():
                return path.stat().st_mtime
        return 0.0

    # -- files -----------------------------------------------------------------------------------------------------

    def metrics(self) -> Metrics:
        """Return the metrics of all iterations.

        An incomplete last line is ignored. `RunError` names any other damaged line.
        """
        lines = self._metrics_bytes(-1)
        found: Metrics = []
        for number, line in enumerate(lines, start=1):
            try:
                found.append(_parse_metrics(line))
            except ValueError as error:
                if number < len(lines):
                    raise RunError(f"{self.folder / METRICS_FILE}, line {number} is damaged: {error}") from None
        return found

    def readable_metrics(self) -> Metrics:
        """Return the metrics without damaged lines, for display. Only the first 64 MiB of the file are read."""
        found: Metrics = []
        with suppress(OSError):
            for line in self._metrics_bytes(_MAX_SHOWN_BYTES):
                with suppress(ValueError):
                    found.append(_parse_metrics(line))
        return found

    def _metrics_bytes(self, limit: int) -> list[bytes]:
        """Return the complete lines among the first `limit` bytes; -1 for no limit."""
        try:
            with open(self.folder / METRICS_FILE, "rb") as file:
                return file.read(limit).split(b"\n")[:-1]
        except FileNotFoundError:
            return []

    def game_files(self) -> list[Path]:
        """Return the SGF files of self-play games, one per iteration, oldest first."""
        return numbered_files(self.folder / GAMES_FOLDER, "sgf")

    def checkpoint_folders(self) -> list[Path]:
        """Return the checkpoints, oldest first."""
        return [path for path in numbered_files(self.folder / CHECKPOINTS_FOLDER) if path.is_dir()]


def find_runs(folder: Path) -> list[RunReader]:
    """Open the run in `folder` and those below it, sorted by path; `InputError` if the configuration of one is damaged.

    Configuration files of other programs are ignored.
    """
    return [RunReader.open(path) for path in find_run_folders(folder)]


def find_run_folders(folder: Path) -> list[Path]:
    """Return the folders of the run in `folder` and those below it, sorted by path.

    Hidden folders, symbolic links and folders that cannot be read are ignored.
    """
    return sorted(_walk(folder, _MAX_DEPTH))


def _walk(folder: Path, depth: int) -> Iterator[Path]:
    if _looks_like_run(folder / CONFIG_FILE):
        yield folder
    try:
        entries = list(folder.iterdir())
    except OSError:
        return
    for path in entries:
        if depth and path.is_dir() and not path.is_symlink() and not path.name.startswith("."):
            yield from _walk(path, depth - 1)


def numbered_files(folder: Path, ending: str = "") -> list[Path]:
    """Return the files in `folder` that are named by an iteration, in order; other files are ignored."""
    suffix = f".{ending}" if ending else ""
    return sorted(path for path in folder.glob(f"*{suffix}") if path.suffix == suffix and path.stem.isdecimal())


def is_number(value: object) -> bool:
    """Whether a value of the metrics is a finite number."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < float("inf")


def _looks_like_run(path: Path) -> bool:
    """Whether a configuration file belongs to a run; metrics next to it decide if it cannot be read."""
    if not path.is_file():
        return False
    try:
        return _has_header(read_toml(path))
    except InputError:
        return (path.parent / METRICS_FILE).exists()


def _has_header(table: Mapping[str, Any]) -> bool:
    header = table.get("run")
    return isinstance(header, Mapping) and "algorithm" in header


def _parse_metrics(line: bytes) -> dict[str, Any]:
    """Parse one line of metrics; `ValueError` if it is damaged."""
    table = json.loads(line)
    if not isinstance(table, dict) or not isinstance(table.get("iteration"), int):
        raise ValueError(f"no iteration in {line[:80]!r}")
    return table


def _number(value: object, default: float = 0.0) -> float:
    return float(value) if isinstance(value, (int, float)) else default


if sys.platform == "win32":
    import msvcrt

    def try_lock(descriptor: int, *, shared: bool = False) -> bool:
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True
else:
    import fcntl

    def try_lock(descriptor: int, *, shared: bool = False) -> bool:
        """Lock a file until it is closed, without waiting. A shared lock fails only while another process writes."""
        try:
            fcntl.flock(descriptor, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        except OSError:
            return False
        return True
