"""Process that carries out a training run or a tournament for the server and continues if the server stops.

`python -m tengen.web.laboratory.managed FOLDER` carries out the order in FOLDER:

    order.json   what to do, until when, and with how much memory; written by the server
    lock         locked while this process is alive, so that a restarted server can detect it
    stop         written by the server to end the process
    log          output; truncated when it becomes too long
    ended.json   why the process ended; missing after a kill

Nothing depends on process ids, because the system reuses them.
"""

from __future__ import annotations

import _thread
import json
import os
import signal
import sys
import threading
import time
import traceback
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from pathlib import Path
from shutil import disk_usage
from typing import NoReturn

import psutil

from tengen.core.files import replace_file
from tengen.core.locks import try_lock
from tengen.errors import InputError, TengenError

ORDER_FILE, ENDED_FILE, STOP_FILE, LOG_FILE, _LOCK_FILE = "order.json", "ended.json", "stop", "log", "lock"
_WATCH_S = 0.5
_GRACE_S = 20.0
"""Time for a clean exit. After that, the process and its descendants are killed; the work can still be resumed."""
_MAX_LOG_BYTES = 1 << 20
_NICENESS = 10


class Ending(StrEnum):
    """Why a process ended."""

    FINISHED = "finished"
    STOPPED = "stopped"
    TIMED_OUT = "timed-out"
    OUT_OF_MEMORY = "out-of-memory"
    FAILED = "failed"


@dataclass(frozen=True, kw_only=True)
class Order:
    """Description of the work that a process does, and its limits."""

    kind: str
    """`training` or `tournament`."""
    name: str
    """Name of the run or tournament in the laboratory."""
    path: str
    """Folder of the run, or file of the tournament."""
    started_at: float
    """Time at which a person started or resumed the work, in seconds since the epoch."""
    deadline: float
    """Time at which the process ends itself, in seconds since the epoch."""
    memory_mb: int
    """Memory limit for the process and its descendants."""
    output: str = ""
    """Folder in or below which the process writes its results."""
    min_free_mb: int = 0
    """Free space on the disk of `output` below which the process ends."""
    algorithm: str = ""
    preset: str = ""
    settings: list[str] = field(default_factory=list)
    """Settings that override the preset, such as `minutes=5`."""
    seed: int = 0
    config_sha256: str = ""
    """Checksum of the configuration that the server has checked; empty for a new run."""
    extension: dict[str, float] = field(default_factory=dict)
    """New limits for a resumed run."""
    concurrency: int = 1
    """Games played at the same time."""
    restarts: int = 0
    """Number of automatic restarts since a person started or resumed the work."""

    @classmethod
    def read(cls, folder: Path) -> Order:
        """Read the order in a folder. Raises `InputError` if it is damaged."""
        try:
            return cls(**json.loads((folder / ORDER_FILE).read_text("utf-8")))
        except (OSError, ValueError, TypeError, RecursionError) as error:
            raise InputError(f"{folder / ORDER_FILE} is damaged: {error}") from None

    def write(self, folder: Path) -> None:
        """Write the order and remove the files that an earlier process left."""
        folder.mkdir(parents=True, exist_ok=True)
        for name in (STOP_FILE, ENDED_FILE):
            (folder / name).unlink(missing_ok=True)
        replace_file(folder / ORDER_FILE, json.dumps(asdict(self), indent=1).encode("utf-8"))


def is_alive(folder: Path) -> bool:
    """Whether a process is carrying out the order in a folder."""
    try:
        with open(folder / _LOCK_FILE, "rb") as file:
            return not try_lock(file.fileno(), shared=True)
    except OSError:
        return False


def read_ending(folder: Path) -> tuple[Ending, str] | None:
    """Return why the last process ended, with its message; None if it was killed or has not ended."""
    try:
        table = json.loads((folder / ENDED_FILE).read_text("utf-8"))
        return Ending(table["ending"]), str(table["message"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


class _Watcher:
    """Ends the process when it is told to stop, at its deadline, or when memory or disk space runs out."""

    def __init__(self, folder: Path, order: Order) -> None:
        self._folder = folder
        self._order = order
        self.ending: Ending | None = None
        """Why the work is being interrupted; None while it continues."""
        self.message = ""
        """Explanation of the ending."""
        self._is_over = threading.Event()

    def start(self) -> None:
        threading.Thread(target=self._watch, name="watcher", daemon=True).start()

    def finish(self) -> None:
        """Stop watching, because the work has ended."""
        self._is_over.set()

    def raise_if_ending(self) -> None:
        """Raise KeyboardInterrupt if the process must end."""
        if self.ending is not None:
            raise KeyboardInterrupt

    def _watch(self) -> None:
        while not self._is_over.wait(_WATCH_S):
            self.ending = self._due_ending()
            if self.ending is not None:
                break
            self._cut_log()
        else:
            return
        _interrupt_main_thread()
        if not self._is_over.wait(_GRACE_S):
            end(self._folder, self.ending, self.message)
            leave(1)

    def _due_ending(self) -> Ending | None:
        if (self._folder / STOP_FILE).exists():
            return Ending.STOPPED
        if time.time() >= self._order.deadline:
            return Ending.TIMED_OUT
        if _used_memory() > self._order.memory_mb << 20:
            return Ending.OUT_OF_MEMORY
        if self._is_disk_full():
            self.message = f"less than {self._order.min_free_mb} MB of disk space is free; free some, then resume"
            return Ending.FAILED
        return None

    def _is_disk_full(self) -> bool:
        with suppress(OSError):  # if the disk has failed, the work fails too
            return free_bytes(Path(self._order.output)) < self._order.min_free_mb << 20
        return False

    def _cut_log(self) -> None:
        with suppress(OSError):
            if (self._folder / LOG_FILE).stat().st_size > _MAX_LOG_BYTES:
                os.truncate(self._folder / LOG_FILE, 0)


def free_bytes(folder: Path) -> int:
    """Return the free space on the disk of a folder, which may not exist yet."""
    return disk_usage(next(one for one in (folder, *folder.parents) if one.is_dir())).free


def _used_memory() -> int:
    """Return the memory of this process and its descendants in bytes."""
    me = psutil.Process()
    total = 0
    for process in (me, *me.children(recursive=True)):
        with suppress(psutil.Error):
            total += process.memory_info().rss
    return total


def _interrupt_main_thread() -> None:
    if sys.platform == "win32":
        _thread.interrupt_main()
    else:
        os.kill(os.getpid(), signal.SIGINT)  # also ends a blocking system call


def leave(code: int) -> NoReturn:
    """End this process and its descendants, without waiting for threads."""
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):
            process.kill()
    os._exit(code)


def end(folder: Path, ending: Ending, message: str) -> None:
    """Record why the process ended."""
    with suppress(OSError):  # on a full disk, the process counts as killed
        replace_file(folder / ENDED_FILE, json.dumps({"ending": ending, "message": message}).encode("utf-8"))


def carry_out(order: Order, watcher: _Watcher) -> None:
    """Train or play until the work is finished. Raises KeyboardInterrupt if it is interrupted."""
    if order.kind == "training":
        _train(order)
    else:
        _play(order, watcher)


def _train(order: Order) -> None:
    from rich.console import Console

    from tengen.learning.run import Run
    from tengen.learning.run.progress import Progress
    from tengen.learning.training import discard_if_untouched, execute, start_run

    folder = Path(order.path)
    if order.config_sha256:
        run = Run.open(folder)
        if run.config_sha256 != order.config_sha256:  # it may name a program that the server has not checked
            raise InputError(f"the configuration of {folder} has changed since the server checked it; resume it again")
        larger = {key: limit for key, limit in order.extension.items() if limit > run.config_table.get(key, 0)}
        if larger:  # otherwise an earlier process has already extended the run
            run.extend(larger)
    else:
        run = start_run(folder, order.algorithm, order.preset, order.settings, order.seed)
    try:
        with Progress(Console(highlight=False, width=120, markup=False), order.name) as progress:
            execute(run, progress)
    except TengenError as error:
        if not order.config_sha256:
            discard_if_untouched(run, error)  # otherwise the name of the run could not be used again
        raise


def _play(order: Order, watcher: _Watcher) -> None:
    from tengen.arena.store import GameStore
    from tengen.arena.tournament import Progress, play
    from tengen.arena.tournament_file import load

    described, settings = load(Path(order.path))

    def watch(_: Progress) -> None:
        watcher.raise_if_ending()

    with GameStore(settings.database) as store:
        play(described, store, concurrency=order.concurrency, on_result=watch, on_idle=watch)


def main(folder: Path) -> int:
    """Carry out the order in a folder and return the exit code; do nothing if another process is carrying it out."""
    order = Order.read(folder)
    with open(folder / _LOCK_FILE, "ab") as lock:
        if not try_lock(lock.fileno()):
            return 1
        signal.signal(signal.SIGINT, signal.default_int_handler)  # SIGINT is ignored in a background job
        if hasattr(os, "nice"):
            os.nice(_NICENESS)  # people who are playing have priority
        watcher = _Watcher(folder, order)
        watcher.start()
        ending, message = Ending.FINISHED, ""
        try:
            carry_out(order, watcher)
        except KeyboardInterrupt:
            ending, message = watcher.ending or Ending.STOPPED, watcher.message
        except TengenError as error:
            ending, message = Ending.FAILED, str(error).partition("\n")[0]
        except MemoryError:
            ending = Ending.OUT_OF_MEMORY
        except Exception as error:
            ending, message = Ending.FAILED, f"{type(error).__name__}: {error}"
            traceback.print_exc()
        watcher.finish()
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        end(folder, ending, message)
        return 0


def command(folder: Path) -> list[str]:
    """Return the command that carries out the order in a folder. It imports nothing from the current folder (-P)."""
    return [sys.executable, "-P", "-m", "tengen.web.laboratory.managed", str(folder)]


def _argument() -> Path:
    if len(sys.argv) != 2:
        sys.exit("usage: python -m tengen.web.laboratory.managed FOLDER")
    return Path(sys.argv[1])


if __name__ == "__main__":
    leave(main(_argument()))
