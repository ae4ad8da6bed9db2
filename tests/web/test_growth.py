"""The work for one page does not grow with what is stored: rows, bytes and objects are counted, not seconds."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import pytest

from tengen.arena.entrant import Entrant
from tengen.arena.match import Ending, GameResult
from tengen.arena.schedule import ScheduledGame
from tengen.arena.store import GameStore
from tengen.core.contracts import Outcome, Ruleset
from tengen.core.files import open_regular
from tengen.core.geometry import Point
from tengen.web.laboratory.folders import Lab
from tests.web.test_damage import write_run


def write_games(path: Path, count: int) -> None:
    """Write a tournament in which later numbers ended earlier."""
    with GameStore(path) as store:
        store.set_players([Entrant(agent="random", name="a"), Entrant(agent="random", name="b")])
        result = GameResult(
            outcome=Outcome.BLACK,
            ending=Ending.FIVE,
            detail="",
            black_seat=0,
            moves=(Point("e5"),) * 9,
            turns=(),
            choices=(),
            duration_s=1.0,
        )
        for number in range(count):
            game = ScheduledGame(
                number=number, ruleset=Ruleset(9, 9), first=0, second=1, round=0, opening=(), opening_number=0, seed=0
            )
            store.add(game, result)
        database = sqlite3.connect(path, isolation_level=None)
        database.execute(f"UPDATE games SET ended_at = printf('2026-01-01T%09d', {count} - number)")
        database.close()


@contextmanager
def counting_steps(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """Count the instructions that SQLite's virtual machine executes; each row that is read takes a few."""
    steps = [0]
    connect = sqlite3.connect

    def counted() -> int:
        steps[0] += 1
        return 0

    def connecting(*arguments: Any, **options: Any) -> sqlite3.Connection:
        connection = connect(*arguments, **options)
        connection.set_progress_handler(counted, 1)
        return connection

    with monkeypatch.context() as patched:
        patched.setattr("tengen.arena.store.sqlite3.connect", connecting)
        yield steps


def test_a_page_of_games_reads_only_its_games(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lab = Lab(runs=(tmp_path,))
    work = {}
    for count in (300, 3000):
        path = tmp_path / f"of{count}.sqlite"
        write_games(path, count)
        with counting_steps(monkeypatch) as steps:
            page = lab.tournament_games(f"of{count}", limit=20, offset=100)
            work[count] = steps[0]
        assert page.total == count
        assert [game.number for game in page.games] == list(range(100, 120))
        with counting_steps(monkeypatch) as steps:
            assert lab.tournament_game(f"of{count}", 7).nodes
            work[-count] = steps[0]
    assert work[3000] < 1.1 * work[300]
    assert work[-3000] < 1.1 * work[-300]


def test_a_summary_reads_the_end_of_the_metrics(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = "".join(json.dumps({"iteration": n, "games": n, "note": "x" * 200}) + "\n" for n in range(1, 20_001))
    write_run(tmp_path / "long", metrics=lines)
    read = 0

    class Counting:
        def __init__(self, file: BinaryIO) -> None:
            self._file = file

        def __getattr__(self, name: str) -> Any:
            return getattr(self._file, name)

        def __enter__(self) -> Counting:
            return self

        def __exit__(self, *_: object) -> None:
            self._file.close()

        def readline(self, size: int = -1) -> bytes:
            nonlocal read
            line = self._file.readline(size)
            read += len(line)
            return line

    monkeypatch.setattr(
        "tengen.learning.run.reading.open_regular", lambda path, within=None: Counting(open_regular(path, within))
    )
    (summary,) = Lab(runs=(tmp_path,)).list_runs(limit=10, offset=0).runs
    assert (summary.steps, summary.games, summary.problem) == (20_000, 20_000, None)
    assert read < 20_000 < len(lines) / 200


def test_curves_keep_few_points_of_many(tmp_path: Path) -> None:
    tables: list[dict[str, Any]] = [{"iteration": n, "games": n} for n in range(1, 10_001)]
    for table in tables[::50]:
        table["rare"] = table["iteration"]
    write_run(tmp_path / "long", metrics="".join(json.dumps(table) + "\n" for table in tables))
    detail = Lab(runs=(tmp_path,)).run("long")
    series = {one.name: one for one in detail.series}
    for name, last in (("games", 10_000), ("rare", 9951)):
        assert 150 < len(series[name].steps) <= 400
        assert series[name].steps == series[name].values
        assert (series[name].steps[0], series[name].steps[-1]) == (1, last)


def test_a_very_long_file_is_read_from_its_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tengen.learning.run.reading._MAX_SHOWN_BYTES", 3 << 20)
    write_run(tmp_path / "long", metrics="".join(f'{{"iteration": {n}, "games": 7}}\n' for n in range(1, 200_001)))
    detail = Lab(runs=(tmp_path,)).run("long")
    assert detail.summary.problem == "metrics.jsonl: the first 3 MiB skipped"
    assert detail.series[0].steps[-1] == 200_000
    assert detail.series[0].steps[0] > 90_000


def test_the_newest_runs_are_shown_and_the_others_counted(tmp_path: Path) -> None:
    for number in range(30):
        write_run(tmp_path / f"run{number:02}")
        age = (7 * number) % 30
        os.utime(tmp_path / f"run{number:02}" / "metrics.jsonl", (1000 - age, 1000 - age))
    lab = Lab(runs=(tmp_path,))
    page = lab.list_runs(limit=4, offset=0)
    assert page.total == 30
    newest = sorted(range(30), key=lambda number: (7 * number) % 30)
    assert [run.name for run in page.runs] == [f"run{number:02}" for number in newest[:4]]
    assert [run.name for run in lab.list_runs(limit=4, offset=28).runs] == [f"run{number:02}" for number in newest[28:]]
