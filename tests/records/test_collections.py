"""Tests with real game collections, run only if the collections are stored next to the repository."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import pytest

from tengen.records import GameRecord, iterate, json_record, lib, load, position_string, psq, sgf
from tests.conftest import shared_data
from tests.records.sample_files import points

FOLDER = shared_data()
GAMES = sorted(FOLDER.glob("games_*.jsonl.gz")) if FOLDER else []
POSITIONS = sorted(FOLDER.glob("puzzles.jsonl")) if FOLDER else []
OPENINGS = sorted(FOLDER.glob("openings.jsonl")) if FOLDER else []
GAMES_PER_FILE = 200


def first_games(path: Path) -> list[GameRecord]:
    return list(itertools.islice(iterate(path), GAMES_PER_FILE))


@pytest.mark.parametrize("path", GAMES, ids=lambda path: path.name)
def test_games_survive_a_round_trip_through_every_format(path: Path) -> None:
    games = first_games(path)
    assert len(games) == GAMES_PER_FILE
    assert sgf.read(sgf.write(games)) == games
    assert json_record.read(json_record.write(games)) == games
    lines = position_string.read(position_string.write(games, rows="top"), rows="top")
    assert [points(game) for game in lines] == [points(game) for game in games]
    for game in games:
        (single,) = psq.read(psq.write([game]), ruleset=game.ruleset)
        assert points(single) == points(game)
    (library,) = lib.read(lib.write([game for game in games if game.ruleset.width == 15]))
    assert len(library.root.children) == sum(game.ruleset.width == 15 for game in games)


@pytest.mark.parametrize("path", GAMES, ids=lambda path: path.name)
def test_games_are_legal_and_their_results_agree_with_the_board(path: Path) -> None:
    by_board = [game for game in first_games(path) if game.properties["RESULTFROM"] == ("board",)]
    assert by_board
    for game in by_board:
        stated, game.result = game.result, None
        assert game.settle()
        assert game.result is stated


@pytest.mark.parametrize("path", POSITIONS, ids=lambda path: path.name)
def test_positions_have_the_stated_stones(path: Path) -> None:
    positions = itertools.islice(iterate(path), GAMES_PER_FILE)
    with path.open(encoding="utf-8") as lines:
        for record, line in zip(positions, lines, strict=False):
            stated = json.loads(line)
            position = record.position()
            assert position.stones == len(stated["black"]) + len(stated["white"])
            assert position.to_move == stated["to_move"]


@pytest.mark.parametrize("path", OPENINGS, ids=lambda path: path.name)
def test_opening_collections(path: Path) -> None:
    for record in load(path):
        record.position()
