"""A training run as a folder that survives being killed at any moment.

    config.toml      algorithm, preset, seed, commit, and every field of the configuration
    metrics.jsonl    one line per iteration
    events.*         the same for TensorBoard
    checkpoints/     N/ with tensors (safetensors), arrays (npz) and counters (json) after iteration N; the newest three
    model.onnx       the newest network, playable while the run continues; model.safetensors has its weights
    games/           self-play games as SGF
    lock             locked by the process that writes

All files are replaced atomically except the metrics and events, which are appended to. An iteration that was killed
before its checkpoint is removed and repeated on resume. The random choices of an iteration depend only on the seed and
its number, so the repetition is identical. If a checkpoint or its positions are damaged, the previous one is used.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from shutil import rmtree
from typing import TYPE_CHECKING, Any
from zipfile import BadZipFile

import numpy as np
import numpy.typing as npt

from tengen.core.files import remove_partial, replace_file, replace_folder, writing
from tengen.core.provenance import source_commit
from tengen.core.tables import to_table
from tengen.errors import InputError, RunError
from tengen.learning.config import format_toml
from tengen.learning.run.reading import (
    CHECKPOINTS_FOLDER,
    CONFIG_FILE,
    LOCK_FILE,
    METRICS_FILE,
    REPLAY_FOLDER,
    STATE_FILE,
    RunHeader,
    RunReader,
    numbered_files,
    try_lock,
)

if TYPE_CHECKING:
    from torch import Tensor

    Tensors = Mapping[str, Tensor]
    """Name → tensor."""

_EVENTS = "events.*"
_TENSOR_FILES = "tensors"
"""Key of the state file: names of the tensor files that belong to the checkpoint."""
_ARRAYS_FILE = "arrays.npz"
KEPT_CHECKPOINTS = 3
"""Number of newest checkpoints that are kept. The older ones replace a damaged one."""
_LOCK_ATTEMPTS, _LOCK_RETRY_SECONDS = 20, 0.05


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """State of a run after an iteration."""

    iteration: int
    tensors: Mapping[str, Tensors]
    """File name without its ending → tensors."""
    counters: Mapping[str, Any]
    """Content of `state.json`: numbers and strings."""
    arrays: Mapping[str, npt.NDArray[Any]] = field(default_factory=dict)
    """Content of `arrays.npz`."""


class Run(RunReader):
    """The folder of a run. Use `create` or `open`; hold `lock` while writing."""

    _events: Any = None

    @classmethod
    def create(cls, folder: Path, header: RunHeader, config: Any) -> Run:
        """Start a run in a folder that is empty or does not exist."""
        if (folder / CONFIG_FILE).exists():
            raise InputError(f"{folder} already holds a run: continue it with --resume, or choose another folder")
        if folder.is_dir() and any(folder.iterdir()):
            raise InputError(f"{folder} is neither empty nor a run: choose another folder")
        table = {"run": to_table(header), "config": to_table(config)}
        with writing_run(folder):
            folder.mkdir(parents=True, exist_ok=True)
        write_run_file(folder / CONFIG_FILE, format_toml(table).encode("utf-8"))
        return cls(folder, header, table["config"])

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Become the only writing process; the operating system releases the lock when the process ends."""
        path = self.folder / LOCK_FILE
        with ExitStack() as closing:
            with writing_run(path):
                file = closing.enter_context(open(path, "a+", encoding="ascii"))
            if not _wait_for_lock(file.fileno()):
                raise RunError(f"another process is writing {self.folder}")
            with writing_run(self.folder):
                for folder in (self.folder, *(path for path in self.folder.iterdir() if path.is_dir())):
                    remove_partial(folder)
            closing.callback(self._close_events)
            yield

    def is_untouched(self) -> bool:
        """Whether training has written nothing yet: the folder holds only the configuration and the lock."""
        return {path.name for path in self.folder.iterdir()} <= {CONFIG_FILE, LOCK_FILE}

    # -- metrics ---------------------------------------------------------------------------------------------------

    def log(self, iteration: int, metrics: Mapping[str, Any]) -> None:
        """Append a line to the metrics; write its numbers to TensorBoard too."""
        line = json.dumps({"iteration": iteration, **metrics}, allow_nan=False) + "\n"
        path = self.folder / METRICS_FILE
        with writing_run(path), open(path, "ab", buffering=0) as file:
            file.write(line.encode("utf-8"))
        with writing_run(self.folder / _EVENTS):
            for name, value in _scalars(metrics):
                self._event_writer(iteration).add_scalar(name, value, iteration)

    def _event_writer(self, iteration: int) -> Any:
        if self._events is None:
            from torch.utils.tensorboard import SummaryWriter

            self._events = SummaryWriter(str(self.folder), purge_step=iteration)
        return self._events

    def _close_events(self) -> None:
        events, self._events = self._events, None
        if events is not None:
            with writing_run(self.folder / _EVENTS):
                events.close()

    # -- checkpoints -----------------------------------------------------------------------------------------------

    def save_checkpoint(self, checkpoint: Checkpoint) -> None:
        """Write a checkpoint and delete the oldest ones."""
        import safetensors.torch

        def fill(folder: Path) -> None:
            for name, tensors in checkpoint.tensors.items():
                (folder / f"{name}.safetensors").write_bytes(safetensors.torch.save(dict(tensors)))
            arrays: dict[str, Any] = dict(checkpoint.arrays)
            np.savez(folder / _ARRAYS_FILE, **arrays)
            state = {**checkpoint.counters, _TENSOR_FILES: sorted(checkpoint.tensors)}
            (folder / STATE_FILE).write_text(json.dumps(state, indent=1) + "\n", encoding="utf-8")

        path = self.folder / CHECKPOINTS_FOLDER / f"{checkpoint.iteration:06}"
        with writing_run(path):
            replace_folder(path, fill)
        for old in self.checkpoint_folders()[:-KEPT_CHECKPOINTS]:
            rmtree(old, ignore_errors=True)

    def load_checkpoint(
        self,
        warn: Callable[[str], None] = lambda _: None,
        counters: Sequence[str] = (),
        check: Callable[[Checkpoint], None] | None = None,
    ) -> Checkpoint | None:
        """Load the newest intact checkpoint; None if there is no checkpoint yet.

        A checkpoint is damaged if it lacks one of the `counters` or if `check` raises `RunError`, for example because
        positions are missing. `warn` is called about damaged ones. `RunError` if all of them are damaged.
        """
        problems: list[str] = []
        for folder in reversed(self.checkpoint_folders()):
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
                f"all checkpoints of {self.folder} are damaged: {'; '.join(problems)}; start another run from its"
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
        # Later checkpoints are damaged. Training would rewrite their missing files one by one, and a kill in between
        # could make one of them look intact.
        for folder in self.checkpoint_folders():
            if int(folder.name) > iteration:
                with writing_run(folder):
                    rmtree(folder)


def new_header(algorithm: str, preset: str | None, seed: int) -> RunHeader:
    """Return the header of a run that starts now."""
    from tengen import __version__

    return RunHeader(algorithm=algorithm, preset=preset or "", seed=seed, version=__version__, commit=source_commit())


def iteration_rng(seed: int, iteration: int, purpose: int) -> np.random.Generator:
    """Return the generator for one purpose in one iteration; repeating the iteration gives the same numbers."""
    return np.random.default_rng([seed, iteration, purpose])


def writing_run(path: Path) -> AbstractContextManager[None]:
    """Convert an `OSError` while a file of a run is written, such as a full disk, to a `RunError`."""
    return writing(path, RunError, "the run is intact up to its last checkpoint; continue it with --resume")


def write_run_file(path: Path, data: bytes) -> None:
    """Replace a file of a run atomically; `RunError` if that fails."""
    with writing_run(path):
        replace_file(path, data)


def _read_checkpoint(folder: Path, needed: Sequence[str]) -> Checkpoint:
    """Read a checkpoint; `RunError` names a file that is damaged or lacks a needed counter."""
    import safetensors.torch

    tensors: dict[str, Tensors] = {}
    for path in sorted(folder.glob("*.safetensors")):
        with _reading(path):
            tensors[path.stem] = safetensors.torch.load_file(path)
    with _reading(folder / STATE_FILE):
        counters = json.loads((folder / STATE_FILE).read_text(encoding="utf-8"))
        if not isinstance(counters, dict):
            raise ValueError("not a table of counters")
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


def _scalars(metrics: Mapping[str, Any], place: str = "") -> Iterator[tuple[str, float]]:
    for name, value in metrics.items():
        if isinstance(value, Mapping):
            yield from _scalars(value, f"{place}{name}/")
        elif isinstance(value, (int, float)):
            yield f"{place}{name}", float(value)


def _wait_for_lock(descriptor: int) -> bool:
    """Lock a file exclusively; retry for a second, because readers lock it for a moment to test it."""
    for _ in range(_LOCK_ATTEMPTS):
        if try_lock(descriptor):
            return True
        time.sleep(_LOCK_RETRY_SECONDS)
    return False
