"""The opening explorer: the moves played in a position, in the shipped games and in the games of a browser.

Positions that are equal under a symmetry of the board count as one. So do moves that are equal under a symmetry of the
position. The shipped games are self-play games of the engine (`data/games/README.md`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tengen.core.contracts import Colour, Opening, Outcome, Ruleset
from tengen.core.geometry import Point
from tengen.core.position import Position
from tengen.core.shipped import shipped_folder
from tengen.core.symmetry import permutation, symmetries
from tengen.errors import RecordError
from tengen.web.messages.explorer import ExplorerMove, ExplorerResult, Tally

_MAX_MOVES = 20
_NONE = -1
"""Entry of `_Games.moves` after the last move of a game."""
_POINT = re.compile(r"[a-o](?:1[0-5]|[1-9])")
Indices = npt.NDArray[np.int64]


class PlayedGame(NamedTuple):
    """A finished game from the empty board."""

    moves: Sequence[str]
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class _Games:
    """Games with their moves in one array."""

    moves: Indices
    """[games, longest]: point indices, padded with `_NONE`."""
    outcomes: tuple[Outcome, ...]


@dataclass(slots=True)
class _Count:
    shipped: list[Outcome] = field(default_factory=list)
    mine: list[Outcome] = field(default_factory=list)


def explore(position: Position, mine: Iterable[PlayedGame]) -> ExplorerResult:
    """Return the moves that were played in a position, the most frequent first. `mine` are this browser's games."""
    ruleset = replace(position.ruleset, opening=Opening.FREE)
    shipped = shipped_games(ruleset)
    counts: dict[int, _Count] = {}
    for point, outcome in _continuations(position, shipped):
        counts.setdefault(point, _Count()).shipped.append(outcome)
    for point, outcome in _continuations(position, _games_of(mine, ruleset)):
        counts.setdefault(point, _Count()).mine.append(outcome)
    ordered = sorted(counts.items(), key=lambda item: (-len(item[1].mine) - len(item[1].shipped), item[0]))
    return ExplorerResult(
        moves=[
            ExplorerMove(
                move=str(Point.from_index(point, ruleset.width)),
                shipped=_tally(count.shipped),
                mine=_tally(count.mine),
            )
            for point, count in ordered[:_MAX_MOVES]
        ],
        shipped_games=len(shipped.outcomes),
    )


@cache
def shipped_games(ruleset: Ruleset) -> _Games:
    """Return the shipped games for a ruleset; empty for most rulesets."""
    path = shipped_folder("data") / "games" / f"{ruleset.rule}{ruleset.width}.txt"
    if not ruleset.is_square or ruleset.win_length != 5 or not path.is_file():
        return _games_of((), ruleset)
    return _games_of(read_games(path), ruleset)


def read_games(path: Path) -> list[PlayedGame]:
    """Read a file with one game per line: the result (`black`, `white` or `draw`) and the moves."""
    games = []
    for number, line in enumerate(path.read_text("utf-8").splitlines(), start=1):
        outcome, _, moves = line.partition(" ")
        if outcome not in ("black", "white", "draw") or _POINT.sub("", moves):
            raise RecordError(f"{path}, line {number}: expected a result and moves, not {line[:40]!r}")
        games.append(PlayedGame(_POINT.findall(moves), Outcome(outcome)))
    return games


def _games_of(games: Iterable[PlayedGame], ruleset: Ruleset) -> _Games:
    listed = list(games)
    longest = max((len(game.moves) for game in listed), default=0)
    moves = np.full((len(listed), longest), _NONE, dtype=np.int64)
    for row, game in zip(moves, listed, strict=True):
        row[: len(game.moves)] = [Point(move).index(ruleset.width) for move in game.moves]
    return _Games(moves, tuple(game.outcome for game in listed))


def _continuations(position: Position, games: _Games) -> Iterable[tuple[int, Outcome]]:
    """Yield the next move, as the index of a point, and the outcome for each game that reached the position."""
    ruleset, played = position.ruleset, position.stones
    if played >= games.moves.shape[1] or (position.to_move is Colour.WHITE) != bool(played % 2):
        return
    wanted = _codes(position)
    representative = _representatives(ruleset, tuple(wanted))
    reached, following = games.moves[:, :played], games.moves[:, played]
    colours = np.arange(played) % 2
    left = following != _NONE
    for symmetry in symmetries(ruleset):
        table = permutation(symmetry, ruleset)
        found = left & (np.sort(2 * table[reached] + colours, axis=1) == wanted).all(axis=1)
        for row in np.flatnonzero(found):
            yield representative[int(table[following[row]])], games.outcomes[row]
        left &= ~found


def _codes(position: Position) -> Indices:
    """Return the stones as sorted numbers: twice the index of the point, plus 1 for white."""
    width = position.ruleset.width
    codes = [
        2 * point.index(width) + (colour is Colour.WHITE)
        for colour in (Colour.BLACK, Colour.WHITE)
        for point in position.points_of(colour)
    ]
    return np.sort(np.array(codes, dtype=np.int64))


@lru_cache(maxsize=256)
def _representatives(ruleset: Ruleset, codes: tuple[int, ...]) -> tuple[int, ...]:
    """Return, for every point, the lowest index of the points equal to it under a symmetry of the stones."""
    stones = np.array(codes, dtype=np.int64)
    tables = [
        table
        for table in (permutation(symmetry, ruleset) for symmetry in symmetries(ruleset))
        if (np.sort(2 * table[stones // 2] + stones % 2) == stones).all()
    ]
    return tuple(int(first) for first in np.stack(tables).min(axis=0))


def _tally(outcomes: Sequence[Outcome]) -> Tally:
    return Tally(
        games=len(outcomes),
        black_wins=sum(outcome is Outcome.BLACK for outcome in outcomes),
        draws=sum(outcome is Outcome.DRAW for outcome in outcomes),
    )
