from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tengen import cli
from tengen.errors import InputError
from tests.records.sample_files import SAMPLES


def run(*arguments: str | Path) -> str:
    done = CliRunner().invoke(cli.app, ["show", *map(str, arguments)], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


def test_a_game_with_its_header_board_and_moves() -> None:
    assert run(SAMPLES / "variations.sgf") == (
        "Ann [1] (black) – Bob (white)\n"
        "Tallinn Open, 3, 2026-01-02\n"
        "15x15:5:renju\n"
        "black wins (five)\n"
        "Played in one sitting.\n"
        "    a b c d e f g h i j k l m n o\n"
        "15  . . . . . . . . . . . . . . .  15\n"
        "14  . . . . . . . . . . . . . . .  14\n"
        "13  . . . . . . . . . . . . . . .  13\n"
        "12  . . . . . . . . . . . . . . .  12\n"
        "11  . . . . . . . . . . . . . . .  11\n"
        "10  . . . . . . . . . . . . . . .  10\n"
        " 9  . . . . . .(X). O . . . . . .  9\n"
        " 8  . . . . . . . X . . . . . . .  8\n"
        " 7  . . . . . . . . X . . . . . .  7\n"
        " 6  . . . . . . . . . O . . . . .  6\n"
        " 5  . . . . . . . . . . . . . . .  5\n"
        " 4  . . . . . . . . . . . . . . .  4\n"
        " 3  . . . . . . . . . . . . . . .  3\n"
        " 2  . . . . . . . . . . . . . . .  2\n"
        " 1  . . . . . . . . . . . . . . .  1\n"
        "    a b c d e f g h i j k l m n o\n"
        "1.h8  2.i9  3.i7  4.j6  5.g9  \n"
    )


def test_the_board_after_a_move_with_its_annotations() -> None:
    shown = run(SAMPLES / "variations.sgf", "--move", "2")
    assert "evaluation for black: +0.05\n" in shown
    assert "variations: i6 g10\n" in shown
    assert " 8  . . . . . . . X . . . . . . .  8\n" in shown
    assert " 9  . . . . . . . .(O). . . . . .  9\n" in shown


def test_other_games_passes_and_set_ups() -> None:
    shown = run(SAMPLES / "collection.sgf", "--game", "2")
    assert "13x15:5:renju\nwhite wins (resignation)\n" in shown
    assert "1.g8  2.g9  3.pass  4.pass" in shown
    assert "A problem\n" in run(SAMPLES / "collection.sgf", "--game", "3", "--move", "0")


def test_unknown_games_and_moves_are_rejected(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"has no game 4 \(games in the file: 3\)"):
        run(SAMPLES / "collection.sgf", "--game", "4")
    with pytest.raises(InputError, match="move 6 does not exist: the main line has 5 moves"):
        run(SAMPLES / "variations.sgf", "--move", "6")
    (tmp_path / "empty.pos").write_text("# nothing\n")
    with pytest.raises(InputError, match=r"has no game 1 \(games in the file: 0\)"):
        run(tmp_path / "empty.pos")


def test_names_that_the_terminal_cannot_show_are_replaced() -> None:
    command = [sys.executable, "-m", "tengen.cli", "show", str(SAMPLES / "variations.sgf")]
    done = subprocess.run(
        command, env={**os.environ, "PYTHONIOENCODING": "ascii"}, capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[0] == "Ann [1] (black) ? Bob (white)"
    assert " 9  . . . . . .(X). O . . . . . .  9" in done.stdout


def test_control_characters_are_not_printed(tmp_path: Path) -> None:
    path = tmp_path / "a.sgf"
    path.write_bytes(b"(;GM[4]PB[\x1b[2J\xff[bold\\]x])")
    first = run(path).splitlines()[0]
    assert first == "[2J\ufffd[bold]x (black) – ? (white)"
