"""The rating of a browser's person against the levels: which games count, and which level it suggests."""

from __future__ import annotations

from typing import Any

import pytest
from starlette.testclient import TestClient

from tengen.agents.levels import load_levels
from tengen.core.contracts import Outcome
from tengen.core.opening_procedure import Seat
from tengen.web.games.rating import rating_of
from tengen.web.messages.games import GameSummary, LevelPlayer, Person
from tests.web.talk import BEGINNER, PERSON, Json, act, begin, receive_until

LEVEL_5: Json = {"kind": "level", "level": 5}
ADAPTIVE: Json = {"kind": "level", "level": 1, "isAdaptive": True}


@pytest.fixture(autouse=True)
def new_browser(client: TestClient) -> None:
    """Each test is a browser that has not been here before."""
    client.cookies.clear()


def rating(client: TestClient) -> Json:
    found: Json = client.get("/api/my-rating").json()
    return found


def lose(client: TestClient, opponent: Json = BEGINNER, **fields: Any) -> str:
    """Play the first stone against a level and resign."""
    game: str = begin(client, black=PERSON, white=opponent, **fields)["id"]
    act(client, game, "play", point="h8")
    act(client, game, "resign")
    return game


def test_without_games_the_first_level_to_play_is_a_weak_one(client: TestClient) -> None:
    found = rating(client)
    assert (found["games"], found["history"], found["deviation"]) == (0, [], 350)
    assert found["suggestedLevel"] == 3


def test_a_loss_lowers_the_rating_and_the_suggested_level(client: TestClient) -> None:
    before = rating(client)
    game = lose(client)
    after = rating(client)
    assert after["games"] == 1
    assert after["rating"] < before["rating"]
    assert after["deviation"] < before["deviation"]
    (entry,) = after["history"]
    assert entry == {
        "gameId": game,
        "level": 1,
        "score": 0.0,
        "rating": after["rating"],
        "change": after["rating"] - before["rating"],
    }
    for _ in range(4):
        lose(client)
    assert rating(client)["suggestedLevel"] < before["suggestedLevel"]


def summary(number: int, outcome: str, level: int = 3) -> GameSummary:
    """Return a finished rated game that the person played as black."""
    person, opponent = Person(), LevelPlayer(level=level)
    return GameSummary(
        id=f"game-number-{number:04}",
        rules="15x15:5:freestyle",
        black=person,
        white=opponent,
        players={Seat.PROPOSER: person, Seat.CHOOSER: opponent},
        outcome=Outcome(outcome),
        reason="five",
        move_count=9,
        is_rated=True,
        accuracy={},
        started_at=number,
        changed_at=number,
    )


def test_wins_raise_the_rating_and_draws_keep_it_near_the_opponent() -> None:
    won = rating_of(summary(number, "black") for number in range(12))
    drawn = rating_of(summary(number, "draw") for number in range(12))
    lost = rating_of(summary(number, "white") for number in range(12))
    casual = next(level.rating for level in load_levels() if level.level == 3)
    assert casual is not None
    assert won.rating > casual + 200 > drawn.rating > lost.rating + 200
    assert abs(drawn.rating - casual) < 40
    assert won.suggested_level > drawn.suggested_level == 3 > lost.suggested_level
    assert [entry.score for entry in drawn.history] == [0.5] * 12
    assert sum(entry.change for entry in won.history) == won.rating - 600


def test_unfinished_games_do_not_count() -> None:
    assert rating_of([summary(1, "ongoing")]).games == 0


@pytest.mark.parametrize(
    "fields",
    [
        {"rules": "9x9:5:freestyle"},
        {"rules": "15x15:4:freestyle"},
        {"moves": ["h8", "i9"]},
        {"initialStones": [["white", "a1"]]},
        {"white": PERSON},
        {"white": {"kind": "agent", "agent": "random"}},
    ],
    ids=["small board", "four in a row", "given moves", "given stones", "two people", "an agent"],
)
def test_other_games_are_not_rated(client: TestClient, fields: Json) -> None:
    state = begin(client, **({"black": PERSON, "white": BEGINNER} | fields))
    assert not state["isRated"]
    act(client, state["id"], "resign")
    assert rating(client)["games"] == 0


def test_an_undo_ends_the_rating_of_a_game(client: TestClient) -> None:
    state = begin(client, black=PERSON, white=BEGINNER)
    assert state["isRated"]
    act(client, state["id"], "play", point="h8")
    assert not act(client, state["id"], "undo")["isRated"]
    act(client, state["id"], "play", point="h8")
    assert not act(client, state["id"], "resign")["isRated"]
    assert rating(client)["games"] == 0


def test_a_hint_ends_the_rating_of_a_game(client: TestClient) -> None:
    state = begin(client, black=PERSON, white=BEGINNER)
    with client.websocket_connect("/api/socket") as socket:
        socket.send_json({"type": "hint", "id": "h", "gameId": state["id"]})
        receive_until(socket, lambda message: message["type"] == "hint")
    assert not client.get(f"/api/games/{state['id']}").json()["isRated"]
    act(client, state["id"], "resign")
    assert rating(client)["games"] == 0


def test_a_hint_after_the_end_does_not_change_a_result(client: TestClient) -> None:
    game = lose(client)
    with client.websocket_connect("/api/socket") as socket:
        socket.send_json({"type": "hint", "id": "h", "gameId": game})
        receive_until(socket, lambda message: message["type"] in ("hint", "error"))
    assert rating(client)["games"] == 1


def test_a_deleted_game_no_longer_counts(client: TestClient) -> None:
    before = rating(client)["rating"]
    client.delete(f"/api/games/{lose(client)}")
    assert rating(client)["rating"] == before


def test_every_browser_has_its_own_rating(client: TestClient) -> None:
    lose(client)
    client.cookies.clear()
    assert rating(client)["games"] == 0


def test_an_adaptive_opponent_has_the_suggested_level_and_follows_it_in_a_rematch(client: TestClient) -> None:
    first = begin(client, black=PERSON, white=ADAPTIVE)
    assert first["players"]["chooser"] == {"kind": "level", "level": 3, "isAdaptive": True}
    act(client, first["id"], "resign")
    for _ in range(5):
        lose(client)
    suggested = rating(client)["suggestedLevel"]
    assert suggested < 3
    again = client.post(f"/api/games/{first['id']}/rematch").json()
    assert again["players"]["proposer"] == {"kind": "level", "level": suggested, "isAdaptive": True}
    assert again["isRated"]


def test_a_level_that_is_not_adaptive_stays(client: TestClient) -> None:
    assert begin(client, black=PERSON, white=LEVEL_5)["players"]["chooser"]["level"] == 5


def test_every_level_has_a_rating() -> None:
    assert all(level.rating is not None for level in load_levels())
