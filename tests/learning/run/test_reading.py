"""Reading a run: its state by the lock, its curve, and the same picture on the command line and in the browser."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from tengen.cli import app
from tengen.learning.run import Checkpoint, Run, RunHeader, RunReader, RunState, find_runs
from tengen.learning.run.reading import Budget, strength_curve
from tengen.web.laboratory.folders import Lab


@dataclass(frozen=True)
class Config:
    ruleset: str = "9x9:5:freestyle"
    iterations: int = 2
    minutes: float = 0.0
    cpu_minutes: float = 0.0


def make_run(folder: Path, config: Config | None = None) -> Run:
    return Run.create(folder, RunHeader(algorithm="ppo"), config or Config())


def iterate(run: Run, iteration: int, seconds: float = 1.0) -> None:
    run.log(iteration, {"seconds": seconds, "games": 3})
    run.save_checkpoint(Checkpoint(iteration, {}, {"seconds": seconds, "cpu_seconds": seconds}))


def listed(folder: Path) -> tuple[str, bool]:
    """The state of the only run in a folder: by `tengen runs`, and whether the web server calls it live."""
    shown = CliRunner().invoke(app, ["runs", str(folder)], env={"COLUMNS": "100"})
    assert shown.exit_code == 0, shown.exception
    (state,) = (word for word in ("running", "stopped", "finished") if word in shown.stdout)
    (summary,) = Lab(runs=(folder,)).list_runs(limit=10, offset=0).runs
    return state, summary.is_live


@contextmanager
def process_that_trains(folder: Path, last_words: str) -> Iterator[subprocess.Popen[str]]:
    """Another process that holds the lock of a run, reports it, waits for a line and then does `last_words`."""
    code = (
        "from pathlib import Path; from tengen.learning.run import Checkpoint, Run\n"
        f"run = Run.open(Path({str(folder)!r}))\n"
        f"with run.lock():\n    print('locked', flush=True); input(); {last_words}\n"
    )
    command = [sys.executable, "-c", code]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "locked\n"
            yield process
        finally:
            process.kill()


def test_command_line_and_browser_agree_the_moment_a_run_is_killed(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run")
    with run.lock():
        iterate(run, 1)
    with process_that_trains(run.folder, "pass") as process:
        assert listed(tmp_path) == ("running", True)
        process.kill()
        process.wait()
        assert listed(tmp_path) == ("stopped", False)


def test_command_line_and_browser_agree_the_moment_a_run_ends(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run")
    with run.lock():
        iterate(run, 1)
    last = "run.save_checkpoint(Checkpoint(2, {}, {'seconds': 2.0, 'cpu_seconds': 2.0}))"
    with process_that_trains(run.folder, last) as process:
        assert listed(tmp_path) == ("running", True)
        process.communicate("go\n")
        assert process.returncode == 0
        assert listed(tmp_path) == ("finished", False)


def test_a_run_is_finished_when_its_iterations_or_its_time_are_used_up(tmp_path: Path) -> None:
    by_count, by_clock = make_run(tmp_path / "count"), make_run(tmp_path / "clock", Config(iterations=100, minutes=1.0))
    for run in (by_count, by_clock):
        assert run.state() is RunState.STOPPED
        with run.lock():
            assert run.state() is RunState.RUNNING
            iterate(run, 1, seconds=59.0)
        assert run.state() is RunState.STOPPED
        with run.lock():
            iterate(run, 2, seconds=60.5)
        assert run.state() is RunState.FINISHED
    # A damaged checkpoint does not count: the run would go on from the one before it.
    (by_count.folder / "checkpoints" / "000002" / "state.json").write_text("{")
    assert by_count.state() is RunState.STOPPED


def test_the_limit_that_is_reached_first_ends_a_run() -> None:
    budget = Budget(iterations=10, minutes=2.0, cpu_minutes=1.0)
    assert budget.fraction_used(5, 0.0, 0.0) == 0.5
    assert budget.fraction_used(5, 90.0, 0.0) == 0.75
    assert budget.fraction_used(5, 90.0, 60.0) == 1.0
    assert Budget(10).fraction_used(5, 1e9, 1e9) == 0.5


def test_reading_needs_no_torch_and_writes_nothing(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run")
    with run.lock():
        iterate(run, 1)
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    code = (
        "import sys; from pathlib import Path\n"
        "sys.modules.update(dict.fromkeys(('torch', 'safetensors', 'onnx')))\n"
        "from tengen.learning.run import find_runs\n"
        f"(run,) = find_runs(Path({str(tmp_path)!r}))\n"
        "print(run.state(), len(run.metrics()), run.game_files(), run.config_table['ruleset'])"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout == "stopped 1 [] 9x9:5:freestyle\n"
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == before


def test_readers_do_not_keep_a_run_from_starting(tmp_path: Path) -> None:
    run = make_run(tmp_path)
    with run.lock():
        pass
    done = threading.Event()

    def look() -> None:
        while not done.is_set():
            run.is_running()

    readers = [threading.Thread(target=look) for _ in range(2)]
    for reader in readers:
        reader.start()
    try:
        for _ in range(20):
            with run.lock():
                assert run.is_running()
    finally:
        done.set()
        for reader in readers:
            reader.join()


def test_the_strength_curve_skips_malformed_measurements() -> None:
    good = {"iteration": 4, "seconds": 60, "games": 8, "strength": {"elo": 12.5, "error": 3, "scores": {"random": 1.0}}}
    bad: list[dict[str, Any]] = [
        {"iteration": 1},
        {"iteration": 2, "strength": 3},
        {"iteration": 3, "strength": {"elo": "high", "error": 1}},
    ]
    (point,) = strength_curve([*bad, good])
    assert (point.iteration, point.seconds, point.games, point.elo, point.error) == (4, 60, 8, 12.5, 3)
    assert point.scores == {"random": 1.0}


def test_damaged_lines_are_left_out_for_display_only(tmp_path: Path) -> None:
    run = make_run(tmp_path)
    lines = ['{"iteration": 1}', "garbage", '{"iteration": 3}', '{"iteration": 4, "ga']
    (tmp_path / "metrics.jsonl").write_text("\n".join(lines))
    assert [line["iteration"] for line in run.readable_metrics()] == [1, 3]


@pytest.mark.parametrize("place", [".hidden/run", "a/b/c/d/e/f/g"])
def test_hidden_and_very_deep_runs_are_not_found(tmp_path: Path, place: str) -> None:
    make_run(tmp_path / place)
    assert find_runs(tmp_path) == []
    assert [run.folder for run in find_runs(tmp_path / place)] == [tmp_path / place]
    assert RunReader.open(tmp_path / place).header.algorithm == "ppo"
