"""Games of a tournament in an SQLite file. Each game is committed when it ends, so a killed tournament can be resumed.

The file is in write-ahead mode: other processes can read while a tournament writes, and a process that dies at any
moment leaves an intact file with all committed games. The number of a game is its key, so no game is stored twice.
Only the process that holds the lock file writes. A file that is damaged or was changed by another program raises
`InputError` when it is read.
"""

from __future__ import annotations

import datetime
import json
import os
import re
import sqlite3
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Self

from tengen.arena.entrant import Entrant
from tengen.arena.match import Ending, GameResult, Remark, Turn
from tengen.arena.openings import DrawnOpening, DrawState
from tengen.arena.schedule import ScheduledGame
from tengen.core.contracts import Outcome, Ruleset
from tengen.core.geometry import Point, parse_points
from tengen.core.opening_procedure import Option
from tengen.errors import InputError

_VERSION = 1
_DRAW_SETTING = "draw of openings for "
"""Prefix of the settings keys under which the state of the opening generator is stored; the ruleset follows."""
_APPLICATION_ID = 0x54454E47  # "TENG"
_SCHEMA = """
CREATE TABLE IF NOT EXISTS settings (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS players (place INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, agent TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS games (
  number INTEGER PRIMARY KEY,
  ruleset TEXT NOT NULL,
  round INTEGER NOT NULL,
  first INTEGER NOT NULL REFERENCES players,   -- the player of seat 0: black, or the proposer
  second INTEGER NOT NULL REFERENCES players,
  opening_number INTEGER NOT NULL,
  opening TEXT NOT NULL,                       -- stones before the first move, such as h8i9j10
  seed INTEGER NOT NULL,
  black_seat INTEGER NOT NULL,
  outcome TEXT NOT NULL,                       -- black, white or draw
  ending TEXT NOT NULL,
  detail TEXT NOT NULL,
  moves TEXT NOT NULL,                         -- all stones, the opening included
  choices TEXT NOT NULL,                       -- options chosen in an opening procedure
  times_ms TEXT NOT NULL,                      -- JSON lists with an entry per stone after the opening
  values_to_move TEXT NOT NULL,
  nodes TEXT NOT NULL,
  depths TEXT NOT NULL,
  duration_s REAL NOT NULL,
  ended_at TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS openings (          -- random openings, in the order of their generation
  ruleset TEXT NOT NULL,
  number INTEGER NOT NULL,
  stones TEXT NOT NULL,
  key TEXT NOT NULL,                           -- equal for openings that are equal under a symmetry of the board
  lap INTEGER NOT NULL,                        -- how often all distinct openings were used up before
  PRIMARY KEY (ruleset, number),
  UNIQUE (ruleset, lap, key)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS messages (          -- remarks of external engines
  game INTEGER NOT NULL,
  place INTEGER NOT NULL,                      -- their order within the game
  ply INTEGER NOT NULL,                        -- number of stones after the move
  text TEXT NOT NULL,
  PRIMARY KEY (game, place)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS games_by_end ON games (ended_at, number);
"""
_TABLES = frozenset({"settings", "players", "games"})
_READER_WAIT_S = 5.0
_MAX_ROW_BYTES = 1 << 22
_SIDE_FILES = ("-wal", "-shm", "-journal")
_NUMBER_TYPES = frozenset({int, float, type(None)})
_POINTS = re.compile(r"(?:[a-z][1-9][0-9]?+)*+")
_COLUMNS = (
    "number, ruleset, round, first, second, opening_number, opening, seed, black_seat, outcome, ending, detail, moves,"
    " choices, times_ms, values_to_move, nodes, depths, duration_s, ended_at"
)
_INSERT = f"INSERT INTO games ({_COLUMNS}) VALUES ({', '.join('?' * len(_COLUMNS.split(',')))})"


@dataclass(frozen=True, slots=True)
class Score:
    """Players and result of a game, as needed for tables and ratings."""

    number: int
    ruleset: str
    first: int
    second: int
    black_seat: int
    outcome: Outcome
    ending: Ending

    @property
    def black(self) -> int:
        """Black player."""
        return self.second if self.black_seat else self.first

    @property
    def white(self) -> int:
        """White player."""
        return self.first if self.black_seat else self.second

    @property
    def winner(self) -> int | None:
        """Player who won, or None for a draw."""
        match self.outcome:
            case Outcome.BLACK:
                return self.black
            case Outcome.WHITE:
                return self.white
            case _:
                return None

    @property
    def loser(self) -> int | None:
        """Player who lost, or None for a draw."""
        winner = self.winner
        return None if winner is None else self.first + self.second - winner


class Effort(NamedTuple):
    """Time and search effort of one side in a game, over the moves it chose."""

    moves: int
    total_ms: float
    longest_ms: float
    nodes: int
    depths: int


class PlayedGame(NamedTuple):
    """Game data needed for standings."""

    score: Score
    stones: int
    """Number of stones, including the opening."""
    detail: str
    black: Effort
    white: Effort


@dataclass(frozen=True, slots=True)
class GameSummary:
    """Players, result and length of a game, for a list of games."""

    number: int
    black: int
    white: int
    outcome: Outcome
    ending: Ending
    stones: int
    """Number of stones, including the opening."""
    ended_at: str


@dataclass(frozen=True, slots=True)
class StoredGame:
    """A game with its result and the time it ended."""

    game: ScheduledGame
    result: GameResult
    ended_at: str


class GameStore:
    """A game store. Without a path, it exists only in memory."""

    def __init__(self, path: Path | None, *, is_writer: bool = True, max_mb: int | None = None) -> None:
        """Open a store; a writer creates the file and its folder. `add` fails once the file has reached `max_mb` MB.

        Raises `InputError` if the file is not a store or another process is writing to it.
        """
        self.path = path
        self._max_bytes = None if max_mb is None else max_mb << 20
        self._lock: sqlite3.Connection | None = None
        with ExitStack() as closing:
            closing.callback(self._release_lock)
            try:
                if path is not None and is_writer:
                    path.parent.mkdir(parents=True, exist_ok=True)
                    self._take_lock(path)
                self._database = _connect(path, is_writer)
                closing.callback(self._database.close)
                self._check_and_create(is_writer)
            except InputError:
                raise
            except (sqlite3.Error, OSError, ValueError) as error:  # ValueError: the name is not valid UTF-8
                raise InputError(f"cannot use {path} as a game store: {error}") from None
            closing.pop_all()

    # -- the tournament --------------------------------------------------------------------------------------------

    def setting(self, key: str) -> Any:
        """Return a value stored with the games; None if it is not set."""
        with self._reading():
            row = self._database.execute("SELECT value FROM settings WHERE key = ?", (key,)).fetchone()
            return None if row is None else json.loads(row[0])

    def description(self) -> dict[str, Any]:
        """Return the description of the tournament; empty if no description is stored."""
        found = self.setting("tournament") or {}
        if not isinstance(found, dict):
            raise InputError(f"{self.path} is damaged: its tournament description is {found!r}, not a table")
        return found

    def games_planned(self) -> int:
        """Return the number of games in the whole tournament; 0 if it is unknown."""
        found = self.setting("games") or 0
        if not isinstance(found, int):
            raise InputError(f"{self.path} is damaged: {found!r} is not a valid number of planned games")
        return found

    def set_setting(self, key: str, value: Any) -> None:
        """Store a value with the games; it must be serialisable as JSON."""
        with self._writing(f"the setting {key}"):
            self._database.execute("INSERT OR REPLACE INTO settings VALUES (?, ?)", (key, json.dumps(value)))

    def set_players(self, players: Sequence[Entrant]) -> None:
        """Store the list of players; games refer to them by index."""
        self.set_tournament(players, {})

    def set_tournament(self, players: Sequence[Entrant], settings: Mapping[str, Any]) -> None:
        """Store the list of players together with some settings, in one transaction."""
        with self._writing("the players"):
            self._database.execute("BEGIN")
            self._database.execute("DELETE FROM players")
            for place, player in enumerate(players):
                self._database.execute("INSERT INTO players VALUES (?, ?, ?)", (place, player.name, player.agent))
            for key, value in settings.items():
                self.set_setting(key, value)
            self._database.execute("COMMIT")

    def players(self) -> list[Entrant]:
        """Return all players in order."""
        with self._reading():
            rows = list(self._database.execute("SELECT place, name, agent FROM players ORDER BY place"))
            if [place for place, _, _ in rows] != list(range(len(rows))):
                raise ValueError("the players are not numbered from 0")
            return [Entrant(name=_text(name), agent=_text(agent)) for _, name, agent in rows]

    # -- games -----------------------------------------------------------------------------------------------------

    def add(self, game: ScheduledGame, result: GameResult) -> None:
        """Commit a finished game. Raises `InputError` if the store already contains a game with this number."""
        row = (
            game.number,
            game.ruleset.name,
            game.round,
            game.first,
            game.second,
            game.opening_number,
            "".join(game.opening),
            game.seed,
            result.black_seat,
            result.outcome.value,
            result.ending.value,
            result.detail,
            "".join(result.moves),
            " ".join(result.choices),
            json.dumps([round(turn.time_ms, 3) for turn in result.turns], separators=(",", ":")),
            json.dumps([_rounded(turn.value_to_move) for turn in result.turns], separators=(",", ":")),
            json.dumps([turn.nodes for turn in result.turns], separators=(",", ":")),
            json.dumps([turn.depth for turn in result.turns], separators=(",", ":")),
            round(result.duration_s, 4),
            datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        )
        self._check_size()
        with self._writing(f"game {game.number}"):
            self._database.execute("BEGIN")
            self._database.execute(_INSERT, row)
            for place, (ply, text) in enumerate(result.messages):
                self._database.execute("INSERT INTO messages VALUES (?, ?, ?, ?)", (game.number, place, ply, text))
            self._database.execute("COMMIT")

    def _check_size(self) -> None:
        """Raise `InputError` if the file has reached its limit."""
        if self._max_bytes is None:
            return
        with self._reading():
            (pages,) = self._database.execute("PRAGMA page_count").fetchone()
            (page_bytes,) = self._database.execute("PRAGMA page_size").fetchone()
        if pages * page_bytes >= self._max_bytes:
            raise InputError(
                f"{self.path} has reached its limit of {self._max_bytes >> 20} MB; repeat the command with a higher"
                " limit to continue"
            )

    def __len__(self) -> int:
        with self._reading():
            count: int = self._database.execute("SELECT COUNT(*) FROM games").fetchone()[0]
            return count

    def numbers(self) -> set[int]:
        """Return the numbers of all finished games."""
        with self._reading():
            return {number for (number,) in self._database.execute("SELECT number FROM games")}

    def scores(self) -> Iterator[Score]:
        """Yield the scores of all games, ordered by number."""
        players = len(self.players())
        with self._reading():
            rows = self._database.execute(
                "SELECT number, ruleset, first, second, black_seat, outcome, ending FROM games ORDER BY number"
            )
            for number, ruleset, first, second, black_seat, outcome, ending in rows:
                _check_seats(number, first, second, black_seat, players)
                yield Score(number, _text(ruleset), first, second, black_seat, Outcome(outcome), Ending(ending))

    def played_games(self) -> Iterator[PlayedGame]:
        """Yield the data needed for standings, ordered by game number; much faster than `games`."""
        players = len(self.players())
        with self._reading():
            rows = self._database.execute(
                "SELECT number, ruleset, first, second, black_seat, outcome, ending, detail, moves, times_ms, nodes,"
                " depths FROM games ORDER BY number"
            )
            for row in rows:
                yield _played_game(row, players)

    def games(self) -> Iterator[StoredGame]:
        """Yield all games, ordered by number."""
        players = len(self.players())
        with self._reading():
            for row in self._database.execute(f"SELECT {_COLUMNS} FROM games ORDER BY number"):
                yield _stored_game(row, players, self._messages_of(row[0]))

    def game(self, number: int) -> StoredGame | None:
        """Return one game, or None if there is no game with this number."""
        players = len(self.players())
        with self._reading():
            row = self._database.execute(f"SELECT {_COLUMNS} FROM games WHERE number = ?", (number,)).fetchone()
            return None if row is None else _stored_game(row, players, self._messages_of(row[0]))

    def _messages_of(self, number: int) -> tuple[Remark, ...]:
        if not self._has_messages:  # written by an earlier version
            return ()
        rows = self._database.execute("SELECT ply, text FROM messages WHERE game = ? ORDER BY place", (number,))
        return tuple(Remark(_integer(ply), _text(text)) for ply, text in rows)

    def newest_games(self, limit: int, offset: int = 0) -> list[GameSummary]:
        """Return a page of games, most recently ended first. Only the games on that page are read."""
        players = len(self.players())
        with self._reading():
            rows = self._database.execute(
                "SELECT number, first, second, black_seat, outcome, ending, moves, ended_at FROM games WHERE number IN"
                " (SELECT number FROM games ORDER BY ended_at DESC, number DESC LIMIT ? OFFSET ?)"
                " ORDER BY ended_at DESC, number DESC",
                (limit, offset),
            )
            return [_summary(row, players) for row in rows]

    # -- random openings -------------------------------------------------------------------------------------------

    def openings(self, ruleset: Ruleset) -> StoredOpenings:
        """Return the storage for the random openings of a ruleset."""
        return StoredOpenings(self, ruleset)

    def opening_count(self, ruleset: str) -> int:
        """Return the number of stored random openings for a ruleset."""
        with self._reading():
            found = self._database.execute("SELECT MAX(number) FROM openings WHERE ruleset = ?", (ruleset,)).fetchone()
            return 0 if found[0] is None else int(found[0]) + 1

    def opening(self, ruleset: str, number: int) -> tuple[Point, ...]:
        """Return a random opening. Raises `InputError` if it is missing."""
        with self._reading():
            wanted = (ruleset, number)
            row = self._database.execute(
                "SELECT stones FROM openings WHERE ruleset = ? AND number = ?", wanted
            ).fetchone()
            if row is None:
                raise ValueError(f"opening {number} is missing")
            return parse_points(_text(row[0]))

    def has_opening(self, ruleset: str, key: str, lap: int) -> bool:
        """Return whether the generator has already used an opening with this key in a lap."""
        with self._reading():
            wanted = (ruleset, lap, key)
            found = self._database.execute("SELECT 1 FROM openings WHERE ruleset = ? AND lap = ? AND key = ?", wanted)
            return found.fetchone() is not None

    def add_openings(self, ruleset: str, openings: Iterable[DrawnOpening]) -> dict[int, tuple[Point, ...]]:
        """Commit the next random openings and the generator state after the last one. Return them by number."""
        added: dict[int, tuple[Point, ...]] = {}
        first = self.opening_count(ruleset)
        with self._writing("openings"):
            self._database.execute("BEGIN")
            for number, (opening, key, state) in enumerate(openings, first):
                row = (ruleset, number, "".join(opening), key, state.lap)
                self._database.execute("INSERT INTO openings VALUES (?, ?, ?, ?, ?)", row)
                added[number] = tuple(opening)
            self.set_setting(f"{_DRAW_SETTING}{ruleset}", [state.lap, state.rng])
            self._database.execute("COMMIT")
        return added

    def draw_state(self, ruleset: str) -> DrawState | None:
        """Return the generator state after the last random opening, or None if there is no opening."""
        found = self.setting(f"{_DRAW_SETTING}{ruleset}")
        if found is None:
            return None
        with self._reading():
            lap, (version, words, spare) = found
            return DrawState(int(lap), (version, tuple(words), spare))

    def clear_openings(self) -> None:
        """Delete all random openings."""
        with self._writing("the openings"):
            self._database.execute("BEGIN")
            self._database.execute("DELETE FROM openings")
            self._database.execute("DELETE FROM settings WHERE key LIKE ?", (f"{_DRAW_SETTING}%",))
            self._database.execute("COMMIT")

    # -- file ------------------------------------------------------------------------------------------------------

    def is_sound(self) -> bool:
        """Return whether the file passes SQLite's integrity check."""
        with self._reading():
            return bool(self._database.execute("PRAGMA integrity_check").fetchone()[0] == "ok")

    def close(self) -> None:
        """Close the file and release the lock."""
        self._database.close()
        self._release_lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    @contextmanager
    def _reading(self) -> Iterator[None]:
        """Convert errors caused by a damaged file to an `InputError`."""
        try:
            yield
        except InputError:
            raise
        except (sqlite3.Error, ValueError, TypeError, OverflowError, RecursionError) as error:
            raise InputError(f"{self.path} is damaged: {error}") from None

    @contextmanager
    def _writing(self, what: str) -> Iterator[None]:
        """Convert an SQLite error, such as a full disk, to an `InputError` and roll back the transaction."""
        try:
            yield
        except sqlite3.Error as error:
            if self._database.in_transaction:
                self._database.execute("ROLLBACK")
            raise InputError(f"cannot store {what} in {self.path}: {error}") from None
        except BaseException:
            if self._database.in_transaction:
                self._database.execute("ROLLBACK")
            raise

    def _take_lock(self, path: Path) -> None:
        # Lock with a transaction on a separate file, because SQLite's locks are portable and do not outlive the
        # process.
        self._lock = sqlite3.connect(_lock_path(path), timeout=0, isolation_level=None)
        try:
            self._lock.execute("BEGIN EXCLUSIVE")
        except sqlite3.OperationalError as error:
            if "locked" in str(error):
                raise InputError(f"{path} is in use by another process; choose another file") from None
            raise

    def _release_lock(self) -> None:
        if self._lock is None:
            return
        if self._lock.in_transaction and self.path is not None:
            with suppress(OSError):
                _lock_path(self.path).unlink()
        self._lock.close()
        self._lock = None

    def _check_and_create(self, is_writer: bool) -> None:
        database = self._database
        (identity,) = database.execute("PRAGMA application_id").fetchone()
        things = list(database.execute("SELECT type, name FROM sqlite_master"))
        tables = {name for kind, name in things if kind == "table"}
        self._has_messages = is_writer or "messages" in tables
        if tables and identity != _APPLICATION_ID:
            raise InputError(f"{self.path} is a database but not a game store")
        (version,) = database.execute("PRAGMA user_version").fetchone()
        if tables and version != _VERSION:
            raise InputError(f"{self.path} has game store version {version}, not {_VERSION}")
        if is_writer:
            database.executescript(
                f"BEGIN; PRAGMA application_id = {_APPLICATION_ID}; PRAGMA user_version = {_VERSION}; {_SCHEMA} COMMIT;"
            )
        elif not tables:
            raise InputError(f"{self.path} contains no games")
        if not is_writer and (not tables >= _TABLES or any(kind not in ("table", "index") for kind, _ in things)):
            raise InputError(f"{self.path} is damaged: its tables are not those of a game store")


class StoredOpenings:
    """The random openings in a store for one ruleset (an `OpeningShelf`)."""

    def __init__(self, store: GameStore, ruleset: Ruleset) -> None:
        self._store = store
        self._ruleset = ruleset.name
        self._count: int | None = None  # unknown until the first use
        self._recent: dict[int, tuple[Point, ...]] = {}

    def __len__(self) -> int:
        if self._count is None:
            self._count = self._store.opening_count(self._ruleset)
        return self._count

    def __getitem__(self, number: int) -> tuple[Point, ...]:
        if number not in self._recent:
            self._recent = {number: self._store.opening(self._ruleset, number)}
        return self._recent[number]

    def has(self, key: str, lap: int) -> bool:
        """Return whether this lap already has an opening with this key."""
        return self._store.has_opening(self._ruleset, key, lap)

    def extend(self, openings: Iterable[DrawnOpening]) -> None:
        """Commit the next openings in one transaction."""
        before = len(self)
        self._recent = self._store.add_openings(self._ruleset, openings)
        self._count = before + len(self._recent)

    def state(self) -> DrawState | None:
        """Return the state after the last opening, or None if there is no opening."""
        return self._store.draw_state(self._ruleset)


def _connect(path: Path | None, is_writer: bool) -> sqlite3.Connection:
    if path is None:
        return sqlite3.connect(":memory:", isolation_level=None)
    if not is_writer:
        if not path.is_file():
            raise InputError(f"{path} does not exist")
        for side_file in (path.with_name(path.name + ending) for ending in _SIDE_FILES):
            if os.path.lexists(side_file) and (side_file.is_symlink() or not side_file.is_file()):
                raise InputError(f"{side_file} is not a regular file")
        address = f"{path.resolve().as_uri()}?mode=ro"
        database = sqlite3.connect(address, uri=True, timeout=_READER_WAIT_S, isolation_level=None)
        # The file may come from an untrusted source: a generated column could take gigabytes of memory.
        database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _MAX_ROW_BYTES)
        database.execute("PRAGMA trusted_schema = OFF")
        return database
    database = sqlite3.connect(path, timeout=30, isolation_level=None)
    database.execute("PRAGMA journal_mode = WAL")
    # In write-ahead mode no commit is lost if the process dies, and the file stays intact if the machine crashes.
    database.execute("PRAGMA synchronous = NORMAL")
    return database


def _lock_path(path: Path) -> Path:
    return path.with_name(f"{path.name}.lock")


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)


def _text(value: object) -> str:
    """Return a value from a text column, whose type SQLite does not enforce."""
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is not text")
    return value


def _integer(value: object) -> int:
    """Return a value from an integer column, whose type SQLite does not enforce."""
    if not isinstance(value, int):
        raise TypeError(f"{value!r} is not an integer")
    return value


def _numbers(text: str) -> list[Any]:
    """Parse a JSON list of numbers; None means a missing value."""
    found = json.loads(text)
    if not isinstance(found, list) or not _NUMBER_TYPES.issuperset(map(type, found)):
        raise TypeError(f"{text[:40]!r} is not a list of numbers")
    return found


def _check_seats(number: object, first: object, second: object, black_seat: object, players: int) -> None:
    if not isinstance(number, int):
        raise ValueError(f"a game has the number {number!r}, which is not an integer")
    for player in (first, second):
        if not isinstance(player, int) or not 0 <= player < players:
            raise ValueError(f"game {number} refers to player {player!r}, but there are {players} players")
    if black_seat not in (0, 1):
        raise ValueError(f"game {number} has black seat {black_seat!r}, not 0 or 1")


def _summary(row: Sequence[Any], players: int) -> GameSummary:
    number, first, second, black_seat, outcome, ending, moves, ended_at = row
    _check_seats(number, first, second, black_seat, players)
    seats = (first, second)
    return GameSummary(
        number=number,
        black=seats[black_seat],
        white=seats[1 - black_seat],
        outcome=Outcome(outcome),
        ending=Ending(ending),
        stones=len(parse_points(_text(moves))),
        ended_at=_text(ended_at),
    )


def _played_game(row: Sequence[Any], players: int) -> PlayedGame:
    number, ruleset, first, second, black_seat, outcome, ending, detail, moves, times_ms, nodes, depths = row
    _check_seats(number, first, second, black_seat, players)
    stones = sum(map(str.isalpha, _text(moves)))
    if _POINTS.fullmatch(moves) is None:
        raise ValueError(f"game {number} has invalid moves: {moves[:40]!r}")
    lists = _numbers(times_ms), _numbers(nodes), _numbers(depths)
    chosen = len(lists[0])
    if any(len(one) != chosen for one in lists) or chosen > stones:
        raise ValueError(f"game {number} has {stones} stones, but times for {chosen} moves")
    black_start = (stones - chosen) % 2
    # Intern the ruleset, so that all games share one string: standings keep it in the key of every meeting.
    score = Score(number, sys.intern(_text(ruleset)), first, second, black_seat, Outcome(outcome), Ending(ending))
    return PlayedGame(score, stones, _text(detail), _effort(lists, black_start), _effort(lists, 1 - black_start))


def _effort(lists: tuple[list[Any], list[Any], list[Any]], start: int) -> Effort:
    times_ms, nodes, depths = (numbers[start::2] for numbers in lists)
    return Effort(len(times_ms), float(sum(times_ms)), max(times_ms, default=0.0), sum(nodes), sum(depths))


def _stored_game(row: Sequence[Any], players: int, messages: tuple[Remark, ...]) -> StoredGame:
    (number, ruleset, round_number, first, second, opening_number, opening, seed) = row[:8]
    (black_seat, outcome, ending, detail, moves, choices, times, values, nodes, depths, duration_s, ended_at) = row[8:]
    _check_seats(number, first, second, black_seat, players)
    game = ScheduledGame(
        number=number,
        ruleset=Ruleset.parse(_text(ruleset)),
        first=first,
        second=second,
        round=_integer(round_number),
        opening=parse_points(_text(opening)),
        opening_number=_integer(opening_number),
        seed=_integer(seed),
    )
    turns = zip(_numbers(times), _numbers(values), _numbers(nodes), _numbers(depths), strict=True)
    result = GameResult(
        outcome=Outcome(outcome),
        ending=Ending(ending),
        detail=_text(detail),
        black_seat=black_seat,
        moves=tuple[Point, ...](parse_points(_text(moves))),
        turns=tuple(Turn(*turn) for turn in turns),
        choices=tuple(Option(choice) for choice in _text(choices).split()),
        messages=messages,
        duration_s=float(duration_s),
    )
    return StoredGame(game, result, _text(ended_at))
