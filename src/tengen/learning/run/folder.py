"""The folder of a training run, which stays consistent if the process is killed at any moment.

    config.toml      algorithm, preset, seed, commit, and every field of the configuration
    metrics.jsonl    one line per iteration
    events.*         the same numbers for TensorBoard
    checkpoints/     one folder per iteration with tensors (safetensors), arrays (npz), counters (json) and a manifest
                     of checksums; only the newest three are kept
    model.onnx       the newest network, which can play while the run continues; model.safetensors has its weights
    milestones/      networks of chosen iterations
    games/           self-play games as SGF
    lock             locked by the process that writes

All files are replaced atomically except the metrics and events, which are appended to. If a process is killed before
an iteration's checkpoint, that iteration is repeated on resume. The random choices in an iteration depend only on the
seed and the iteration number, so the repetition is identical. If a checkpoint or its positions do not match their
checksums or cannot be restored, the previous checkpoint is used.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from shutil import rmtree
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from tengen.core.checked_files import MAX_ARRAY_BYTES, parse_arrays, parse_json, parse_tensor_header, read_bytes
from tengen.core.files import is_within, remove_partial, replace_file, replace_folder, writing
from tengen.core.locks import wait_for_lock
from tengen.core.provenance import source_commit
from tengen.core.tables import to_table
from tengen.errors import InputError, RunError
from tengen.learning.config import format_toml
from tengen.learning.run.events import EventWriter, can_write_events
from tengen.learning.run.manifest import MANIFEST_FILE, MAX_MANIFEST_BYTES, format_manifest, parse_manifest, sha256
from tengen.learning.run.reading import (
    CHECKPOINTS_FOLDER,
    CONFIG_FILE,
    LOCK_FILE,
    METRICS_FILE,
    REPLAY_FOLDER,
    STATE_FILE,
    RunHeader,
    RunReader,
    is_number,
    numbered_files,
)

if TYPE_CHECKING:
    from torch import Tensor

    Tensors = Mapping[str, Tensor]
    """Tensors by name."""

_EVENTS = "events.*"
_TENSOR_FILES = "tensors"
"""Key in the state file that lists the tensor files of the checkpoint."""
_TENSORS_ENDING = ".safetensors"
_ARRAYS_FILE = "arrays.npz"
_MAX_COUNTER = 1e15
KEPT_CHECKPOINTS = 3
"""Number of most recent checkpoints to keep; if the newest is damaged, an older one is used."""
LIMITS = ("iterations", "minutes", "cpu_minutes")
"""Settings that can be raised when a run is resumed."""


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """State of a run after an iteration."""

    iteration: int
    tensors: Mapping[str, Tensors]
    """Tensors of each file, by file name without the extension."""
    counters: Mapping[str, Any]
    """Content of `state.json`: numbers and strings."""
    arrays: Mapping[str, npt.NDArray[Any]] = field(default_factory=dict)
    """Content of `arrays.npz`."""
    checksums: Mapping[str, str] | None = field(default_factory=dict)
    """sha256 of the files that the checkpoint needs, by their path in the run; None if it has no manifest."""


class MetricsLogger(Protocol):
    """Additional metrics logger, such as Weights & Biases."""

    def log(self, iteration: int, scalars: Mapping[str, float]) -> None:
        """Receive the numbers of one iteration; names of nested tables are joined by slashes."""
        ...


class Run(RunReader):
    """The folder of a run. Use `create` or `open`; hold `lock` while writing."""

    _events: EventWriter | None = None
    _loggers: tuple[MetricsLogger, ...] = ()

    @classmethod
    def create(cls, folder: Path, header: RunHeader, config: Any) -> Run:
        """Create a run in a folder that is empty or does not exist."""
        if (folder / CONFIG_FILE).exists():
            raise InputError(f"{folder} already holds a run: continue it with --resume, or choose another folder")
        if folder.is_dir() and any(folder.iterdir()):
            raise InputError(f"{folder} is neither empty nor a run: choose an empty or new folder")
        table = {"run": to_table(header), "config": to_table(config)}
        with writing_run(folder):
            folder.mkdir(parents=True, exist_ok=True)
        data = format_toml(table).encode("utf-8")
        write_run_file(folder / CONFIG_FILE, data)
        return cls(folder, header, table["config"], sha256(data))

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Lock the run for writing by this process; the operating system releases the lock when the process ends.

        Raises `RunError` if another process has locked it, or if a link leads out of the folder, because resuming
        deletes files.
        """
        path = self.folder / LOCK_FILE
        for part in self.folder.iterdir():
            if not is_within(part, self.folder):
                raise RunError(f"{part} is a link that leads out of the run; replace it with a copy of its target")
        with ExitStack() as closing:
            with writing_run(path):
                file = closing.enter_context(open(path, "a+", encoding="ascii"))
            if not wait_for_lock(file.fileno()):
                raise RunError(f"another process is writing to {self.folder}: wait for it to finish, or stop it")
            with writing_run(self.folder):
                for folder in (self.folder, *(path for path in self.folder.iterdir() if path.is_dir())):
                    remove_partial(folder)
            closing.callback(self._close_events)
            yield

    def is_untouched(self) -> bool:
        """Return whether training has written nothing yet: the folder holds only the configuration and the lock."""
        return {path.name for path in self.folder.iterdir()} <= {CONFIG_FILE, LOCK_FILE}

    # -- metrics ---------------------------------------------------------------------------------------------------

    def add_logger(self, logger: MetricsLogger) -> None:
        """Also pass the numbers of all later iterations to `logger`."""
        self._loggers = (*self._loggers, logger)

    def log(self, iteration: int, metrics: Mapping[str, Any]) -> None:
        """Append a line to the metrics and, if tensorboard is installed, write its numbers for TensorBoard."""
        line = json.dumps({"iteration": iteration, **metrics}, allow_nan=False) + "\n"
        path = self.folder / METRICS_FILE
        with writing_run(path), open(path, "ab", buffering=0) as file:
            file.write(line.encode("utf-8"))
        if can_write_events():
            with writing_run(self.folder / _EVENTS):
                if self._events is None:
                    self._events = EventWriter(self.folder, iteration)
                self._events.add(iteration, dict(_scalars(metrics)))
        for logger in self._loggers:
            logger.log(iteration, dict(_scalars(metrics)))

    def _close_events(self) -> None:
        events, self._events = self._events, None
        if events is not None:
            with writing_run(self.folder / _EVENTS):
                events.close()

    # -- checkpoints -----------------------------------------------------------------------------------------------

    def save_checkpoint(self, checkpoint: Checkpoint) -> None:
        """Write a checkpoint and delete the oldest ones."""
        import safetensors.torch

        arrays: dict[str, Any] = dict(checkpoint.arrays)
        buffer = io.BytesIO()
        np.savez(buffer, **arrays)
        state = {**checkpoint.counters, _TENSOR_FILES: sorted(checkpoint.tensors)}
        files = {
            **{
                f"{name}{_TENSORS_ENDING}": safetensors.torch.save(dict(tensors))
                for name, tensors in checkpoint.tensors.items()
            },
            _ARRAYS_FILE: buffer.getvalue(),
            STATE_FILE: (json.dumps(state, indent=1) + "\n").encode("utf-8"),
        }
        path = self.folder / CHECKPOINTS_FOLDER / f"{checkpoint.iteration:06}"
        own = {_in_run(path / name): sha256(data) for name, data in files.items()}
        files[MANIFEST_FILE] = format_manifest({**(checkpoint.checksums or {}), **own})

        def fill(folder: Path) -> None:
            for name, data in files.items():
                (folder / name).write_bytes(data)

        with writing_run(path):
            replace_folder(path, fill)
        for old in self.checkpoint_folders()[:-KEPT_CHECKPOINTS]:
            rmtree(old, ignore_errors=True)

    def load_checkpoint(
        self,
        say: Callable[[str], None] = lambda _: None,
        counters: Sequence[str] = (),
        restore: Callable[[Checkpoint], None] | None = None,
    ) -> Checkpoint | None:
        """Load the newest intact checkpoint; None if there is no checkpoint yet.

        A checkpoint is damaged if a file does not match its checksum, if it lacks one of the `counters`, or if
        `restore` raises a `RunError` or `InputError`, for example because positions are missing. The previous one is
        then tried, so `restore` must overwrite all state from an earlier attempt. `say` is called with a message about
        damaged checkpoints and about files without checksums. Raises `RunError` if all checkpoints are damaged.
        """
        problems: list[str] = []
        for folder in reversed(self.checkpoint_folders()):
            try:
                checkpoint = _read_checkpoint(folder, counters)
            except (RunError, InputError) as problem:
                problems.append(str(problem))
                continue
            try:
                if restore is not None:
                    restore(checkpoint)
            except (RunError, InputError) as problem:
                problems.append(f"checkpoint {folder} cannot be restored: {problem}")
                continue
            if problems:
                say(f"{'; '.join(problems)}: going back to iteration {checkpoint.iteration}")
            if checkpoint.checksums is None:
                say(f"{folder} has no manifest, so its files and positions were not verified by checksums")
            return checkpoint
        if problems:
            raise RunError(
                f"all checkpoints in {self.folder} are damaged: {'; '.join(problems)}; start another run from its"
                f" newest network with --init-from {self.folder}"
            )
        return None

    def rewind(self, iteration: int) -> None:
        """Delete everything written after an iteration: metrics, games, positions and checkpoints."""
        lines = [line for line in self.metrics() if line["iteration"] <= iteration]
        if lines or (self.folder / METRICS_FILE).exists():
            data = "".join(json.dumps(line) + "\n" for line in lines).encode("utf-8")
            write_run_file(self.folder / METRICS_FILE, data)
        for path in (*numbered_files(self.folder / REPLAY_FOLDER, "npz"), *self.game_files()):
            if int(path.stem) > iteration:
                with writing_run(path):
                    path.unlink()
        # Later checkpoints are damaged. Training would rewrite their missing files one by one. If it were killed in
        # between, a damaged checkpoint could look intact.
        for folder in (*self.checkpoint_folders(), *self.milestone_folders()):
            if int(folder.name) > iteration:
                with writing_run(folder):
                    rmtree(folder)

    # -- limits ----------------------------------------------------------------------------------------------------

    def extend(self, limits: Mapping[str, float]) -> None:
        """Raise limits of the run (`iterations`, `minutes`, `cpu_minutes`) in its configuration.

        Schedules are stretched to the new end. Raises `InputError` for other settings, and for a limit that is not
        above the current one.
        """
        table = {**self.config_table}
        for key, limit in limits.items():
            if key not in LIMITS or key not in table:
                raise InputError(f"{key} cannot be changed in an existing run; only {', '.join(LIMITS)} can be raised")
            if key == "iterations" and limit != int(limit):
                raise InputError(f"iterations must be an integer, not {limit:g}")
            if not table[key] or limit <= table[key]:
                current = f"whose limit is {table[key]:g}" if table[key] else "which has no such limit"
                total = f"; {key} is the total, counted from the start of the run" if table[key] else ""
                raise InputError(f"{key}={limit:g} does not extend {self.folder}, {current}{total}")
            table[key] = int(limit) if key == "iterations" else float(limit)
        with self.lock():
            data = format_toml({"run": to_table(self.header), "config": table}).encode("utf-8")
            write_run_file(self.folder / CONFIG_FILE, data)
        self.config_table, self.config_sha256 = table, sha256(data)


def new_header(algorithm: str, preset: str | None, seed: int) -> RunHeader:
    """Return the header of a run that starts now."""
    from tengen import __version__

    return RunHeader(algorithm=algorithm, preset=preset or "", seed=seed, version=__version__, commit=source_commit())


def iteration_rng(seed: int, iteration: int, purpose: int) -> np.random.Generator:
    """Return the random generator for one purpose in one iteration; the same arguments produce the same numbers."""
    return np.random.default_rng([seed, iteration, purpose])


def writing_run(path: Path) -> AbstractContextManager[None]:
    """Convert an `OSError` raised while writing a file in a run, such as a full disk, to a `RunError`."""
    return writing(path, RunError, "the run is intact up to its last checkpoint; continue it with --resume")


def write_run_file(path: Path, data: bytes) -> None:
    """Replace a file in a run atomically. Raises `RunError` if that fails."""
    with writing_run(path):
        replace_file(path, data)


class CheckpointFiles(NamedTuple):
    """Files of a checkpoint. Checksums are verified, and everything that does not need torch is parsed."""

    counters: dict[str, Any]
    tensors: dict[str, bytes]
    """Content of each tensor file, by file name without the extension."""
    arrays: dict[str, npt.NDArray[Any]]
    checksums: dict[str, str] | None
    """Manifest; None if an earlier version wrote the checkpoint."""


def read_checkpoint_files(folder: Path, needed: Sequence[str] = ()) -> CheckpointFiles:
    """Read and verify the files of a checkpoint.

    Raises `InputError` if a file is damaged or one of the `needed` counters is missing.
    """
    checksums = read_manifest(folder)
    path = folder / STATE_FILE
    counters = parse_json(_read_file(path, checksums), str(path))
    if not isinstance(counters, dict):
        raise InputError(f"{path} is damaged: it is not a table of counters")
    for name in needed:
        value: Any = counters.get(name)
        if not is_number(value) or abs(value) > _MAX_COUNTER:
            raise InputError(f"{path} is damaged: {name} is {value!r:.40}, not a number")
    names = counters.pop(_TENSOR_FILES, None)
    if names is None:  # written by an earlier version
        names = [path.stem for path in sorted(folder.glob(f"*{_TENSORS_ENDING}"))]
    if not isinstance(names, list) or not all(isinstance(name, str) and name == Path(name).name for name in names):
        raise InputError(f"{path} is damaged: {_TENSOR_FILES} is not a list of names")
    tensors = {name: _read_file(folder / f"{name}{_TENSORS_ENDING}", checksums) for name in names}
    for name, data in tensors.items():
        parse_tensor_header(data, str(folder / f"{name}{_TENSORS_ENDING}"))
    path = folder / _ARRAYS_FILE
    return CheckpointFiles(counters, tensors, parse_arrays(_read_file(path, checksums), str(path)), checksums)


def _read_checkpoint(folder: Path, needed: Sequence[str]) -> Checkpoint:
    import safetensors
    import safetensors.torch

    files = read_checkpoint_files(folder, needed)
    tensors: dict[str, Tensors] = {}
    for name, data in files.tensors.items():
        try:
            tensors[name] = safetensors.torch.load(data)
        except (safetensors.SafetensorError, ValueError, KeyError) as error:
            raise InputError(f"{folder / name}{_TENSORS_ENDING} is damaged: {error}") from None
    return Checkpoint(int(folder.name), tensors, files.counters, files.arrays, files.checksums)


def read_manifest(folder: Path) -> dict[str, str] | None:
    """Read the checksums of a checkpoint; None if it was written by an earlier version without manifests."""
    path = folder / MANIFEST_FILE
    if not path.exists():
        return None
    return parse_manifest(read_bytes(path, MAX_MANIFEST_BYTES), str(path))


def check_sha256(data: bytes, path: Path, name: str, checksums: Mapping[str, str]) -> None:
    """Raise `InputError` unless the content of a file matches the checksum under `name`."""
    if name not in checksums:
        raise InputError(f"{path} is not in the manifest")
    if sha256(data) != checksums[name]:
        raise InputError(f"{path} is damaged: its sha256 is {sha256(data)[:12]}…, not {checksums[name][:12]}…")


def _read_file(path: Path, checksums: Mapping[str, str] | None) -> bytes:
    """Read a checkpoint file and verify it."""
    data = read_bytes(path, MAX_ARRAY_BYTES)
    if checksums is not None:
        check_sha256(data, path, _in_run(path), checksums)
    return data


def _in_run(path: Path) -> str:
    """Return the path of a checkpoint's file in its run folder."""
    return f"{CHECKPOINTS_FOLDER}/{path.parent.name}/{path.name}"


def _scalars(metrics: Mapping[str, Any], place: str = "") -> Iterator[tuple[str, float]]:
    for name, value in metrics.items():
        if isinstance(value, Mapping):
            yield from _scalars(value, f"{place}{name}/")
        elif isinstance(value, (int, float)):
            yield f"{place}{name}", float(value)
