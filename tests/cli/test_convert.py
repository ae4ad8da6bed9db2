from __future__ import annotations

import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tengen import cli
from tengen.errors import InputError, RecordError
from tengen.records import load
from tests.records.sample_files import SAMPLES, points


def run(*arguments: str | Path) -> str:
    """Run a subcommand that succeeds and return its stderr."""
    done = CliRunner().invoke(cli.app, ["convert", *map(str, arguments)], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stderr


def test_losses_are_reported(tmp_path: Path) -> None:
    target = tmp_path / "game.pos"
    stderr = run(SAMPLES / "variations.sgf", target)
    assert stderr.startswith("warning: lost: 3 variations, 3 comments, 1 comment on the game, 1 board text, ")
    assert target.read_text() == "15/renju/h8i9i7j6g9\n"


def test_nothing_is_printed_if_nothing_is_lost(tmp_path: Path) -> None:
    assert run(SAMPLES / "variations.sgf", tmp_path / "game.json") == ""
    assert run(tmp_path / "game.json", tmp_path / "again.sgf", "--strict") == ""
    assert load(tmp_path / "again.sgf") == load(SAMPLES / "variations.sgf")


def test_strict_writes_nothing_if_anything_would_be_lost(tmp_path: Path) -> None:
    target = tmp_path / "game.pos"
    target.write_text("old")
    with pytest.raises(RecordError, match=r"game.pos was not written because it would lose 3 variations"):
        run(SAMPLES / "variations.sgf", target, "--strict")
    assert target.read_text() == "old"


def test_rows_and_rule(tmp_path: Path) -> None:
    source = tmp_path / "a.pos"
    source.write_text("a1b2\n")
    run(source, tmp_path / "b.psq", "--rows", "top", "--rules", "renju")
    assert (tmp_path / "b.psq").read_text().splitlines()[1:3] == ["1,1,0", "2,2,0"]
    run(source, tmp_path / "c.pos", "--rows", "top", "--to-rows", "bottom", "--rules", "20x20:5:caro")
    assert (tmp_path / "c.pos").read_text() == "20/caro/a20b19\n"
    run(source, tmp_path / "d.pos", "--rows", "top")
    assert (tmp_path / "d.pos").read_text() == "15/freestyle/a1b2\n"


def test_encodings(tmp_path: Path) -> None:
    stderr = run(SAMPLES / "study.lib", tmp_path / "kept.sgf")
    assert "texts with bytes that the code page does not define: 1 (preserved); try --encoding" in stderr
    assert run(SAMPLES / "study.lib", tmp_path / "read.sgf", "--encoding", "cp1252") == ""
    assert "été" in (tmp_path / "read.sgf").read_text("utf-8")
    run(tmp_path / "read.sgf", tmp_path / "back.lib", "--to-encoding", "cp1252")
    assert load(tmp_path / "back.lib") == load(SAMPLES / "study.lib")


def test_one_game_of_many(tmp_path: Path) -> None:
    run(SAMPLES / "database.rif", tmp_path / "second.sgf", "--game", "2")
    assert [points(game) for game in load(tmp_path / "second.sgf")] == ["a1o15b1"]
    with pytest.raises(InputError, match=r"has no game 9 \(games in the file: 3\)"):
        run(SAMPLES / "database.rif", tmp_path / "ninth.sgf", "--game", "9")
    assert not (tmp_path / "ninth.sgf").exists()


def test_skipped_games_are_reported(tmp_path: Path) -> None:
    stderr = run(SAMPLES / "database.rif", tmp_path / "games.jsonl")
    assert "warning: skipped games with invalid moves: 2" in stderr


@pytest.mark.parametrize(
    ("name", "text", "place"),
    [
        ("a.sgf", "(;GM[4];B[hh])\n(;GM[4];B[aa];W[aa])\n(;GM[4])", "line 2, column 14"),
        ("a.pos", "h8\nh8i9x\nj10\n", "line 2, column 5"),
        ("a.json", '[{"moves":"h8"},\n{"moves":"h8"', "line 2, column 14"),
        ("a.jsonl", '{"moves":"h8"}\n{"moves":"x"}\n', "line 2: column 1"),
    ],
)
def test_games_before_the_damage_are_kept(tmp_path: Path, name: str, text: str, place: str) -> None:
    (tmp_path / name).write_text(text)
    target = tmp_path / "b.sgf"
    with pytest.raises(RecordError, match=f"{place}.*b.sgf contains the game before the damage"):
        run(tmp_path / name, target)
    assert [points(game) for game in load(target)] == ["h8"]
    target.unlink()
    with pytest.raises(RecordError, match=place):
        run(tmp_path / name, target, "--strict")
    assert not target.exists()


def test_replay_fills_in_results(tmp_path: Path) -> None:
    source = tmp_path / "a.pos"
    source.write_text("15/freestyle/a1a2b1b2c1c2d1d2e1\nh8\n")
    run(source, tmp_path / "b.sgf", "--replay")
    assert [game.result for game in load(tmp_path / "b.sgf")] == ["black", None]


def test_named_formats(tmp_path: Path) -> None:
    source = tmp_path / "openings"
    source.write_text("0,0, 1,1\n")
    run(source, tmp_path / "out", "--from", "offsets", "--to", "sgf")
    assert (tmp_path / "out").read_text().startswith("(;FF[4]GM[4]")


def test_a_file_is_not_converted_to_itself(tmp_path: Path) -> None:
    path = tmp_path / "a.sgf"
    path.write_text("(;GM[4];B[hh])")
    with pytest.raises(InputError, match=r"cannot convert .* to itself"):
        run(path, path)
    assert path.read_text() == "(;GM[4];B[hh])"


def test_errors_are_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["tengen", "convert", str(tmp_path / "no.sgf"), str(tmp_path / "x.pos")])
    with pytest.raises(SystemExit) as leaving:
        cli.main()
    assert leaving.value.code == 2
    message = capsys.readouterr().err
    assert message.startswith("tengen: cannot read ")
    assert message.count("\n") == 1
