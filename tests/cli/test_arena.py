"""`tengen match`, `tournament`, `ratings` and `openings`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tengen.arena.live import LiveView
from tengen.arena.tournament import Progress
from tengen.cli import app
from tengen.errors import InputError, TengenError
from tengen.records import load


def run(*arguments: object) -> str:
    done = CliRunner().invoke(app, [str(argument) for argument in arguments], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


def test_a_match_writes_its_result_and_its_games(tmp_path: Path) -> None:
    result = tmp_path / "result.json"
    out = run(
        *("match", "rule-based", "random", "--rules", "9x9:5:freestyle", "--games", 4, "--time-ms", 1000),
        *("--json", result, "--save", tmp_path / "games", "--db", tmp_path / "match.db", "--quiet"),
    )
    assert "rule-based against random, 9x9:5:freestyle, 4 games" in out
    found = json.loads(result.read_text(encoding="utf-8"))
    assert (found["a"], found["b"], found["games"]) == ("rule-based", "random", 4)
    assert found["wins"] + found["draws"] + found["losses"] == 4
    for side in ("as_black", "as_white"):
        assert found[side]["games"] == 2
    assert found["elo_interval"][0] <= found["elo"] <= found["elo_interval"][1]
    games = load(tmp_path / "games" / "games.sgf")
    assert [game.black for game in games] == ["rule-based", "random"] * 2
    assert "Ratings, 9x9:5:freestyle" in run("ratings", tmp_path / "match.db", "--anchor", "random=1000")


def test_the_seed_reproduces_a_match(tmp_path: Path) -> None:
    def games(seed: int, name: str) -> list[str]:
        run("match", "random", "naive", "--rules", "9x9", "--games", 2, "--seed", seed, "--save", tmp_path / name)
        return [str(game.moves()) for game in load(tmp_path / name / "games.sgf")]

    assert games(1, "a") == games(1, "b") != games(2, "c")


def test_a_stopped_match_prints_the_result_so_far(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(_: LiveView, progress: Progress) -> None:
        if progress.tally.games == 2:
            raise KeyboardInterrupt

    result, games, store = tmp_path / "result.json", tmp_path / "games", tmp_path / "match.db"
    match = ("match", "random", "chains", "--rules", "9x9", "--games", 4, "--json", result, "--save", games)
    with monkeypatch.context() as patch:
        patch.setattr(LiveView, "update", stop)
        for more, words in (((), "stopped with 2 of 4 games\n"), (("--db", store), "repeat the command to continue\n")):
            done = CliRunner().invoke(app, [str(argument) for argument in (*match, *more)])
            assert done.exit_code == 130
            assert "random against chains, 9x9:5:freestyle, 2 games" in done.stdout
            assert done.stderr.endswith(words)
            assert json.loads(result.read_text(encoding="utf-8"))["games"] == 2
            assert len(load(games / "games.sgf")) == 2
    assert "4 games" in run(*match, "--db", store)


def test_a_tournament_that_failed_to_start_can_be_corrected(tmp_path: Path) -> None:
    path = tmp_path / "cup.toml"
    for players, words in (("nobody", "unknown agent"), ("brain:cmd=none", "cannot start engine")):
        path.write_text(f'rules = "9x9"\nplayers = ["random", "{players}"]\n')
        with pytest.raises(TengenError, match=words):
            run("tournament", path, "--quiet")
    path.write_text('rules = "9x9"\nplayers = ["random", "chains"]\n')
    assert "2 games of 2 players" in run("tournament", path, "--quiet")


def test_a_tournament_continues_only_with_resume(tmp_path: Path) -> None:
    path = tmp_path / "cup.toml"
    path.write_text('name = "Cup"\nrules = "9x9"\nplayers = ["random", "chains"]\nrounds = 2\n')
    assert "Cup: 4 games of 2 players" in run("tournament", path, "--quiet", "--report", tmp_path / "report")
    assert (tmp_path / "report" / "report.html").exists()
    assert len(load(tmp_path / "report" / "games" / "games.sgf")) == 4
    with pytest.raises(InputError, match="contains 4 games: pass --resume"):
        run("tournament", path)
    assert "Cup: 4 games" in run("tournament", path, "--resume", "--concurrency", 2)


def test_a_swiss_tournament(tmp_path: Path) -> None:
    path = tmp_path / "cup.toml"
    players = ", ".join(f'{{agent = "random", name = "{name}"}}' for name in "abcde")
    path.write_text(f'name = "Cup"\nformat = "swiss"\nrules = "5x5:4"\nrounds = 3\nplayers = [{players}]\n')
    assert "Cup: 12 games of 5 players" in run("tournament", path, "--quiet", "--report", tmp_path / "report")
    games = load(tmp_path / "report" / "games" / "games.sgf")
    meetings = [tuple(sorted((str(game.black), str(game.white)))) for game in games]
    assert meetings[::2] == meetings[1::2]
    assert len(set(meetings)) == 6
    path.write_text(path.read_text().replace('"swiss"', '"swis"'))
    with pytest.raises(InputError, match="format = 'swis' is not one of round-robin, gauntlet, swiss"):
        run("tournament", path, "--resume")


def test_ratings_of_several_files_as_json(tmp_path: Path) -> None:
    for name, other in (("one", "random"), ("two", "naive")):
        run("match", "chains", other, "--rules", "9x9", "--games", 2, "--db", tmp_path / f"{name}.db", "--quiet")
    result = tmp_path / "ratings.json"
    run("ratings", tmp_path / "one.db", tmp_path / "two.db", "--json", result)
    assert [player["name"] for player in json.loads(result.read_text())["players"]] == ["chains", "random", "naive"]
    with pytest.raises(InputError, match="must have the form NAME=ELO, not 'chains'"):
        run("ratings", tmp_path / "one.db", "--anchor", "chains")


def test_openings_are_generated_and_used(tmp_path: Path) -> None:
    path = tmp_path / "openings.txt"
    arguments = ("--rules", "9x9", "--count", 2, "--nodes", 200, "--max-value", 0.5)
    run("openings", "generate", *arguments, "--out", path)
    assert run("openings", "generate", *arguments) == path.read_text()
    openings = [line.partition("/freestyle/")[2] for line in path.read_text().splitlines() if "/" in line]
    assert len(openings) == 2
    run("match", "random", "chains", "--rules", "9x9", "--games", 4, "--openings", path, "--save", tmp_path / "games")
    played = ["".join(str(move.point) for move in game.moves()) for game in load(tmp_path / "games" / "games.sgf")]
    assert all(moves.startswith(openings[number // 2]) for number, moves in enumerate(played))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("match", "nobody", "random"), "unknown agent 'nobody'"),
        (("match", "random", "random", "--rules", "2x2"), "2x2"),
        (("match", "random", "random", "--sprt", "5"), "expected elo0,elo1"),
        (("match", "random", "random", "--openings", "none"), "none does not exist"),
        (("match", "random", "brain:cmd=none"), "cannot start engine 'none'"),
        (("tournament", "none.toml"), "cannot read none.toml"),
        (("ratings", "none.db"), "does not exist"),
        (("openings", "generate", "--agent", "random"), "cannot evaluate"),
    ],
)
def test_wrong_arguments_are_reported(arguments: tuple[str, ...], words: str) -> None:
    with pytest.raises(TengenError, match=words):
        run(*arguments)
