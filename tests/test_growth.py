"""Counts that decide how the work grows: rows, statements and objects. `python -m benchmarks growth` measures times."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.bench_growth import PARTS, RULES, exponent, measure
from benchmarks.bench_growth import _store as write_store
from tengen.arena.entrant import Entrant
from tengen.arena.standings import collect
from tengen.arena.store import GameStore
from tengen.arena.tournament import OpeningSettings, Tournament


def test_exponents() -> None:
    assert exponent((10, 20, 40), (3, 6, 12)) == pytest.approx(1)
    assert exponent((10, 20, 40), (1, 4, 16)) == pytest.approx(2)
    assert exponent((10, 20, 40), (5, 5, 5)) == pytest.approx(0)


TINY = {"vector_boards": 4, "metrics_summary": 5, "puct_with_full_tree": 200}


@pytest.mark.parametrize("name", PARTS)
def test_every_part_of_the_benchmark_runs(name: str) -> None:
    assert measure(name, TINY.get(name, 10)).seconds >= 0


def statements_of_standings(path: Path) -> list[str]:
    found: list[str] = []
    with GameStore(path, is_writer=False) as store:
        store._database.set_trace_callback(found.append)
        collect([store])
    return found


def test_standings_read_each_game_once(tmp_path: Path) -> None:
    counts = []
    for games, players in ((20, 3), (40, 3), (40, 12)):
        folder = tmp_path / f"{games}-{players}"
        folder.mkdir()
        statements = statements_of_standings(write_store(games, players, folder))
        counts.append(len(statements))
        assert sum("FROM games ORDER BY number" in statement for statement in statements) == 1
    assert len(set(counts)) == 1


def test_resuming_runs_the_same_statements_after_many_openings(tmp_path: Path) -> None:
    players = (Entrant(agent="random"), Entrant(agent="chains"))
    tournament = Tournament(rules=(RULES,), players=players, rounds=300, openings=OpeningSettings(stones=5))
    counts = []
    with GameStore(tmp_path / "games.db") as store:
        for openings in (10, 40, 160):
            assert tournament.schedule(store)[2 * openings - 1].opening
            found: list[str] = []
            store._database.set_trace_callback(found.append)
            assert tournament.schedule(store)[2 * openings - 1].opening
            store._database.set_trace_callback(None)
            counts.append(len(found))
    assert len(set(counts)) == 1
