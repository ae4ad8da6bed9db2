"""A failing disk during training and tournaments; `python -m tests.endurance faults` fails every operation."""

from __future__ import annotations

from itertools import cycle
from pathlib import Path

import pytest

from tengen.core.files import replace_folder
from tengen.errors import RunError
from tests.endurance import tournament_faults
from tests.endurance.training_faults import Training, go
from tests.faults import KINDS, fail_nth
from tests.learning.run_helpers import fingerprint

STEP = 5


@pytest.fixture(scope="module")
def training(tmp_path_factory: pytest.TempPathFactory) -> Training:
    return Training(tmp_path_factory.mktemp("training"))


def test_after_a_fault_a_resumed_run_ends_like_an_unbroken_one(training: Training) -> None:
    count = len(training.operations())
    assert count > 40
    failed = list(training.fail(range(1, count + 1, STEP), cycle(KINDS)))
    assert len(failed) == len(range(1, count + 1, STEP))


def test_a_disk_that_stays_full_loses_no_checkpoint(training: Training) -> None:
    folder = training.copy("full")
    with fail_nth(5, "no space", under=folder, lasting=True), pytest.raises(RunError, match="cannot write"):
        go(folder)
    assert "resuming after iteration 1" in go(folder)
    assert fingerprint(folder) == training.result


def test_after_a_fault_a_tournament_has_every_game_it_counted(tmp_path: Path) -> None:
    count = len(tournament_faults.count_operations(tmp_path))
    assert count > 12
    failed = list(tournament_faults.fail(tmp_path, range(1, count + 1), cycle(KINDS)))
    assert len(failed) == count


def test_an_old_folder_stays_if_its_replacement_cannot_be_renamed(tmp_path: Path) -> None:
    def fill(folder: Path, text: str) -> None:
        (folder / "file").write_text(text)

    replace_folder(tmp_path / "folder", lambda folder: fill(folder, "old"))
    for n in range(1, 7):
        with fail_nth(n, "io error", under=tmp_path) as fault, pytest.raises(OSError, match="Input/output"):
            replace_folder(tmp_path / "folder", lambda folder: fill(folder, "new"))
        assert fault.happened
        assert (tmp_path / "folder" / "file").read_text() == "old"
    replace_folder(tmp_path / "folder", lambda folder: fill(folder, "new"))
    assert (tmp_path / "folder" / "file").read_text() == "new"
