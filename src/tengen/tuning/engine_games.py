"""Self-play games of the alpha-beta engine, used to fit its weights and to train networks.

A file contains one game per line as JSON. A game depends only on the seed and its number, so an interrupted run can be
resumed with any number of workers.
"""

from __future__ import annotations

import hashlib
import json
import math
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
from tengen.core.geometry import Point, parse_points
from tengen.core.line_files import append_line, complete_lines, cut_partial_line
from tengen.core.native_enums import colour_from_native, outcome_from_native
from tengen.core.position import Position
from tengen.core.worker_pool import MakePool, Pool, WorkerPool
from tengen.core.worker_process import CarryOut
from tengen.errors import InputError, RecordError
from tengen.search.alphabeta import AlphaBeta
from tengen.search.weights import load_weights, save_weights, weights_for

_TABLE_BYTES = 16 << 20
_MAX_VALUE = 1_000_000
_OPENING_TRIES = 200
"""Number of openings to try before the most balanced one is used; some small boards have few balanced openings."""
MAX_OPENING_VALUE = 120
_NOISY_LINES = 4
_NOISY_MARGIN = 60
"""A noisy move is sampled from the best `_NOISY_LINES` lines whose value is within this margin of the best."""
_FULL_BOARD = 0.9
"""Fraction of occupied points at which a game is declared a draw."""
_OF_THE_GAME = ("game", "first", "moves", "values", "outcome")
"""Fields that describe a game; all others are conditions of the run."""


@dataclass(frozen=True, kw_only=True)
class EngineGamesConfig:
    """Settings for a set of games."""

    ruleset: Ruleset
    games: int
    """Number of games in the finished file."""
    nodes: int = 10_000
    """Nodes per search."""
    seed: int = 1
    weights: Path | None = None
    """Weights file (default: the shipped one)."""
    max_opening_value: int = MAX_OPENING_VALUE
    """Maximum absolute value of an opening, in evaluation units."""
    to_the_end: bool = False
    """Play until the game is over on the board (default: until a search proves the result)."""
    noise: float = 0.0
    """Fraction of moves that are sampled from the few best lines with nearly equal values."""
    begun: Path | None = None
    """File with games to continue to the end; None plays new games."""

    def __post_init__(self) -> None:
        if not AlphaBeta.supports(self.ruleset):
            raise InputError(f"the engine cannot play {self.ruleset}: the win length must be 4 or 5")
        if self.games < 1 or self.nodes < 1:
            raise InputError(f"games and nodes must be at least 1, not {self.games} and {self.nodes}")
        if not 0 <= self.noise <= 1:
            raise InputError(f"noise must be between 0 and 1, not {self.noise}")
        if self.begun is not None and not self.to_the_end:
            raise InputError(f"games from {self.begun} can only be played to the end; omit --proved")

    def load_weights(self) -> _native.Weights:
        """Load the engine's weights for these games."""
        return weights_for(self.ruleset) if self.weights is None else load_weights(self.weights)


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineGame:
    """One game: a line of the file."""

    number: int
    ruleset: Ruleset
    moves: tuple[int, ...]
    """Point indices of all moves from the empty board."""
    first: int
    """Number of opening moves; the engine chose the others."""
    values: tuple[int, ...]
    """Search value of each move after the opening, for the side that played it, in evaluation units."""
    outcome: Outcome
    """Outcome on the board, or as proved by the last search."""

    def to_line(self, conditions: dict[str, Any]) -> str:
        """Return the game as a line of the file, including the run's conditions."""
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
    """Yield the games in a file. Raises `RecordError` for a damaged line; an incomplete last line is ignored."""
    for number, line in complete_lines(path):
        yield _parse_line(path, number, line)[0]


def generate_games(
    path: Path,
    config: EngineGamesConfig,
    *,
    workers: int = 1,
    make_pool: MakePool | None = None,
    on_start: Callable[[int], None] | None = None,
    on_game: Callable[[EngineGame], None] | None = None,
) -> int:
    """Play the games that are missing from the file and append them. Return the number of games the file had before.

    If `make_pool` is given, its pool plays the games instead of `workers` processes on this machine. `on_start` is
    called with the number of games the file had before, `on_game` with each finished game, after it has been written.
    Raises `InputError` if the file belongs to a different run (with other rules, nodes, seed, weights, …).
    """
    conditions = _conditions(config)
    begun = None if config.begun is None else _read_begun(config)
    done = _find_done(path, conditions, begun)
    if on_start is not None:
        on_start(len(done))
    numbers = range(config.games) if begun is None else sorted(begun)[: config.games]
    todo = [number for number in numbers if number not in done]
    append_line(path, b"")  # report an unwritable file before the first game
    cut_partial_line(path)
    for game in _play_all(config, todo, workers, make_pool):
        append_line(path, game.to_line(conditions).encode("ascii"))
        if on_game is not None:
            on_game(game)
    return len(done)


def digest_weights(weights: _native.Weights) -> str:
    """Return a short hash of the weights."""
    digest = hashlib.sha256()
    file = BytesIO()
    save_weights(file, weights)
    file.seek(0)
    with np.load(file, allow_pickle=False) as tables:
        for name in tables.files:
            digest.update(tables[name].tobytes())
    return digest.hexdigest()[:12]


def _conditions(config: EngineGamesConfig) -> dict[str, Any]:
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


def _parse_line(path: Path, number: int, line: bytes) -> tuple[EngineGame, dict[str, Any]]:
    try:
        fields = json.loads(line)
        ruleset = Ruleset.parse(fields["ruleset"])
        game = EngineGame(
            number=int(fields["game"]),
            ruleset=ruleset,
            moves=tuple(_index(point, ruleset) for point in parse_points(fields["moves"])),
            first=int(fields["first"]),
            values=tuple(int(value) for value in fields["values"]),
            outcome=Outcome(fields["outcome"]),
        )
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError) as error:
        raise RecordError(f"{path}: line {number} is not a valid engine game: {error!r:.200}") from None
    if len(set(game.moves)) < len(game.moves) or any(abs(value) > _MAX_VALUE for value in game.values):
        raise RecordError(f"{path}: line {number} has two moves on the same point, or a value beyond {_MAX_VALUE}")
    if not 0 <= game.first <= len(game.moves) or len(game.values) != len(game.moves) - game.first:
        raise RecordError(
            f"{path}: line {number} has {len(game.moves)} moves with first={game.first}, but {len(game.values)} values"
        )
    return game, fields


def _index(point: Point, ruleset: Ruleset) -> int:
    if not ruleset.contains(point):
        raise ValueError(f"{point} is not on the board")
    return point.index(ruleset.width)


def _find_done(path: Path, conditions: dict[str, Any], begun: dict[int, EngineGame] | None) -> set[int]:
    """Return the numbers of the games in the file. Raises `InputError` if they belong to a different run."""
    done: set[int] = set()
    if not path.exists():
        return done
    for number, line in complete_lines(path):
        game, fields = _parse_line(path, number, line)
        for name in {**conditions, **fields}.keys() - _OF_THE_GAME:
            found, wanted = fields.get(name), conditions.get(name)
            if found != wanted:
                raise InputError(
                    f"{path}: the game on line {number} was played with {name} {found!r}, not {wanted!r}; "
                    "use another file or the same settings"
                )
        if begun is not None and not _goes_on(game, begun.get(game.number)):
            raise InputError(f"{path}: line {number} does not continue the game with the same number in the input file")
        done.add(game.number)
    return done


def _goes_on(game: EngineGame, begun: EngineGame | None) -> bool:
    return begun is not None and game.first == begun.first and game.moves[: len(begun.moves)] == begun.moves


def _read_begun(config: EngineGamesConfig) -> dict[int, EngineGame]:
    """Return the games to continue, by number."""
    assert config.begun is not None
    games = {game.number: game for game in read_games(config.begun)}
    for game in games.values():
        if game.ruleset != config.ruleset:
            raise InputError(
                f"{config.begun}: game {game.number} was played under {game.ruleset}, not {config.ruleset}"
            )
    return games


# -- playing ----------------------------------------------------------------------------------------------------------


def _play_all(
    config: EngineGamesConfig, numbers: Iterable[int], workers: int, make_pool: MakePool | None
) -> Iterator[EngineGame]:
    """Yield the games as they end. A single worker plays in this process."""
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
def _open_player(config: EngineGamesConfig) -> Iterator[CarryOut]:
    player = _SelfPlayer(config)
    yield lambda number, context: player.play(number)


class _SelfPlayer:
    """Self-play with the engine."""

    def __init__(self, config: EngineGamesConfig) -> None:
        self._config = config
        self._engine = _native.Engine(_TABLE_BYTES)
        self._engine.set_weights(config.load_weights())
        self._limits = _native.SearchLimits()
        self._limits.nodes = config.nodes
        self._begun = {} if config.begun is None else _read_begun(config)

    def play(self, number: int) -> EngineGame:
        """Play the game with this number."""
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
        """Return the starting position, the number of opening stones and the values of the moves after them."""
        config = self._config
        if begun := self._begun.get(number):
            return Position.from_moves(config.ruleset, begun.moves), begun.first, list(begun.values)
        opening = find_opening(self._engine, self._limits, config.ruleset, rng, config.max_opening_value)
        return opening, opening.stones, []

    def _choose(self, board: _native.Board, rng: random.Random) -> _native.SearchLine:
        # Without noise, draw no random number, so that existing runs stay reproducible.
        is_noisy = self._config.noise > 0 and rng.random() < self._config.noise
        self._limits.lines = _NOISY_LINES if is_noisy else 1
        lines = self._engine.search(board, self._limits).lines
        return rng.choice([line for line in lines if line.value >= lines[0].value - _NOISY_MARGIN])


def last_stone(ruleset: Ruleset) -> int:
    """Return the number of stones at which a game is declared a draw; later positions say little about shapes."""
    return math.ceil(_FULL_BOARD * ruleset.area)


def play_line(
    board: _native.Board, line: _native.SearchLine, max_stones: int, *, trusts_proofs: bool = True
) -> Outcome:
    """Play the first move of a line and return the outcome. With `trusts_proofs`, a proved result ends the game."""
    mover = colour_from_native(board.to_move)
    board.make(line.moves[0])
    outcome = outcome_from_native(board.outcome())
    if outcome is not Outcome.ONGOING:
        return outcome
    if trusts_proofs and _native.is_proved(line.value):
        return Outcome.win_for(mover if line.value > 0 else mover.opponent)
    return Outcome.DRAW if board.stones >= max_stones else Outcome.ONGOING


def find_opening(
    engine: _native.Engine,
    limits: _native.SearchLimits,
    ruleset: Ruleset,
    rng: random.Random,
    max_value: int = MAX_OPENING_VALUE,
) -> Position:
    """Return a balanced opening of a few stones near the centre."""
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
        raise InputError(f"found no opening for {ruleset}")
    return best[1]


def _random_opening(ruleset: Ruleset, rng: random.Random) -> Position | None:
    """Return two to nine stones (fewer on small boards) in a random square; None if they end the game."""
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
