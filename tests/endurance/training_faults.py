"""A disk that fails during a training iteration."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from pathlib import Path
from shutil import copytree, rmtree
from unittest.mock import patch

from rich.console import Console

from tengen.errors import TengenError
from tengen.learning.algorithms import alphazero
from tengen.learning.config import load_config
from tengen.learning.run import Run, RunHeader
from tengen.learning.run.folder import Checkpoint
from tengen.learning.run.progress import Progress
from tests.faults import Kind, fail_nth
from tests.learning.run_helpers import fingerprint

SETTINGS = [
    "ruleset=4x4:3",
    "minutes=0",
    "net.planes=own-other-last-colour",
    "net.channels=8",
    "net.blocks=1",
    "search.simulations=4",
    "search.vcf_nodes_leaf=0",
    "search.vcf_nodes_root=0",
    "self_play.games=6",
    "self_play.parallel=6",
    "self_play.first_simulations=0",
    "learner.batch=32",
    "learner.reuse=1",
    "strength.every=0",
    "iterations=2",
]


class StoppedError(Exception):
    """Ends a run at a known place."""


def begin(folder: Path) -> Run:
    """Create a run of two iterations, which takes less than a second."""
    config = load_config(alphazero.Config, "alphazero", "6x6x4", SETTINGS)
    return Run.create(folder, RunHeader(algorithm="alphazero", seed=1), config)


def go(folder: Path) -> str:
    """Train to the end, from the newest checkpoint; return what was said."""
    shown = io.StringIO()
    alphazero.train(Run.open(folder), Progress(Console(file=shown, width=1000), "test"))
    return shown.getvalue()


class Training:
    """A run to compare with, and the same run before its second iteration."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        begin(folder / "whole" / "run")
        go(folder / "whole" / "run")
        self.result = fingerprint(folder / "whole" / "run")
        begin(folder / "half" / "run")
        save = Run.save_checkpoint

        def save_and_stop(run: Run, checkpoint: Checkpoint) -> None:
            save(run, checkpoint)
            raise StoppedError

        with patch.object(Run, "save_checkpoint", save_and_stop):
            try:
                go(folder / "half" / "run")
            except StoppedError:
                return
        raise AssertionError("the first iteration wrote no checkpoint")

    def copy(self, name: str, *, whole: bool = False) -> Path:
        """Copy the run before its second iteration, or the one that ended."""
        target = self._folder / name / "run"
        rmtree(target, ignore_errors=True)
        copytree(self._folder / ("whole" if whole else "half") / "run", target)
        return target

    def operations(self) -> list[str]:
        """Return the operations of the second iteration."""
        folder = self.copy("counted")
        with fail_nth(0, "no space", under=folder) as fault:
            go(folder)
        return fault.operations

    def fail(self, numbers: Iterable[int], kinds: Iterable[Kind]) -> Iterator[tuple[str, str]]:
        """Fail operations of the second iteration and resume after each; yield the operation and the message.

        `AssertionError` if a fault is not reported in one line, or if the resumed run ends differently.
        """
        for number, kind in zip(numbers, kinds, strict=False):
            folder = self.copy("faulty")
            message = ""
            with fail_nth(number, kind, under=folder) as fault:
                try:
                    go(folder)
                except TengenError as error:
                    message = str(error)
            assert fault.happened, f"operation {number} did not fail"
            assert message, f"{fault.failed} went unnoticed"
            assert "\n" not in message, message
            assert "cannot " in message, message
            go(folder)
            assert fingerprint(folder) == self.result, f"another result after {fault.failed} failed"
            assert not list(folder.rglob(".*.part"))
            yield fault.failed[0], message
