"""The laboratory: runs and tournaments read from folders, live or not."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from tengen.arena.entrant import Entrant
from tengen.arena.store import GameStore
from tengen.arena.tournament import Tournament, play
from tengen.core.contracts import Ruleset
from tengen.core.shipped import shipped_folder
from tengen.learning.run import Run
from tengen.nets.models import model_names
from tengen.search.critic import find_critic
from tengen.web.app import create_app
from tengen.web.games.players import AllowedAgents
from tengen.web.laboratory.folders import Lab
from tengen.web.services import ServerConfig
from tengen.web.workers.scheduler import SearchPoolConfig
from tests.conftest import ROOT
from tests.web.conftest import GENEROUS
from tests.web.talk import Json, act, begin, receive_until, write_network

CONFIG = '[run]\nalgorithm = "{}"\n[config]\nruleset = "{}"\n'
RUN_PLAYER: Json = {"kind": "agent", "agent": "alphazero:run=zero/first,simulations=8"}


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("runs")


@pytest.fixture(scope="module")
def lab(root: Path) -> Iterator[TestClient]:
    write_run(root / "zero" / "first")
    write_critic_run(root / "adp")
    write_tournament(root / "ladder.sqlite")
    papers = root / "papers"
    (papers / "zero9" / "results").mkdir(parents=True)
    page = "# A paper\n\nSource: Ann, Bob: *A paper*,\n2017, <https://example.org>.\n\nWith a table."
    (papers / "zero9" / "README.md").write_text(page, encoding="utf-8")
    results = {"table.json": "{}", "table.md": "| a |\n|---|\n", "curve.svg": "<svg/>", "curve.png": "png"}
    for name, text in results.items():
        (papers / "zero9" / "results" / name).write_text(text, encoding="utf-8")
    config = ServerConfig(runs=(root,), papers=papers, limits=GENEROUS, pool=SearchPoolConfig(workers=1))
    with TestClient(create_app(config)) as client, Run.open(root / "zero" / "first").lock():
        yield client


def write_run(folder: Path) -> None:
    (folder / "games").mkdir(parents=True)
    (folder / "config.toml").write_text(CONFIG.format("alphazero", "6x6:4:freestyle"), "utf-8")
    lines = [
        {"iteration": step, "games": 10 * step, "losses": {"policy": 4 / step}, "note": "no number"}
        for step in range(1, 1001)
    ]
    opponents = {"random": {"elo": -300.0, "error": 40.0}}
    lines[499]["strength"] = {"elo": 120.0, "error": 30.0, "opponents": opponents}
    # The last line is incomplete, as in a running run.
    text = "\n".join(map(json.dumps, lines)) + '\n{"iteration": 1001, "gam'
    (folder / "metrics.jsonl").write_text(text, encoding="utf-8")
    later = time.time() + 3600  # listed first
    os.utime(folder / "metrics.jsonl", (later, later))
    for number in (1, 2):
        (folder / "games" / f"{number:06}.sgf").write_text("(;GM[4]SZ[6];B[cc];W[dd])", encoding="utf-8")
    write_network(folder)


def write_critic_run(folder: Path) -> None:
    folder.mkdir()
    (folder / "config.toml").write_text(CONFIG.format("adp", "15x15:5:freestyle"), "utf-8")
    (folder / "metrics.jsonl").write_text('{"iteration": 1}\n', "utf-8")
    shutil.copy(find_critic("adp"), folder)


def write_tournament(path: Path) -> None:
    tournament = Tournament(
        name="A ladder",
        players=(Entrant(agent="random"), Entrant(agent="naive:level=3")),
        rules=(Ruleset(9, 9),),
        rounds=2,
    )
    with GameStore(path) as store:
        play(tournament, store)


def test_runs_are_listed_and_shown(lab: TestClient) -> None:
    summary, other = lab.get("/api/runs").json()["runs"]
    assert (summary["name"], summary["algorithm"], summary["rules"]) == ("zero/first", "alphazero", "6x6:4:freestyle")
    assert (other["name"], other["isLive"]) == ("adp", False)
    assert (summary["steps"], summary["games"], summary["isLive"]) == (1000, 10_000, True)
    detail = lab.get("/api/runs/zero/first").json()
    assert lab.get("/api/runs/zero%2Ffirst").json() == detail  # the form that the pages request
    series = {one["name"]: one for one in detail["series"]}
    assert series["losses.policy"]["steps"][-1] == 1000
    assert len(series["losses.policy"]["steps"]) <= 400
    # The ratings are above the random player, which was measured.
    assert detail["strength"] == [{"step": 500, "elo": 420, "low": 390, "high": 450}]
    assert detail["anchor"] == "random"
    assert detail["gameFiles"] == ["000002.sgf", "000001.sgf"]
    game = lab.get("/api/runs/zero%2Ffirst/games/000001.sgf").json()
    assert [node["move"] for node in game["record"]["nodes"]] == [None, "c4", "d3"]


def test_tournaments_are_listed_and_shown(lab: TestClient) -> None:
    (summary,) = lab.get("/api/tournaments").json()["tournaments"]
    assert (summary["name"], summary["title"], summary["isLive"]) == ("ladder", "A ladder", False)
    games = summary["games"]
    assert games == summary["gamesPlanned"] > 0
    tables = lab.get("/api/tournaments/ladder").json()["tables"]
    assert all(len(row) == len(table["columns"]) for table in tables for row in table["rows"])
    rows = lab.get("/api/tournaments/ladder/games", params={"limit": 1}).json()
    assert rows["total"] == games
    row = rows["games"][0]
    record = lab.get(f"/api/tournaments/ladder/games/{row['number']}").json()
    assert (record["black"], record["white"], record["outcome"]) == (row["black"], row["white"], row["outcome"])
    assert len(record["nodes"]) == row["moves"] + 1


def test_papers_and_models(lab: TestClient) -> None:
    (paper,) = lab.get("/api/papers").json()
    assert (paper["title"], paper["source"]) == ("A paper", "Ann, Bob: A paper, 2017")
    assert paper["documents"] == [{"name": "table.md", "text": "| a |\n|---|\n"}]
    assert paper["figures"] == ["curve.svg"]
    figure = lab.get("/api/papers/zero9/figures/curve.svg")
    assert (figure.content, figure.headers["content-type"]) == (b"<svg/>", "image/svg+xml")
    assert "default-src 'none'" in figure.headers["content-security-policy"]  # a script in it does not run
    refused = ("papers/zero9/figures/table.json", "papers/zero9/figures/..%2FREADME.md", "papers/x/figures/x.svg",
               "models/9x9/figures/card.json", "models/9x9/figures/model.onnx", "runs/9x9/figures/x.svg")  # fmt: skip
    for path in refused:
        assert lab.get(f"/api/{path}").status_code in (404, 422), path
    models = lab.get("/api/models").json()
    assert {model["name"] for model in models} >= set(model_names())
    for model in models:
        AllowedAgents().named(model["agent"])
        Ruleset.parse(model["rules"])
        assert all(match["wins"] + match["draws"] + match["losses"] == match["games"] for match in model["matches"])
        assert model["card"].startswith("# ")
        assert model["bytes"] > model["weights"]
    AllowedAgents().named("pg:model=pg9")  # the former name of pg-9x9-paper
    # The shipped folder is the repository's `papers`, not the package `tengen.papers`.
    assert shipped_folder("papers") == ROOT / "papers"


def test_the_networks_of_a_run_are_asked_about_a_position(lab: TestClient, root: Path) -> None:
    run = root / "zero" / "first"
    for iteration in (10, 500):
        folder = run / "milestones" / f"{iteration:06}"
        folder.mkdir(parents=True)
        shutil.copy(run / "model.onnx", folder)
    body = {"rules": "6x6:4:freestyle", "moves": ["c3"]}
    answer = lab.post("/api/runs/zero%2Ffirst/policies", json=body).json()
    assert (answer["rules"], answer["currentPlayer"]) == ("6x6:4:freestyle", "white")
    assert [point["iteration"] for point in answer["points"]] == [10, 500, None]
    for point in answer["points"]:
        assert sum(point["policy"].values()) == pytest.approx(1)
        assert "c3" not in point["policy"]
    assert lab.get("/api/runs/zero/first").json()["summary"]["milestones"] == [10, 500]
    wrong = lab.post("/api/runs/zero%2Ffirst/policies", json={"rules": "15x15:5:renju", "moves": []})
    assert (wrong.status_code, wrong.json()["code"]) == (400, "agent")
    assert lab.post("/api/runs/none/policies", json=body).status_code == 404
    shutil.rmtree(run / "milestones")


@pytest.mark.parametrize(
    "path", ["runs/x", "runs/first", "runs/zero/first/games/x.sgf", "tournaments/x", "tournaments/ladder/games/999"]
)
def test_unknown_runs_and_tournaments_are_not_found(lab: TestClient, path: str) -> None:
    assert lab.get(f"/api/{path}").status_code == 404


def test_a_run_is_named_by_its_path_in_the_folder_alone(lab: TestClient, root: Path) -> None:
    assert [run["agent"] for run in lab.get("/api/runs").json()["runs"]] == ["alphazero:run=zero/first", "adp:run=adp"]
    agents = {agent["name"]: agent for agent in lab.get("/api/info").json()["agents"]}
    for kind, choices in (("alphazero", "zero/first | none"), ("adp", "adp | none")):
        assert {one["key"]: one["type"] for one in agents[kind]["parameters"]}["run"] == choices
    up = f"../{root.name}/zero/first"
    for name in (str(root / "zero" / "first"), "first", "./zero/first", "zero/../zero/first", up, "second", "adp", ""):
        body = {"black": {"kind": "person"}, "white": {"kind": "agent", "agent": f"alphazero:run={name}"}}
        response = lab.post("/api/games", json=body | {"rules": "6x6:4:freestyle"})
        assert (response.status_code, response.json()["code"]) == (400, "agent"), name


def test_names_of_runs_in_several_folders_differ(tmp_path: Path) -> None:
    for folder in ("a/run", "b/run", "b/more/run"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "config.toml").write_text(CONFIG.format("ppo", "9x9"), "utf-8")
    found = Lab(runs=(tmp_path / "a", tmp_path / "b", tmp_path / "b" / "more" / "run")).run_folders()
    named = {name: folder.relative_to(tmp_path).as_posix() for name, folder in found.items()}
    assert named == {"run": "a/run", "more/run": "b/more/run", "b/run": "b/run", "run/run": "b/more/run"}


def test_the_critic_of_a_run_is_played_against(lab: TestClient) -> None:
    game = begin(lab, white={"kind": "agent", "agent": "adp:run=adp"}, rules="15x15:5:freestyle")["id"]
    act(lab, game, "play", point="h8")
    with lab.websocket_connect("/api/socket") as socket:
        socket.send_json({"type": "watch", "id": "w", "gameId": game})
        last = receive_until(socket, lambda found: found["type"] == "error" or len(found["game"]["moves"]) == 2)[-1]
    assert last["type"] == "game"


def test_a_run_analyses(lab: TestClient) -> None:
    with lab.websocket_connect("/api/socket") as socket:
        request = {"type": "analyse", "id": "a", "rules": "6x6:4:freestyle", "agent": RUN_PLAYER["agent"]}
        socket.send_json(request)
        last = receive_until(socket, lambda message: not message.get("isDuringSearch"))[-1]
    assert last["agent"] == RUN_PLAYER["agent"]
    assert last["moveInfos"][0]["prior"] > 0


def test_each_game_takes_the_newest_network_of_the_run(lab: TestClient, root: Path) -> None:
    def play_one_move() -> Json:
        game = begin(lab, white=RUN_PLAYER, rules="6x6:4:freestyle")["id"]
        act(lab, game, "play", point="c3")
        with lab.websocket_connect("/api/socket") as socket:
            socket.send_json({"type": "watch", "id": "w", "gameId": game})
            return receive_until(socket, lambda found: found["type"] == "error" or len(found["game"]["moves"]) == 2)[-1]

    assert play_one_move()["game"]["players"]["chooser"]["agent"] == RUN_PLAYER["agent"]
    # What training writes next is no network at all: the next game finds that out, and nothing else happens.
    (root / "zero" / "first" / "model.onnx").write_bytes(b"no network")
    trouble = play_one_move()
    assert (trouble["type"], trouble["goesOn"]) == ("error", True)
    assert lab.get("/api/runs").status_code == 200
