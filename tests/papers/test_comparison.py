"""The comparison of learners in its shortest form: it trains, rates, draws, writes, and goes on after a stop."""

from __future__ import annotations

import json
from pathlib import Path

from tengen.papers.comparison.experiments import BOARDS, Plan, main

SHORT = (
    "iterations=1",
    "strength.opponents=['random', 'rule-based']",
    "strength.anchor=rule-based",
    "strength.games=2",
    "strength.ladder_games=2",
    "net.channels=8",
    "net.blocks=1",
    "play.games=20",
)


def test_learners_are_trained_rated_and_drawn(tmp_path: Path, capsys) -> None:
    settings = [part for setting in SHORT for part in ("--set", setting)]
    command = [
        "--minutes",
        "0.2",
        "--clock",
        "cpu",
        "--boards",
        "6x6x4",
        "--algorithms",
        "ppo",
        "dqn",
        "--out",
        str(tmp_path),
    ]
    assert main([*command, *settings]) == 0
    said = capsys.readouterr().out
    assert "6x6x4 dqn: " in said
    table = json.loads((tmp_path / "comparison.json").read_text(encoding="utf-8"))
    assert set(table["curves"]["6x6x4"]) == {"ppo", "dqn"}
    for points in table["curves"]["6x6x4"].values():
        assert set(points[-1]) == {"minutes", "games", "elo", "error", "scores"}
    assert (tmp_path / "comparison-6x6x4.svg").stat().st_size > 1000
    # All is trained already: the second call only reads and draws.
    before = (tmp_path / "runs" / "6x6x4-ppo" / "metrics.jsonl").read_bytes()
    assert main([*command, *settings]) == 0
    assert (tmp_path / "runs" / "6x6x4-ppo" / "metrics.jsonl").read_bytes() == before
    for change in (["--minutes", "9"], ["--seed", "2"], ["--clock", "wall"], ["--set", "net.channels=16"]):
        assert main([*command, *settings, *change]) == 2
        assert "6x6x4-ppo holds a run with different settings" in capsys.readouterr().err
    assert json.loads((tmp_path / "comparison.json").read_text(encoding="utf-8")) == table


def test_every_learner_has_presets_for_the_boards() -> None:
    for board in BOARDS:
        assert {"alphazero", "ppo", "dqn", "pg"} <= set(Plan(1.0).algorithms_for(board))


def test_mistakes_are_one_line(tmp_path: Path, capsys) -> None:
    command = ["--minutes", "1", "--algorithms", "ppo", "--boards", "9x9", "--out", str(tmp_path), "--set", "nett=3"]
    assert main(command) == 2
    assert "unknown key nett" in capsys.readouterr().err
