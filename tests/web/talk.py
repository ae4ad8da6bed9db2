"""Helpers for tests that talk to the server over HTTP and the socket."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from starlette.testclient import TestClient, WebSocketTestSession

Json = dict[str, Any]

PERSON: Json = {"kind": "person"}
BEGINNER: Json = {"kind": "level", "level": 1}


def begin(client: TestClient, **fields: Any) -> Json:
    """Start a game and return its state (default: two people on 15x15)."""
    response = client.post("/api/games", json={"black": PERSON, "white": PERSON} | fields)
    assert response.status_code == 201, response.text
    state: Json = response.json()
    return state


def act(client: TestClient, game: str, action: str, **fields: Any) -> Json:
    """Perform an action over HTTP, which must succeed."""
    response = client.post(f"/api/games/{game}/actions", json={"action": action} | fields)
    assert response.status_code == 200, response.text
    state: Json = response.json()
    return state


def receive_until(socket: WebSocketTestSession, is_last: Callable[[Json], bool], at_most: int = 10_000) -> list[Json]:
    """Return all messages up to the first one that matches."""
    messages: list[Json] = []
    while not messages or not is_last(messages[-1]):
        assert len(messages) < at_most, messages[-1]
        messages.append(socket.receive_json())
    return messages


def write_network(run: Path) -> None:
    """Write a small untrained network into the folder of a run on 6x6."""
    from tengen.core.contracts import Ruleset
    from tengen.nets.architectures import NetConfig, build_net
    from tengen.nets.export import export_onnx

    ruleset = Ruleset(6, 6, win_length=4)
    net = build_net(NetConfig(channels=8, blocks=1), ruleset)
    (run / "model.onnx").write_bytes(export_onnx(net, ruleset))
