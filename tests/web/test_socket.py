"""Searches over the socket: analyses, hints, forced wins, reviews, and how they are stopped."""

from __future__ import annotations

import time
from typing import Any

import pytest
from starlette.testclient import TestClient, WebSocketTestSession

from tests.web.talk import PERSON, Json, begin, receive_until

# h8 to k8 in a row with both ends open: black to move wins immediately.
OPEN_FOUR = ["h8", "a1", "i8", "a2", "j8", "a3", "k8", "b1"]


def ask(socket: WebSocketTestSession, type: str, id: str = "x", **fields: Any) -> None:
    socket.send_json({"type": type, "id": id} | fields)


def answer(socket: WebSocketTestSession, id: str = "x") -> Json:
    """Return the last message of the search with that id."""
    return receive_until(socket, lambda message: message["id"] == id and not message.get("isDuringSearch"))[-1]


def test_an_analysis_reports_and_ends(client: TestClient) -> None:
    with client.websocket_connect("/api/socket") as socket:
        ask(socket, "analyse", moves=["h8", "i9"], lines=3, maxDepth=6, reportDuringSearchEvery=0.05)
        messages = receive_until(socket, lambda message: not message["isDuringSearch"])
    last = messages[-1]
    assert [info["order"] for info in last["moveInfos"]] == [0, 1, 2]
    assert last["rootInfo"]["currentPlayer"] == "black"
    depths = [message["rootInfo"]["depth"] for message in messages]
    assert depths == sorted(depths)
    assert last["moveInfos"][0]["pv"][0] == last["moveInfos"][0]["move"]
    for info in last["moveInfos"]:
        assert info["winrate"] == pytest.approx((info["utility"] + 1) / 2)
        assert info["blackWinrate"] == info["winrate"]


def test_white_to_move_has_the_other_winrate(client: TestClient) -> None:
    with client.websocket_connect("/api/socket") as socket:
        ask(
            socket, "analyse", moves=["o1", *OPEN_FOUR], lines=1, maxTimeMs=500
        )  # one more stone, so the open four is white's
        root = answer(socket)["rootInfo"]
    assert (root["currentPlayer"], root["winrate"], root["blackWinrate"]) == ("white", 1, 0)
    assert root["proof"] == {"result": "win", "plies": 1, "text": "+M1"}


def test_a_tree_search_reports_visits_and_policy(client: TestClient) -> None:
    with client.websocket_connect("/api/socket") as socket:
        ask(socket, "analyse", agent="uct:playouts=300", moves=["e5"], rules="9x9", lines=2, includePolicy=True)
        last = answer(socket)
    assert last["moveInfos"][0]["visits"] > 0
    assert sum(last["policy"].values()) == pytest.approx(1, abs=0.01)


def test_a_network_reports_priors(client: TestClient) -> None:
    agent = "alphazero:model=uniform,simulations=64"
    with client.websocket_connect("/api/socket") as socket:
        ask(socket, "analyse", agent=agent, moves=["e5"], rules="9x9", lines=2, includePolicy=True)
        last = answer(socket)
    assert last["moveInfos"][0]["visits"] > 0
    assert 0 < last["moveInfos"][0]["prior"] < 1
    assert sum(last["policy"].values()) == pytest.approx(1, abs=0.01)


def test_moves_can_be_left_out(client: TestClient) -> None:
    with client.websocket_connect("/api/socket") as socket:
        ask(socket, "analyse", moves=OPEN_FOUR, avoidMoves=["g8"], maxDepth=2)
        assert answer(socket)["moveInfos"][0]["move"] == "l8"
        ask(socket, "analyse", moves=OPEN_FOUR, allowMoves=["o15"], maxDepth=2)
        assert answer(socket)["moveInfos"][0]["move"] == "o15"
        ask(socket, "analyse", moves=OPEN_FOUR, allowMoves=["h8"], maxDepth=2)
        assert "no legal move" in answer(socket)["error"]


def test_two_engines_side_by_side_and_terminate(client: TestClient) -> None:
    with client.websocket_connect("/api/socket") as socket:
        ask(socket, "analyse", id="one", moves=["h8"])
        ask(socket, "analyse", id="two", moves=["h8"], agent="uct")
        receive_until(socket, lambda message: message["id"] == "two")
        ask(socket, "terminate", id="t1", terminateId="one")
        ask(socket, "terminate", id="t2", terminateId="two")
        messages = receive_until(socket, lambda message: message["id"] == "t2")
        ended = [message["id"] for message in messages if message["type"] == "terminated"]
        assert ended == ["one", "two"]
        ask(socket, "ping")
        assert answer(socket) == {"type": "pong", "id": "x"}


def test_a_new_search_replaces_one_with_its_id(client: TestClient) -> None:
    with client.websocket_connect("/api/socket") as socket:
        ask(socket, "analyse", moves=["h8"])
        ask(socket, "analyse", moves=["h8", "i9"], maxDepth=3)
        assert answer(socket)["turnNumber"] == 2


def test_searches_of_a_socket_are_limited(client: TestClient) -> None:
    with client.websocket_connect("/api/socket") as socket:
        for number in range(5):
            ask(socket, "analyse", id=f"a{number}", moves=["h8"])
        assert "4 searches" in receive_until(socket, lambda message: message["id"] == "a4")[-1]["error"]


def test_a_closed_tab_ends_its_searches(client: TestClient) -> None:
    agent = {"kind": "agent", "agent": "alphabeta", "maxTimeMs": 60_000}
    game = begin(client, black=agent, moves=["h8", "i9"])["id"]
    with client.websocket_connect("/api/socket") as socket:
        ask(socket, "analyse", moves=["h8"])
        receive_until(socket, lambda message: message["type"] == "analysis")
        ask(socket, "watch", id="w", gameId=game)
        receive_until(socket, lambda message: message["type"] == "game" and message["game"]["isThinking"])
    pool = client.app.state.services.pool  # type: ignore[attr-defined]
    for _ in range(1000):
        if pool.load == (0, 0):
            break
        time.sleep(0.01)
    assert pool.load == (0, 0)


def test_hint(client: TestClient) -> None:
    game = begin(client, black=PERSON, moves=OPEN_FOUR)["id"]
    with client.websocket_connect("/api/socket") as socket:
        ask(socket, "hint", gameId=game)
        hint = answer(socket)
    assert hint["moveInfo"]["move"] in ("g8", "l8")
    assert hint["turnNumber"] == 8
    assert hint["reason"]["kind"] == "makes-five"
    assert hint["reason"]["sentence"] == "makes five in a row"


def test_forced_wins_of_either_side(client: TestClient) -> None:
    with client.websocket_connect("/api/socket") as socket:
        ask(socket, "solve", kind="vcf", moves=OPEN_FOUR, attacker="white")
        assert answer(socket)["verdict"] == "no win"
        ask(socket, "solve", kind="vct", moves=OPEN_FOUR[:-2])  # an open three
        solved = answer(socket)
    assert (solved["verdict"], solved["attacker"], solved["pv"][0]) == ("win", "black", solved["pv"][0])
    assert len(solved["pv"]) >= 3


def test_a_review_finds_the_blunder(client: TestClient) -> None:
    # White ignores an open three at move 6, and black wins with it.
    moves = ["h8", "i9", "g8", "j10", "i8", "a1", "f8", "a2", "e8"]
    with client.websocket_connect("/api/socket") as socket:
        ask(socket, "review", moves=moves, effort="quick")
        messages = receive_until(socket, lambda message: not message["isDuringSearch"])
        ask(socket, "review", moves=moves, effort="quick", onlyStored=True)
        (again,) = receive_until(socket, lambda message: not message["isDuringSearch"])
        ask(socket, "review", moves=moves, effort="normal", onlyStored=True)
        (missing,) = receive_until(socket, lambda message: not message["isDuringSearch"])
    assert [message["done"] for message in messages] == list(range(1, 11))
    judged = {move["turnNumber"]: move for message in messages for move in message["moves"]}
    assert sorted(judged) == list(range(1, 10))
    assert (judged[9]["blackWinrate"], judged[9]["quality"]) == (1, "best")
    summary = messages[-1]["summary"]
    worst = max(judged.values(), key=lambda move: move["winrateLoss"])
    assert worst["colour"] == "white"
    assert worst["quality"] in ("mistake", "blunder")
    assert worst["turnNumber"] in summary["keyMoves"]
    assert summary["sides"]["black"]["accuracy"] > summary["sides"]["white"]["accuracy"]
    assert sum(summary["sides"]["white"]["counts"].values()) == 4
    assert judged[6]["reason"]["sentence"] == "ignores the open three g8-h8-i8: black wins in 2 moves"
    assert judged[6]["replyWin"]["pv"] == judged[6]["refutation"]
    assert messages[-1]["isStored"]
    assert [move["turnNumber"] for move in again["moves"]] == list(range(1, 10))
    assert again["moves"] == [judged[turn] for turn in range(1, 10)]
    assert again["summary"] == summary
    assert (missing["summary"], missing["moves"]) == (None, [])


def test_trying_again_is_judged(client: TestClient) -> None:
    position = ["h8", "i9", "g8", "j10", "i8"]  # white must stop the open three
    with client.websocket_connect("/api/socket") as socket:
        ask(socket, "judge", moves=position, move="a15", effort="quick")
        bad = answer(socket)
        ask(socket, "judge", moves=position, move="j8", effort="quick")
        good = answer(socket)
    assert bad["winrate"] == 0
    assert bad["judged"]["quality"] == "mistake"
    assert bad["judged"]["reason"]["kind"] == "ignores-three"
    assert good["judged"]["quality"] in ("best", "good")
    assert good["judged"]["betterReason"]["kind"] == "stops-three"


@pytest.mark.parametrize(
    ("fields", "complaint"),
    [
        ({"moves": ["h8", "h8"]}, "point is occupied"),
        ({"moves": [*OPEN_FOUR, "l8"]}, "over"),
        ({"agent": "brain:cmd=ls"}, "is not allowed in a browser"),
        ({"rules": "9x9:6:freestyle", "agent": "alphabeta"}, "does not play"),
        ({"lines": 1000}, "lines"),
        ({"surprise": 1}, "surprise"),
        ({"rules": "15x15:5:renju", "boardXSize": 9}, "do not match the board size"),
    ],
)
def test_searches_that_cannot_be_done_are_explained(client: TestClient, fields: Json, complaint: str) -> None:
    with client.websocket_connect("/api/socket") as socket:
        ask(socket, "analyse", **fields)
        message = answer(socket)
        assert message["type"] == "error"
        assert complaint in message["error"]
        ask(socket, "ping", id="p")
        assert answer(socket, "p")["type"] == "pong"
