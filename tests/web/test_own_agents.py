"""Somebody's players on the board: only those that the person who started the server has named."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from tengen.agents.registry import AgentRegistry
from tengen.errors import AgentNameError
from tengen.web.app import create_app
from tengen.web.games.players import AllowedAgents
from tengen.web.services import ServerConfig
from tengen.web.workers.scheduler import SearchPoolConfig
from tests.web.conftest import GENEROUS
from tests.web.talk import begin, receive_until

BOTS = """
from tengen import Agent, Decision

class Corner(Agent):
    '''Plays the first free point.'''

    def __init__(self, skip: int = 0, book: str = "none", model: str = "none", run: str = "none") -> None:
        self.skip = skip

    def choose(self, position, limits):
        return Decision(move=position.legal_points()[self.skip])

def centre(position):
    return position.ruleset.centre
"""


@pytest.fixture
def bots(tmp_path: Path) -> Path:
    path = tmp_path / "bots.py"
    path.write_text(BOTS, encoding="utf-8")
    return path


@pytest.fixture
def client(bots: Path) -> Iterator[TestClient]:
    agents = AgentRegistry().of_files([str(bots), f"{bots}:centre"])
    config = ServerConfig(limits=GENEROUS, pool=SearchPoolConfig(workers=1, agents=agents))
    with TestClient(create_app(config)) as client:
        yield client


def test_a_named_player_plays_on_the_board(client: TestClient) -> None:
    bot = {"kind": "agent", "agent": "Corner:skip=2", "maxTimeMs": 1000}
    game = begin(client, black=bot, rules="9x9:5:freestyle")["id"]
    with client.websocket_connect("/api/socket") as socket:
        socket.send_json({"type": "watch", "id": "w", "gameId": game})
        last = receive_until(socket, lambda message: message["type"] != "game" or bool(message["game"]["moves"]))[-1]
    assert last["game"]["moves"] == ["c1"]


def test_browsers_see_the_named_players_without_their_text_parameters(client: TestClient) -> None:
    agents = {one["name"]: one for one in client.get("/api/info").json()["agents"]}
    assert agents["Corner"]["summary"] == "Plays the first free point."
    assert [one["key"] for one in agents["Corner"]["parameters"]] == ["skip"]
    assert "centre" in agents
    assert all(agents[name]["analyses"] for name in ("Corner", "alphabeta", "naive"))


def test_browsers_cannot_set_text_parameters(bots: Path) -> None:
    allowed = AllowedAgents(registry=AgentRegistry().of_files([f"{bots}:Corner"]))
    assert allowed.named("Corner:skip=3").text == "Corner:skip=3"
    for key in ("book", "model", "run"):
        with pytest.raises(AgentNameError, match=f"parameter '{key}' of 'Corner' is not allowed in a browser"):
            allowed.named(f"Corner:{key}=/etc/passwd")


def test_no_message_runs_a_file(client: TestClient, tmp_path: Path) -> None:
    evil = tmp_path / "evil.py"
    evil.write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\ndef bot(position): return 0\n", encoding="utf-8")
    for agent in (str(evil), f"{evil}:bot", f"{evil}:bot:seed=1"):
        player = {"kind": "agent", "agent": agent, "maxTimeMs": 1000}
        response = client.post("/api/games", json={"black": player, "white": player})
        assert response.status_code in (400, 422)
        assert "files are not allowed here" in response.text
    assert not (tmp_path / "ran").exists()


def test_no_message_imports_an_installed_player(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "evil_bots.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n", encoding="utf-8")
    metadata = tmp_path / "evil_bots-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: evil-bots\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text("[tengen.agents]\nevil = evil_bots:Evil\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(AgentNameError, match="unknown agent 'evil'"):
        AllowedAgents().named("evil")
    assert "evil" not in [one.name for one in AllowedAgents().describe()]
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nothing.py", "no such file"),
        ("alphabeta", r"not a file with agents: 'alphabeta' \(expected FILE.py or FILE.py:NAME\)"),
        ("{bots}:Nobody", r"has no 'Nobody' \(known: Corner\)"),
        ("{empty}", "defines no agent"),
        ("{taken}", "'naive', but there is already an agent with this name"),
    ],
)
def test_files_that_the_server_refuses(bots: Path, tmp_path: Path, text: str, message: str) -> None:
    empty, taken = tmp_path / "empty.py", tmp_path / "taken.py"
    empty.write_text("", encoding="utf-8")
    taken.write_text(BOTS.replace("Corner", "naive"), encoding="utf-8")
    with pytest.raises(AgentNameError, match=message):
        AgentRegistry().of_files([text.format(bots=bots, empty=empty, taken=taken)])
