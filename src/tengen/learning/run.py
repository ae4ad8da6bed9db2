"""A training run as a folder that survives being killed at any instant.

    config.toml      what is trained: algorithm, preset, seed, commit, and every field of the configuration
    metrics.jsonl    one line an iteration
    events.*         the same for TensorBoard
    checkpoints/     N/ with tensors (safetensors), arrays (npz) and counters (json) after iteration N; the newest few
    model.onnx       the newest network, playable while the run goes on; model.safetensors its weights
    games/           self-play games as SGF
    lock             held by the process that writes

Every file is replaced whole, but for the metrics and events, which grow line by line. Whatever iteration has no
checkpoint is done again after a kill: what it had written is taken away first. Random choices of an iteration depend on
the seed and its number only, so the second try is the same as the first. Instead of a damaged checkpoint, or one whose
positions are damaged, the one before it counts.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from shutil import rmtree
from typing import TYPE_CHECKING, Any, TypeVar
from zipfile import BadZipFile

import numpy as np
import numpy.typing as npt

from tengen.core.provenance import source_commit
from tengen.core.tables import read_toml, to_table
from tengen.errors import InputError, RunError
from tengen.learning.config import format_toml, read_config
from tengen.learning.files import numbered_files, remove_partial, write_file, write_folder, writing

if TYPE_CHECKING:
    from torch import Tensor

    Tensors = Mapping[str, Tensor]
    """Name → tensor."""

C = TypeVar("C")

CONFIG_FILE = "config.toml"
METRICS_FILE = "metrics.jsonl"
_EVENTS = "events.*"
_LOCK_FILE = "lock"
_CHECKPOINTS = "checkpoints"
_STATE_FILE = "state.json"
_TENSOR_FILES = "tensors"
"""In that file, the names of the others that belong to the checkpoint."""
_ARRAYS_FILE = "arrays.npz"
KEPT_CHECKPOINTS = 3
"""The newest ones; the others stand in for one that is damaged."""
_LOCK_TRIES, _SECONDS_BETWEEN_TRIES = 20, 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class RunHeader:
    """Where a run comes from."""

    algorithm: str
    preset: str = ""
    """The preset it began with; settings may have changed it."""
    seed: int = 0
    version: str = ""
    """Of Tengen, when the run began."""
    commit: str = ""
    """Of the source tree, when the run began."""


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The state after an iteration."""

    iteration: int
    tensors: Mapping[str, Tensors]
    """File name without its ending → tensors."""
    counters: Mapping[str, Any]
    """What `state.json` holds: numbers and texts."""
    arrays: Mapping[str, npt.NDArray[Any]] = field(default_factory=dict)
    """What `arrays.npz` holds."""


class Run:
    """The folder of one run. `create` or `open`, then use it under `lock` for writing."""

    def __init__(self, folder: Path, header: RunHeader, config_table: Mapping[str, Any]) -> None:
        """Use `create` or `open` instead."""
        self.folder = folder
        self.header = header
        self.config_table = config_table
        self._events: Any = None

    # -- making and finding ----------------------------------------------------------------------------------------

    @classmethod
    def create(cls, folder: Path, header: RunHeader, config: Any) -> Run:
        """Begin a run in a folder that is empty or not there yet."""
        if (folder / CONFIG_FILE).exists():
            raise InputError(f"{folder} holds a run already: say --resume to go on with it, or name another folder")
        if folder.is_dir() and any(folder.iterdir()):
            raise InputError(f"{folder} is not empty and not a run: name another folder")
        table = {"run": to_table(header), "config": to_table(config)}
        with writing(folder):
            folder.mkdir(parents=True, exist_ok=True)
        write_file(folder / CONFIG_FILE, format_toml(table).encode("utf-8"))
        return cls(folder, header, table["config"])

    @classmethod
    def open(cls, folder: Path) -> Run:
        """A run that exists."""
        path = folder / CONFIG_FILE
        if not path.is_file():
            raise InputError(f"{folder} is not a run: it has no {CONFIG_FILE}")
        table = read_toml(path)
        if not _is_of_run(table):
            raise InputError(f"{folder} is not a run: its {CONFIG_FILE} names no algorithm in a table [run]")
        header = read_config(RunHeader, table["run"], str(path))
        return cls(folder, header, table.get("config", {}))

    def config(self, kind: type[C]) -> C:
        """The configuration it was begun with."""
        return read_config(kind, self.config_table, str(self.folder / CONFIG_FILE))

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Be the one process that writes; the operating system frees the lock when the process dies."""
        path = self.folder / _LOCK_FILE
        with ExitStack() as closing:
            with writing(path):
                file = closing.enter_context(open(path, "a+", encoding="ascii"))
            if not _wait_for_lock(file.fileno()):
                raise RunError(f"{self.folder} is being written by another process")
            with writing(self.folder):
                for folder in (self.folder, *(path for path in self.folder.iterdir() if path.is_dir())):
                    remove_partial(folder)
            closing.callback(self._close_events)
            yield

    def is_untouched(self) -> bool:
        """Whether no work has been done in it: it holds its configuration and the lock only."""
        return {path.name for path in self.folder.iterdir()} <= {CONFIG_FILE, _LOCK_FILE}

    def is_running(self) -> bool:
        """Whether a process writes it now."""
        path = self.folder / _LOCK_FILE
        if not path.exists():
            return False
        with open(path, "rb") as file:
            return not _try_lock(file.fileno(), shared=True)

    # -- metrics ---------------------------------------------------------------------------------------------------

    def log(self, iteration: int, metrics: Mapping[str, Any]) -> None:
        """Append a line to the metrics; numbers go to TensorBoard as well."""
        line = json.dumps({"iteration": iteration, **metrics}, allow_nan=False) + "\n"
        path = self.folder / METRICS_FILE
        with writing(path), open(path, "ab", buffering=0) as file:
            file.write(line.encode("utf-8"))
        with writing(self.folder / _EVENTS):
            for name, value in _scalars(metrics):
                self._writer(iteration).add_scalar(name, value, iteration)

    def metrics(self) -> list[dict[str, Any]]:
        """All lines of the metrics; a last one that was not written to its end is left out.

        `RunError` names a line before it that is damaged.
        """
        path = self.folder / METRICS_FILE
        try:
            data = path.read_bytes()
        except FileNotFoundError:
            return []
        lines = data.split(b"\n")[:-1]
        found: list[dict[str, Any]] = []
        for number, line in enumerate(lines, start=1):
            try:
                found.append(_parse_metrics(line))
            except ValueError as error:
                if number < len(lines):
                    raise RunError(f"{path}, line {number} is damaged: {error}") from None
        return found

    def _writer(self, iteration: int) -> Any:
        if self._events is None:
            from torch.utils.tensorboard import SummaryWriter

            self._events = SummaryWriter(str(self.folder), purge_step=iteration)
        return self._events

    def _close_events(self) -> None:
        events, self._events = self._events, None
        if events is not None:
            with writing(self.folder / _EVENTS):
                events.close()

    # -- checkpoints -----------------------------------------------------------------------------------------------

    def save_checkpoint(self, checkpoint: Checkpoint) -> None:
        """Write a checkpoint and remove the oldest ones."""
        import safetensors.torch

        def fill(folder: Path) -> None:
            for name, tensors in checkpoint.tensors.items():
                (folder / f"{name}.safetensors").write_bytes(safetensors.torch.save(dict(tensors)))
            arrays: dict[str, Any] = dict(checkpoint.arrays)
            np.savez(folder / _ARRAYS_FILE, **arrays)
            state = {**checkpoint.counters, _TENSOR_FILES: sorted(checkpoint.tensors)}
            (folder / _STATE_FILE).write_text(json.dumps(state, indent=1) + "\n", encoding="utf-8")

        write_folder(self.folder / _CHECKPOINTS / f"{checkpoint.iteration:06}", fill)
        for old in self._checkpoint_folders()[:-KEPT_CHECKPOINTS]:
            rmtree(old, ignore_errors=True)

    def load_checkpoint(
        self,
        warn: Callable[[str], None] = lambda _: None,
        counters: Sequence[str] = (),
        check: Callable[[Checkpoint], None] | None = None,
    ) -> Checkpoint | None:
        """The newest checkpoint that is whole, None when there is none yet; `warn` hears of damaged ones.

        One without all of the `counters` is damaged, and so is one for which `check` raises `RunError`, such as for
        files beside it. `RunError` names what is damaged when none of them is whole.
        """
        problems: list[str] = []
        for folder in reversed(self._checkpoint_folders()):
            try:
                checkpoint = _read_checkpoint(folder, counters)
                if check is not None:
                    check(checkpoint)
            except RunError as problem:
                problems.append(str(problem))
                continue
            if problems:
                warn(f"{'; '.join(problems)}: going back to iteration {checkpoint.iteration}")
            return checkpoint
        if problems:
            raise RunError(
                f"no checkpoint of {self.folder} is whole: {'; '.join(problems)}; what it has learned can begin another"
                f" run (--init-from {self.folder})"
            )
        return None

    def rewind(self, iteration: int) -> None:
        """Take away what was written after an iteration: its metrics and numbered files are made again."""
        lines = [line for line in self.metrics() if line["iteration"] <= iteration]
        if lines or (self.folder / METRICS_FILE).exists():
            write_file(self.folder / METRICS_FILE, "".join(json.dumps(line) + "\n" for line in lines).encode("utf-8"))
        for path in (*numbered_files(self.folder / "replay", "npz"), *numbered_files(self.folder / "games", "sgf")):
            if int(path.stem) > iteration:
                with writing(path):
                    path.unlink()
        # Otherwise a stop on the way back here would leave one that is whole again, without what belongs to it.
        for folder in self._checkpoint_folders():
            if int(folder.name) > iteration:
                with writing(folder):
                    rmtree(folder)

    def _checkpoint_folders(self) -> list[Path]:
        return [path for path in numbered_files(self.folder / _CHECKPOINTS) if path.is_dir()]


def new_header(algorithm: str, preset: str | None, seed: int) -> RunHeader:
    """The header of a run that begins now."""
    from tengen import __version__

    return RunHeader(algorithm=algorithm, preset=preset or "", seed=seed, version=__version__, commit=source_commit())


def iteration_rng(seed: int, iteration: int, purpose: int) -> np.random.Generator:
    """The random choices of one purpose in one iteration, the same whenever it is done again."""
    return np.random.default_rng([seed, iteration, purpose])


def find_runs(folder: Path) -> list[Run]:
    """The runs in a folder and below, or the folder itself when it is one; other files of that name are left out."""
    return [Run.open(path.parent) for path in sorted(folder.rglob(CONFIG_FILE)) if _looks_like_run(path)]


def _looks_like_run(path: Path) -> bool:
    """Whether a configuration is that of a run, which what lies beside it says if it cannot be read."""
    try:
        return _is_of_run(read_toml(path))
    except InputError:
        return (path.parent / METRICS_FILE).exists()


def _is_of_run(table: Mapping[str, Any]) -> bool:
    header = table.get("run")
    return isinstance(header, Mapping) and "algorithm" in header


def _read_checkpoint(folder: Path, needed: Sequence[str]) -> Checkpoint:
    """`RunError` names a file that cannot be read, or lacks a needed counter."""
    import safetensors.torch

    tensors: dict[str, Tensors] = {}
    for path in sorted(folder.glob("*.safetensors")):
        with _reading(path):
            tensors[path.stem] = safetensors.torch.load_file(path)
    with _reading(folder / _STATE_FILE):
        counters = json.loads((folder / _STATE_FILE).read_text(encoding="utf-8"))
        if not isinstance(counters, dict):
            raise ValueError("no table of counters")
        if missing := [name for name in needed if name not in counters]:
            raise ValueError(f"without {', '.join(missing)}")
    for name in counters.pop(_TENSOR_FILES, ()):
        if name not in tensors:
            raise RunError(f"{folder / name}.safetensors is missing")
    with _reading(folder / _ARRAYS_FILE), np.load(folder / _ARRAYS_FILE, allow_pickle=False) as arrays:
        return Checkpoint(int(folder.name), tensors, counters, dict(arrays))


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    from safetensors import SafetensorError

    try:
        yield
    except (OSError, EOFError, ValueError, BadZipFile, SafetensorError) as error:
        raise RunError(f"{path} is damaged ({error})") from None


def _parse_metrics(line: bytes) -> dict[str, Any]:
    """`ValueError` when it is no line of metrics."""
    table = json.loads(line)
    if not isinstance(table, dict) or not isinstance(table.get("iteration"), int):
        raise ValueError(f"no iteration in {line[:80]!r}")
    return table


def _scalars(metrics: Mapping[str, Any], place: str = "") -> Iterator[tuple[str, float]]:
    for name, value in metrics.items():
        if isinstance(value, Mapping):
            yield from _scalars(value, f"{place}{name}/")
        elif isinstance(value, (int, float)):
            yield f"{place}{name}", float(value)


def _wait_for_lock(descriptor: int) -> bool:
    """Be the one who writes, after a moment for others who only look whether somebody does."""
    for _ in range(_LOCK_TRIES):
        if _try_lock(descriptor):
            return True
        time.sleep(_SECONDS_BETWEEN_TRIES)
    return False


if sys.platform == "win32":
    import msvcrt

    def _try_lock(descriptor: int, *, shared: bool = False) -> bool:
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True
else:
    import fcntl

    def _try_lock(descriptor: int, *, shared: bool = False) -> bool:
        """Lock a file until it is closed, without waiting; a shared lock tells whether somebody writes."""
        try:
            fcntl.flock(descriptor, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        except OSError:
            return False
        return True
