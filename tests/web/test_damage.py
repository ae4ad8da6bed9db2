"""Damaged files in the folders that the laboratory shows: each is listed with the reason, and nothing else is affected.

The same folders are given to the command line, which ends in one line.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from starlette.testclient import TestClient
from typer.testing import CliRunner

from tengen.arena.entrant import Entrant
from tengen.arena.standings import collect
from tengen.arena.store import GameStore
from tengen.arena.tournament import Tournament, play
from tengen.cli import app
from tengen.core.contracts import Ruleset
from tengen.errors import TengenError
from tengen.web.app import create_app
from tengen.web.laboratory.folders import Lab
from tengen.web.services import ServerConfig
from tengen.web.workers.scheduler import SearchPoolConfig
from tests.web.conftest import GENEROUS
from tests.web.talk import Json

CONFIG = '[run]\nalgorithm = "ppo"\n[config]\nruleset = "6x6:4:freestyle"\niterations = 10\n'
GOOD_LINE = '{"iteration": 1, "games": 3, "seconds": 60}\n'
SECRET = "a secret of this machine"


@pytest.fixture(scope="module")
def tournament_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("arena") / "ladder.sqlite"
    players = (Entrant(agent="random"), Entrant(agent="naive:level=3"))
    with GameStore(path) as store:
        play(Tournament(name="A ladder", players=players, rules=(Ruleset(9, 9),), rounds=2), store)
    return path


@pytest.fixture
def root(tmp_path: Path, tournament_file: Path) -> Path:
    """A folder with an intact run and an intact tournament."""
    runs = tmp_path / "runs"
    write_run(runs / "good")
    shutil.copy(tournament_file, runs / "good.sqlite")
    (tmp_path / "secret.txt").write_text(SECRET, encoding="utf-8")
    return runs


@pytest.fixture
def lab(root: Path) -> TestClient:
    # No worker is needed, so the lifespan, which starts them, is not entered.
    return TestClient(create_app(ServerConfig(runs=(root,), limits=GENEROUS, pool=SearchPoolConfig(workers=1))))


def write_run(folder: Path, config: str = CONFIG, metrics: str = GOOD_LINE) -> None:
    folder.mkdir(parents=True)
    (folder / "config.toml").write_text(config, encoding="utf-8")
    (folder / "metrics.jsonl").write_text(metrics, encoding="utf-8")


def listed_runs(lab: TestClient) -> dict[str, Json]:
    """Return the runs by name; the intact one must be among them, complete."""
    found = {run["name"]: run for run in lab.get("/api/runs").json()["runs"]}
    assert (found["good"]["steps"], found["good"]["problem"]) == (1, None)
    return found


# ---- Runs -----------------------------------------------------------------------------------------------------------

DAMAGED_LINES = {
    "digits": '{"iteration": 2, "games": %s}' % ("9" * 400),
    "thousands of digits": '{"iteration": 2, "games": %s}' % ("9" * 5000),
    "iteration": '{"iteration": %s}' % ("9" * 400),
    "nan": '{"iteration": 2, "games": NaN}',
    "infinity": '{"iteration": 2, "strength": {"elo": -Infinity, "error": 1}}',
    "nesting": '{"iteration": 2, "a": ' + '{"a":' * 100_000 + "1" + "}" * 100_001,
    "some nesting": '{"iteration": 2, "a": ' + '{"a":' * 50 + "1" + "}" * 51,
    "text": "no JSON",
    "bytes": "\0\0\0",
    "long": '{"iteration": 2, "a": "%s"}' % ("x" * (1 << 20)),
}


@pytest.mark.parametrize("name", DAMAGED_LINES)
def test_a_damaged_line_of_metrics_is_skipped_and_counted(lab: TestClient, root: Path, name: str) -> None:
    lines = GOOD_LINE + DAMAGED_LINES[name] + "\n"
    write_run(root / "last", metrics=lines)
    write_run(root / "middle", metrics=lines + '{"iteration": 3, "games": 9}\n')
    found = listed_runs(lab)
    problem = "metrics.jsonl: 1 damaged line skipped"
    assert (found["last"]["steps"], found["last"]["problem"]) == (1, problem)
    assert found["middle"]["steps"] == 3
    detail = lab.get("/api/runs/middle").json()
    assert detail["summary"]["problem"] == problem
    assert {one["name"]: one["values"] for one in detail["series"]}["games"] == [3, 9]
    shown = CliRunner().invoke(app, ["runs", str(root)], env={"COLUMNS": "100"})
    assert isinstance(shown.exception, TengenError)
    assert f"middle: {problem}" in str(shown.exception)
    assert "good" in shown.stdout


@pytest.mark.parametrize(
    "config",
    [
        "no TOML",
        "a = " + "[" * 10_000,
        CONFIG + "big = " + "9" * 5000,
        "config = 3\n[run]\nalgorithm = 'ppo'\n",
        "[run]\nalgorithm = 3\n",
        "[run]\nalgorithm = 'ppo'\nunknown = 1\n",
        "\0" * 100,
        "x" * (1 << 21),
    ],
    ids=range(8),
)
def test_a_damaged_configuration_is_listed_with_the_reason(lab: TestClient, root: Path, config: str) -> None:
    write_run(root / "bad", config=config)
    problem = listed_runs(lab)["bad"]["problem"]
    assert problem
    assert str(root) not in problem
    assert lab.get("/api/runs/bad").json()["summary"]["problem"] == problem
    shown = CliRunner().invoke(app, ["runs", str(root)], env={"COLUMNS": "100"})
    assert isinstance(shown.exception, TengenError)
    assert "damaged" in shown.stdout
    assert "good" in shown.stdout


@pytest.mark.parametrize("config", ["iterations = inf", "iterations = nan", "minutes = 1e400", "ruleset = []"])
def test_strange_settings_do_no_harm(lab: TestClient, root: Path, config: str) -> None:
    write_run(root / "odd", config=f'[run]\nalgorithm = "ppo"\n[config]\n{config}\n')
    state = root / "odd" / "checkpoints" / "000001" / "state.json"
    state.parent.mkdir(parents=True)
    for counters in ('{"seconds": 1, "cpu_seconds": %s}' % ("9" * 400), '{"a":' * 100_000, "[]", "\xff"):
        state.write_text(counters, encoding="utf-8")
        assert listed_runs(lab)["odd"]["problem"] is None
        assert CliRunner().invoke(app, ["runs", str(root)]).exit_code == 0


FILES_OF_RUN = (
    "config.toml",
    "metrics.jsonl",
    "lock",
    "checkpoints/000001/state.json",
    "games/000001.sgf",
    "model.onnx",
)


def make_pipe(path: Path) -> None:
    """Make something that is no regular file: a pipe, whose opening would wait for a writer, if there are any."""
    if hasattr(os, "mkfifo"):
        os.mkfifo(path)
    else:
        path.mkdir()


@pytest.mark.parametrize("file", FILES_OF_RUN)
def test_a_fifo_is_not_opened(lab: TestClient, root: Path, file: str) -> None:
    write_run(root / "piped")
    path = root / "piped" / file
    path.unlink(missing_ok=True)
    path.parent.mkdir(parents=True, exist_ok=True)
    make_pipe(path)
    found = listed_runs(lab)
    assert ("piped" in found) == (file != "config.toml")
    if file == "metrics.jsonl":
        assert found["piped"]["problem"] == "cannot read piped/metrics.jsonl: it is not a regular file"
    assert lab.get("/api/runs/piped/games/000001.sgf").status_code in (400, 404)
    CliRunner().invoke(app, ["runs", str(root)])


@pytest.mark.parametrize("file", FILES_OF_RUN)
def test_links_that_leave_the_folder_are_not_followed(lab: TestClient, root: Path, file: str) -> None:
    write_run(root / "linked")
    target = root.parent / "secret.txt"
    if file == "config.toml":
        target.write_text(f'{CONFIG}secret = "{SECRET}"\n', encoding="utf-8")
    path = root / "linked" / file
    path.unlink(missing_ok=True)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(target)
    answers = [lab.get(f"/api/{place}") for place in ("runs", "runs/linked", "runs/linked/games/000001.sgf")]
    assert not any(SECRET in answer.text for answer in answers)
    run = listed_runs(lab)["linked"]
    assert run["agent"] is None
    assert ("link" in (run["problem"] or "")) == (file in ("config.toml", "metrics.jsonl"))


def test_folders_outside_are_not_entered(lab: TestClient, root: Path) -> None:
    write_run(root.parent / "outside" / "run")
    (root / "link").symlink_to(root.parent / "outside", target_is_directory=True)
    shutil.copy(root / "good.sqlite", root.parent / "outside" / "other.sqlite")
    (root / "other.sqlite").symlink_to(root.parent / "outside" / "other.sqlite")
    (root / "inside.sqlite").symlink_to(root / "good.sqlite")
    assert set(listed_runs(lab)) == {"good"}
    assert {one["name"] for one in lab.get("/api/tournaments").json()["tournaments"]} == {"good", "inside"}


# ---- Tournaments ----------------------------------------------------------------------------------------------------


def no_database(path: Path) -> None:
    path.write_text("no database" * 1000, encoding="utf-8")


def emptied(path: Path) -> None:
    path.write_bytes(b"")


def truncated(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:5000])


def overwritten(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[4096:] = bytes(len(data) - 4096)
    path.write_bytes(data)


def changed(sql: str) -> Callable[[Path], None]:
    def change(path: Path) -> None:
        with sqlite3.connect(path, isolation_level=None) as database:
            database.execute(sql)
        database.close()

    return change


DAMAGES: dict[str, Callable[[Path], None]] = {
    "truncated": truncated,
    "overwritten": overwritten,
    "no database": no_database,
    "empty": emptied,
    "players": changed("DELETE FROM players"),
    "a hole": changed("UPDATE players SET place = 7 WHERE place = 1"),
    "names": changed("UPDATE players SET name = x'ff' WHERE place = 1"),
    "first": changed("UPDATE games SET first = 99"),
    "text": changed("UPDATE games SET first = 'x'"),
    "seat": changed("UPDATE games SET black_seat = 2"),
    "outcome": changed("UPDATE games SET outcome = 'victory'"),
    "ending": changed("UPDATE games SET ending = x'00'"),
    "moves": changed("UPDATE games SET moves = 'zz99'"),
    "moves as bytes": changed("UPDATE games SET moves = x'ff'"),
    "times": changed("""UPDATE games SET times_ms = '["x"]'"""),
    "deep": changed(f"UPDATE games SET times_ms = '{'[' * 100_000}'"),
    "settings": changed("""UPDATE settings SET value = '[1]' WHERE key = 'tournament'"""),
    "garbage": changed("""UPDATE settings SET value = '{' WHERE key = 'games'"""),
    "count": changed("""UPDATE settings SET value = '"x"' WHERE key = 'games'"""),
    "view": changed(
        "CREATE VIEW forever AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i FROM n) SELECT i FROM n"
    ),
    "table": changed("DROP TABLE players"),
}


@pytest.mark.parametrize("name", DAMAGES)
def test_a_damaged_database_affects_only_itself(lab: TestClient, root: Path, name: str) -> None:
    bad = root / "bad.sqlite"
    shutil.copy(root / "good.sqlite", bad)
    DAMAGES[name](bad)
    tournaments = {one["name"]: one for one in lab.get("/api/tournaments").json()["tournaments"]}
    assert (tournaments["good"]["title"], tournaments["good"]["problem"]) == ("A ladder", None)
    answers = [lab.get(f"/api/tournaments/bad{rest}") for rest in ("", "/games", "/games/0")]
    assert all(answer.status_code in (200, 400, 404) for answer in answers)
    # What the list does not read may be damaged unnoticed, but not what somebody opens.
    assert tournaments["bad"]["problem"] or any(answer.status_code == 400 for answer in answers)
    assert str(root) not in (tournaments["bad"]["problem"] or "")
    assert isinstance(CliRunner().invoke(app, ["ratings", str(bad)]).exception, TengenError)


@pytest.mark.parametrize("name", DAMAGES)
def test_a_tournament_in_a_damaged_database_is_resumed_or_refused(root: Path, name: str) -> None:
    path = root / "bad.sqlite"
    shutil.copy(root / "good.sqlite", path)
    DAMAGES[name](path)
    file = root / "t.toml"
    file.write_text(
        'name = "A ladder"\nrules = "9x9:5:freestyle"\nrounds = 3\ndatabase = "bad.sqlite"\n'
        '[[players]]\nagent = "random"\n[[players]]\nagent = "naive:level=3"\n',
        encoding="utf-8",
    )
    ended = CliRunner().invoke(app, ["tournament", str(file), "--resume", "--quiet"])
    assert ended.exit_code == 0 or isinstance(ended.exception, TengenError), ended.exception


@pytest.mark.parametrize("ending", ["", "-wal", "-journal", "-shm"])
def test_a_fifo_next_to_a_database_is_not_opened(lab: TestClient, root: Path, ending: str) -> None:
    path = root / "piped.sqlite"
    shutil.copy(root / "good.sqlite", path)
    Path(f"{path}{ending}").unlink(missing_ok=True)
    make_pipe(Path(f"{path}{ending}"))
    tournaments = {one["name"]: one for one in lab.get("/api/tournaments").json()["tournaments"]}
    assert tournaments["good"]["problem"] is None
    assert ("piped" in tournaments) == bool(ending)
    if ending:
        assert tournaments["piped"]["problem"] == f"piped.sqlite{ending} is not a regular file"


def test_mutated_files_raise_only_our_errors(root: Path) -> None:
    chance = random.Random(24)
    lab = Lab(runs=(root,))
    database = (root / "good.sqlite").read_bytes()
    metrics = "".join(json.dumps({"iteration": n, "losses": {"policy": 1 / n}}) + "\n" for n in range(1, 50)).encode()
    for _ in range(300):
        (root / "bad.sqlite").write_bytes(mutated(database, chance))
        write_mutated_run(root / "bad", metrics, chance)
        lab.list_runs(limit=10, offset=0)
        lab.list_tournaments(limit=10, offset=0)
        for read in (lab.run, lab.tournament, lambda name: lab.tournament_games(name, 10, 0)):
            with suppress(TengenError):
                read("bad")
        with suppress(TengenError), GameStore(root / "bad.sqlite", is_writer=False) as store:
            collect([store])


def mutated(data: bytes, chance: random.Random) -> bytes:
    """Return the bytes with a few of them changed, or cut off."""
    changed = bytearray(data)
    for _ in range(chance.choice((1, 4, 64))):
        changed[chance.randrange(len(changed))] = chance.randrange(256)
    return bytes(changed[: chance.randrange(len(changed))] if chance.random() < 0.1 else changed)


def write_mutated_run(folder: Path, metrics: bytes, chance: random.Random) -> None:
    folder.mkdir(exist_ok=True)
    (folder / "config.toml").write_bytes(mutated(CONFIG.encode(), chance) if chance.random() < 0.3 else CONFIG.encode())
    (folder / "metrics.jsonl").write_bytes(mutated(metrics, chance))


# ---- Models ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("card", ["", "[]", "{}", "{" * 100_000, '{"ruleset": 1, "weights": 1e999}', "\xff"])
def test_a_damaged_model_card_affects_only_itself(tmp_path: Path, card: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from tengen.core.shipped import shipped_folder

    models = tmp_path / "models"
    good = sorted(shipped_folder("models").glob("*/card.json"))[0].parent
    shutil.copytree(good, models / good.name)
    shutil.copytree(good, models / "bad")
    (models / "bad" / "card.json").write_text(card, encoding="utf-8")
    monkeypatch.setattr("tengen.web.laboratory.folders.shipped_folder", lambda _: models)
    found = {model.name: model for model in Lab().list_models()}
    assert found[good.name].problem is None
    assert found["bad"].problem
    assert found["bad"].agent is None
