"""The experiments of pg9 in their shortest form."""

from __future__ import annotations

import json
from pathlib import Path

from tengen.core.contracts import Ruleset
from tengen.papers.pg9.experiments import main, play_as_black
from tengen.search.evaluation import UniformEvaluator


def test_experiments_are_trained_tried_and_written(tmp_path: Path, capsys) -> None:
    command = ["--only", "pg9", "pg9-self-play-level-3", "--share", "0.001", "--out", str(tmp_path)]
    assert main(command) == 0
    assert "| `pg9-self-play-level-3` | D: beats level 3" in capsys.readouterr().out
    rows = json.loads((tmp_path / "pg9.json").read_text(encoding="utf-8"))
    assert [row["games"] for row in rows] == [2000, 2000]
    assert all(sum(row["as_black"]) == 1000 for row in rows)
    assert (tmp_path / "running-reward.svg").exists()


def test_black_is_played_by_the_network_and_white_by_the_opponent() -> None:
    # Without knowledge black fills the board from its first corner on: five in the bottom row, unless somebody blocks.
    rules = Ruleset.parse("9x9")
    assert play_as_black(UniformEvaluator(), rules, "random", games=50, seed=1)[0] > 25
    assert play_as_black(UniformEvaluator(), rules, "chains", games=50, seed=1) == (0, 0, 50)
