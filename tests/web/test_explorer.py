"""The opening explorer: shipped games and a browser's own games, counted up to the symmetries of the board."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from tengen.core.contracts import Ruleset
from tengen.core.position import Position
from tengen.core.shipped import shipped_folder
from tengen.core.symmetry import symmetries, transform_position
from tengen.errors import RecordError
from tengen.web.games.explorer import explore, read_games
from tests.web.talk import PERSON, Json, act, begin

RULES = Ruleset.parse("15x15:5:freestyle")
GAMES = shipped_folder("data") / "games"


@pytest.fixture(autouse=True)
def new_browser(client: TestClient) -> None:
    """Each test is a browser that has not been here before."""
    client.cookies.clear()


def ask(client: TestClient, *moves: str, **fields: Any) -> Json:
    response = client.post("/api/explorer", json={"rules": "15x15:5:freestyle", "moves": moves} | fields)
    assert response.status_code == 200, response.text
    found: Json = response.json()
    return found


def play(client: TestClient, *moves: str, rules: str = "15x15:5:freestyle") -> None:
    game = begin(client, rules=rules, black=PERSON, white=PERSON)["id"]
    for move in moves:
        act(client, game, "play", point=move)
    act(client, game, "resign")


@pytest.mark.parametrize("rule", ["freestyle", "standard", "renju"])
def test_the_shipped_games_are_legal_and_most_of_them_decided(rule: str) -> None:
    games = read_games(GAMES / f"{rule}15.txt")
    assert len(games) == 156
    for game in games:
        position = Position.from_moves(Ruleset.parse(f"15x15:5:{rule}"), "".join(game.moves))
        if position.is_over:
            assert position.outcome is game.outcome
    assert len({tuple(game.moves[:3]) for game in games}) == 26


def test_every_shipped_game_begins_in_the_centre_and_is_counted_once(client: TestClient) -> None:
    found = ask(client)
    (first,) = found["moves"]
    assert (first["move"], first["shipped"]["games"], found["shippedGames"]) == ("h8", 156, 156)
    # After it, white has a straight and a diagonal answer; all others are equal to them under a symmetry.
    second = ask(client, "h8")["moves"]
    assert sorted(move["shipped"]["games"] for move in second) == [78, 78]


def test_the_moves_of_a_position_are_those_of_the_games_that_reached_it() -> None:
    games = read_games(GAMES / "freestyle15.txt")
    for game in games[::40]:
        for ply in (3, 6, 9):
            position = Position.from_moves(RULES, "".join(game.moves[:ply]))
            found = explore(position, ())
            total = sum(move.shipped.games for move in found.moves)
            assert 1 <= total <= 156
            for move in found.moves:
                assert position.is_legal(move.move)
                assert move.shipped.black_wins + move.shipped.draws <= move.shipped.games


def test_symmetric_positions_have_the_same_results() -> None:
    game = read_games(GAMES / "freestyle15.txt")[17]
    position = Position.from_moves(RULES, "".join(game.moves[:5]))
    expected = sorted(move.shipped.games for move in explore(position, ()).moves)
    assert expected
    for symmetry in symmetries(RULES):
        mirrored = explore(transform_position(position, symmetry), ())
        assert sorted(move.shipped.games for move in mirrored.moves) == expected


def test_equal_moves_of_a_symmetric_position_are_one_move(client: TestClient) -> None:
    for answer in ("g8", "i8", "h7", "h9"):
        play(client, "h8", answer)
    mine = [move["mine"] for move in ask(client, "h8")["moves"] if move["mine"]["games"]]
    # Black was to move and resigned.
    assert mine == [{"games": 4, "blackWins": 0, "draws": 0}]


def test_own_games_count_under_their_rules_only(client: TestClient) -> None:
    play(client, "a1", "b2", "c3")
    play(client, "a1", "b2", rules="9x9:5:freestyle")
    (move,) = ask(client, "a1")["moves"]
    assert (move["move"], move["mine"]["games"], move["shipped"]["games"]) == ("b2", 1, 0)
    (small,) = ask(client, "a1", rules="9x9:5:freestyle")["moves"]
    assert small["mine"]["games"] == 1
    assert ask(client, rules="9x9:5:freestyle")["shippedGames"] == 0


def test_another_browser_sees_only_the_shipped_games(client: TestClient) -> None:
    play(client, "a1", "b2")
    client.cookies.clear()
    assert ask(client, "a1")["moves"] == []


def test_unfinished_games_do_not_count(client: TestClient) -> None:
    game = begin(client, rules="15x15:5:freestyle", black=PERSON, white=PERSON)["id"]
    for move in ("a1", "b2"):
        act(client, game, "play", point=move)
    assert ask(client, "a1")["moves"] == []


def test_the_order_of_the_moves_does_not_matter(client: TestClient) -> None:
    game = read_games(GAMES / "freestyle15.txt")[0].moves[:5]
    black, white = game[0::2], game[1::2]
    expected = ask(client, *game)["moves"]
    assert expected
    for order in itertools.permutations(black):
        assert ask(client, order[0], white[0], order[1], white[1], order[2])["moves"] == expected


def test_stones_that_nobody_played_have_no_games(client: TestClient) -> None:
    assert ask(client, initialStones=[["white", "h8"]])["moves"] == []
    assert ask(client, initialStones=[["black", "h8"], ["black", "h9"]])["moves"] == []


def test_a_damaged_file_is_reported_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "games.txt"
    path.write_text("black h8h9i9\nnobody h8\n", "utf-8")
    with pytest.raises(RecordError, match="line 2"):
        read_games(path)
