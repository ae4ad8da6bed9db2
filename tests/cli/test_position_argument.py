"""The POSITION argument of commands: moves, files, drawings."""

from __future__ import annotations

import io
import sys

import pytest

from tengen.cli.position_argument import read_position
from tengen.core.contracts import Colour, Ruleset
from tengen.core.position import Position
from tengen.errors import InputError, TengenError
from tengen.records import GameRecord, save


def test_moves():
    assert read_position("h8i9j10") == Position.from_moves(Ruleset(15, 15), "h8i9j10")
    assert read_position("h8 i9", "renju").ruleset == Ruleset.parse("15x15:5:renju")
    assert read_position("9/renju/e5e6").ruleset == Ruleset.parse("9x9:5:renju")
    assert read_position("6x6:4:freestyle/c3d4").stones == 2
    assert read_position("c3", "6x6:4:caro").ruleset == Ruleset.parse("6x6:4:caro")
    assert read_position("15/renju/").stones == 0
    assert read_position("h8--j10").to_move is Colour.WHITE


@pytest.fixture
def game_file(tmp_path):
    moves = Position.from_moves(Ruleset.parse("15x15:5:renju"), "h8i9j10k11g7").moves
    path = tmp_path / "game.sgf"
    save(path, [GameRecord.from_points(Ruleset.parse("15x15:5:renju"), moves)])
    return path


def test_files(game_file):
    whole = read_position(str(game_file))
    assert whole.stones == 5
    assert whole.ruleset.rule == "renju"
    assert read_position(f"{game_file}@3") == whole.undo(2)
    assert read_position(f"{game_file}@0").stones == 0


def test_a_file_name_may_contain_an_at_sign(game_file):
    odd = game_file.rename(game_file.with_name("a@2.sgf"))
    assert read_position(str(odd)).stones == 5
    assert read_position(f"{odd}@1").stones == 1


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("nowhere.sgf", "nowhere.sgf"),
        ("nowhere.sgf@3", "nowhere.sgf"),
        ("h8h8", "played twice"),
        ("h8z9x", "h8z9x"),
        ("h88", "h88"),
        ("15/chess/h8", "chess"),
        ("a1" * 3000, "played twice"),
        ("\0", r"\\x00"),
    ],
)
def test_invalid_positions_are_rejected(text, named):
    with pytest.raises(TengenError, match=named):
        read_position(text)


def test_moves_beyond_the_end_are_rejected(game_file):
    with pytest.raises(InputError, match=r"game.sgf: move 6 does not exist"):
        read_position(f"{game_file}@6")


def test_an_unknown_extension_is_rejected(tmp_path):
    path = tmp_path / "game.doc"
    path.write_text("h8", encoding="ascii")
    with pytest.raises(InputError, match="unknown file extension"):
        read_position(str(path))


def test_drawings_and_moves_on_standard_input(monkeypatch):
    position = Position.from_moves(Ruleset.parse("9x9:5:renju"), "e5e6d4")
    monkeypatch.setattr(sys, "stdin", io.StringIO(str(position)))
    assert read_position("-") == position
    monkeypatch.setattr(sys, "stdin", io.StringIO(". . .\n. X .\n. O ."))
    assert read_position("-", "3x3:3:freestyle").stones == 2
    monkeypatch.setattr(sys, "stdin", io.StringIO("h8i9\n"))
    assert read_position("-").stones == 2


@pytest.mark.parametrize("text", ["", "no\nboard\n", "x" * (1 << 21)])
def test_noise_on_standard_input_is_rejected(monkeypatch, text):
    monkeypatch.setattr(sys, "stdin", io.StringIO(text))
    if text == "":
        assert read_position("-").stones == 0
    else:
        with pytest.raises(TengenError):
            read_position("-")
