"""Games of the alpha-beta engine against itself: what its own numbers are fitted to, and what networks learn from.

A file holds one game a line as JSON. What a game is depends only on the seed and its number, so that a run which was
cut short goes on where it was, with any number of workers.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import random
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from tengen import _native
from tengen.core.contracts import Outcome, Ruleset
from tengen.core.geometry import parse_points
from tengen.core.native_enums import colour_from_native, outcome_from_native
from tengen.core.position import Position
from tengen.core.worker_pool import MakePool, Pool, WorkerPool
from tengen.core.worker_process import CarryOut
from tengen.errors import InputError, RecordError
from tengen.search.alphabeta import AlphaBeta
from tengen.search.weights import load_weights, save_weights, weights_for

_TABLE_BYTES = 16 << 20
_MAX_LINE = 1 << 16
_OPENING_TRIES = 200
"""Some small boards have few openings that are balanced; then the most balanced one of so many is taken."""
MAX_OPENING_VALUE = 120
_NOISY_LINES = 4
_NOISY_MARGIN = 60
"""Of so many lines those within so many units of the best are drawn from."""
_FULL_BOARD = 0.9
"""Share of the board after which a game counts as drawn."""
_OF_THE_GAME = ("game", "first", "moves", "values", "outcome")
"""The fields of a line that say how its game went; all others are conditions."""


@dataclass(frozen=True, kw_only=True)
class SelfPlayConfig:
    """How the games are played."""

    ruleset: Ruleset
    games: int
    """How many games the file shall hold."""
    nodes: int = 10_000
    """Nodes of each search."""
    seed: int = 1
    weights: Path | None = None
    """A weights file instead of the shipped one."""
    max_opening_value: int = MAX_OPENING_VALUE
    """Openings that the engine values higher for one side, in evaluation units, are not played."""
    to_the_end: bool = False
    """Play on until the board decides; otherwise a game ends when a search has proved its result."""
    noise: float = 0.0
    """Share of the moves that are drawn among the engine's best few, as far as they are worth nearly as much."""
    begun: Path | None = None
    """A file whose games are taken up and played to the end, instead of new ones."""

    def __post_init__(self) -> None:
        if not AlphaBeta.supports(self.ruleset):
            raise InputError(f"the engine plays win lengths 4 and 5, not {self.ruleset}")
        if self.games < 1 or self.nodes < 1:
            raise InputError(f"games and nodes must be at least 1, not {self.games} and {self.nodes}")
        if not 0 <= self.noise <= 1:
            raise InputError(f"noise {self.noise} is outside 0–1")
        if self.begun is not None and not self.to_the_end:
            raise InputError(f"the games of {self.begun} are begun already: they can only be played to the end")

    def load_weights(self) -> _native.Weights:
        """The numbers that the games are played with."""
        return weights_for(self.ruleset) if self.weights is None else load_weights(self.weights)


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineGame:
    """One game, as a line of the file."""

    number: int
    ruleset: Ruleset
    moves: tuple[int, ...]
    """Indices of the points, from the empty board."""
    first: int
    """How many of the moves are the opening; the engine chose the others."""
    values: tuple[int, ...]
    """The search value of each chosen move for its player, in evaluation units."""
    outcome: Outcome
    """As played or as proved by the last search."""

    def to_line(self, conditions: dict[str, Any]) -> str:
        """The line of the file, with the conditions under which the game was played."""
        width = self.ruleset.width
        fields = {
            "game": self.number,
            **conditions,
            "first": self.first,
            "moves": "".join(f"{chr(ord('a') + move % width)}{move // width + 1}" for move in self.moves),
            "values": self.values,
            "outcome": self.outcome.value,
        }
        return json.dumps(fields, separators=(",", ":")) + "\n"


def read_games(path: Path) -> Iterator[EngineGame]:
    """The games of a file; a damaged line is a `RecordError`, but a last line without its end is left out."""
    for number, line in _complete_lines(path):
        yield _parse_line(path, number, line)[0]


def generate_games(
    path: Path,
    config: SelfPlayConfig,
    *,
    workers: int = 1,
    make_pool: MakePool | None = None,
    on_start: Callable[[int], None] | None = None,
    on_game: Callable[[EngineGame], None] | None = None,
) -> int:
    """Play the games that the file lacks and append them; return how many it had before.

    `make_pool` plays them elsewhere than in `workers` processes of this machine.
    `on_start` hears how many that were, `on_game` of each game that ends. A line is written in one piece when its game
    ends. A file of another run (other rules, nodes, seed, weights, …) is refused.
    """
    conditions = _conditions(config)
    begun = None if config.begun is None else _read_begun(config)
    done = _find_done(path, conditions, begun)
    if on_start is not None:
        on_start(len(done))
    numbers = range(config.games) if begun is None else sorted(begun)[: config.games]
    todo = [number for number in numbers if number not in done]
    _append(path, b"")  # fails before the first game is played
    _cut_partial_line(path)
    for game in _play_all(config, todo, workers, make_pool):
        _append(path, game.to_line(conditions).encode("ascii"))
        if on_game is not None:
            on_game(game)
    return len(done)


def digest_weights(weights: _native.Weights) -> str:
    """A short text that differs when any number of the weights does."""
    digest = hashlib.sha256()
    file = BytesIO()
    save_weights(file, weights)
    file.seek(0)
    with np.load(file, allow_pickle=False) as tables:
        for name in tables.files:
            digest.update(tables[name].tobytes())
    return digest.hexdigest()[:12]


def _conditions(config: SelfPlayConfig) -> dict[str, Any]:
    conditions = {
        "ruleset": str(config.ruleset),
        "seed": config.seed,
        "nodes": config.nodes,
        "weights": digest_weights(config.load_weights()),
    }
    if config.max_opening_value != MAX_OPENING_VALUE:
        conditions["opening"] = config.max_opening_value
    if config.to_the_end:
        conditions["end"] = True
    if config.noise:
        conditions["noise"] = config.noise
    if config.begun is not None:
        conditions["begun"] = config.begun.name
    return conditions


# -- the file ---------------------------------------------------------------------------------------------------------


def _complete_lines(path: Path) -> Iterator[tuple[int, bytes]]:
    try:
        with open(path, "rb") as file:
            number = 0
            while line := file.readline(_MAX_LINE):
                number += 1
                if not line.endswith(b"\n"):
                    if len(line) == _MAX_LINE:
                        raise RecordError(f"{path}: line {number} is longer than {_MAX_LINE} characters")
                    return
                yield number, line
    except OSError as error:
        raise RecordError(f"cannot read {path}: {error.strerror or error}") from None


def _parse_line(path: Path, number: int, line: bytes) -> tuple[EngineGame, dict[str, Any]]:
    try:
        fields = json.loads(line)
        ruleset = Ruleset.parse(fields["ruleset"])
        game = EngineGame(
            number=int(fields["game"]),
            ruleset=ruleset,
            moves=tuple(point.index(ruleset.width) for point in parse_points(fields["moves"])),
            first=int(fields["first"]),
            values=tuple(int(value) for value in fields["values"]),
            outcome=Outcome(fields["outcome"]),
        )
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise RecordError(f"{path}: line {number} is not a game of the engine: {error!r}") from None
    if not 0 <= game.first <= len(game.moves) or len(game.values) != len(game.moves) - game.first:
        raise RecordError(
            f"{path}: line {number} has {len(game.moves)} moves from {game.first} on, but {len(game.values)} values"
        )
    return game, fields


def _find_done(path: Path, conditions: dict[str, Any], begun: dict[int, EngineGame] | None) -> set[int]:
    """The numbers of the games that the file has already; games of another run are refused."""
    done: set[int] = set()
    if not path.exists():
        return done
    for number, line in _complete_lines(path):
        game, fields = _parse_line(path, number, line)
        for name in {**conditions, **fields}.keys() - _OF_THE_GAME:
            found, wanted = fields.get(name), conditions.get(name)
            if found != wanted:
                raise InputError(
                    f"{path}: line {number} was played with {name} {found!r}, not {wanted!r}; "
                    "give another file or the same settings"
                )
        if begun is not None and not _goes_on(game, begun.get(game.number)):
            raise InputError(f"{path}: line {number} goes on with another game than the file that was begun has")
        done.add(game.number)
    return done


def _goes_on(game: EngineGame, begun: EngineGame | None) -> bool:
    return begun is not None and game.first == begun.first and game.moves[: len(begun.moves)] == begun.moves


def _append(path: Path, line: bytes) -> None:
    try:
        with open(path, "ab", buffering=0) as file:
            file.write(line)
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror or error}") from None


def _cut_partial_line(path: Path) -> None:
    """Take away what a killed run may have left of a last line."""
    with open(path, "r+b") as file:
        file.seek(0, os.SEEK_END)
        end = file.tell()
        file.seek(max(0, end - _MAX_LINE))
        tail = file.read()
        file.truncate(end - len(tail) + tail.rfind(b"\n") + 1)


def _read_begun(config: SelfPlayConfig) -> dict[int, EngineGame]:
    """The games to take up, by their numbers."""
    assert config.begun is not None
    games = {game.number: game for game in read_games(config.begun)}
    for game in games.values():
        if game.ruleset != config.ruleset:
            raise InputError(f"{config.begun}: game {game.number} was played by {game.ruleset}, not {config.ruleset}")
    return games


# -- playing ----------------------------------------------------------------------------------------------------------


def _play_all(
    config: SelfPlayConfig, numbers: Iterable[int], workers: int, make_pool: MakePool | None
) -> Iterator[EngineGame]:
    """Yield the games as they end. One worker means this process."""
    if workers == 1 and make_pool is None:
        yield from map(_SelfPlayer(config).play, numbers)
        return
    prepare, name = partial(_open_player, config), "self-play"
    pool: Pool[int, EngineGame]
    if make_pool is None:
        pool = WorkerPool[int, EngineGame](prepare, name=name, workers=workers)
    else:
        pool = make_pool(prepare, name=name)
    with pool:
        for _, game in pool.run(numbers):
            yield game


@contextmanager
def _open_player(config: SelfPlayConfig) -> Iterator[CarryOut]:
    player = _SelfPlayer(config)
    yield lambda number, context: player.play(number)


class _SelfPlayer:
    """Plays games of the engine against itself."""

    def __init__(self, config: SelfPlayConfig) -> None:
        self._config = config
        self._engine = _native.Engine(_TABLE_BYTES)
        self._engine.set_weights(config.load_weights())
        self._limits = _native.SearchLimits()
        self._limits.nodes = config.nodes
        self._begun = {} if config.begun is None else _read_begun(config)

    def play(self, number: int) -> EngineGame:
        """The game with that number."""
        config = self._config
        rng = random.Random(f"{config.ruleset} {config.seed} {number}")
        start, first, values = self._begin(number, rng)
        board = start.native.copy()
        self._engine.new_game()
        outcome = start.outcome
        while outcome is Outcome.ONGOING:
            line = self._choose(board, rng)
            values.append(line.value)
            outcome = play_line(board, line, last_stone(config.ruleset), trusts_proofs=not config.to_the_end)
        return EngineGame(
            number=number,
            ruleset=config.ruleset,
            moves=tuple(board.moves()),
            first=first,
            values=tuple(values),
            outcome=outcome,
        )

    def _begin(self, number: int, rng: random.Random) -> tuple[Position, int, list[int]]:
        """A position to play from, the stones of its opening and the values of the moves after that."""
        config = self._config
        if begun := self._begun.get(number):
            return Position.from_moves(config.ruleset, begun.moves), begun.first, list(begun.values)
        opening = find_opening(self._engine, self._limits, config.ruleset, rng, config.max_opening_value)
        return opening, opening.stones, []

    def _choose(self, board: _native.Board, rng: random.Random) -> _native.SearchLine:
        # No number is drawn without noise, so that games without it do not depend on this.
        is_noisy = self._config.noise > 0 and rng.random() < self._config.noise
        self._limits.lines = _NOISY_LINES if is_noisy else 1
        lines = self._engine.search(board, self._limits).lines
        return rng.choice([line for line in lines if line.value >= lines[0].value - _NOISY_MARGIN])


def last_stone(ruleset: Ruleset) -> int:
    """How many stones are on the board when a game is called a draw: what comes after says nothing about shapes."""
    return math.ceil(_FULL_BOARD * ruleset.area)


def play_line(
    board: _native.Board, line: _native.SearchLine, max_stones: int, *, trusts_proofs: bool = True
) -> Outcome:
    """Play the first move of a line and tell how the game stands; a proved result may be taken for played."""
    mover = colour_from_native(board.to_move)
    board.make(line.moves[0])
    outcome = outcome_from_native(board.outcome())
    if outcome is not Outcome.ONGOING:
        return outcome
    if trusts_proofs and abs(line.value) >= _native.MATE_BOUND:
        return Outcome.win_for(mover if line.value > 0 else mover.opponent)
    return Outcome.DRAW if board.stones >= max_stones else Outcome.ONGOING


def find_opening(
    engine: _native.Engine,
    limits: _native.SearchLimits,
    ruleset: Ruleset,
    rng: random.Random,
    max_value: int = MAX_OPENING_VALUE,
) -> Position:
    """A few stones near each other and near the centre, such that neither side is far ahead."""
    best: tuple[int, Position] | None = None
    for _ in range(_OPENING_TRIES):
        position = _random_opening(ruleset, rng)
        if position is None:
            continue
        engine.new_game()
        value = abs(engine.search(position.native, limits).lines[0].value)
        if best is None or value < best[0]:
            best = value, position
        if value <= max_value:
            return position
    if best is None:
        raise InputError(f"no opening found on {ruleset}")
    return best[1]


def _random_opening(ruleset: Ruleset, rng: random.Random) -> Position | None:
    """Two to nine stones (fewer on small boards) in a random square; None when the game is over with them."""
    count = min(rng.randint(2, 9), ruleset.area // 8)
    span = rng.choice((2, 3, 4))
    centre_x = ruleset.width // 2 + rng.randint(-2, 2)
    centre_y = ruleset.height // 2 + rng.randint(-2, 2)
    square = [
        y * ruleset.width + x
        for y in range(max(0, centre_y - span), min(ruleset.height, centre_y + span + 1))
        for x in range(max(0, centre_x - span), min(ruleset.width, centre_x + span + 1))
    ]
    rng.shuffle(square)
    position = Position.start(ruleset)
    for point in square:
        if position.is_over or position.stones == count:
            break
        if position.is_legal(point):
            position = position.play(point)
    return None if position.is_over else position
