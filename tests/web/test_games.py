"""Games over HTTP and the socket: turns, openings, undo, clocks, agents."""

from __future__ import annotations

import pytest
from starlette.testclient import TestClient

from tengen.core.contracts import Outcome
from tengen.core.opening_procedure import Seat
from tengen.errors import InputError
from tengen.web.games.game import Game
from tengen.web.messages.games import Clock, NewGame, Person
from tests.web.talk import BEGINNER, PERSON, Json, act, begin, receive_until


def test_a_game_of_two_persons_ends_with_five(client: TestClient) -> None:
    game = begin(client, rules="9x9:5:freestyle")["id"]
    for point in ("a1", "a2", "b1", "b2", "c1", "c2", "d1", "d2"):
        state = act(client, game, "play", point=point)
        assert state["outcome"] == "ongoing"
    state = act(client, game, "play", point="e1")
    assert (state["outcome"], state["reason"], state["turn"]) == ("black", "five", None)
    assert state["winningLine"] == ["a1", "b1", "c1", "d1", "e1"]
    assert client.post(f"/api/games/{game}/actions", json={"action": "play", "point": "h8"}).status_code == 400


def test_an_illegal_move_changes_nothing(client: TestClient) -> None:
    game = begin(client, rules="15x15:5:renju", moves=["h8", "a1", "h9", "a3", "i8", "a5", "j8", "c1", "h10", "c3"])
    assert {"point": "h7", "kind": "double-four"} not in game["fouls"]
    response = client.post(f"/api/games/{game['id']}/actions", json={"action": "play", "point": "h8"})
    assert response.status_code == 400
    assert "the point is occupied" in response.json()["error"]
    assert client.get(f"/api/games/{game['id']}").json()["revision"] == game["revision"]


def test_fouls_are_reported_and_refused(client: TestClient) -> None:
    moves = ["g8", "a1", "i8", "a15", "h7", "o1", "h9", "o15"]
    state = begin(client, rules="15x15:5:renju", moves=moves)
    assert state["fouls"] == [{"point": "h8", "kind": "double-three"}]
    assert "h8" not in state["turn"]["legal"]
    response = client.post(f"/api/games/{state['id']}/actions", json={"action": "play", "point": "h8"})
    assert response.status_code == 400
    assert "double-three" in response.json()["error"]


def test_an_old_click_is_refused(client: TestClient) -> None:
    game = begin(client)["id"]
    act(client, game, "play", point="h8", turnNumber=0)
    response = client.post(f"/api/games/{game}/actions", json={"action": "play", "point": "i9", "turnNumber": 0})
    assert response.status_code == 409


def test_undo_and_redo(client: TestClient) -> None:
    game = begin(client)["id"]
    act(client, game, "play", point="h8")
    assert act(client, game, "play", point="i9")["canUndo"]
    state = act(client, game, "undo")
    assert (state["moves"], state["canRedo"], state["currentPlayer"]) == (["h8"], True, "white")
    assert act(client, game, "redo")["moves"] == ["h8", "i9"]
    act(client, game, "undo")
    state = act(client, game, "play", point="a1")
    assert (state["moves"], state["canRedo"]) == (["h8", "a1"], False)
    act(client, game, "undo")
    act(client, game, "undo")
    assert client.post(f"/api/games/{game}/actions", json={"action": "undo"}).status_code == 409


def test_resigning_can_be_taken_back(client: TestClient) -> None:
    game = begin(client)["id"]
    act(client, game, "play", point="h8")
    state = act(client, game, "resign")
    assert (state["outcome"], state["reason"]) == ("black", "resignation")
    assert act(client, game, "undo")["outcome"] == "ongoing"


def test_swap2_between_persons(client: TestClient) -> None:
    game = begin(client, rules="15x15:5:freestyle:swap2")
    assert (game["blackSeat"], game["turn"]["seat"], game["turn"]["stonesDue"]) == (None, "proposer", 3)
    for point in ("h8", "i9"):
        act(client, game["id"], "play", point=point)
    state = act(client, game["id"], "play", point="g7")
    assert (state["turn"]["step"], state["turn"]["seat"]) == ("option", "chooser")
    assert state["turn"]["options"] == ["take-black", "take-white", "place-two"]
    assert client.post(f"/api/games/{game['id']}/actions", json={"action": "play", "point": "a1"}).status_code == 409
    state = act(client, game["id"], "choose", option="take-black")
    assert (state["blackSeat"], state["turn"]["seat"], state["choices"]) == ("chooser", "proposer", ["take-black"])
    assert act(client, game["id"], "undo")["blackSeat"] is None


def test_an_agent_answers_while_the_game_is_watched(client: TestClient) -> None:
    game = begin(client, white=BEGINNER, rules="9x9:5:freestyle")["id"]
    state = act(client, game, "play", point="e5")
    assert not state["isThinking"]  # the game has no watcher
    with client.websocket_connect("/api/socket") as socket:
        socket.send_json({"type": "watch", "id": "w", "gameId": game})
        last = receive_until(socket, lambda message: len(message["game"]["moves"]) == 2)[-1]
        assert last["game"]["turn"]["isPerson"]
        assert last["game"]["canUndo"]
        socket.send_json({"type": "act", "id": "u", "gameId": game, "action": {"action": "undo"}})
        messages = receive_until(socket, lambda message: message["type"] == "done")
        assert messages[-2]["game"]["moves"] == []


def test_two_agents_play_swap2_to_the_end(client: TestClient) -> None:
    agent = {"kind": "level", "level": 5}
    game = begin(client, black=agent, white=agent, rules="11x11:5:freestyle:swap2", seed=3)["id"]
    with client.websocket_connect("/api/socket") as socket:
        socket.send_json({"type": "watch", "id": "w", "gameId": game})
        last = receive_until(socket, lambda message: message["game"]["turn"] is None)[-1]["game"]
    assert last["outcome"] in ("black", "white", "draw")
    assert last["blackSeat"] is not None
    assert len(last["notes"]) == len(last["moves"])


def test_a_paused_game_steps(client: TestClient) -> None:
    game = begin(client, black=BEGINNER, white=BEGINNER, rules="9x9:5:freestyle")["id"]
    act(client, game, "pause")
    with client.websocket_connect("/api/socket") as socket:
        socket.send_json({"type": "watch", "id": "w", "gameId": game})
        assert not socket.receive_json()["game"]["isThinking"]
        socket.send_json({"type": "act", "id": "s", "gameId": game, "action": {"action": "step"}})
        last = receive_until(socket, lambda message: message["type"] == "game" and bool(message["game"]["moves"]))[-1]
        assert len(last["game"]["moves"]) == 1
        assert last["game"]["isPaused"]


def test_move_now_ends_the_thinking(client: TestClient) -> None:
    agent = {"kind": "agent", "agent": "alphabeta", "maxTimeMs": 30_000}
    game = begin(client, white=agent, moves=["h8", "i9", "g7", "i7"])["id"]
    with client.websocket_connect("/api/socket") as socket:
        socket.send_json({"type": "watch", "id": "w", "gameId": game})
        socket.send_json(
            {"type": "act", "id": "p", "gameId": game, "action": {"action": "play", "point": "i8", "turnNumber": 4}}
        )
        receive_until(socket, lambda message: message["type"] == "done")
        socket.send_json({"type": "act", "id": "n", "gameId": game, "action": {"action": "moveNow"}})
        last = receive_until(socket, lambda m: m["type"] == "game" and len(m["game"]["moves"]) == 6)[-1]
        assert last["game"]["notes"][-1]["timeMs"] < 30_000


def test_a_clock_runs_out(client: TestClient) -> None:
    game = begin(client, clock={"mainMs": 1000})["id"]
    with client.websocket_connect("/api/socket") as socket:
        socket.send_json({"type": "watch", "id": "w", "gameId": game})
        last = receive_until(socket, lambda message: message["game"]["turn"] is None)[-1]["game"]
    assert (last["outcome"], last["reason"]) == ("white", "time")
    assert last["clock"]["leftMs"]["proposer"] == 0


def test_a_refused_move_leaves_the_clock_alone() -> None:
    game = Game.begin(NewGame(black=Person(), white=Person(), clock=Clock(main_ms=60_000, increment_ms=1000)))
    game.play("h8", time_ms=5000)
    game.play("i9", time_ms=5000)
    before = game.as_json()
    for _ in range(3):
        with pytest.raises(InputError, match="the point is occupied"):
            game.play("h8", time_ms=10)
    assert game.as_json() == before
    game.play("g7", time_ms=10_000)
    assert game.left_ms == {Seat.PROPOSER: 47_000, Seat.CHOOSER: 56_000}


@pytest.mark.parametrize("point", ["i9", "h8"])
def test_a_move_after_the_flag_fell_loses(point: str) -> None:
    game = Game.begin(NewGame(black=Person(), white=Person(), clock=Clock(main_ms=60_000, increment_ms=1000)))
    game.play("h8", time_ms=60_000)
    assert game.left_ms[Seat.PROPOSER] == 1000
    game.play(point, time_ms=60_001)
    assert (game.outcome, game.reason, game.actions) == (Outcome.BLACK, "time", ("h8",))
    assert game.left_ms[Seat.CHOOSER] == 0


def test_an_agent_keeps_to_its_clock_in_an_opening(client: TestClient) -> None:
    agent = {"kind": "agent", "agent": "alphabeta", "maxTimeMs": 4000}
    game = begin(client, white=agent, rules="15x15:5:freestyle:swap", clock={"mainMs": 1000})["id"]
    for point in ("h8", "i9", "g7"):
        act(client, game, "play", point=point)
    with client.websocket_connect("/api/socket") as socket:
        socket.send_json({"type": "watch", "id": "w", "gameId": game})
        last = receive_until(socket, lambda m: bool(m["game"]["choices"]) or m["game"]["turn"] is None)[-1]["game"]
    assert last["reason"] == ""
    assert last["choices"]


def test_a_rematch_begins_where_the_game_began(client: TestClient) -> None:
    fields: Json = {
        "rules": "9x9:5:freestyle",
        "initialStones": [["black", "a1"], ["black", "e5"], ["white", "f6"]],
        "initialPlayer": "white",
        "moves": ["d4"],
        "clock": {"mainMs": 60_000, "incrementMs": 1000},
    }
    first = begin(client, **fields, black={"kind": "person", "name": "Ann"})
    act(client, first["id"], "play", point="c3")
    act(client, first["id"], "resign")
    response = client.post(f"/api/games/{first['id']}/rematch")
    assert response.status_code == 201
    again = response.json()
    assert again["id"] != first["id"]
    for key in ("rules", "initialStones", "initialPlayer", "moves", "clock", "outcome", "canUndo"):
        assert again[key] == first[key], key
    assert again["players"]["chooser"]["name"] == "Ann"
    assert client.post("/api/games/nobody-knows-this-game/rematch").status_code == 404


def test_agents_that_reach_the_machine_are_refused(client: TestClient) -> None:
    for agent in ("brain:cmd=touch /tmp/x", "alphabeta:weights=/etc/passwd", "alphabeta:hash-mb=4096", "nobody"):
        player = {"kind": "agent", "agent": agent}
        response = client.post("/api/games", json={"black": PERSON, "white": player})
        assert response.status_code == 400, agent


def test_an_agent_that_does_not_know_the_rules_is_refused(client: TestClient) -> None:
    player = {"kind": "agent", "agent": "alphabeta"}
    response = client.post("/api/games", json={"black": PERSON, "white": player, "rules": "9x9:6:freestyle"})
    assert response.status_code == 400
    assert "does not play" in response.json()["error"]
