"""`tengen tune`."""

from __future__ import annotations

import io

from rich.console import Console
from typer.testing import CliRunner

from tengen.cli import app, tune
from tengen.errors import InputError
from tengen.search.tuning_games import read_games


def run(*arguments: str):
    return CliRunner().invoke(app, ["tune", *arguments])


def test_games_are_played_and_fitted(tmp_path):
    games, weights = tmp_path / "games.jsonl", tmp_path / "weights.npz"
    settings = ("--rules", "8x8:5:freestyle", "--nodes", "30", "--workers", "1")
    result = run("generate", str(games), "--games", "10", *settings)
    assert result.exit_code == 0, result.exception
    assert "0 games before, 10 now" in result.stdout
    result = run("generate", str(games), "--games", "12", *settings)
    assert "10 games before, 12 now" in result.stdout
    assert len(list(read_games(games))) == 12
    result = run(
        "fit", str(weights), str(games), "--iterations", "3", "--ordering-iterations", "2", "--validation", "0.3"
    )
    assert result.exit_code == 0, result.exception
    assert "12 games" in result.stdout
    assert "evaluation: loss" in result.stdout
    assert "ordering (both): loss" in result.stdout
    assert weights.is_file()
    assert (tmp_path / "weights.json").is_file()


def test_bad_settings_become_our_errors(tmp_path):
    result = run("generate", str(tmp_path / "games.jsonl"), "--rules", "3x3:3:freestyle", "--games", "1")
    assert isinstance(result.exception, InputError)
    assert isinstance(run("fit", str(tmp_path / "w.npz"), str(tmp_path / "none.jsonl")).exception, InputError)
    assert run("generate", str(tmp_path / "games.jsonl"), "--games", "0").exit_code == 2


def test_progress_without_a_terminal_is_a_line_now_and_then(tmp_path, monkeypatch):
    path = tmp_path / "games.jsonl"
    run("generate", str(path), "--rules", "8x8:5:freestyle", "--nodes", "10", "--workers", "1", "--games", "3")
    monkeypatch.setattr(tune, "_SECONDS_BETWEEN_LINES", 0)
    console = Console(file=io.StringIO(), force_terminal=False, width=100)
    with tune._Progress(console, 3) as progress:
        progress.begin(0)
        for game in read_games(path):
            progress.add(game)
    assert isinstance(console.file, io.StringIO)
    lines = console.file.getvalue().splitlines()
    assert len(lines) == 3
    assert lines[-1].startswith("3 games played, ")
    assert lines[-1].endswith("positions/s")


def test_progress_on_a_terminal_is_a_bar(tmp_path):
    path = tmp_path / "games.jsonl"
    run("generate", str(path), "--rules", "8x8:5:freestyle", "--nodes", "10", "--workers", "1", "--games", "2")
    console = Console(file=io.StringIO(), force_terminal=True, width=100)
    with tune._Progress(console, 2) as progress:
        for game in read_games(path):
            progress.add(game)
    assert isinstance(console.file, io.StringIO)
    assert "2/2" in console.file.getvalue()
