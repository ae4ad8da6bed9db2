"""`tengen train`, `tengen runs` and `tengen ship`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tengen.agents.registry import make_agent
from tengen.arena.tournament_file import load as load_tournament
from tengen.cli import app
from tengen.errors import InputError, TengenError
from tengen.nets.models import load_model, read_card

TINY = (
    "ruleset=4x4:4",
    "iterations=2",
    "net.channels=8",
    "net.blocks=1",
    "search.simulations=4",
    "self_play.games=4",
    "self_play.parallel=4",
    "self_play.first_simulations=0",
    "learner.batch=16",
    "strength.every=0",
)


def run(*arguments: str):
    return CliRunner().invoke(app, list(arguments), env={"COLUMNS": "200"})


def begin(folder: Path, *more: str):
    settings = [part for setting in TINY for part in ("--set", setting)]
    return run("train", "alphazero", "--preset", "6x6x4", "--minutes", "0", "--run", str(folder), *settings, *more)


def test_without_an_algorithm_the_presets_are_listed() -> None:
    result = run("train")
    assert result.exit_code == 0
    assert "zero9-ii" in result.stdout
    assert "Four in a row on 6x6" in result.stdout


def test_a_run_is_begun_listed_resumed_and_shipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "runs" / "small"
    result = begin(folder)
    assert result.exit_code == 0, result.exception
    assert "alphazero:run=" in result.stdout
    listed = run("runs", str(tmp_path / "runs"))
    assert "small" in listed.stdout
    assert "6x6x4" in listed.stdout
    again = run("train", "alphazero", "--run", str(folder), "--resume")
    assert again.exit_code == 0, again.exception
    assert "going on after iteration 2" in again.stdout

    match = tmp_path / "match.json"
    played = run("match", f"alphazero:run={folder},simulations=2", "random", "--rules", "4x4:4", "--games", "2",
                 "--quiet", "--json", str(match))  # fmt: skip
    assert played.exit_code == 0, played.exception
    target = tmp_path / "models" / "small"
    shipped = run("ship", str(folder), str(target), "--command", "tengen train …", "--match", str(match))
    assert shipped.exit_code == 0, shipped.exception
    monkeypatch.setattr("tengen.nets.models.shipped_folder", lambda _: target.parent)
    card = read_card("small")
    assert card["sha256"] == load_model("small")[1].sha256
    assert card["matches"][0]["games"] == 2
    assert card["run"]["games"] == json.loads((folder / "metrics.jsonl").read_text().splitlines()[-1])["games"]
    assert "| `random` | 2 |" in (target / "card.md").read_text(encoding="utf-8")


def test_mistakes_become_our_errors(tmp_path: Path) -> None:
    begin(tmp_path / "run")
    for arguments, message in (
        (("train", "alphazero", "--preset", "6x6x5"), "unknown preset '6x6x5'"),
        (("train", "alphazero", "--preset", "6x6x4", "--run", str(tmp_path / "run")), "holds a run already"),
        (("train", "alphazero", "--run", str(tmp_path / "run"), "--resume", "--seed", "3"), "give no settings"),
        (("train", "alphazero", "--preset", "9x9", "--run", str(tmp_path / "run"), "--resume"), "alphazero 6x6x4"),
        (("train", "alphazero", "--run", str(tmp_path / "none"), "--resume"), "is not a run"),
        (("train", "alphazero", "--preset", "6x6x4", "--set", "net.planes=threads"), "unknown plane layout 'threads'"),
        (("runs", str(tmp_path / "none")), "there is no run in"),
        (("ship", str(tmp_path / "none"), str(tmp_path / "m"), "--command", "x"), "is not a run"),
    ):
        result = run(*arguments)
        assert isinstance(result.exception, InputError), (arguments, result.output)
        assert message in str(result.exception)


@pytest.mark.parametrize(
    "setting",
    ["init_from=none.safetensors", "warm_start.games=none.jsonl", "strength.opponents=['rule-based', 'nobody']"],
)
def test_a_mistake_that_is_found_late_leaves_no_run_behind(tmp_path: Path, setting: str) -> None:
    folder = tmp_path / "run"
    result = begin(folder, "--set", setting)
    assert isinstance(result.exception, TengenError), result.output
    assert not folder.exists()


def test_a_mistake_leaves_what_a_run_has_learned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "run"
    begin(folder)

    def fail(*_: object) -> None:
        raise InputError("no longer there")

    monkeypatch.setattr("tengen.learning.alphazero.train", fail)
    assert isinstance(run("train", "alphazero", "--run", str(folder), "--resume").exception, InputError)
    assert (folder / "metrics.jsonl").exists()


def test_the_tournament_of_the_demo_has_all_the_classic_players(tmp_path: Path) -> None:
    text = (Path(__file__).parents[2] / "data" / "demo.toml").read_text(encoding="utf-8")
    file = tmp_path / "tournament.toml"
    file.write_text(text.replace("RUN", "runs/demo/run"), encoding="utf-8")
    tournament, settings = load_tournament(file)
    agents = [entrant.agent for entrant in tournament.players]
    assert agents[0] == "alphazero:run=runs/demo/run,simulations=100"
    for agent in agents[1:]:
        with make_agent(agent) as player:
            assert player.supports(tournament.rules[0])
    assert settings.report == tmp_path / "report"
