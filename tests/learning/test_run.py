"""The folder of a run: creation, lock, metrics, checkpoints, rewinding, full disks."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
import torch

from tengen.errors import InputError, RunError
from tengen.learning.run import Checkpoint, Run, RunHeader, find_runs


@dataclass(frozen=True)
class Config:
    size: int = 3


HEADER = RunHeader(algorithm="test", seed=4)


def make_run(folder: Path) -> Run:
    return Run.create(folder, HEADER, Config(5))


def save(run: Run, iteration: int) -> None:
    tensors = {"weights": {"a": torch.full((2,), float(iteration))}}
    run.save_checkpoint(Checkpoint(iteration, tensors, {"games": 10 * iteration}))


def test_a_run_remembers_what_it_is(tmp_path: Path) -> None:
    make_run(tmp_path / "one")
    run = Run.open(tmp_path / "one")
    assert run.header == HEADER
    assert run.config(Config) == Config(5)
    assert [found.folder.name for found in find_runs(tmp_path)] == ["one"]


def test_a_folder_in_use_is_not_overwritten(tmp_path: Path) -> None:
    make_run(tmp_path / "one")
    with pytest.raises(InputError, match="holds a run already: say --resume"):
        make_run(tmp_path / "one")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "thesis.tex").write_text("")
    with pytest.raises(InputError, match="is not empty and not a run"):
        make_run(tmp_path / "other")
    with pytest.raises(InputError, match=r"is not a run: it has no config\.toml"):
        Run.open(tmp_path / "third")


def test_one_process_writes_and_a_killed_one_frees_the_lock(tmp_path: Path) -> None:
    run = make_run(tmp_path)
    code = (
        "import sys, time; from pathlib import Path; from tengen.learning.run import Run\n"
        f"with Run.open(Path({str(tmp_path)!r})).lock(): print('locked', flush=True); time.sleep(60)"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "locked\n"
        assert run.is_running()
        with pytest.raises(RunError, match="is being written by another process"), run.lock():
            pass
        process.kill()
    assert not run.is_running()
    with run.lock():
        pass


def test_newest_checkpoint_comes_back_and_old_ones_go(tmp_path: Path) -> None:
    run = make_run(tmp_path)
    assert run.load_checkpoint() is None
    for iteration in range(1, 6):
        save(run, iteration)
    found = run.load_checkpoint()
    assert found is not None
    assert (found.iteration, found.counters["games"]) == (5, 50)
    assert found.tensors["weights"]["a"].tolist() == [5.0, 5.0]
    assert len(list((tmp_path / "checkpoints").iterdir())) == 3


def test_rewinding_takes_away_what_came_after_the_checkpoint(tmp_path: Path) -> None:
    run = make_run(tmp_path)
    for folder, ending in (("games", "sgf"), ("replay", "npz")):
        (tmp_path / folder).mkdir()
        for number in (1, 2, 3):
            (tmp_path / folder / f"{number:06}.{ending}").write_text("")
    with run.lock():
        for iteration in (1, 2, 3):
            run.log(iteration, {"seconds": 1.0, "losses": {"policy": 0.5}})
    with open(run.folder / "metrics.jsonl", "a", encoding="ascii") as file:
        file.write('{"iteration": 4, "sec')  # a kill in the middle of a line
    assert [line["iteration"] for line in run.metrics()] == [1, 2, 3]
    run.rewind(2)
    assert [line["iteration"] for line in run.metrics()] == [1, 2]
    assert sorted(path.name for path in tmp_path.glob("*/00000*")) == [
        "000001.npz",
        "000001.sgf",
        "000002.npz",
        "000002.sgf",
    ]


def test_half_written_files_are_never_seen_and_cleared_away(tmp_path: Path) -> None:
    run = make_run(tmp_path)
    save(run, 1)
    (tmp_path / "checkpoints" / ".000002.part").mkdir()
    (tmp_path / "checkpoints" / ".000002.part" / "weights.safetensors").write_bytes(b"half")
    (tmp_path / ".model.onnx.part").write_bytes(b"half")
    found = run.load_checkpoint()
    assert found is not None
    assert found.iteration == 1
    with run.lock():
        assert list(tmp_path.rglob(".*.part")) == []


def test_full_disk_is_a_sentence_and_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = make_run(tmp_path)
    save(run, 1)

    def fsync(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fsync)
    with pytest.raises(RunError, match=r"cannot write .*000002: No space left on device; .* --resume goes on"):
        save(run, 2)
    monkeypatch.undo()
    assert os.path.isdir(tmp_path / "checkpoints" / "000001")
    found = run.load_checkpoint()
    assert found is not None
    assert found.iteration == 1
