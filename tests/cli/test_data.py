"""`tengen data`."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from tengen.cli import app
from tengen.errors import InputError
from tengen.tuning.engine_games import read_games


def run(*arguments: str):
    return CliRunner().invoke(app, ["data", *arguments])


@pytest.fixture(scope="module")
def games(tmp_path_factory):
    path = tmp_path_factory.mktemp("data") / "games.jsonl"
    settings = ("--rules", "8x8:5:freestyle", "--nodes", "30", "--workers", "1", "--noise", "0.2")
    result = run("generate", str(path), "--games", "10", *settings)
    assert result.exit_code == 0, result.exception
    assert "10 games, 10 of them new" in result.stdout
    result = run("generate", str(path), "--games", "14", *settings)
    assert "14 games, 4 of them new" in result.stdout
    return path


def test_games_become_a_data_set(games, tmp_path):
    target = tmp_path / "set"
    result = run("build", str(target), str(games), "--rules", "8x8:5:freestyle", "--opening-moves", "6")
    assert result.exit_code == 0, result.exception
    chosen = sum(len(game.values) for game in read_games(games))
    for output in (result.stdout, run("stats", str(target)).stdout):
        assert "8x8:5:freestyle" in output
        assert f"{sum(len(game.moves) for game in read_games(games))}" in output
        assert f"{chosen} (" in output
        assert "in openings (first 6 moves)" in output


def test_damaged_files_are_named(games, tmp_path):
    (tmp_path / "broken.sgf").write_text("(;FF[4]GM[4]SZ[8];B[aa")
    target = tmp_path / "set"
    built = run("build", str(target), str(games), str(tmp_path / "broken.sgf"), "--rules", "8x8:5:freestyle")
    for output in (built.stdout, run("stats", str(target)).stdout):
        assert f"damaged: {tmp_path / 'broken.sgf'}: " in output


def test_wrong_arguments_raise_input_errors(games, tmp_path):
    assert isinstance(run("generate", str(tmp_path / "g.jsonl"), "--rules", "3x3:3").exception, InputError)
    assert run("generate", str(tmp_path / "g.jsonl"), "--games", "0").exit_code == 2
    assert isinstance(run("build", str(tmp_path / "set"), str(tmp_path / "none.sgf")).exception, InputError)
    result = run("build", str(tmp_path / "set"), str(games), "--rules", "15x15")
    assert isinstance(result.exception, InputError)
    assert "skipped games with other rules: 14" in str(result.exception)
    assert isinstance(run("stats", str(tmp_path)).exception, InputError)
