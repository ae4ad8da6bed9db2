"""Schedules and openings."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tengen.arena.openings import (
    RandomOpenings,
    ShelfInMemory,
    canonical_key,
    default_stone_count,
    load_openings,
    random_openings,
    transform_opening,
)
from tengen.arena.schedule import Schedule, TournamentFormat, pairings
from tengen.core.contracts import Ruleset
from tengen.core.geometry import parse_points
from tengen.core.position import Position
from tengen.core.symmetry import symmetries
from tengen.errors import InputError, RecordError

NINE = Ruleset.parse("9x9:5:freestyle")


def make_schedule(players: int = 4, rounds: int = 3, **options: Any) -> Schedule:
    openings = {NINE: random_openings(NINE, 3, seed=1)}
    met = pairings(players, TournamentFormat.ROUND_ROBIN)
    return Schedule(pairings=met, openings=openings, rounds=rounds, **options)


def test_each_pairing_plays_each_opening_with_both_colours() -> None:
    games = list(make_schedule())
    assert [game.number for game in games] == list(range(36))
    played = Counter((game.first, game.second, game.opening) for game in games)
    assert set(played.values()) == {1}
    assert len(played) == 36
    for one, other in zip(games[::2], games[1::2], strict=True):
        assert (one.first, one.second, one.opening) == (other.second, other.first, other.opening)
        assert one.pair == other.pair
    assert len({game.seed for game in games}) == 36


def test_a_schedule_follows_from_its_description() -> None:
    assert list(make_schedule(seed=7, shuffles=True)) == list(make_schedule(seed=7, shuffles=True))
    assert make_schedule(seed=7)[5].seed != make_schedule(seed=8)[5].seed


def test_shuffling_keeps_the_openings() -> None:
    plain = [game.opening_number for game in make_schedule(2)]
    orders = {tuple(game.opening_number for game in make_schedule(2, shuffles=True, seed=seed)) for seed in range(20)}
    assert plain == [0, 0, 1, 1, 2, 2]
    assert len(orders) == 6
    assert all(sorted(order) == plain for order in orders)


def test_more_rounds_than_openings_go_round_again() -> None:
    games = list(make_schedule(2, rounds=7))
    assert [game.opening_number for game in games[::2]] == [0, 1, 2, 0, 1, 2, 0]
    turned = list(make_schedule(2, rounds=24, transforms=True))
    images = {game.opening for game in turned if game.opening_number == 0}
    expected = {transform_opening(NINE, turned[0].opening, symmetry) for symmetry in symmetries(NINE)}
    assert images == expected
    assert len({canonical_key(NINE, image) for image in images}) == 1


def test_a_gauntlet_lets_challengers_meet_the_others() -> None:
    assert pairings(4, TournamentFormat.GAUNTLET) == [(0, 1), (0, 2), (0, 3)]
    assert pairings(4, TournamentFormat.GAUNTLET, 2) == [(0, 2), (0, 3), (1, 2), (1, 3)]
    with pytest.raises(InputError, match="challengers"):
        pairings(3, TournamentFormat.GAUNTLET, 3)
    with pytest.raises(InputError, match="two players"):
        pairings(1, TournamentFormat.ROUND_ROBIN)


def test_rulesets_take_turns_and_games_cut_the_list_short() -> None:
    renju = Ruleset.parse("15x15:5:renju")
    openings = {rules: random_openings(rules, 2, seed=1) for rules in (NINE, renju)}
    schedule = Schedule(pairings=[(0, 1)], openings=openings, rounds=2, games=7)
    assert [game.ruleset for game in schedule] == [NINE, NINE, renju, renju, NINE, NINE, renju]
    with pytest.raises(IndexError):
        schedule[7]


# -- openings --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "rules", ["3x3:3:freestyle", "6x6:4:freestyle", "8x8", "9x9", "15x15:5:renju", "20x20", "7x12:5:standard"]
)
def test_random_openings_are_playable_distinct_and_repeatable(rules: str) -> None:
    ruleset = Ruleset.parse(rules)
    found = random_openings(ruleset, 3, seed=4)
    assert found == random_openings(ruleset, 3, seed=4)
    assert len({canonical_key(ruleset, opening) for opening in found}) == 3
    for opening in found:
        assert len(opening) == default_stone_count(ruleset)
        assert not Position.from_moves(ruleset, opening).is_over


def test_random_openings_have_no_threes() -> None:
    for opening in random_openings(NINE, 300, seed=0, stones=6):
        position = Position.from_moves(NINE, opening)
        for colour in ("black", "white"):
            stones = position.points_of(colour)
            assert not any(
                {(a.x + dx * k, a.y + dy * k) for k in range(3)} <= {(p.x, p.y) for p in stones}
                for a in stones
                for dx, dy in ((1, 0), (0, 1), (1, 1), (1, -1))
            )


def test_more_openings_than_there_are_repeat() -> None:
    rules = Ruleset.parse("3x3:3:freestyle")
    found = random_openings(rules, 10, seed=0)
    assert len(found) == 10
    assert len({canonical_key(rules, opening) for opening in found}) == 3  # corner, side, centre


@pytest.mark.parametrize("rules", ["3x3:3:freestyle", "9x9"])
def test_openings_go_on_from_a_shelf(rules: str) -> None:
    ruleset = Ruleset.parse(rules)
    shelf = ShelfInMemory()
    assert len(shelf) == 0
    RandomOpenings(ruleset, 50, seed=0, shelf=shelf)[3]
    assert 4 <= len(shelf) < 50  # made in batches
    assert list(RandomOpenings(ruleset, 50, seed=0, shelf=shelf)) == random_openings(ruleset, 50, seed=0)


def test_the_openings_of_a_seed_never_change() -> None:
    assert ["".join(opening) for opening in random_openings(NINE, 3, seed=4, stones=5)] == [
        "e6f6d5d6g6",
        "f6g7e5f5d6",
        "c5g3e3c4f4",
    ]


def test_procedures_and_zero_stones_begin_on_the_empty_board() -> None:
    assert random_openings(Ruleset.parse("15x15:5:freestyle:swap2"), 2, seed=0) == [(), ()]
    assert random_openings(NINE, 2, seed=0, stones=0) == [(), ()]


def test_opening_files(tmp_path: Path) -> None:
    offsets = tmp_path / "offsets.txt"
    offsets.write_text("# two openings\n0,0, 1,1, -1,0\n0,-1, 2,0\n")
    assert load_openings(offsets, NINE) == [parse_points("e5f4d5"), parse_points("e6g5")]
    names = tmp_path / "names.txt"
    names.write_text("9/freestyle/e5f4\ne5e6e7\n")
    assert load_openings(names, NINE) == [parse_points("e5f4"), parse_points("e5e6e7")]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("15/freestyle/h8i9\n", "opening 1 is for a 15x15 board"),
        ("a1a2b1b2c1c2d1d2e1\n", "already ends the game"),
        ("# nothing\n", "no opening"),
        ("a1a1\n", "twice"),
    ],
)
def test_bad_opening_files(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "bad.txt"
    path.write_text(text)
    with pytest.raises(RecordError, match=words):
        load_openings(path, NINE)
