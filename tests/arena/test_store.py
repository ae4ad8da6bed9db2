"""The store: games are read back unchanged, no game is stored twice, one writer at a time."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tengen.arena.entrant import Entrant
from tengen.arena.export import game_record, save_games
from tengen.arena.match import Ending, GameResult, Turn
from tengen.arena.schedule import ScheduledGame
from tengen.arena.store import GameStore
from tengen.core.contracts import Outcome, Ruleset
from tengen.core.geometry import parse_points
from tengen.core.opening_procedure import Option
from tengen.errors import InputError
from tengen.records import load

PLAYERS = [Entrant(name="Ann", agent="random"), Entrant(name="Bob", agent="naive:level=3")]


def make_game(number: int = 0) -> ScheduledGame:
    return ScheduledGame(
        number=number,
        ruleset=Ruleset.parse("9x9:5:freestyle"),
        first=number % 2,
        second=1 - number % 2,
        round=number // 2,
        opening=parse_points("e5e6"),
        opening_number=3,
        seed=2**62,
    )


RESULT = GameResult(
    outcome=Outcome.WHITE,
    ending=Ending.TIMEOUT,
    detail="late\nvery late",
    black_seat=1,
    moves=parse_points("e5e6d4c3"),
    turns=(Turn(1.5, 0.25, 100, 4), Turn(2000.125, None)),
    choices=(Option.TAKE_WHITE,),
    duration_s=2.5,
)


def fill(store: GameStore, games: int = 4) -> None:
    store.set_players(PLAYERS)
    for number in range(games):
        store.add(make_game(number), RESULT)


def test_games_come_back_as_they_were(tmp_path: Path) -> None:
    path = tmp_path / "games.db"
    with GameStore(path) as store:
        fill(store)
        store.set_setting("tournament", {"name": "Ü", "rounds": 2})
    with GameStore(path, is_writer=False) as store:
        assert store.players() == PLAYERS
        assert store.setting("tournament") == {"name": "Ü", "rounds": 2}
        assert store.setting("nothing") is None
        assert [stored.game for stored in store.games()] == [make_game(number) for number in range(4)]
        assert all(stored.result == RESULT for stored in store.games())
        assert store.numbers() == {0, 1, 2, 3}
        assert len(store) == 4
        assert store.is_sound()


def test_scores_know_who_won() -> None:
    with GameStore(None) as store:
        fill(store, 2)
        first, second = store.scores()
    # Seat 1 has black, white wins: seat 0 won.
    assert (first.black, first.white, first.winner, first.loser) == (1, 0, 0, 1)
    assert (second.black, second.white, second.winner, second.loser) == (0, 1, 1, 0)


def test_no_game_twice(tmp_path: Path) -> None:
    with GameStore(tmp_path / "games.db") as store:
        fill(store, 1)
        with pytest.raises(InputError, match="cannot store game 0"):
            store.add(make_game(0), RESULT)
        assert len(store) == 1


def test_each_game_is_committed_at_once(tmp_path: Path) -> None:
    path = tmp_path / "games.db"
    with GameStore(path) as store:
        fill(store, 1)
        for number in range(1, 4):
            store.add(make_game(number), RESULT)
            with closing(sqlite3.connect(path)) as reader:
                assert reader.execute("SELECT COUNT(*) FROM games").fetchone() == (number + 1,)


def test_one_writer_many_readers(tmp_path: Path) -> None:
    path = tmp_path / "games.db"
    with GameStore(path) as store:
        fill(store, 1)
        with pytest.raises(InputError, match="in use by another process"):
            GameStore(path)
        with GameStore(path, is_writer=False) as reader:
            assert len(reader) == 1
            with pytest.raises(InputError, match="readonly"):
                reader.add(make_game(5), RESULT)
    with GameStore(path) as again:
        assert len(again) == 1
    assert [file.name for file in tmp_path.iterdir()] == ["games.db"]


def test_the_folder_of_a_new_store_is_made(tmp_path: Path) -> None:
    GameStore(tmp_path / "runs" / "cup" / "games.db").close()
    assert (tmp_path / "runs" / "cup" / "games.db").is_file()


def test_other_files_are_refused(tmp_path: Path) -> None:
    text = tmp_path / "text.db"
    text.write_text("this is not a database, however long it may be" * 50)
    for is_writer in (True, False):
        with pytest.raises(InputError, match="not a database"):
            GameStore(text, is_writer=is_writer)
    other = tmp_path / "other.db"
    with closing(sqlite3.connect(other)) as database:
        database.execute("CREATE TABLE things (name TEXT)")
    with pytest.raises(InputError, match="not a game store"):
        GameStore(other)
    with pytest.raises(InputError, match="does not exist"):
        GameStore(tmp_path / "none.db", is_writer=False)
    with pytest.raises(InputError, match="cannot use"):
        GameStore(text / "inside-a-file.db")
    future = tmp_path / "future.db"
    GameStore(future).close()
    with closing(sqlite3.connect(future)) as database:
        database.execute("PRAGMA user_version = 99")
    with pytest.raises(InputError, match="version 99"):
        GameStore(future)


def test_records_have_times_and_values() -> None:
    with GameStore(None) as store:
        fill(store, 1)
        (stored,) = store.games()
        record = game_record(stored, store.players(), "The event")
    assert (record.black, record.white, record.result, record.result_reason) == ("Bob", "Ann", Outcome.WHITE, "timeout")
    nodes = list(record.main_line())[1:]
    assert [node.time_ms for node in nodes] == [None, None, 2, 2000]
    assert [node.value for node in nodes] == [None, None, 0.25, None]
    assert record.comment == "late"


def test_games_are_exported(tmp_path: Path) -> None:
    with GameStore(None) as store:
        fill(store, 3)
        assert save_games(store, tmp_path / "out", "The event") == 3
    sgf = load(tmp_path / "out" / "games.sgf")
    assert [len(record.moves()) for record in sgf] == [4, 4, 4]
    assert [node.time_ms for node in sgf[0].main_line()][-1] == 2000
    assert [record.black for record in sgf] == ["Bob", "Ann", "Bob"]
    psq = load(tmp_path / "out" / "2.psq")[0]
    assert [node.time_ms for node in psq.main_line()][-1] == 2000


def test_a_missing_value_is_damage_in_every_column(tmp_path: Path) -> None:
    """SQLite does not check what a damaged row holds."""
    path = tmp_path / "games.db"
    with GameStore(path) as store:
        fill(store)
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        columns = [name for _, name, *_ in database.execute("PRAGMA table_info(games)") if name != "number"]
        database.execute("PRAGMA writable_schema = ON")
        database.execute("UPDATE sqlite_master SET sql = replace(sql, 'NOT NULL', '') WHERE name = 'games'")
    for column in columns:
        with closing(sqlite3.connect(path, isolation_level=None)) as database:
            ((good,),) = database.execute(f"SELECT {column} FROM games WHERE number = 2")
            database.execute(f"UPDATE games SET {column} = NULL WHERE number = 2")
            with GameStore(path, is_writer=False) as store, pytest.raises(InputError, match=r"games\.db is damaged"):
                list(store.games())
            database.execute(f"UPDATE games SET {column} = ? WHERE number = 2", (good,))
    with GameStore(path, is_writer=False) as store:
        assert len(list(store.games())) == 4
