"""Puzzles from a browser's own games: found in the mistakes of reviewed games, stored, listed, solved, deleted."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest
from starlette.testclient import TestClient

from tengen.core.contracts import Colour, Limits, Ruleset
from tengen.core.geometry import parse_points
from tengen.core.position import Position
from tengen.puzzles.making import missed_puzzle, only_defence
from tengen.puzzles.puzzle import PuzzleKind
from tengen.search.threats import ThreatKind, Verdict, solve_threats
from tengen.web.app import create_app
from tengen.web.services import ServerConfig, Services
from tengen.web.workers.scheduler import SearchPoolConfig
from tests.web.conftest import GENEROUS
from tests.web.talk import BEGINNER, PERSON, Json, act, begin, receive_until

WRONG = "a1"
"""A move far away from everything."""


class Game(NamedTuple):
    """A game up to a position in which exactly one move is right."""

    moves: list[str]
    right: str

    @property
    def position(self) -> Position:
        return Position.from_moves(Ruleset(), self.moves)


def game(moves: str, right: str) -> Game:
    return Game([str(point) for point in parse_points(moves)], right)


GAMES = {
    PuzzleKind.VCF: game("k6j6h6i7h8h9j5i10h5f7", right="h4"),
    PuzzleKind.VCT: game("j8k7k9i7j9l8i8j7", right="h7"),
    PuzzleKind.DEFENCE: game("g10j11j9k10i12k11k9j12h9i9j10l10m9i13h14j13f11i8e12d13f12h12", right="f10"),
}


class Server(NamedTuple):
    """A browser and the objects of its server."""

    client: TestClient
    services: Services


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    app = create_app(ServerConfig(limits=GENEROUS, pool=SearchPoolConfig(workers=1)))
    with TestClient(app) as client:
        yield Server(client, app.state.services)


@pytest.fixture
def client(server: Server) -> TestClient:
    """A browser that has not been here before."""
    server.client.cookies.clear()
    return server.client


def review(client: TestClient, game: str, moves: Sequence[str]) -> None:
    with client.websocket_connect("/api/socket") as socket:
        socket.send_json({"type": "review", "id": "r", "moves": moves, "effort": "quick", "gameId": game})
        assert receive_until(socket, lambda message: not message["isDuringSearch"])[-1]["isStored"]


def play_and_review(client: TestClient, game: Game) -> str:
    """Play a game with a wrong move at its end, and review it."""
    identifier: str = begin(client)["id"]
    moves = [*game.moves, WRONG]
    for move in moves:
        act(client, identifier, "play", point=move)
    review(client, identifier, moves)
    return identifier


def listed(client: TestClient) -> list[Json]:
    """Return the browser's puzzles once all its games have been searched."""
    while (found := client.get("/api/puzzles?source=own").json())["pending"]:
        time.sleep(0.02)
    puzzles: list[Json] = found["puzzles"]
    return puzzles


@pytest.mark.parametrize("kind", PuzzleKind)
def test_a_mistake_becomes_a_puzzle_that_is_solved_like_any_other(client: TestClient, kind: PuzzleKind) -> None:
    game = GAMES[kind]
    identifier = play_and_review(client, game)
    turn = len(game.moves) + 1
    own = next(one for one in listed(client) if one["source"]["turnNumber"] == turn)
    assert (own["kind"], own["stones"]) == (kind.value, len(game.moves))
    assert own["source"] == {"gameId": identifier, "turnNumber": turn, "played": WRONG}
    address = f"/api/puzzles/{own['id']}"
    shown = client.get(address).json()
    assert {point for _, point in shown["initialStones"]} == set(game.moves)
    assert shown["source"] == own["source"]
    assert client.get(f"{address}/solution").json()["pv"][0] == game.right
    answer = client.post(f"{address}/try", json={"moves": [game.right]}).json()
    assert answer["verdict"] == ("solved" if kind is PuzzleKind.DEFENCE else "right")
    answer = client.post(f"{address}/try", json={"moves": [WRONG]}).json()
    assert answer["verdict"] == "wrong"
    assert answer["refutation"]


def test_own_puzzles_are_filtered_and_belong_to_one_browser(client: TestClient) -> None:
    play_and_review(client, GAMES[PuzzleKind.VCF])
    puzzles = listed(client)
    own = puzzles[-1]
    for theme in ("fours", "threes", "defence"):
        found = client.get(f"/api/puzzles?source=own&theme={theme}").json()["puzzles"]
        assert found == [one for one in puzzles if theme in one["themes"]]
    assert all(one["source"] is None for one in client.get("/api/puzzles").json()["puzzles"])
    client.cookies.clear()
    assert listed(client) == []
    begin(client)
    for path in ("", "/solution"):
        assert client.get(f"/api/puzzles/{own['id']}{path}").status_code == 404
    assert client.post(f"/api/puzzles/{own['id']}/try", json={"moves": [WRONG]}).status_code == 404


def test_the_mistakes_of_agents_are_not_puzzles(client: TestClient) -> None:
    moves = [*GAMES[PuzzleKind.VCF].moves, WRONG]
    review(client, begin(client, black=BEGINNER, white=BEGINNER, moves=moves)["id"], moves)
    assert listed(client) == []
    review(client, begin(client, black=PERSON, white=BEGINNER, moves=moves)["id"], moves)
    assert {one["currentPlayer"] for one in listed(client)} == {"black"}


def test_a_deleted_game_takes_its_puzzles_along(server: Server, client: TestClient) -> None:
    identifier = play_and_review(client, GAMES[PuzzleKind.VCF])
    own = listed(client)[0]
    store = server.services.store
    assert store.find("puzzles", f"puzzles {identifier}") is not None
    assert client.delete(f"/api/games/{identifier}").status_code == 200
    assert listed(client) == []
    assert client.get(f"/api/puzzles/{own['id']}").status_code == 404
    assert store.find("puzzles", f"puzzles {identifier}") is None


def test_a_game_that_went_on_is_searched_again(client: TestClient) -> None:
    game = GAMES[PuzzleKind.VCF]
    identifier = play_and_review(client, game)
    before = listed(client)
    assert before
    act(client, identifier, "play", point="a15")
    assert listed(client) == []  # the review is of an earlier position
    review(client, identifier, [*game.moves, WRONG, "a15"])
    assert {one["id"] for one in before} <= {one["id"] for one in listed(client)}


def test_damaged_entries_are_searched_again(server: Server, client: TestClient) -> None:
    identifier = play_and_review(client, GAMES[PuzzleKind.VCF])
    before = listed(client)
    assert before
    store = server.services.store
    entry = store.find("puzzles", f"puzzles {identifier}")
    assert entry is not None
    for body in ("", "{}", "7", '[{"turn": 3}]', '[{"turn": 1, "played": "h8", "puzzle": "{}"}]', '[{"puzzle": ""}]'):
        store.put("puzzles", entry.id, body, summary=entry.summary)
        assert listed(client) == before


def test_puzzles_are_kept_when_the_server_restarts(tmp_path: Path) -> None:
    config = ServerConfig(data=tmp_path, limits=GENEROUS, pool=SearchPoolConfig(workers=1))
    with TestClient(create_app(config)) as client:
        play_and_review(client, GAMES[PuzzleKind.DEFENCE])
        before = listed(client)
        cookies = client.cookies
    assert before
    with TestClient(create_app(config), cookies=cookies) as client:
        found = client.get("/api/puzzles?source=own").json()
        assert (found["puzzles"], found["pending"]) == (before, 0)


@pytest.mark.parametrize("kind", PuzzleKind)
def test_a_missed_move_is_proved_and_is_not_the_move_that_was_played(kind: PuzzleKind) -> None:
    position, right = GAMES[kind].position, GAMES[kind].right
    found = missed_puzzle(position, WRONG)
    assert found is not None
    assert (found.kind, found.position(), str(found.line()[0])) == (kind, position, right)
    assert missed_puzzle(position, right) is None
    if kind is PuzzleKind.DEFENCE:
        assert only_defence(position) == right
    else:
        assert solve_threats(position, kind.threats, Limits(nodes=20_000)).verdict is Verdict.WIN


def test_a_win_with_two_first_moves_is_no_puzzle() -> None:
    position = Position.from_moves(Ruleset(), "h8a1i8a3j8o1")
    assert solve_threats(position, ThreatKind.VCF).verdict is Verdict.WIN
    assert missed_puzzle(position, "o15") is None


def test_a_position_that_was_set_up_is_no_puzzle() -> None:
    # A puzzle is written as the moves of a game.
    played = GAMES[PuzzleKind.VCF].position
    stones = {colour.value: played.points_of(colour) for colour in Colour}
    position = Position.from_stones(Ruleset(), black=stones["black"], white=stones["white"], to_move=played.to_move)
    assert missed_puzzle(played, WRONG) is not None
    assert missed_puzzle(position, WRONG) is None
