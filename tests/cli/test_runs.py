"""`tengen runs` on a narrow terminal; test_train.py lists real runs."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

from tengen.cli import app
from tengen.learning.run import RunState

STRENGTH = {
    "elo": 1044.2,
    "error": 323.8,
    "scores": {"random": 1.0, "alphabeta:nodes=300,hash-mb=2": 0.62, "alphabeta:nodes=3000,hash-mb=2": 0.31},
}


def test_eighty_columns_are_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    metrics = [{"iteration": 259, "strength": STRENGTH}, {"iteration": 260, "seconds": 210, "games": 1_033_790}]
    run = SimpleNamespace(
        folder=Path("runs/a-long-name-of-a-run/first"),
        header=SimpleNamespace(algorithm="alphazero", preset="alphagomoku8-6x6x4"),
        state=lambda: RunState.STOPPED,
        readable_metrics=lambda _: iter(metrics),
    )
    monkeypatch.setattr("tengen.learning.run.reading.find_run_folders", lambda _: [run.folder])
    monkeypatch.setattr("tengen.learning.run.reading.RunReader.open", lambda _: run)
    done = CliRunner().invoke(app, ["runs"], env={"COLUMNS": "80"})
    assert done.exit_code == 0, done.exception
    assert "…" not in done.stdout
    for words in ("stopped", "iteration", "260", "3.5", "1033790", "+1044 ±324", "alphazero", "alphagomoku8-6x6x4"):
        assert words in done.stdout
    line = " ".join(done.stdout.partition("a-long-name-of-a-run/first: ")[2].split())
    assert line == "62 % against alphabeta:nodes=300, 31 % against alphabeta:nodes=3000"
