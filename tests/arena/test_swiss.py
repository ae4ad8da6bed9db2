"""Swiss pairings and tournaments."""

from __future__ import annotations

import random
import sqlite3
import subprocess
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tengen.arena.entrant import Entrant
from tengen.arena.schedule import TournamentFormat
from tengen.arena.store import GameStore
from tengen.arena.swiss import SwissPairings, _most_pairs, pair_round
from tengen.arena.tournament import Progress, Tournament, play
from tengen.arena.tournament_file import load
from tengen.core.contracts import Ruleset
from tengen.core.worker_pool import DirectPool
from tengen.errors import InputError
from tests.arena import killing

NINE = Ruleset.parse("9x9:5:freestyle")
EIGHT = Ruleset.parse("8x8:4:freestyle")


def all_rounds(seats: Sequence[int]) -> Iterator[list[tuple[int, int]]]:
    """Yield every way to pair all seats."""
    if not seats:
        yield []
        return
    first, *others = seats
    for other in others:
        for rest in all_rounds([seat for seat in others if seat != other]):
            yield [(first, other), *rest]


@given(players=st.integers(2, 8), seed=st.integers(0, 10_000), rounds=st.integers(1, 12))
def test_nobody_meets_twice_while_another_round_is_possible(players: int, seed: int, rounds: int) -> None:
    """Every round has as few repeated meetings and byes as any way to pair it; everyone plays or has the bye."""
    rng = random.Random(seed)
    seats = range(players + players % 2)
    met: Counter[tuple[int, int]] = Counter()
    points = [0.0] * players
    for _ in range(rounds):
        pairs = pair_round(points, met, rng)
        assert sorted(seat for pair in pairs for seat in pair) == list(seats)
        least = min(met[pair] for pair in combinations(seats, 2))

        def repeats(pairs: list[tuple[int, int]], least: int = least) -> int:
            return sum(met[pair] > least for pair in pairs)

        assert repeats(pairs) == min(map(repeats, all_rounds(seats)))
        met.update(pairs)
        for player in range(players):
            points[player] += rng.choice((0, 0.5, 1, 1.5, 2))


@given(players=st.integers(3, 17), seed=st.integers(0, 10_000))
def test_as_many_rounds_as_log2_of_the_players_have_no_repeat_and_one_bye_each(players: int, seed: int) -> None:
    rounds = (players - 1).bit_length()
    pairings = SwissPairings(players, seed, games_per_meeting=2)
    rng = random.Random(seed)
    met: Counter[tuple[int, int]] = Counter()
    played: Counter[int] = Counter()
    for number in range(rounds):
        pairs = pairings.of_round(number)
        assert len(pairs) == pairings.per_round == players // 2
        met.update(pairs)
        played.update(player for pair in pairs for player in pair)
        for pair in pairs:
            for _ in range(2):
                pairings.add(pair, rng.choice((0, 0.5, 1)))
    assert set(met.values()) == {1}
    byes = [rounds - played[player] for player in range(players)]
    assert max(byes) <= 1
    assert sum(byes) == rounds * (players % 2)


def test_players_with_equal_scores_meet() -> None:
    """The better player always wins, so after two rounds of eight players the scores are 4, 2 (twice) and 0."""
    for seed in range(20):
        pairings = SwissPairings(8, seed, games_per_meeting=2)
        points = [0] * 8
        for number in range(3):
            for pair in pairings.of_round(number):
                assert points[pair[0]] == points[pair[1]]
                for _ in range(2):
                    pairings.add(pair, 1)
            for pair in pairings.of_round(number):
                points[pair[0]] += 2
        assert sorted(points) == [0, 2, 2, 2, 4, 4, 4, 6]
        assert points[0] == 6
        assert points[7] == 0


def test_the_last_player_without_a_bye_has_it() -> None:
    points = [6.0, 4.0, 2.0, 1.0, 0.0]
    assert pair_round(points, {(4, 5): 1}, random.Random(0))[0] == (3, 5)
    # 3 must have the bye although it leads: the others have had theirs.
    points = [0.0, 0.0, 0.0, 9.0, 0.0]
    byes = {(player, 5): 1 for player in (0, 1, 2, 4)}
    assert pair_round(points, byes, random.Random(0))[0] == (3, 5)


def test_a_round_needs_the_results_of_the_one_before() -> None:
    pairings = SwissPairings(4, 0, games_per_meeting=2)
    for pair in pairings.of_round(0):
        pairings.add(pair, 1)
    with pytest.raises(InputError, match=r"cannot pair round 2: the previous round has unfinished games \(2\)"):
        pairings.of_round(1)
    with pytest.raises(InputError, match="two players, not 1"):
        SwissPairings(1, 0, games_per_meeting=2)


@given(size=st.integers(1, 9), seed=st.integers(0, 10_000), share=st.floats(0, 1))
def test_the_size_of_a_maximum_matching(size: int, seed: int, share: float) -> None:
    rng = random.Random(seed)
    edges = np.zeros((size, size), dtype=bool)
    for one, other in combinations(range(size), 2):
        edges[one, other] = edges[other, one] = rng.random() < share

    def most(left: tuple[int, ...]) -> int:
        if len(left) < 2:
            return 0
        first, *others = left
        taken = (1 + most(tuple(x for x in others if x != other)) for other in others if edges[first, other])
        return max(most(tuple(others)), *taken, 0)

    assert _most_pairs(edges) == most(tuple(range(size)))


# -- playing ---------------------------------------------------------------------------------------------------------


def make_tournament(players: int, **options: object) -> Tournament:
    agents = ("random", "chains", "rule-based", "naive", "naive:level=0", "naive:level=1", "naive:level=2")
    entrants = tuple(Entrant(agent=agents[n % 7], name=f"player {n}") for n in range(players))
    return Tournament(rules=(NINE, EIGHT), players=entrants, format=TournamentFormat.SWISS, **options)  # type: ignore[arg-type]


def moves(store: GameStore) -> list[tuple[object, object]]:
    return [(stored.game, stored.result.moves) for stored in store.games()]


def test_a_stopped_tournament_continues_with_the_same_pairings(tmp_path: Path) -> None:
    class StopHereError(Exception):
        pass

    def stop_at(games: int, progress: Progress) -> None:
        if progress.tally.games == games:
            raise StopHereError

    tournament = make_tournament(5, rounds=4, seed=3)
    with GameStore(None) as whole, GameStore(tmp_path / "cut.db") as cut:
        # Two pairs, two rulesets, two games each in four rounds.
        progress = play(tournament, whole, make_pool=DirectPool)
        assert (progress.total, len(whole)) == (32, 32)
        meetings = Counter(tuple(sorted(stored.game.players)) for stored in whole.games())
        assert set(meetings.values()) == {4}
        for games in (3, 8, 21):  # in a round, after a round, and in a later round
            with pytest.raises(StopHereError):
                play(tournament, cut, make_pool=DirectPool, on_result=partial(stop_at, games))
        assert play(tournament, cut, concurrency=2).played_now == 11
        assert moves(cut) == moves(whole)


def test_a_round_starts_when_the_one_before_has_ended() -> None:
    rounds: list[int] = []
    with GameStore(None) as store:

        def watch(progress: Progress) -> None:
            rounds.append(list(store.games())[-1].game.round)

        play(make_tournament(4, rounds=3), store, make_pool=DirectPool, on_result=watch)
    assert rounds == [0] * 8 + [1] * 8 + [2] * 8


def test_a_killed_tournament_continues_with_the_same_pairings(tmp_path: Path) -> None:
    path = killing.write_tournament(tmp_path, rounds=2, players=killing.PLAYERS[:4])
    path.write_text(f'format = "swiss"\n{path.read_text()}')
    killing.kill_within(path, after_games=5, delay_s=0.1)
    subprocess.run(killing.command(path), stdout=subprocess.DEVNULL, check=True)
    with GameStore(None) as whole, GameStore(path.with_suffix(".db"), is_writer=False) as killed:
        play(load(path)[0], whole, make_pool=DirectPool)
        assert len(killed) == 8
        assert moves(killed) == moves(whole)


def test_a_store_with_other_pairings_is_rejected(tmp_path: Path) -> None:
    tournament = make_tournament(4, rounds=2)
    path = tmp_path / "games.db"
    with GameStore(path) as store:
        play(tournament, store, make_pool=DirectPool)
    database = sqlite3.connect(path)
    database.execute("UPDATE games SET first = second, second = first WHERE number = 9")
    database.commit()
    with GameStore(path) as store, pytest.raises(InputError, match="are not paired in game 9: the file is damaged"):
        play(tournament, store, make_pool=DirectPool)
    database.execute("DELETE FROM games WHERE number = 2")
    database.commit()
    database.close()
    with GameStore(path) as store, pytest.raises(InputError, match=r"the previous round has unfinished games \(1\)"):
        play(tournament, store, make_pool=DirectPool)
