"""The store: games are read back unchanged, no game is stored twice, one writer at a time."""

from __future__ import annotations

import dataclasses
import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tengen.agents.registry import make_agent
from tengen.arena.entrant import Entrant
from tengen.arena.export import game_record, save_games, write_pgn
from tengen.arena.match import MAX_MESSAGE_CHARACTERS, Ending, GameResult, Remark, TimeControl, Turn, play_game
from tengen.arena.schedule import ScheduledGame
from tengen.arena.store import GameStore
from tengen.core.contracts import Outcome, Ruleset
from tengen.core.geometry import parse_points
from tengen.core.opening_procedure import Option
from tengen.errors import InputError
from tengen.records import load
from tests.protocols.engines import engine_text

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
    messages=(Remark(3, "depth 5"), Remark(4, 'eval ]\\ "9"'), Remark(4, "again")),
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


def test_a_column_that_asks_for_gigabytes_is_damage(tmp_path: Path) -> None:
    path = tmp_path / "games.db"
    with GameStore(path) as store:
        fill(store, 1)
    with closing(sqlite3.connect(path)) as database:
        (sql,) = database.execute("SELECT sql FROM sqlite_master WHERE name = 'games'").fetchone()
        database.execute("PRAGMA writable_schema = ON")
        bomb = re.sub(r"moves TEXT[^,]*", "moves TEXT AS (hex(zeroblob(100000000)))", sql)
        assert bomb != sql
        database.execute("UPDATE sqlite_master SET sql = ? WHERE name = 'games'", (bomb,))
        database.commit()
    with pytest.raises(InputError), GameStore(path, is_writer=False) as store:
        list(store.games())


def test_records_have_times_and_values() -> None:
    with GameStore(None) as store:
        fill(store, 1)
        (stored,) = store.games()
        record = game_record(stored, store.players(), "The event")
    assert (record.black, record.white, record.result, record.result_reason) == ("Bob", "Ann", Outcome.WHITE, "time")
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


@pytest.mark.parametrize(
    ("ending", "outcome", "text"),
    [
        (Ending.TIMEOUT, Outcome.BLACK, "RE[B+T]"),
        (Ending.ILLEGAL, Outcome.WHITE, "RE[W+F]"),
        (Ending.CRASH, Outcome.BLACK, "RE[B+F]"),
        (Ending.FOUL, Outcome.WHITE, "RE[W+F]"),
        (Ending.RESIGNATION, Outcome.BLACK, "RE[B+R]"),
        (Ending.FIVE, Outcome.WHITE, "RE[W+5]"),
        (Ending.PROVED, Outcome.WHITE, "RE[W+]RR[proved]"),
        (Ending.EVEN, Outcome.DRAW, "RE[0]RR[even scores]"),
    ],
)
def test_sgf_results_have_their_letters(tmp_path: Path, ending: Ending, outcome: Outcome, text: str) -> None:
    with GameStore(None) as store:
        store.set_players(PLAYERS)
        store.add(make_game(), dataclasses.replace(RESULT, ending=ending, outcome=outcome, detail="why"))
        save_games(store, tmp_path, formats=("sgf",))
        (stored,) = store.games()
        reason = game_record(stored, PLAYERS).result_reason
    path = tmp_path / "games.sgf"
    assert text in path.read_text()
    (record,) = load(path)
    assert (record.result, record.result_reason) == (outcome, reason)
    if reason == "forfeit":
        assert record.comment == f"{ending}: why"


def test_messages_of_engines_are_in_the_game_files(tmp_path: Path) -> None:
    with GameStore(None) as store:
        fill(store, 1)
        save_games(store, tmp_path, formats=("sgf",))
    nodes = list(load(tmp_path / "games.sgf")[0].main_line())[1:]
    assert [node.comment for node in nodes] == ["", "", "depth 5", 'eval ]\\ "9"\nagain']


def test_a_store_of_an_earlier_version_has_no_messages(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    with GameStore(path) as store:
        fill(store, 1)
    with closing(sqlite3.connect(path)) as database:
        database.execute("DROP TABLE messages")
    with GameStore(path, is_writer=False) as store:
        assert next(store.games()).result == dataclasses.replace(RESULT, messages=())
    with GameStore(path) as store:  # a writer adds the table
        store.add(make_game(1), RESULT)
        assert [len(stored.result.messages) for stored in store.games()] == [0, 3]


def test_messages_are_bounded() -> None:
    with make_agent(engine_text("talkative")) as one, make_agent(engine_text("talkative", 1)) as other:
        control = TimeControl(time_ms=100, tolerance_ms=20_000)
        result = play_game(Ruleset.parse("15x15"), (one, other), controls=(control, control))
    first = [text for ply, text in result.messages if ply == 1]
    assert len(first) == 8
    assert first[0].startswith("MESSAGE move 1 remark 5 ")
    assert first[-1] == "DEBUG nodes 5"
    assert max(map(len, first)) == 200
    assert MAX_MESSAGE_CHARACTERS - 200 < sum(len(text) for _, text in result.messages) <= MAX_MESSAGE_CHARACTERS


def test_results_are_written_as_pgn(tmp_path: Path) -> None:
    path = tmp_path / "games.pgn"
    with GameStore(None) as store:
        store.set_players([Entrant(name='Ann "the\\ace"\n', agent="random"), PLAYERS[1]])
        store.set_setting("tournament", {"name": "Cup"})
        for number, outcome in enumerate((Outcome.BLACK, Outcome.DRAW, Outcome.WHITE)):
            store.add(make_game(number), dataclasses.replace(RESULT, outcome=outcome, black_seat=0))
        assert write_pgn([store, store], path) == 6
    games = path.read_text().split("\n\n")
    tags = [dict(re.findall(r'^\[(\w+) "((?:[^"\\]|\\.)*)"\]$', text, re.MULTILINE)) for text in games[::2] if text]
    assert [(one["White"], one["Black"], one["Result"]) for one in tags[:3]] == [
        (r"Ann \"the\\ace\" ", "Bob", "1-0"),
        ("Bob", r"Ann \"the\\ace\" ", "1/2-1/2"),
        (r"Ann \"the\\ace\" ", "Bob", "0-1"),
    ]
    assert [text.strip() for text in games[1::2]] == ["1-0", "1/2-1/2", "0-1"] * 2
    assert (tags[0]["Event"], tags[0]["Variant"], tags[0]["Termination"]) == ("Cup", "9x9:5:freestyle", "timeout")


def test_a_store_stops_at_its_limit(tmp_path: Path) -> None:
    path = tmp_path / "games.db"
    with GameStore(path, max_mb=1) as store:
        store.set_players(PLAYERS)
        noisy = dataclasses.replace(RESULT, detail="x" * 400_000)

        def add_all() -> None:
            for number in range(9):
                store.add(make_game(number), noisy)

        with pytest.raises(InputError, match=r"games\.db has reached its limit of 1 MB; repeat the command"):
            add_all()
        assert 2 <= len(store) <= 4
    with GameStore(path, max_mb=2) as store:
        store.add(make_game(8), RESULT)


def test_a_game_without_a_number_is_damage(tmp_path: Path) -> None:
    path = tmp_path / "games.db"
    with GameStore(path) as store:
        fill(store, 1)
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.execute("CREATE TABLE copies AS SELECT * FROM games")
        database.execute("UPDATE copies SET number = NULL")
        database.execute("DROP TABLE games")
        database.execute("ALTER TABLE copies RENAME TO games")
    with GameStore(path, is_writer=False) as store, pytest.raises(InputError, match=r"games\.db is damaged"):
        list(store.played_games())
