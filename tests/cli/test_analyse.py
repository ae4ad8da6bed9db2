"""`tengen analyse`."""

from __future__ import annotations

import io
import re

from rich.console import Console
from typer.testing import CliRunner

from tengen.cli import analyse, app
from tengen.core.contracts import Analysis, AnalysisLine, Proof, Ruleset
from tengen.core.geometry import Point
from tengen.core.position import Position
from tengen.errors import AgentError, InputError


def run(*arguments: str):
    return CliRunner().invoke(app, ["analyse", *arguments])


def test_each_depth_has_a_line_and_the_last_one_a_board():
    result = run("h8h9i8", "--depth", "4", "--lines", "2", "--agent", "alphabeta:hash-mb=1")
    assert result.exit_code == 0
    assert re.findall(r"^depth +(\d+)", result.stdout, re.MULTILINE) == ["1", "2", "3", "4"]
    rows = re.findall(r"^(\d) +([a-o]\d+) +([+-]\d\.\d\d) +([█░]{20}) +4 +(.+)$", result.stdout, re.MULTILINE)
    assert [row[0] for row in rows] == ["1", "2"]
    assert rows[0][4].startswith(rows[0][1])
    assert re.search(r"white to move, depth 4, [\d,]+ nodes, [\d,]+ nodes/s, \d+\.\d s", result.stdout)


def test_candidates_are_on_the_board():
    result = run("h8a1i8c1j8e1", "--depth", "3", "--agent", "alphabeta:hash-mb=1")
    assert re.search(r"^ 8  . . . . . . [1.] X X X [1.] ", result.stdout, re.MULTILINE)
    assert "+M3" in result.stdout


def test_other_rules_and_files(tmp_path):
    (tmp_path / "game.pos").write_text("15/renju/h8h9i7\n", encoding="ascii")
    result = run(f"{tmp_path / 'game.pos'}@2", "--nodes", "200", "--agent", "alphabeta:hash-mb=1")
    assert result.exit_code == 0
    assert "black to move" in result.stdout


def test_impossible_analyses_are_errors():
    assert isinstance(run("3x3:3:freestyle/a1", "--depth", "1").exception, AgentError)
    assert isinstance(run("h8a1i8b1j8c1k8d1l8", "--depth", "1").exception, InputError)
    assert isinstance(run("h8", "--agent", "nobody").exception, AgentError)


def test_a_player_without_a_search_says_what_it_considers() -> None:
    result = run("h8a1i8a2j8a3", "--agent", "rule-based", "--lines", "2")
    assert result.exit_code == 0
    assert "(makes an open four)" in result.stdout


def snapshot(depth: int) -> Analysis:
    line = AnalysisLine(
        move=Point("h8"), value_to_move=-1.0, line=(Point("h8"),) * 20, proof=Proof("loss", 6), depth=depth
    )
    return Analysis(lines=(line,), depth=depth, nodes=10 * depth, elapsed_ms=1000)


def test_a_terminal_is_redrawn_and_ctrl_c_keeps_the_last_snapshot():
    def snapshots():
        yield snapshot(1)
        yield snapshot(2)
        raise KeyboardInterrupt

    console = Console(file=io.StringIO(), force_terminal=True, width=120, color_system="truecolor", highlight=False)
    analyse._show(console, Position.start(Ruleset(15, 15)), snapshots())
    assert isinstance(console.file, io.StringIO)
    text = console.file.getvalue()
    assert "depth 2, 20 nodes, 20 nodes/s" in text
    assert "-M6" in text
    assert "…" in text


def test_a_narrow_terminal_truncates_only_the_line():
    console = Console(file=io.StringIO(), force_terminal=False, width=80)
    analyse._show(console, Position.start(Ruleset(15, 15)), iter((snapshot(12),)))
    assert isinstance(console.file, io.StringIO)
    rows = re.findall(r"^1 +h8 +-M6 +[#█░-]{20} +12 +(h8 .*…)$", console.file.getvalue(), re.MULTILINE)
    assert len(rows) == 1
    assert "loss … win" in console.file.getvalue()


def test_an_analysis_without_snapshots_prints_nothing():
    console = Console(file=io.StringIO(), force_terminal=False)
    analyse._show(console, Position.start(Ruleset(15, 15)), iter(()))
    assert isinstance(console.file, io.StringIO)
    assert console.file.getvalue() == ""
