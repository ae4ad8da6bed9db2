"""Reading a training run: header, configuration, state, metrics, strength curve and games.

`tengen runs`, the web server, the plots, the model cards and the papers all read runs with this module. It writes
nothing, does not hold the lock and does not import torch, so a run can be read while it trains. It opens only regular
files, follows no link out of the run folder, and limits how much it reads.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, BinaryIO, Self, TypeVar

from tengen.agents.registry import network_player
from tengen.core.checked_files import read_bytes
from tengen.core.files import is_within, open_regular
from tengen.core.locks import try_lock
from tengen.core.tables import MAX_TOML_BYTES, parse_toml, read_toml
from tengen.errors import InputError, RunError
from tengen.learning.config import read_config
from tengen.learning.run.manifest import sha256
from tengen.nets.models import MILESTONES_FOLDER

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
_MAX_LINE_BYTES = 1 << 20
_TAIL_BYTES = (1 << 14, 2 * _MAX_LINE_BYTES)
"""Tail sizes, in bytes, to try in turn when searching the metrics file for its last line."""
_MAX_STATE_BYTES = 1 << 20
_MAX_NESTING = 8
_MAX_ITERATION = 10**12
_MAX_DIGITS = 12
"""Maximum number of digits in the iteration number of a file name."""
_MAX_DEPTH = 6
"""Maximum depth below the given folder at which runs are found."""
_PARTS_OF_RUN = frozenset({CHECKPOINTS_FOLDER, GAMES_FOLDER, REPLAY_FOLDER, MILESTONES_FOLDER})


@dataclass(frozen=True, slots=True, kw_only=True)
class RunHeader:
    """Algorithm, seed and version that a run was started with."""

    algorithm: str
    preset: str = ""
    """Preset the run was started with; its settings may have been overridden."""
    seed: int = 0
    version: str = ""
    """Version of Tengen at the start of the run."""
    commit: str = ""
    """Commit of the source tree at the start of the run."""


class RunState(StrEnum):
    """State of a run."""

    RUNNING = "running"
    """A process holds the lock."""
    STOPPED = "stopped"
    """No process holds the lock, and the run is not finished; `--resume` continues it."""
    FINISHED = "finished"
    """A limit was reached, or the algorithm ended the run."""


@dataclass(frozen=True, slots=True)
class Budget:
    """Limits for a run, which ends as soon as one of them is reached."""

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
    """Points per game by opponent, weakest opponent first."""
    seconds: float = 0.0
    """Wall-clock time of the run before the measurement."""
    cpu_seconds: float = 0.0
    """CPU time of the run before the measurement."""
    games: int = 0
    """Games played before the measurement."""
    policy: tuple[float, float] | None = None
    """Rating of the network alone, without a search, and half the width of its interval; None if not measured."""
    opponents: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """Rating of each opponent and half the width of its interval; empty in older runs."""
    games_each: int = 0
    """Games against each opponent; 0 in older runs."""


def strength_curve(metrics: Iterable[Mapping[str, Any]]) -> list[StrengthPoint]:
    """Extract the strength measurements from the metrics of a run; malformed ones are skipped."""
    return [point for line in metrics if (point := strength_point(line)) is not None]


def strength_point(line: Mapping[str, Any]) -> StrengthPoint | None:
    """Return the strength measurement in a line of metrics; None if it is missing or malformed."""
    measured = line.get("strength")
    if not isinstance(measured, Mapping) or not all(is_number(measured.get(key)) for key in ("elo", "error")):
        return None
    scores = measured.get("scores", {})
    return StrengthPoint(
        iteration=line["iteration"],
        elo=measured["elo"],
        error=measured["error"],
        scores={name: score for name, score in scores.items() if is_number(score)} if isinstance(scores, dict) else {},
        seconds=finite(line.get("seconds")),
        cpu_seconds=finite(line.get("cpu_seconds")),
        games=int(finite(line.get("games"))),
        policy=_rating(measured.get("policy")),
        opponents={
            name: rating
            for name, table in _table(measured.get("opponents")).items()
            if (rating := _rating(table)) is not None
        },
        games_each=max(0, int(finite(measured.get("games_each")))),
    )


def _table(value: object) -> Mapping[str, object]:
    return value if isinstance(value, dict) else {}


def _rating(table: object) -> tuple[float, float] | None:
    """Return the rating and the error in a table from the metrics; None if they are missing or malformed."""
    rating = _table(table)
    elo, error = rating.get("elo"), rating.get("error")
    return (finite(elo), finite(error)) if is_number(elo) and is_number(error) else None


def describe_learning(curve: Sequence[StrengthPoint], anchor: str) -> list[str]:
    """Return up to three sentences about what a run has learned; empty if strength was measured less than twice."""
    if len(curve) < 2:
        return []
    first, last = curve[0], curve[-1]
    start = "before training" if first.iteration == 0 else f"after iteration {first.iteration}"
    sentences = [
        (
            f"In {last.seconds / 60:.1f} minutes and {last.games:,} games, the player went from"
            f" {first.elo:+.0f} ±{first.error:.0f} Elo {start} to {last.elo:+.0f} ±{last.error:.0f} ({anchor} is 0)."
        )
    ]
    if first.policy is not None and last.policy is not None:
        sentences.append(
            f"The network alone, without a search, went from {first.policy[0]:+.0f} ±{first.policy[1]:.0f}"
            f" to {last.policy[0]:+.0f} ±{last.policy[1]:.0f}."
        )
    floors = [rating for name, rating in last.opponents.items() if is_uniform(name)]
    if floors:
        elo, error = floors[-1]
        gap = "learning made the difference" if last.elo - last.error > elo + error else "the intervals still overlap"
        sentences.append(f"The same search without a network stays at {elo:+.0f} ±{error:.0f}: {gap}.")
    return sentences


def opponent_label(agent: str) -> str:
    """Return the short name of an opponent on the ladder.

    >>> opponent_label("alphazero:model=uniform,simulations=48"), opponent_label("alphabeta:depth=3,hash-mb=2")
    ('search without network', 'alphabeta:depth=3')
    """
    return "search without network" if is_uniform(agent) else agent.removesuffix(",hash-mb=2")


def is_uniform(agent: str) -> bool:
    """Return whether an agent specification is a search with the uniform network, which has learned nothing."""
    return "model=uniform" in agent


@dataclass(slots=True)
class LeftOut:
    """Parts of the metrics that were skipped."""

    damaged_lines: int = 0
    bytes: int = 0
    """Number of bytes skipped at the beginning of a very long file."""

    def __str__(self) -> str:
        parts = []
        if self.damaged_lines:
            parts.append(f"{self.damaged_lines} damaged line{'s' if self.damaged_lines > 1 else ''} skipped")
        if self.bytes:
            parts.append(f"the first {self.bytes >> 20} MiB skipped")
        return f"{METRICS_FILE}: {', '.join(parts)}" if parts else ""


class RunReader:
    """The folder of a run, read-only. `tengen.learning.run.folder.Run` can also write to it."""

    def __init__(self, folder: Path, header: RunHeader, config_table: Mapping[str, Any], config_sha256: str) -> None:
        """Use `open` instead."""
        self.folder = folder
        self.header = header
        self.config_table = config_table
        self.config_sha256 = config_sha256
        """Checksum of the configuration file from which the header and the table were read."""

    @classmethod
    def open(cls, folder: Path) -> Self:
        """Open an existing run. Raises `InputError` if the folder is not a run."""
        path = folder / CONFIG_FILE
        if not path.is_file():
            raise InputError(f"{folder} is not a run: it has no {CONFIG_FILE}")
        if not is_within(path, folder):
            raise InputError(f"{path} is a link that points outside the run folder; replace it with the file itself")
        data = read_bytes(path, MAX_TOML_BYTES)
        table = parse_toml(data, str(path))
        if not _has_header(table):
            raise InputError(f"{folder} is not a run: its {CONFIG_FILE} has no [run] table with an algorithm")
        header = read_config(RunHeader, table["run"], str(path))
        config = table.get("config", {})
        if not isinstance(config, Mapping):
            raise InputError(f"{path}: config = {config!r} is not a table")
        return cls(folder, header, config, sha256(data))

    def config(self, kind: type[C]) -> C:
        """Return the configuration the run was started with."""
        return read_config(kind, self.config_table, str(self.folder / CONFIG_FILE))

    @property
    def agent(self) -> str:
        """The specification of the agent that plays with the run's newest network."""
        return f'{network_player(self.header.algorithm, "run")}:run="{self.folder}"'

    # -- state -----------------------------------------------------------------------------------------------------

    def state(self) -> RunState:
        """Return the state of the run, which changes as soon as its process ends."""
        if self.is_running():
            return RunState.RUNNING
        return RunState.FINISHED if self.is_finished() else RunState.STOPPED

    def is_running(self) -> bool:
        """Return whether a process holds the lock.

        The test takes a shared lock and releases it immediately. A process that starts writing at that moment retries.
        """
        try:
            with self._open(LOCK_FILE) as file:
                return not try_lock(file.fileno(), shared=True)
        except OSError:
            return False

    @property
    def budget(self) -> Budget:
        """The run's limits."""
        table = self.config_table
        return Budget(
            iterations=max(1, int(finite(table.get("iterations"), 1))),
            minutes=finite(table.get("minutes")),
            cpu_minutes=finite(table.get("cpu_minutes")),
        )

    def is_finished(self) -> bool:
        """Return whether the run ended by itself, according to its newest readable checkpoint."""
        budget = self.budget
        for folder in reversed(self.checkpoint_folders()):
            try:
                with open_regular(folder / STATE_FILE, within=self.folder) as file:
                    counters = json.loads(file.read(_MAX_STATE_BYTES))
                seconds, cpu_seconds = float(counters["seconds"]), float(counters["cpu_seconds"])
            except (OSError, ValueError, KeyError, TypeError, OverflowError, RecursionError):
                continue  # damaged: use the previous checkpoint
            return bool(counters.get("ended")) or budget.fraction_used(int(folder.name), seconds, cpu_seconds) >= 1
        return False

    def updated_at(self) -> float:
        """Return the time of the last update; see the function `updated_at`."""
        return updated_at(self.folder)

    # -- files -----------------------------------------------------------------------------------------------------

    def metrics(self, left_out: LeftOut | None = None) -> Metrics:
        """Return the metrics of all iterations.

        An incomplete last line is ignored. Damaged lines are skipped; `left_out` counts them. Raises `RunError` if the
        file cannot be read at all.
        """
        return list(self._read_metrics(LeftOut() if left_out is None else left_out))

    def readable_metrics(self, left_out: LeftOut | None = None) -> Iterator[dict[str, Any]]:
        """Yield the metrics line by line, for display.

        An incomplete last line is ignored. Damaged lines are skipped, and only the last 64 MiB of a very long file is
        read; `left_out` counts the skipped lines and bytes. Raises `RunError` if the file cannot be read at all.
        """
        return self._read_metrics(LeftOut() if left_out is None else left_out, _MAX_SHOWN_BYTES)

    def _read_metrics(self, left_out: LeftOut, size: int | None = None) -> Iterator[dict[str, Any]]:
        """Yield the readable lines in the last `size` bytes, or in the whole file if `size` is None."""
        with self._open_metrics() as file:
            if file is None:
                return
            left_out.bytes = 0 if size is None else _seek_to_tail(file, size)
            for line in _complete_lines(file):
                try:
                    yield _parse_metrics(line)
                except ValueError:
                    left_out.damaged_lines += 1

    def last_metrics(self, left_out: LeftOut | None = None) -> dict[str, Any] | None:
        """Return the last readable line of the metrics; None if the last 2 MiB contain no such line.

        Only the end of the file is read. `left_out` counts the damaged lines after the one that is returned. Raises
        `RunError` if the file cannot be read.
        """
        left_out = LeftOut() if left_out is None else left_out
        with self._open_metrics() as file:
            if file is None:
                return None
            for size in _TAIL_BYTES:
                left_out.damaged_lines = 0
                rest = _seek_to_tail(file, size)
                for line in reversed(list(_complete_lines(file))):
                    try:
                        return _parse_metrics(line)
                    except ValueError:
                        left_out.damaged_lines += 1
                if not rest:
                    break
        return None

    def _open(self, name: str) -> BinaryIO:
        """Open one of the run's files. Raises `OSError` if it is not a regular file or leads out of the folder."""
        return open_regular(self.folder / name, within=self.folder)

    @contextmanager
    def _open_metrics(self) -> Iterator[BinaryIO | None]:
        """Open the metrics, or yield None before the first line; any `OSError` becomes a `RunError`."""
        try:
            with ExitStack() as closing:
                file = None
                with suppress(FileNotFoundError):
                    file = closing.enter_context(self._open(METRICS_FILE))
                yield file
        except OSError as error:
            raise RunError(f"cannot read {self.folder / METRICS_FILE}: {error.strerror or error}") from None

    def game_files(self) -> list[Path]:
        """Return the SGF files of self-play games, one per iteration, oldest first."""
        return numbered_files(self.folder / GAMES_FOLDER, "sgf")

    def checkpoint_folders(self) -> list[Path]:
        """Return the checkpoints, oldest first."""
        return [path for path in numbered_files(self.folder / CHECKPOINTS_FOLDER) if path.is_dir()]

    def milestone_folders(self) -> list[Path]:
        """Return the networks kept from earlier iterations, oldest first; each folder is named by its iteration."""
        return [path for path in numbered_files(self.folder / MILESTONES_FOLDER) if path.is_dir()]


def find_runs(folder: Path) -> list[RunReader]:
    """Open all runs in and below `folder`, sorted by path. Raises `InputError` if a configuration is damaged.

    Configuration files from other programs are ignored.
    """
    return [RunReader.open(path) for path in find_run_folders(folder)]


def find_run_folders(folder: Path) -> list[Path]:
    """Return the folders of all runs in and below `folder`, sorted by path.

    Hidden folders, symbolic links and folders that cannot be read are ignored.
    """
    return sorted(_walk(folder, _MAX_DEPTH))


def _walk(folder: Path, depth: int) -> Iterator[Path]:
    is_run = looks_like_run(folder / CONFIG_FILE)
    if is_run:
        yield folder
    if not depth:
        return
    inner: list[str] = []
    with suppress(OSError), os.scandir(folder) as entries:
        inner += (entry.name for entry in entries if entry.is_dir(follow_symlinks=False))
    for name in inner:
        if not name.startswith(".") and not (is_run and name in _PARTS_OF_RUN):
            yield from _walk(folder / name, depth - 1)


def updated_at(folder: Path) -> float:
    """Return the time of a run's last finished iteration, or of its start, in seconds since the epoch; 0 if unknown."""
    for name in (METRICS_FILE, CONFIG_FILE):
        with suppress(OSError):
            return (folder / name).stat().st_mtime
    return 0.0


def numbered_files(folder: Path, ending: str = "") -> list[Path]:
    """Return the files in `folder` whose names are iteration numbers, in order; other files are ignored."""
    suffix = f".{ending}" if ending else ""
    return sorted(
        path
        for path in folder.glob(f"*{suffix}")
        if path.suffix == suffix and path.stem.isdecimal() and len(path.stem) <= _MAX_DIGITS
    )


def is_number(value: object) -> bool:
    """Return whether a metrics value is a finite number that fits in a float."""
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:  # an integer with more than 308 digits
        return False


def finite(value: object, default: float = 0.0) -> float:
    """Return `value` as a float, or the default if it is not a finite number."""
    return float(value) if isinstance(value, (int, float)) and is_number(value) else default


def looks_like_run(path: Path) -> bool:
    """Return whether a configuration file belongs to a run.

    An unreadable file counts as part of a run if a metrics file is next to it.
    """
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
    """Parse one line of metrics. Raises `ValueError` if it is damaged."""
    if len(line) > _MAX_LINE_BYTES:
        raise ValueError(f"longer than {_MAX_LINE_BYTES} bytes")
    try:
        table = json.loads(line)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    if not isinstance(table, dict) or not isinstance(table.get("iteration"), int):
        raise ValueError(f"no iteration in {line[:80]!r}")
    if not 0 <= table["iteration"] <= _MAX_ITERATION:
        raise ValueError(f"iteration {table['iteration']} is out of range")
    _check_values(table, _MAX_NESTING)
    return table


def _check_values(value: object, depth: int) -> None:
    """Raise `ValueError` for numbers that are too large or not finite, and for deep nesting."""
    if isinstance(value, (dict, list)):
        if not depth:
            raise ValueError("nested too deeply")
        for part in value.values() if isinstance(value, dict) else value:
            _check_values(part, depth - 1)
    elif isinstance(value, (int, float)) and not isinstance(value, bool) and not is_number(value):
        raise ValueError("a number is NaN, infinite or too large")


def _seek_to_tail(file: BinaryIO, size: int) -> int:
    """Seek to the first line that starts in the last `size` bytes; return the number of bytes before the tail."""
    rest = max(0, file.seek(0, os.SEEK_END) - size)
    file.seek(max(0, rest - 1))
    if rest:
        _skip_line(file)
    return rest


def _complete_lines(file: BinaryIO) -> Iterator[bytes]:
    """Yield the remaining lines without newlines; an incomplete last line is ignored, and long lines are truncated."""
    while line := file.readline(_MAX_LINE_BYTES + 2):
        if line.endswith(b"\n"):
            yield line[:-1]
        elif _skip_line(file):
            yield line


def _skip_line(file: BinaryIO) -> bool:
    """Read to the end of the line; return whether there was a newline."""
    while part := file.readline(_MAX_LINE_BYTES):
        if part.endswith(b"\n"):
            return True
    return False
