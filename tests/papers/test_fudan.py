"""The measurement of the fudan report's inventions in its shortest form."""

from __future__ import annotations

import json
from pathlib import Path

from tengen.agents.registry import parse_agent
from tengen.papers.fudan.experiments import RESULTS_FILE, TABLE_FILE, VARIANTS, agent_text, main


def test_speeds_and_matches_are_measured_and_written(tmp_path: Path, capsys) -> None:
    out, store = tmp_path / "results", tmp_path / "games"
    command = ["--only", "hash", "authors", "--boards", "15x15", "--openings", "2", "--out", str(out)]
    command += ["--store", str(store), "--time-ms", "2"]
    assert main([*command, "--games", "2"]) == 0
    shown = capsys.readouterr().out
    table = (out / TABLE_FILE).read_text(encoding="utf-8")
    assert shown.endswith(table)
    assert "| without the hash index |" in table
    rows = json.loads((out / RESULTS_FILE).read_text(encoding="utf-8"))["boards"]["15x15"]
    assert list(rows) == ["whole", "hash", "authors"]
    for name in ("hash", "authors"):
        match = rows[name]["match"]
        assert match["wins"] + match["draws"] + match["losses"] == 2
    assert all(row["nodes_per_second"] > 0 for row in rows.values())
    assert {row["positions"] for row in rows.values()} == {2 * 12}
    # The games are kept: the same command reads them.
    assert main([*command, "--games", "2"]) == 0
    again = json.loads((out / RESULTS_FILE).read_text(encoding="utf-8"))["boards"]["15x15"]
    assert [again[name]["match"] for name in ("hash", "authors")] == [rows[n]["match"] for n in ("hash", "authors")]
    # They are not mixed with those of another match.
    assert main([*command, "--games", "2", "--seed", "2"]) == 2
    assert "fudan: " in capsys.readouterr().err


def test_each_variant_differs_from_the_whole_player_in_its_own_way() -> None:
    configs = {parse_agent(agent_text(name, depth=0))[1].config() for name in VARIANTS}
    assert len(configs) == len(VARIANTS)
