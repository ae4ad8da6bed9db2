"""A server that is killed in the middle of a game restores the game after a restart and continues it."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2
from websockets.sync.client import connect

from tests.web.talk import Json

ADDRESS = re.compile(r"http://127\.0\.0\.1:(\d+)/")


@contextmanager
def server(data: Path) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """Start a server in a separate process and yield its address without the scheme."""
    command = [sys.executable, "-m", "tengen.cli", "serve", "--no-open", "--port", "0", "--workers", "1"]
    process = subprocess.Popen([*command, "--data", str(data)], cwd=data, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stderr is not None
        found = ADDRESS.search(process.stderr.readline())
        assert found is not None
        yield f"127.0.0.1:{found[1]}", process
    finally:
        process.kill()
        process.wait()


def play(address: str, game: str, point: str, moves: int) -> Json:
    """Place a stone and wait for the agent's move."""
    import json

    with connect(f"ws://{address}/api/socket") as socket:
        socket.send(json.dumps({"type": "watch", "id": "w", "gameId": game}))
        socket.send(
            json.dumps({"type": "act", "id": "p", "gameId": game, "action": {"action": "play", "point": point}})
        )
        while True:
            message: Json = json.loads(socket.recv(timeout=120))
            assert message["type"] != "error", message
            if message["type"] == "game" and len(message["game"]["moves"]) == moves:
                state: Json = message["game"]
                return state


def test_a_killed_server_has_the_game_again(tmp_path: Path) -> None:
    with server(tmp_path) as (address, process):
        http = httpx2.Client(base_url=f"http://{address}", transport=httpx2.HTTPTransport(retries=10))
        players = {"black": {"kind": "person"}, "white": {"kind": "level", "level": 2}}
        game = http.post("/api/games", json=players, timeout=60).json()["id"]
        before = play(address, game, "h8", moves=2)
        process.kill()
    with server(tmp_path) as (address, _):
        http = httpx2.Client(base_url=f"http://{address}", transport=httpx2.HTTPTransport(retries=10))
        after = http.get(f"/api/games/{game}", timeout=60).json()
        assert after["moves"] == before["moves"]
        assert after["notes"] == before["notes"]
        assert after["players"] == before["players"]
        free = next(point for point in after["turn"]["legal"] if point not in after["moves"])
        assert len(play(address, game, free, moves=4)["moves"]) == 4
