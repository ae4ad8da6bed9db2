"""A disk that fails during training: the run says so in one line, and resuming it gives the same result."""

from __future__ import annotations

import io
from pathlib import Path
from shutil import copytree

import pytest
from rich.console import Console

from tengen.errors import RunError, TengenError
from tengen.learning.algorithms import alphazero
from tengen.learning.config import load_config
from tengen.learning.run import Run, RunHeader
from tengen.learning.run.folder import Checkpoint
from tengen.learning.run.progress import Progress
from tests.faults import KINDS, Kind, fail_nth
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


class StopError(Exception):
    """Ends a run at a known place."""


def begin(folder: Path) -> Run:
    config = load_config(alphazero.Config, "alphazero", "6x6x4", SETTINGS)
    return Run.create(folder, RunHeader(algorithm="alphazero", seed=1), config)


def go(folder: Path) -> str:
    """Train to the end, from the newest checkpoint; return what was said."""
    shown = io.StringIO()
    alphazero.train(Run.open(folder), Progress(Console(file=shown, width=1000), "test"))
    return shown.getvalue()


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that ended (`whole/run`), and the same one after its first iteration (`half/run`)."""
    folder = tmp_path_factory.mktemp("runs")
    begin(folder / "whole" / "run")
    go(folder / "whole" / "run")
    save = Run.save_checkpoint

    def stop(self: Run, checkpoint: Checkpoint) -> None:
        save(self, checkpoint)
        raise StopError

    begin(folder / "half" / "run")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Run, "save_checkpoint", stop)
        with pytest.raises(StopError):
            go(folder / "half" / "run")
    return folder


def fail_and_resume(folder: Path, whole: Path, n: int, kind: Kind) -> str:
    """Let the n-th operation of an iteration fail, then resume; return the operation."""
    with fail_nth(n, kind, under=folder) as fault:
        try:
            go(folder)
        except TengenError as error:
            assert "\n" not in str(error)
            assert any(word in str(error) for word in ("cannot write", "cannot read")), error
            failed = True
        else:
            failed = False
    assert fault.happened
    # A fault may be harmless only if nothing was lost by it.
    if failed:
        assert not list(folder.glob("*.part"))
        go(folder)
    assert fingerprint(folder) == fingerprint(whole), fault.failed
    assert len(Run.open(folder).checkpoint_folders()) == 2
    return fault.failed[0]


def count_operations(runs: Path, target: Path) -> int:
    copytree(runs / "half" / "run", target)
    with fail_nth(0, "no space", under=target) as fault:
        go(target)
    return len(fault.operations)


def test_after_each_fault_of_an_iteration_the_run_continues_to_the_same_result(runs: Path, tmp_path: Path) -> None:
    operations = count_operations(runs, tmp_path / "count" / "run")
    assert operations > 40
    for n in range(1, operations + 1):
        folder = tmp_path / str(n) / "run"
        copytree(runs / "half" / "run", folder)
        fail_and_resume(folder, runs / "whole" / "run", n, KINDS[n % len(KINDS)])


def test_a_disk_that_stays_full_loses_no_checkpoint(runs: Path, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    copytree(runs / "half" / "run", folder)
    with fail_nth(5, "no space", under=folder, lasting=True), pytest.raises(RunError, match="cannot write"):
        go(folder)
    assert "resuming after iteration 1" in go(folder)
    assert fingerprint(folder) == fingerprint(runs / "whole" / "run")
