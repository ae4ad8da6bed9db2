"""The games of a browser: listed, exported and deleted by the browser that played them, and by no other."""

from __future__ import annotations

import base64
import io
import sqlite3
import zipfile
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from tengen.errors import InputError
from tengen.web.store import Store
from tests.web.talk import BEGINNER, PERSON, Json, act, begin, receive_until

WON = ["h8", "i9", "g8", "j10", "i8", "a1", "f8", "a2", "e8"]


@pytest.fixture(autouse=True)
def new_browser(client: TestClient) -> None:
    """Each test is a browser that has not been here before."""
    client.cookies.clear()


def listed(client: TestClient) -> list[Json]:
    found = client.get("/api/my-games").json()
    assert found["total"] == len(found["games"])
    games: list[Json] = found["games"]
    return games


def play_won_game(client: TestClient) -> str:
    game: str = begin(client)["id"]
    for point in WON:
        act(client, game, "play", point=point)
    return game


def test_a_browser_lists_its_games_newest_first(client: TestClient) -> None:
    assert listed(client) == []
    won = play_won_game(client)
    second = begin(client, rules="9x9:5:freestyle", black=BEGINNER, white=PERSON)["id"]
    newest, oldest = listed(client)
    assert (newest["id"], oldest["id"]) == (second, won)
    assert (oldest["outcome"], oldest["reason"], oldest["moveCount"]) == ("black", "five", 9)
    assert (newest["black"]["kind"], newest["white"]["kind"], newest["rules"]) == ("level", "person", "9x9:5:freestyle")
    assert newest["outcome"] == "ongoing"
    assert 0 < oldest["startedAt"] <= oldest["changedAt"] <= newest["changedAt"]
    assert [game["id"] for game in client.get("/api/my-games?limit=1&offset=1").json()["games"]] == [won]


def test_games_are_searched(client: TestClient) -> None:
    won = play_won_game(client)
    lost = begin(client, rules="9x9:5:renju", black=PERSON, white=BEGINNER)["id"]
    act(client, lost, "resign")
    running = begin(client, black=BEGINNER, white={"kind": "person", "name": "Ann"}, rules="9x9:5:renju:swap2")["id"]
    watched = begin(client, black=BEGINNER, white={"kind": "agent", "agent": "random"})["id"]

    def found(**search: str | float) -> list[str]:
        answer = client.get("/api/my-games", params=search).json()
        assert (answer["total"], answer["stored"]) == (len(answer["games"]), 4)
        return [game["id"] for game in answer["games"]]

    everything = [watched, running, lost, won]
    assert found() == everything
    assert found(result="won") == []  # one of two people won
    assert found(result="lost") == [lost]
    assert found(result="ongoing") == [watched, running]
    assert found(rule="renju") == [running, lost]
    assert found(opponent="level:1") == everything[:3]
    assert found(opponent="level:1", rule="renju", result="lost") == [lost]
    assert found(opponent="agent:random") == [watched]
    assert found(opponent="nobody") == []
    times = {game["id"]: game["startedAt"] for game in client.get("/api/my-games").json()["games"]}
    assert found(since=times[running]) == [watched, running]
    assert found(until=times[running]) == [lost, won]
    opponents = client.get("/api/my-games?limit=1").json()["opponents"]
    assert [(one["key"], one["games"]) for one in opponents] == [("level:1", 3), ("agent:random", 1), ("person:", 1)]
    for wrong in ("result=unknown", "rule=chess", "since=yesterday", "since=-1"):
        assert client.get(f"/api/my-games?{wrong}").status_code == 422, wrong


def test_a_rematch_is_listed_too(client: TestClient) -> None:
    game = begin(client)["id"]
    again = client.post(f"/api/games/{game}/rematch").json()["id"]
    assert {one["id"] for one in listed(client)} == {game, again}


def test_another_browser_sees_none_of_them_and_cannot_delete_them(client: TestClient) -> None:
    game = play_won_game(client)
    client.cookies.clear()
    assert listed(client) == []
    assert client.delete(f"/api/games/{game}").status_code == 404
    begin(client)
    assert client.delete(f"/api/games/{game}").status_code == 404
    assert client.get(f"/api/my-games/export?game_id={game}").status_code == 404
    assert client.get(f"/api/games/{game}").status_code == 200  # its address still opens it


def test_a_deleted_game_is_gone_with_its_review(client: TestClient) -> None:
    game = play_won_game(client)
    with client.websocket_connect("/api/socket") as socket:
        request = {"type": "review", "id": "r", "moves": WON, "effort": "quick", "gameId": game}
        socket.send_json(request)
        assert receive_until(socket, lambda message: not message["isDuringSearch"])[-1]["isStored"]
        (row,) = listed(client)
        assert set(row["accuracy"]) == {"black", "white"}
        socket.send_json({"type": "watch", "id": "w", "gameId": game})
        socket.receive_json()
        assert client.delete(f"/api/games/{game}").json() == {"id": game}
        told = socket.receive_json()
        assert (told["type"], told["code"]) == ("error", "not-found")
        socket.send_json(request | {"onlyStored": True})
        assert socket.receive_json()["summary"] is None
    assert listed(client) == []
    assert client.get(f"/api/games/{game}").status_code == 404


def test_the_accuracy_is_forgotten_when_the_game_changes(client: TestClient) -> None:
    game = play_won_game(client)
    with client.websocket_connect("/api/socket") as socket:
        socket.send_json({"type": "review", "id": "r", "moves": WON, "effort": "quick", "gameId": game})
        receive_until(socket, lambda message: not message["isDuringSearch"])
    assert listed(client)[0]["accuracy"]
    act(client, game, "undo")
    assert listed(client)[0]["accuracy"] == {}


def test_games_are_exported_alone_and_together(client: TestClient) -> None:
    assert client.get("/api/my-games/export").json()["error"] == "there are no games to export"
    game = play_won_game(client)
    begin(client, rules="9x9:5:renju")
    alone = client.get(f"/api/my-games/export?format=psq&game_id={game}").json()
    assert alone["filename"] == "game.psq"
    assert alone["text"].startswith("Piskvorky 15x15")
    together = client.get("/api/my-games/export?format=sgf").json()
    assert together["filename"] == "games.sgf"
    assert together["text"].count("(;") == 2
    packed = client.get("/api/my-games/export?format=psq").json()
    with zipfile.ZipFile(io.BytesIO(base64.b64decode(packed["base64"]))) as archive:
        assert archive.namelist() == ["game-0001.psq", "game-0002.psq"]
    unknown = client.get("/api/my-games/export?format=doc")
    assert (unknown.status_code, unknown.json()["code"]) == (400, "record")


def test_a_review_is_exported_with_its_sentences(client: TestClient) -> None:
    request = {"moves": WON, "effort": "quick", "black": "Ann", "outcome": "black"}
    assert client.post("/api/reviews/export", json=request | {"effort": "deep"}).status_code == 404
    with client.websocket_connect("/api/socket") as socket:
        socket.send_json({"type": "review", "id": "r", "moves": WON, "effort": "quick"})
        receive_until(socket, lambda message: not message["isDuringSearch"])
    file = client.post("/api/reviews/export", json=request).json()
    assert file["filename"] == "review.sgf"
    assert "PB[Ann]" in file["text"]
    assert "Ignores the open three g8-h8-i8" in file["text"]


def test_a_won_game_names_the_shape_that_decided_it(client: TestClient) -> None:
    game = play_won_game(client)
    assert client.get(f"/api/games/{game}").json()["winningShape"] == "open four"


def test_an_agent_says_why_it_chose_its_colour(client: TestClient) -> None:
    game = begin(client, rules="15x15:5:freestyle:swap", white={"kind": "agent", "agent": "alphabeta:nodes=500"})["id"]
    with client.websocket_connect("/api/socket") as socket:
        socket.send_json({"type": "watch", "id": "w", "gameId": game})
        for point in ("h8", "i9", "g7"):
            act(client, game, "play", point=point)
        state = receive_until(socket, lambda message: bool(message.get("game", {}).get("choices")))[-1]["game"]
    (note,) = state["choiceNotes"]
    assert (note["seat"], note["option"]) == ("chooser", state["choices"][0])
    assert (note["whiteWinrate"] > 0.5) == (note["option"] == "take-white")


# ---- Stores of earlier versions -------------------------------------------------------------------------------------


def write_store_of_version_1(path: Path) -> None:
    database = sqlite3.connect(path)
    database.executescript(
        """
        PRAGMA application_id = 1415005506; PRAGMA user_version = 1;
        CREATE TABLE entries (
          id TEXT PRIMARY KEY, kind TEXT NOT NULL, changed_at REAL NOT NULL, body TEXT NOT NULL
        ) WITHOUT ROWID;
        CREATE INDEX by_age ON entries (kind, changed_at);
        INSERT INTO entries VALUES ('old', 'game', 1000.5, 'body');
        """
    )
    database.close()


def test_a_store_of_version_1_is_migrated(tmp_path: Path) -> None:
    path = tmp_path / "games.sqlite"
    write_store_of_version_1(path)
    for _ in range(2):
        store = Store(path)
        assert store.get("game", "old") == "body"
        found = store.find("game", "old")
        assert found is not None
        assert (found.owner, found.created_at, found.changed_at, found.summary) == ("", 1000.5, 1000.5, "")
        store.put("game", "new", "body", owner="browser", summary="{}", is_new=True)
        assert [one.id for one in store.listed("game", "browser", 10)] == ["new"]
        store.close()


def test_a_store_of_a_later_version_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "games.sqlite"
    Store(path).close()
    database = sqlite3.connect(path)
    database.execute("PRAGMA user_version = 3")
    database.close()
    with pytest.raises(InputError, match="not a game store for this version"):
        Store(path)


def test_a_replaced_entry_keeps_its_owner_and_its_first_date(tmp_path: Path) -> None:
    store = Store(tmp_path / "games.sqlite")
    store.put("game", "one", "first", owner="browser", is_new=True)
    before = store.find("game", "one")
    store.put("game", "one", "second", summary="changed")
    after = store.find("game", "one")
    assert before is not None
    assert after is not None
    assert (after.owner, after.created_at, after.summary) == ("browser", before.created_at, "changed")
    store.close()
