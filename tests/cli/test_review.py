from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tengen import cli
from tengen.core.contracts import Ruleset
from tengen.core.geometry import parse_points
from tengen.errors import InputError, RecordError
from tengen.records import GameRecord, MarkKind, load, save
from tengen.review import EFFORTS, annotate, review_game

MOVES = "h8i9g8j10i8a1f8a2e8"
"""White ignores an open three with move 6 and loses."""


@pytest.fixture
def game(tmp_path: Path) -> Path:
    record = GameRecord.from_points(Ruleset(15, 15), parse_points(MOVES))
    record.black, record.white = "<Ann>", "Bob"
    save(tmp_path / "game.sgf", [record])
    return tmp_path / "game.sgf"


def run(*arguments: str | Path) -> str:
    words = ["review", *map(str, arguments), "--effort", "quick"]
    done = CliRunner().invoke(cli.app, words, catch_exceptions=False, env={"COLUMNS": "80"})
    assert done.exit_code == 0, done.output
    return done.stdout


def test_the_review_names_the_bad_moves_the_better_ones_and_the_accuracy(game: Path) -> None:
    shown = run(game)
    assert shown.startswith("<Ann> (black) – Bob (white)\n")
    assert "   6.*white a1   mistake " in shown
    assert "      Ignores the open three g8-h8-i8: black wins in 2 moves.\n" in shown
    assert "      Better: j8, which answers the open three g8-h8-i8.\n" in shown
    assert "* turning point\n" in shown
    assert "   7. black f8" not in shown
    assert all(len(line) <= 80 for line in shown.splitlines())


def test_all_moves_are_listed_on_request(game: Path) -> None:
    shown = run(game, "--all")
    assert [f"{number:>4}." in shown for number in range(1, 10)] == [True] * 9


def test_the_number_of_workers_does_not_change_the_review(game: Path) -> None:
    assert run(game, "--workers", "1") == run(game, "--workers", "3")


def test_thresholds_decide_what_is_bad(game: Path) -> None:
    assert "No bad moves.\n" in run(game, "--thresholds", "100,100,100")


def test_the_review_is_saved_as_the_board_saves_it(game: Path, tmp_path: Path) -> None:
    target = tmp_path / "review.sgf"
    assert f"wrote {target}\n" in run(game, "--save", target)
    (original,), (saved,) = load(game), load(target)
    expected = tmp_path / "expected.sgf"
    save(expected, [annotate(original, review_game(original, EFFORTS["quick"]))])
    assert target.read_bytes() == expected.read_bytes()
    bad = list(saved.main_line())[6]
    assert bad.comment.startswith("Mistake. Ignores the open three")
    assert MarkKind.CROSS in {mark.kind for mark in bad.marks}


def test_the_page_is_self_contained_and_escapes_names(game: Path, tmp_path: Path) -> None:
    target = tmp_path / "review.html"
    run(game, "--save", target)
    page = target.read_text(encoding="utf-8")
    assert "&lt;Ann&gt;" in page
    assert "<Ann>" not in page
    assert "6. white a1: mistake" in page
    assert "src=" not in page
    assert "href=" not in page
    assert page.count("<figure>") == page.count("<h3>") + 1  # a diagram for each bad move, and the whole game


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--save", "game.sgf"], "itself: choose another file name"),
        (["--save", "review.doc"], "unknown file extension"),
        (["--thresholds", "6,14"], "must be three percentages"),
        (["--thresholds", "28,14,6"], "must be ascending"),
        (["--game", "2"], "has no game 2"),
    ],
)
def test_mistakes_are_found_before_the_review(
    game: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], message: str
) -> None:
    monkeypatch.chdir(game.parent)
    with pytest.raises(InputError, match=message):
        run(game.name, *arguments)
    assert sorted(game.parent.iterdir()) == [game]


def test_games_that_cannot_be_reviewed(tmp_path: Path) -> None:
    save(tmp_path / "empty.sgf", [GameRecord.from_points(Ruleset(15, 15), ())])
    with pytest.raises(InputError, match="has no moves to review"):
        run(tmp_path / "empty.sgf")
    (tmp_path / "twice.sgf").write_text("(;GM[4]SZ[15];B[hh];B[ii])")
    with pytest.raises(RecordError, match=r"twice\.sgf: move 2 .*alternating"):
        run(tmp_path / "twice.sgf")


def test_ctrl_c_prints_the_moves_so_far(game: Path) -> None:
    code = f"""
import os, signal, tengen.review.summary as summary
from tengen import cli

signal.signal(signal.SIGINT, signal.default_int_handler)  # background jobs are started with Ctrl-C ignored
judge = summary.judge_move
def judge_and_interrupt(turn, *rest):
    if turn == 3:
        os.kill(os.getpid(), signal.SIGINT)
        while not rest[-1].is_set():
            pass
    return judge(turn, *rest)
summary.judge_move = judge_and_interrupt
import sys
sys.argv = ["tengen", "review", {str(game)!r}, "--effort", "quick", "--all"]
cli.main()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 130
    assert done.stderr.strip().splitlines()[-1] == "stopped after 2 of 9 moves"
    assert "   2. white i9" in done.stdout
    assert "   3. " not in done.stdout


def test_a_match_game_is_reviewed_from_the_end_of_its_opening(tmp_path: Path) -> None:
    games = ("match", "random", "naive", "--rules", "9x9", "--games", "2", "--quiet", "--save", str(tmp_path))
    assert CliRunner().invoke(cli.app, list(games)).exit_code == 0
    file = str(tmp_path / "games.sgf")
    output = CliRunner().invoke(cli.app, ["review", file, "--effort", "quick", "--all"], env={"COLUMNS": "100"}).output
    assert "The first 5 stones were given as an opening and are not judged." in output
    assert min(int(number) for number in re.findall(r"^ *(\d+)\.", output, re.MULTILINE)) == 6
    assert "game 1 of 2; use --game to choose another" in output
    assert "game 2 of 2" in CliRunner().invoke(cli.app, ["show", file, "--game", "2"]).output
