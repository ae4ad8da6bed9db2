"""`tengen tune`."""

from __future__ import annotations

import sys
from importlib.abc import MetaPathFinder

import pytest
from typer.testing import CliRunner

from tengen.cli import app
from tengen.errors import InputError, MissingExtraError


def run(*arguments: str):
    return CliRunner().invoke(app, ["tune", *arguments])


def generate(*arguments: str):
    return CliRunner().invoke(app, ["data", "generate", *arguments])


def test_games_are_played_and_fitted(tmp_path):
    games, weights = tmp_path / "games.jsonl", tmp_path / "weights.npz"
    settings = ("--rules", "8x8:5:freestyle", "--nodes", "30", "--workers", "1")
    result = generate(str(games), "--games", "12", "--proved", *settings)
    assert result.exit_code == 0, result.exception
    result = run(
        "fit", str(weights), str(games), "--iterations", "3", "--ordering-iterations", "2", "--validation", "0.3"
    )
    assert result.exit_code == 0, result.exception
    assert "12 games" in result.stdout
    assert "evaluation: loss" in result.stdout
    assert "ordering (both): loss" in result.stdout
    assert weights.is_file()
    assert (tmp_path / "weights.json").is_file()


def test_wrong_arguments_raise_input_errors(tmp_path):
    assert isinstance(run("fit", str(tmp_path / "w.npz"), str(tmp_path / "none.jsonl")).exception, InputError)


@pytest.mark.parametrize(("missing", "raised"), [("torch", MissingExtraError), ("nosuch", ModuleNotFoundError)])
def test_only_packages_of_the_extra_are_reported_as_missing(tmp_path, monkeypatch, missing, raised):
    """Without torch, the message names what to install; any other missing module is a bug and is not hidden."""
    module = "tengen.tuning.evaluation_net"
    monkeypatch.delitem(sys.modules, module, raising=False)

    class Finder(MetaPathFinder):
        def find_spec(self, name: str, path: object = None, target: object = None) -> None:
            if name == module:
                raise ModuleNotFoundError(f"No module named {missing!r}", name=missing)

    monkeypatch.setattr(sys, "meta_path", [Finder(), *sys.meta_path])
    result = run("net", str(tmp_path / "w.npz"), str(tmp_path / "games.jsonl"), "--base", str(tmp_path / "base.npz"))
    assert type(result.exception) is raised
    assert missing in str(result.exception)
