"""`tengen train`, `tengen runs` and `tengen ship`."""

from __future__ import annotations

import errno
import json
import os
import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tengen.agents.registry import make_agent
from tengen.arena.tournament_file import load as load_tournament
from tengen.cli import app
from tengen.core.contracts import Ruleset
from tengen.errors import InputError, RunError, TengenError
from tengen.learning.run import Run
from tengen.nets.architectures import NetConfig, NetKind, build_net, save_net
from tengen.nets.models import load_model, read_card

FOUR = Ruleset.parse("4x4:4")
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


def run(*arguments: str, typed: str = ""):
    return CliRunner().invoke(app, list(arguments), input=typed, env={"COLUMNS": "200"})


def start(folder: Path, *more: str):
    settings = [part for setting in TINY for part in ("--set", setting)]
    return run("train", "alphazero", "--preset", "6x6x4", "--minutes", "0", "--run", str(folder), *settings, *more)


def test_without_an_algorithm_the_presets_are_listed() -> None:
    result = run("train")
    assert result.exit_code == 0
    assert "zero9-ii" in result.stdout
    assert "Four in a row on 6x6" in result.stdout


def test_a_run_is_started_listed_resumed_and_shipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "runs" / "small"
    result = start(folder)
    assert result.exit_code == 0, result.exception
    shown = re.search(r"`tengen (play .*alphazero:run=.*)`", result.stdout)
    assert shown is not None
    played = run(*shlex.split(shown[1]), typed="quit\n")
    assert played.exit_code == 0, played.exception
    listed = run("runs", str(tmp_path / "runs"))
    assert "small" in listed.stdout
    assert "6x6x4" in listed.stdout
    again = run("train", "alphazero", "--run", str(folder), "--resume")
    assert again.exit_code == 0, again.exception
    assert "is finished; raise a limit" in again.stdout

    match = tmp_path / "match.json"
    played = run("match", f"alphazero:run={folder},simulations=2", "random", "--rules", "4x4:4", "--games", "2",
                 "--time-ms", "2000", "--quiet", "--json", str(match))  # fmt: skip
    assert played.exit_code == 0, played.exception
    target = tmp_path / "models" / "small"
    shipped = run("ship", str(folder), str(target), "--command", "tengen train …", "--match", str(match))
    assert shipped.exit_code == 0, shipped.exception
    monkeypatch.setattr("tengen.nets.models.shipped_folder", lambda _: target.parent)
    card = read_card("small")
    assert card["sha256"] == load_model("small")[1].sha256
    assert load_model("small")[1].discount == load_model("small", precision="int8")[1].discount == 0.95  # the preset's
    assert card["matches"][0]["games"] == 2
    assert card["run"]["games"] == json.loads((folder / "metrics.jsonl").read_text().splitlines()[-1])["games"]
    card_text = (target / "card.md").read_text(encoding="utf-8")
    assert "| `random` | 2 |" in card_text
    assert "`simulations=2`, default `resist`, both with `--time-ms 2000`, from random stones" in card_text
    assert "`metrics.jsonl`" in card_text
    assert (target / "metrics.jsonl").read_bytes() == (folder / "metrics.jsonl").read_bytes()
    monkeypatch.setattr("tengen.learning.shipping._MAX_METRICS_BYTES", 100)
    run("ship", str(folder), str(target), "--command", "tengen train …")
    assert not (target / "metrics.jsonl").exists()
    assert "`metrics.jsonl`" not in (target / "card.md").read_text(encoding="utf-8")


def test_wrong_arguments_raise_input_errors(tmp_path: Path) -> None:
    start(tmp_path / "run")
    for arguments, message in (
        (("train", "alphazero", "--preset", "6x6x5"), "unknown preset '6x6x5'"),
        (("train", "alphazero", "--preset", "6x6x4", "--run", str(tmp_path / "run")), "already holds a run"),
        (
            ("train", "alphazero", "--run", str(tmp_path / "run"), "--resume", "--seed", "3"),
            "omit --init-from and --seed",
        ),
        (
            ("train", "alphazero", "--run", str(tmp_path / "run"), "--resume", "--set", "net.channels=9"),
            "net.channels cannot be changed in an existing run; only iterations, minutes, cpu_minutes can be raised",
        ),
        (("train", "alphazero", "--preset", "9x9", "--run", str(tmp_path / "run"), "--resume"), "alphazero 6x6x4"),
        (("train", "alphazero", "--run", str(tmp_path / "none"), "--resume"), "is not a run"),
        (
            ("train", "alphazero", "--preset", "zero9-ii", "--resume"),
            "pass the run's folder with --run",
        ),
        (("train", "alphazero"), "--preset is required (available: 15x15, 6x6x4, "),
        (("train", "alphazero", "--preset", "6x6x4", "--set", "net.planes=threads"), "unknown plane layout 'threads'"),
        (("runs", str(tmp_path / "none")), "no training run found in"),
        (("ship", str(tmp_path / "none"), str(tmp_path / "m"), "--command", "x"), "is not a run"),
    ):
        result = run(*arguments)
        assert isinstance(result.exception, InputError), (arguments, result.output)
        assert message in str(result.exception)


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("init_from=none.safetensors", r"none\.safetensors is missing"),
        ("init_from=zero.safetensors", r"zero\.safetensors holds a plain .*; none of its weights fit a residual"),
        ("warm_start.games=none.jsonl", r"none\.jsonl"),
        ("strength.opponents=['rule-based', 'nobody']", "nobody"),
        ("strength.player=speed=3", "agent 'alphazero' has no parameter 'speed'"),
        ("learner.batch=0", "learner: batch must be finite and at least 1, not 0"),
        ("window.first=0", "window: window.first=0 must be at least 1"),
    ],
)
def test_a_failed_start_leaves_no_run_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, setting: str, message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    save_net(Path("zero.safetensors"), build_net(NetConfig(kind=NetKind.PLAIN), FOUR), FOUR)
    folder = tmp_path / "run"
    result = start(folder, "--set", setting)
    assert isinstance(result.exception, TengenError), result.output
    assert re.search(message, str(result.exception)), result.exception
    assert not folder.exists()


def test_a_diverged_run_can_be_continued_as_advised(tmp_path: Path) -> None:
    """After a NaN loss, the error advises a new run with the old network and a lower learning rate."""
    start(tmp_path / "first")
    result = start(tmp_path / "second", "--init-from", str(tmp_path / "first"), "--set", "learner.learning_rate=1e-4")
    assert result.exit_code == 0, result.exception
    assert "starting with all weights of" in result.stdout


def test_unrelated_and_damaged_files_do_not_hide_the_runs(tmp_path: Path) -> None:
    start(tmp_path / "whole")
    for name, text in (("tool", "[tool]\nname = 'x'\n"), ("list", "run = 3\n"), ("text", "not TOML at all\n")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "config.toml").write_text(text)
        assert isinstance(run("train", "alphazero", "--run", str(tmp_path / name), "--resume").exception, InputError)
    listed = run("runs", str(tmp_path))
    assert listed.exit_code == 0, listed.exception
    assert "whole" in listed.stdout
    assert "text" not in listed.stdout
    start(tmp_path / "zapped")
    metrics = tmp_path / "zapped" / "metrics.jsonl"
    metrics.write_bytes(b"\0" * 40 + b"\n" + metrics.read_bytes())
    listed = run("runs", str(tmp_path))
    assert "whole" in listed.stdout
    assert isinstance(listed.exception, RunError)
    assert "metrics.jsonl: 1 damaged line skipped" in str(listed.exception)


def test_an_error_after_a_resume_keeps_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "run"
    start(folder)

    def fail(*_: object) -> None:
        raise InputError("no longer there")

    monkeypatch.setattr("tengen.learning.algorithms.alphazero.train", fail)
    resumed = run("train", "alphazero", "--run", str(folder), "--resume", "--set", "iterations=3")
    assert isinstance(resumed.exception, InputError)
    assert (folder / "metrics.jsonl").exists()


def test_an_error_after_the_first_output_keeps_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(run: Run, _: object) -> None:
        (run.folder / "games").mkdir()
        raise InputError("no longer there")

    monkeypatch.setattr("tengen.learning.algorithms.alphazero.train", fail)
    assert isinstance(start(tmp_path / "run").exception, InputError)
    assert (tmp_path / "run" / "games").is_dir()


def test_a_full_disk_keeps_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "run"
    replace = os.replace

    def run_full(source: Path, target: Path) -> None:
        if Path(target).suffix == ".sgf":
            raise OSError(errno.ENOSPC, "No space left on device")
        replace(source, target)

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", run_full)
        result = start(folder)
    assert isinstance(result.exception, RunError), result.output
    assert re.search(r"000001\.sgf: No space left on device; .*--resume", str(result.exception))
    assert (folder / "replay" / "000001.npz").exists()
    again = run("train", "alphazero", "--run", str(folder), "--resume")
    assert again.exit_code == 0, again.exception


def test_the_players_of_the_demo_tournament_exist(tmp_path: Path) -> None:
    text = (Path(__file__).parents[2] / "data" / "demo.toml").read_text(encoding="utf-8")
    file = tmp_path / "tournament.toml"
    file.write_text(text.replace("RUN", "runs/demo/run"), encoding="utf-8")
    tournament, settings = load_tournament(file)
    agents = [entrant.agent for entrant in tournament.players]
    assert agents[0] == "alphazero:run=runs/demo/run,preset=alphagomoku8,c=1.5,simulations=48"
    assert agents[1] == "policy:run=runs/demo/run"
    assert "model=uniform" in agents[2], "the floor: the same search without a network"
    for agent in agents[2:]:
        with make_agent(agent) as player:
            assert player.supports(tournament.rules[0])
    assert settings.report == tmp_path / "report"
