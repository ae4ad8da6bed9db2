"""`tengen explain` and `tengen solve-threats`."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from tengen.cli import app
from tengen.core.contracts import Ruleset
from tengen.core.position import Position
from tengen.errors import InputError, RulesetError


def run(*arguments: str, text: str | None = None):
    return CliRunner().invoke(app, list(arguments), input=text)


def test_explain_draws_the_board_and_describes_threats():
    result = run("explain", "h8h9i8i9j8")
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert " 8  . . . . . . . X X(X). . . . .  8" in lines
    assert "black has an open three h8-i8-j8; white must answer at g8 or k8" in lines


def test_explain_accepts_rules_and_drawings():
    drawing = Position.from_stones(
        Ruleset.parse("15x15:5:renju"), black=["i8", "j8", "h9", "h10"], white=["a1", "a3", "a5"], to_move="black"
    )
    result = run("explain", "-", text=str(drawing))
    assert "black may not play h8 (double-three)" in result.stdout.splitlines()
    result = run("explain", "c3a1d3", "--rules", "6x6:4:freestyle")
    assert "four in a row wins" in result.stdout


def test_explain_rejects_other_win_lengths():
    assert isinstance(run("explain", "3x3:3:freestyle/a1").exception, RulesetError)


FOUR_THREE = """
15x15:5:freestyle  black to move
""" + str(
    Position.from_stones(Ruleset(15, 15), black=["i8", "j8", "k8", "h9", "h10"], white=["l8", "a1", "a3", "c1", "o1"])
).partition("\n")[2]


def test_a_win_is_shown_with_its_moves_numbered():
    result = run("solve-threats", "-", text=FOUR_THREE)
    assert result.exit_code == 0
    assert "black wins by VCF: h8 g8 h7 h6 h11" in result.stdout
    assert " 8  . . . . . . 2 1 X X X O . . .  8" in result.stdout
    assert "nodes in" in result.stdout


def test_no_win_sets_the_exit_code():
    result = run("solve-threats", "h8h9", "--kind", "vct", "--time-ms", "60000")
    assert result.exit_code == 1
    assert "black has no win by VCT" in result.stdout


def test_either_side_may_attack():
    result = run("solve-threats", "-", "--side", "white", text=FOUR_THREE)
    assert result.exit_code == 1
    assert "white has no win by VCF" in result.stdout


@pytest.mark.parametrize(
    "arguments", [("solve-threats", "3x3:3:freestyle/a1"), ("solve-threats", "a9a1b9b1c9c1d9d1e9")]
)
def test_wrong_arguments_raise_input_errors(arguments):
    assert isinstance(run(*arguments).exception, InputError)
