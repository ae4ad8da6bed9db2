"""The folder of a run: creation, lock, metrics, checkpoints, rewinding, full disks."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pytest
import torch
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from tengen.core.locks import try_lock
from tengen.errors import InputError, RunError
from tengen.learning.run import Checkpoint, Run, RunHeader, find_runs
from tengen.learning.run.reading import LeftOut


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


@pytest.mark.parametrize("name", ["milestones", "replay", "games", "checkpoints"])
def test_a_link_out_of_the_run_is_refused_before_anything_is_deleted(tmp_path: Path, name: str) -> None:
    run = make_run(tmp_path / "run")
    outside = tmp_path / "outside"
    (outside / "000007").mkdir(parents=True)
    (outside / "7.npz").touch()
    (tmp_path / "run" / name).symlink_to(outside)
    with pytest.raises(RunError, match=f"{name} is a link that leads out of the run"), run.lock():
        run.rewind(0)
    assert sorted(path.name for path in outside.iterdir()) == ["000007", "7.npz"]


def test_folders_of_other_programs_are_refused(tmp_path: Path) -> None:
    make_run(tmp_path / "one")
    for name, text in (("tool", "[tool]"), ("number", "run = 3"), ("header", "[run]\nname = 'x'"), ("text", "no TOML")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "config.toml").write_text(text)
        with pytest.raises(InputError, match=rf"{name} is not a run: its config\.toml has no|{name}.config\.toml: "):
            Run.open(tmp_path / name)
    assert [found.folder.name for found in find_runs(tmp_path)] == ["one"]
    (tmp_path / "text" / "metrics.jsonl").touch()
    with pytest.raises(InputError, match=r"text.config\.toml"):
        find_runs(tmp_path)


def test_a_folder_in_use_is_not_overwritten(tmp_path: Path) -> None:
    make_run(tmp_path / "one")
    with pytest.raises(InputError, match="already holds a run: continue it with --resume"):
        make_run(tmp_path / "one")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "thesis.tex").write_text("")
    with pytest.raises(InputError, match="is neither empty nor a run"):
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
        with pytest.raises(RunError, match="another process is writing"), run.lock():
            pass
        process.kill()
    assert not run.is_running()
    with run.lock():
        pass


def test_checking_the_lock_does_not_disturb_the_writer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = make_run(tmp_path)
    with run.lock():
        pass
    with open(tmp_path / "lock", "rb") as looking:
        assert try_lock(looking.fileno(), shared=True)
        assert not run.is_running()
        monkeypatch.setattr(time, "sleep", lambda _: looking.close())
        with run.lock():
            assert looking.closed


def test_an_error_of_the_work_under_the_lock_is_not_one_of_the_lock(tmp_path: Path) -> None:
    run = make_run(tmp_path)
    with pytest.raises(FileNotFoundError, match=r"data\.npz"), run.lock():
        raise FileNotFoundError("data.npz")
    assert not run.is_running()


def test_events_that_cannot_be_written_give_an_error_message(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def add(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("tengen.learning.run.folder.EventWriter.add", add)
    run = make_run(tmp_path)
    message = r"cannot write .*[\\/]events\.\*: No space left on device; .* --resume"
    with pytest.raises(RunError, match=message), run.lock():
        run.log(1, {"seconds": 1.0})


def test_tensorboard_reads_the_metrics_of_a_run_and_of_its_resumption(tmp_path: Path) -> None:
    run = make_run(tmp_path)
    for iteration in (*range(1, 13), 12):  # killed after the last iteration was logged, and resumed
        with run.lock():
            run.log(iteration, {"seconds": float(iteration), "losses": {"policy": 0.5}})
    read = EventAccumulator(str(tmp_path))
    read.Reload()
    assert sorted(read.Tags()["scalars"]) == ["losses/policy", "seconds"]
    assert [(event.step, event.value) for event in read.Scalars("seconds")] == [
        (iteration, float(iteration)) for iteration in range(1, 13)
    ]


def test_a_run_without_tensorboard_has_its_metrics(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    find_spec = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "tensorboard" else find_spec(name))
    run = make_run(tmp_path)
    with run.lock():
        run.log(1, {"seconds": 1.0})
    assert (tmp_path / "metrics.jsonl").read_text(encoding="utf-8") == '{"iteration": 1, "seconds": 1.0}\n'
    assert not list(tmp_path.glob("events*"))


def test_a_run_is_untouched_until_work_is_done_in_it(tmp_path: Path) -> None:
    run = make_run(tmp_path)
    with run.lock():
        assert run.is_untouched()
        (tmp_path / "replay").mkdir()
    assert not run.is_untouched()


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


@pytest.mark.parametrize("name", ["weights.safetensors", "state.json", "arrays.npz"])
@pytest.mark.parametrize("kept", [0.0, 0.5])
def test_a_damaged_checkpoint_is_passed_over_for_the_one_before_it(tmp_path: Path, name: str, kept: float) -> None:
    def cut(iteration: int) -> Path:
        path = tmp_path / "checkpoints" / f"{iteration:06}" / name
        data = path.read_bytes()
        path.write_bytes(data[: int(kept * len(data))])
        return path

    run = make_run(tmp_path)
    for iteration in (1, 2, 3):
        save(run, iteration)
    heard: list[str] = []
    for left in (2, 1):
        path = cut(left + 1)
        found = run.load_checkpoint(heard.append)
        assert found is not None
        assert found.iteration == found.tensors["weights"]["a"][0] == left
        assert str(path) in heard[-1]
        assert heard[-1].endswith(f"going back to iteration {left}")
    cut(1)
    with pytest.raises(
        RunError, match=rf"all checkpoints in .* are damaged: .*000003.{name} is damaged.*000001.{name}"
    ):
        run.load_checkpoint(heard.append)


def test_a_checkpoint_without_one_of_its_tensor_files_is_passed_over(tmp_path: Path) -> None:
    run = make_run(tmp_path)
    for iteration in (1, 2):
        save(run, iteration)
    path = tmp_path / "checkpoints" / "000002" / "weights.safetensors"
    path.unlink()
    heard: list[str] = []
    found = run.load_checkpoint(heard.append)
    assert found is not None
    assert found.iteration == 1
    assert heard == [f"{path} is missing: going back to iteration 1"]


@pytest.mark.parametrize("state", ["{}", "[]", "3", '{"game": 30}'])
def test_a_checkpoint_without_its_counters_is_damaged(tmp_path: Path, state: str) -> None:
    run = make_run(tmp_path)
    for iteration in (1, 2, 3):
        save(run, iteration)
    path = tmp_path / "checkpoints" / "000003" / "state.json"
    path.write_text(state)
    heard: list[str] = []
    found = run.load_checkpoint(heard.append, ["games"])
    assert found is not None
    assert found.iteration == 2
    assert heard[0].startswith(f"{path} is damaged: its sha256 is ")
    (path.parent / "manifest").unlink()
    found = run.load_checkpoint(heard.append, ["games"])
    assert found is not None
    assert found.iteration == 2
    assert heard[1].startswith(f"{path} is damaged: {'it is not' if state in '[]3' else 'games is None, not a number'}")


def test_a_checkpoint_that_does_not_pass_the_check_is_damaged(tmp_path: Path) -> None:
    def check(checkpoint: Checkpoint) -> None:
        if checkpoint.iteration > 1:
            raise RunError(f"no positions of {checkpoint.iteration}")

    run = make_run(tmp_path)
    for iteration in (1, 2, 3):
        save(run, iteration)
    heard: list[str] = []
    found = run.load_checkpoint(heard.append, restore=check)
    assert found is not None
    assert found.iteration == 1
    parts = (
        f"checkpoint {tmp_path / 'checkpoints' / f'{number:06}'} cannot be restored: no positions of {number}"
        for number in (3, 2)
    )
    assert heard == [f"{'; '.join(parts)}: going back to iteration 1"]


def test_a_damaged_line_of_metrics_is_skipped_and_counted(tmp_path: Path) -> None:
    run = make_run(tmp_path)
    with run.lock():
        for iteration in (1, 2):
            run.log(iteration, {"seconds": 1.0})
    path = tmp_path / "metrics.jsonl"
    lines = path.read_bytes()
    for garbage in (b"\0\0\0", b"\xff", b"{", b"3", b'{"seconds": 1}', b"[" * 100_000, b"1" * 5000):
        for content in (lines + garbage + b"\n", garbage + b"\n" + lines):
            path.write_bytes(content)
            left_out = LeftOut()
            assert [line["iteration"] for line in run.metrics(left_out)] == [1, 2]
            assert left_out.damaged_lines == 1


def test_rewinding_takes_away_what_came_after_the_checkpoint(tmp_path: Path) -> None:
    run = make_run(tmp_path)
    for folder, ending in (("games", "sgf"), ("replay", "npz")):
        (tmp_path / folder).mkdir()
        for number in (1, 2, 3):
            (tmp_path / folder / f"{number:06}.{ending}").write_text("")
        (tmp_path / folder / f"best.{ending}").write_text("")  # not written by the run
    for iteration in (1, 2, 3):
        save(run, iteration)
    with run.lock():
        for iteration in (1, 2, 3):
            run.log(iteration, {"seconds": 1.0, "losses": {"policy": 0.5}})
    with open(run.folder / "metrics.jsonl", "a", encoding="ascii") as file:
        file.write('{"iteration": 4, "sec')  # killed in the middle of a line
    assert [line["iteration"] for line in run.metrics()] == [1, 2, 3]
    run.rewind(2)
    assert [line["iteration"] for line in run.metrics()] == [1, 2]
    assert sorted(path.name for path in tmp_path.glob("*/*") if path.parent.name != "checkpoints") == [
        "000001.npz",
        "000001.sgf",
        "000002.npz",
        "000002.sgf",
        "best.npz",
        "best.sgf",
    ]
    assert sorted(path.name for path in tmp_path.glob("checkpoints/*")) == ["000001", "000002"]


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


def test_full_disk_gives_an_error_message_and_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = make_run(tmp_path)
    save(run, 1)

    def fsync(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fsync)
    with pytest.raises(RunError, match=r"cannot write .*000002: No space left on device; .* --resume"):
        save(run, 2)
    monkeypatch.undo()
    assert os.path.isdir(tmp_path / "checkpoints" / "000001")
    found = run.load_checkpoint()
    assert found is not None
    assert found.iteration == 1
