"""`tengen perft`."""

from __future__ import annotations

import re

import pytest
from typer.testing import CliRunner

from tengen.cli import app
from tengen.errors import RulesetError


def test_counts_every_game_of_tic_tac_toe() -> None:
    result = CliRunner().invoke(app, ["perft", "3x3:3:freestyle", "9"])
    assert result.exit_code == 0
    rows = re.findall(r"│ +(\d+) +│ +([\d,]+) +│ +([\d,]+) +│", result.stdout)
    assert rows[4] == ("5", "15,120", "1,440")
    assert rows[8] == ("9", "127,872", "81,792")
    assert re.search(r"549,945 nodes in \d+\.\d\d s, [\d,]+ nodes/s", result.stdout)


def test_depth_is_capped_at_the_size_of_the_board() -> None:
    result = CliRunner().invoke(app, ["perft", "3x3:3:standard", "50"])
    assert result.exit_code == 0
    assert "│   9 │" in result.stdout
    assert "│  10 │" not in result.stdout


def test_bad_arguments() -> None:
    result = CliRunner().invoke(app, ["perft", "3x3:9:freestyle", "2"])
    assert isinstance(result.exception, RulesetError)
    assert CliRunner().invoke(app, ["perft", "3x3:3:freestyle", "0"]).exit_code == 2


@pytest.mark.parametrize("rule", ["renju", "caro"])
def test_other_rules(rule: str) -> None:
    result = CliRunner().invoke(app, ["perft", f"5x5:5:{rule}", "3"])
    assert "13,800" in result.stdout
