"""Hostile clients: foreign pages, floods, malformed messages. The server refuses with a reason and keeps running."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from starlette.testclient import TestClient, WebSocketTestSession
from starlette.websockets import WebSocketDisconnect

from tengen.web.app import create_app
from tengen.web.games.players import AllowedAgents
from tengen.web.limits import TokenBucket, WebLimits
from tengen.web.services import ServerConfig
from tengen.web.workers.scheduler import SearchPoolConfig
from tests.web.conftest import GENEROUS
from tests.web.talk import PERSON, begin, receive_until


def app_client(limits: WebLimits) -> TestClient:
    return TestClient(create_app(ServerConfig(limits=limits, pool=SearchPoolConfig(workers=1))))


def is_alive(socket: WebSocketTestSession) -> bool:
    """Whether the socket still answers a ping."""
    socket.send_text('{"type": "ping", "id": "still-there"}')
    return any(socket.receive_json() == {"type": "pong", "id": "still-there"} for _ in range(1000))


# ---- Origins and hosts ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("origin", ["https://evil.example", "http://testserver.evil.example", "null", "http://[", ""])
def test_pages_of_another_origin_are_refused(client: TestClient, origin: str) -> None:
    response = client.post("/api/games", json={"black": PERSON, "white": PERSON}, headers={"Origin": origin})
    assert response.status_code == 403
    with (
        pytest.raises(WebSocketDisconnect) as refusal,
        client.websocket_connect("/api/socket", headers={"Origin": origin}),
    ):
        pass
    assert refusal.value.code == 1008


def test_our_own_page_is_answered(client: TestClient) -> None:
    own = {"Origin": "http://testserver"}
    assert client.get("/api/info", headers=own).status_code == 200
    with client.websocket_connect("/api/socket", headers=own) as socket:
        assert is_alive(socket)


def test_an_unknown_host_name_is_refused(client: TestClient) -> None:
    assert client.get("/api/info", headers={"Host": "evil.example"}).status_code == 403
    assert client.get("/api/info", headers={"Host": "testserver:8080"}).status_code == 200


def test_only_local_host_names_are_accepted_by_default() -> None:
    assert WebLimits().hosts == {"localhost", "127.0.0.1", "::1"}


def test_answers_carry_security_headers(client: TestClient) -> None:
    headers = client.get("/api/info").headers
    assert "default-src 'self'" in headers["content-security-policy"]
    assert "unsafe" not in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["content-type"] == "application/json"


# ---- Rates and sizes ------------------------------------------------------------------------------------------------


def test_too_many_requests_are_told_to_wait() -> None:
    limits = replace(GENEROUS, requests_per_s=0.001, request_burst=3)
    with app_client(limits) as client:
        answers = [client.get("/api/puzzles", params={"limit": 1}) for _ in range(4)]
    assert [answer.status_code for answer in answers] == [200, 200, 200, 429]
    assert 900 <= int(answers[-1].headers["Retry-After"]) <= 1001
    assert "too many requests" in answers[-1].json()["error"]


def test_too_many_new_games_are_told_to_wait() -> None:
    with app_client(replace(GENEROUS, games_per_s=0.001, game_burst=2)) as client:
        answers = [client.post("/api/games", json={"black": PERSON, "white": PERSON}) for _ in range(3)]
        assert [answer.status_code for answer in answers] == [201, 201, 429]
        assert client.post(f"/api/games/{answers[0].json()['id']}/rematch").status_code == 429
        assert client.get("/api/info").status_code == 200


def test_a_flooding_socket_is_told_to_wait_and_then_closed() -> None:
    with (
        app_client(replace(GENEROUS, messages_per_s=0.001, message_burst=5)) as client,
        client.websocket_connect("/api/socket") as socket,
    ):
        for _ in range(20):
            socket.send_text('{"type": "ping", "id": "x"}')
        answers = [socket.receive_json() for _ in range(5)]
        assert [answer["type"] for answer in answers] == ["pong"] * 5
        with pytest.raises(WebSocketDisconnect):
            receive_until(socket, lambda _: False, at_most=20)


def test_an_eager_socket_is_told_how_long_to_wait() -> None:
    with (
        app_client(replace(GENEROUS, messages_per_s=0.001, message_burst=1)) as client,
        client.websocket_connect("/api/socket") as socket,
    ):
        for _ in range(2):
            socket.send_text('{"type": "ping", "id": "x"}')
        assert socket.receive_json()["type"] == "pong"
        refusal = socket.receive_json()
        assert refusal["type"] == "error"
        assert refusal["retryAfterMs"] > 0


def test_a_bucket_fills_again() -> None:
    now = 0.0
    bucket = TokenBucket(rate=2, burst=2, clock=lambda: now)
    assert [bucket.take() for _ in range(3)] == [0, 0, 0.5]
    now = 0.5
    assert bucket.take() == 0
    now = 100.0
    assert [bucket.take() > 0 for _ in range(3)] == [False, False, True]


def test_large_bodies_are_refused(client: TestClient) -> None:
    large = GENEROUS.max_body_bytes + 1
    assert client.post("/api/import", content=b"x" * large).status_code == 413

    def chunks() -> Iterator[bytes]:
        for _ in range(9):
            yield b" " * (1 << 20)

    # A body without a declared length is counted while it is read.
    response = client.post("/api/import", content=chunks(), headers={"content-type": "application/json"})
    assert response.status_code == 413
    assert client.post("/api/games", content=b"x" * (GENEROUS.max_small_body_bytes + 1)).status_code == 413
    assert client.get("/api/info").status_code == 200


def test_sockets_of_one_client_are_limited() -> None:
    with app_client(replace(GENEROUS, max_sockets_per_client=1)) as client:
        with (
            client.websocket_connect("/api/socket") as first,
            pytest.raises(WebSocketDisconnect),
            client.websocket_connect("/api/socket") as second,
        ):
            second.receive_json()
        assert first is not None
        with client.websocket_connect("/api/socket") as third:
            assert is_alive(third)


# ---- Contents -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "agent",
    [
        "brain:cmd=/bin/sh",
        'brain:cmd="touch /tmp/owned"',
        "alphabeta:weights=/etc/passwd",
        "alphabeta:weights=../../weights.npz",
        "alphabeta:hash-mb=100000",
        "alphabeta:threads=64",
        "uct:memory-mb=100000",
        "alphazero:model=/etc/passwd",
        "alphazero:model=../x.onnx",
        "alphazero:run=/tmp",
        "policy:backend=torch",
        "uct:seconds=100000",
        "alphabeta:nodes=1,nodes=2",
        "../../etc/passwd",
        "x" * 200,
        "",
    ],
)
def test_no_agent_text_reaches_the_machine(agent: str) -> None:
    with pytest.raises(ValueError, match=r".") as refusal:
        AllowedAgents().named(agent)
    assert len(str(refusal.value)) < 1000


def test_no_path_leads_out_of_the_static_files(client: TestClient) -> None:
    for path in ("/static/../app.py", "/static/..%2fapp.py", "/static/%2e%2e/app.py", "/static//etc/passwd"):
        assert client.get(path).status_code in (403, 404)
    for path in ("/api/runs/..%2f..%2fetc", "/api/runs/x/games/..%2f..%2fconfig.toml", "/api/tournaments/..%2fx"):
        assert client.get(path).status_code == 404


def test_texts_are_not_interpreted(client: TestClient) -> None:
    script = "<script>alert(1)</script>"
    response = client.post("/api/games", json={"black": {"kind": "person", "name": script}, "white": PERSON})
    assert response.headers["content-type"] == "application/json"
    assert response.json()["players"]["proposer"]["name"] == script
    error = client.post("/api/import", json={"text": script})
    assert error.headers["content-type"] == "application/json"
    svg = client.get("/api/picture.svg", params={"rules": script})
    assert svg.headers["content-type"] == "application/json"


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"null",
        b"[]",
        b'{"text": "\\ud800"}',
        b'{"text": NaN}',
        b'{"text": 1e999}',
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b"\xff\xfe\x00",
        b'{"index": ' + b"9" * 5000 + b', "text": "h8"}',
    ],
    ids=range(11),
)
def test_malformed_bodies_are_refused(client: TestClient, body: bytes) -> None:
    response = client.post("/api/import", content=body, headers={"content-type": "application/json"})
    assert response.status_code in (400, 422)
    assert response.json()["error"]


@pytest.mark.parametrize(
    "text",
    ["", "hello", "{}", "[]", "null", '{"type": "nothing", "id": "x"}', '{"type": "ping"}', "[" * 60_000, "x" * 70_000],
    ids=range(9),
)
def test_malformed_messages_are_explained(client: TestClient, text: str) -> None:
    with client.websocket_connect("/api/socket") as socket:
        socket.send_text(text)
        message = socket.receive_json()
        assert message["type"] == "error"
        assert message["error"]
        socket.send_bytes(b"\x00\xff")
        assert socket.receive_json()["type"] == "error"
        assert is_alive(socket)


POINTS = st.sampled_from(["h8", "a1", "o15", "v22", "z99", "", "H8", "h08"])
NOISE = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20) | POINTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=10,
)
TYPES = ("watch", "act", "analyse", "solve", "hint", "review", "judge", "terminate", "ping")
FIELDS: dict[str, st.SearchStrategy[Any]] = {
    "gameId": st.sampled_from(["A" * 22, "../x", ""]) | NOISE,
    "action": st.fixed_dictionaries({"action": st.sampled_from(["play", "undo", "moveNow", "x"])}) | NOISE,
    "rules": st.sampled_from(["15x15:5:renju", "3x3:3:freestyle", "22x22:6:caro", "renju", "0x0"]) | NOISE,
    "moves": st.lists(POINTS, max_size=6) | NOISE,
    "initialStones": st.lists(st.tuples(st.sampled_from(["black", "white", "red"]), POINTS), max_size=4) | NOISE,
    "initialPlayer": st.sampled_from(["black", "white"]) | NOISE,
    "agent": st.sampled_from(["alphabeta", "naive", "brain:cmd=ls", "uct:playouts=1"]) | NOISE,
    "maxTimeMs": st.sampled_from([10, 20, -1, 0]) | NOISE,
    "terminateId": st.sampled_from(["x", "y"]) | NOISE,
    "move": POINTS,
    "lines": st.integers(-1, 3),
    "kind": st.sampled_from(["vcf", "vct", "x"]),
}


@given(
    messages=st.lists(
        st.tuples(
            st.sampled_from(TYPES),
            st.dictionaries(st.sampled_from(sorted(FIELDS)), st.none(), max_size=5),
            st.data(),
        )
        | NOISE,
        min_size=1,
        max_size=8,
    )
)
@settings(max_examples=30, suppress_health_check=list(HealthCheck))
def test_fuzzed_conversations_never_take_the_server_down(client: TestClient, messages: list[Any]) -> None:
    with client.websocket_connect("/api/socket") as socket:
        for message in messages:
            if isinstance(message, tuple):
                kind, fields, data = message
                drawn = {name: data.draw(FIELDS[name]) for name in fields}
                # Limit every search: the test is about messages, not about searching.
                body = {"type": kind, "id": "x"} | ({"maxTimeMs": 10} if kind in TYPES[2:7] else {}) | drawn
            else:
                body = message
            socket.send_text(json.dumps(body))
        assert is_alive(socket)
    assert client.get("/api/puzzles", params={"limit": 1}).status_code == 200


def test_actions_out_of_order_are_refused(client: TestClient) -> None:
    game = begin(client)["id"]
    for action in ("redo", "undo", "moveNow", "step", "thinkAgain"):
        assert client.post(f"/api/games/{game}/actions", json={"action": action}).status_code == 409, action
    choose = {"action": "choose", "option": "take-black"}
    assert client.post(f"/api/games/{game}/actions", json=choose).status_code == 409
    assert client.get("/api/games/AAAAAAAAAAAAAAAAAAAAAA").status_code == 404
