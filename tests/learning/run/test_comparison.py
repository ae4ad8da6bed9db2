"""Runs side by side, metrics as CSV, and metrics for Weights & Biases."""

from __future__ import annotations

import csv
import io
import sys
import types
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from tengen.cli import app
from tengen.core.contracts import Ruleset
from tengen.errors import InputError, MissingExtraError, RunError
from tengen.learning.config import load_config
from tengen.learning.run import Run, new_header
from tengen.learning.run.comparison import compare_runs, draw_comparison, write_csv
from tengen.learning.run.loop import NetLoopConfig
from tengen.learning.training import logging_to_wandb


def make_run(folder: Path, *settings: str, elo: float = 10.0) -> Run:
    config = load_config(NetLoopConfig, "test", None, ["ruleset=4x4:4", *settings])
    run = Run.create(folder, new_header("test", None, 0), config)
    common = {"seconds": 60.0, "positions": 600, "games": 30}
    run.log(1, {**common, "losses": {"policy": 2.5}})
    strength = {"elo": elo, "error": 5.0, "scores": {"random": 0.5}}
    run.log(2, {**common, "seconds": 120.0, "losses": {"policy": 2.0, "value": 0.5}, "strength": strength})
    return run


def shell(*arguments: str):
    return CliRunner().invoke(app, ["runs", *arguments], env={"COLUMNS": "120"})


def test_a_comparison_has_what_differs(tmp_path: Path) -> None:
    runs = [make_run(tmp_path / "a"), make_run(tmp_path / "b", "net.channels=16", "iterations=2", elo=90.0)]
    compared = compare_runs(runs)
    assert compared.names == ("a", "b")
    assert dict(compared.settings) == {"iterations": ("100", "2"), "net.channels": ("32", "16")}
    results = dict(compared.results)
    assert results["last Elo"] == ("+10 ±5", "+90 ±5")
    assert results["minutes"] == ("2.0", "2.0")
    assert results["positions/s"] == ("5", "5")
    assert results["loss value"] == ("0.5", "0.5")


def test_runs_with_one_name_are_told_apart_by_their_paths(tmp_path: Path) -> None:
    runs = [make_run(tmp_path / "x" / "run"), make_run(tmp_path / "y" / "run")]
    assert compare_runs(runs).names == tuple(str(run.folder) for run in runs)


def test_a_comparison_is_drawn(tmp_path: Path) -> None:
    draw_comparison(compare_runs([make_run(tmp_path / "a"), make_run(tmp_path / "b")]), tmp_path / "both")
    assert (tmp_path / "both.png").read_bytes().startswith(b"\x89PNG")
    assert ">b</text>" in (tmp_path / "both.svg").read_text(encoding="utf-8")


def test_metrics_as_csv(tmp_path: Path) -> None:
    text = io.StringIO()
    write_csv(make_run(tmp_path / "a").metrics(), text)
    first, second = csv.DictReader(io.StringIO(text.getvalue()))
    assert (first["iteration"], first["losses.policy"], first["losses.value"]) == ("1", "2.5", "")
    assert (second["losses.value"], second["strength.scores.random"]) == ("0.5", "0.5")


def test_the_commands(tmp_path: Path) -> None:
    a, b = (str(make_run(tmp_path / name, f"iterations={n}").folder) for name, n in (("a", 2), ("b", 9)))
    listed = shell(str(tmp_path))
    assert listed.exit_code == 0
    assert listed.stdout == shell("list", str(tmp_path)).stdout
    compared = shell("compare", a, b, "--plot", str(tmp_path / "plot"))
    assert "last Elo" in compared.stdout
    assert "iterations" in compared.stdout
    assert (tmp_path / "plot.svg").exists()
    exported = shell("export", a)
    assert exported.stdout.startswith("iteration,seconds,positions,games,losses.policy")
    shell("export", a, "--csv", str(tmp_path / "a.csv"))
    assert (tmp_path / "a.csv").read_text(encoding="utf-8") == exported.stdout
    for arguments, message in ((("compare", a), "at least two runs"), (("export", str(tmp_path)), "is not a run")):
        failed = shell(*arguments)
        assert isinstance(failed.exception, InputError)
        assert message in str(failed.exception)


class FakeWandb(types.ModuleType):
    """Stands in for the package wandb and remembers what it is told."""

    def __init__(self, *, fails_at: int | None = None, refuses: bool = False) -> None:
        super().__init__("wandb")
        self.started: dict[str, Any] = {}
        self.logged: list[tuple[int, dict[str, float]]] = []
        self.finished = 0
        self._fails_at = fails_at
        self._refuses = refuses

    def init(self, **arguments: Any) -> FakeWandb:
        if self._refuses:
            raise ValueError("no\nkey")
        self.started = arguments
        return self

    def log(self, values: dict[str, float], step: int) -> None:
        if step == self._fails_at:
            raise ConnectionError("offline")
        self.logged.append((step, values))

    def finish(self) -> None:
        self.finished += 1


def log_twice(run: Run, said: list[str]) -> None:
    with logging_to_wandb(run, "gomoku", said.append):
        for iteration in (3, 4):
            run.log(iteration, {"losses": {"policy": 1.0 / iteration}, "words": "left out"})


@pytest.mark.parametrize("has_tensorboard", [True, False])
def test_metrics_reach_weights_and_biases(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, has_tensorboard: bool
) -> None:
    monkeypatch.setattr("tengen.learning.run.folder.can_write_events", lambda: has_tensorboard)
    fake = FakeWandb()
    monkeypatch.setitem(sys.modules, "wandb", fake)
    run, said = make_run(tmp_path / "a"), list[str]()
    log_twice(run, said)
    assert fake.logged == [(3, {"losses/policy": 1 / 3}), (4, {"losses/policy": 1 / 4})]
    assert (fake.started["project"], fake.started["name"], fake.started["resume"]) == ("gomoku", "a", "allow")
    assert fake.started["config"]["ruleset"] == str(Ruleset.parse("4x4:4"))
    assert fake.finished == 1
    before = fake.started["id"]
    log_twice(Run.open(tmp_path / "a"), said)
    assert fake.started["id"] == before
    assert said == []


def test_training_goes_on_without_weights_and_biases(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake = FakeWandb(fails_at=3)
    monkeypatch.setitem(sys.modules, "wandb", fake)
    run, said = make_run(tmp_path / "a"), list[str]()
    log_twice(run, said)
    assert said == ["Weights & Biases failed, so the run continues without it: offline"]
    assert [line["iteration"] for line in run.metrics()] == [1, 2, 3, 4]
    assert fake.logged == []


def test_a_logger_that_cannot_start_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = make_run(tmp_path / "a")
    monkeypatch.setitem(sys.modules, "wandb", FakeWandb(refuses=True))
    with pytest.raises(RunError, match="Weights & Biases cannot start: no key"):
        log_twice(run, [])
    monkeypatch.setitem(sys.modules, "wandb", None)
    with pytest.raises(MissingExtraError, match="pip install wandb"):
        log_twice(run, [])
