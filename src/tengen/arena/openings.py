"""Openings for games: read from files or generated at random. `balanced_openings` selects them for balance.

An opening is a sequence of stones from the empty board, black first. Openings that are equal under a symmetry of the
board count as the same opening.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Protocol, TypeAlias, overload

from tengen import records
from tengen.agents.registry import make_agent
from tengen.core.contracts import Agent, Limits, Opening, Ruleset
from tengen.core.geometry import Point
from tengen.core.position import Position
from tengen.core.symmetry import permutation, symmetries, transform_point
from tengen.errors import InputError, RecordError

Stones = tuple[Point, ...]

_BATCH = 32
"""Number of random openings generated and stored together."""
_TRIES = 200
"""Number of consecutive rejected candidates after which the conditions are relaxed."""
_JUDGE = "alphabeta:hash-mb=2"
_JUDGE_NODES = (400, 4_000)
"""Node limits of the searches that test a random opening; it is rejected if one of them proves its result."""


def default_stone_count(ruleset: Ruleset) -> int:
    """Return the number of stones in a random opening: five, or one on boards with fewer than 25 points."""
    return 5 if ruleset.area >= 25 else 1


def load_openings(path: Path, ruleset: Ruleset) -> list[Stones]:
    """Read openings for the board of `ruleset` from a file of offsets from the centre or of position strings."""
    if not path.exists():
        raise RecordError(f"{path} does not exist")
    openings: list[Stones] = []
    for number, record in enumerate(records.load(path, ruleset=ruleset), start=1):
        here = record.ruleset
        if (here.width, here.height) != (ruleset.width, ruleset.height):
            raise RecordError(f"{path}: opening {number} is for a {here.width}x{here.height} board, not for {ruleset}")
        stones = tuple(move.point for move in record.moves() if move.point is not None)
        try:
            _check(Position.from_moves(ruleset, stones))
        except InputError as error:
            raise RecordError(f"{path}: opening {number}: {error}") from None
        openings.append(stones)
    if not openings:
        raise RecordError(f"{path}: the file contains no openings")
    return openings


def random_openings(ruleset: Ruleset, count: int, seed: int, stones: int | None = None) -> list[Stones]:
    """Return `RandomOpenings` as a list."""
    return list(RandomOpenings(ruleset, count, seed, stones))


@dataclass(frozen=True, slots=True)
class DrawState:
    """State of the opening generator after an opening."""

    lap: int
    """Number of times that all distinct openings have been used up."""
    rng: tuple[Any, ...]
    """State of the generator, as `random.Random.getstate` returns it."""


DrawnOpening: TypeAlias = tuple[Stones, str, DrawState]
"""An opening, its key (the same for symmetric openings) and the generator state afterwards."""


class OpeningShelf(Protocol):
    """Storage for the openings generated so far, so that no opening is generated twice."""

    def __len__(self) -> int:
        """Return the number of openings."""
        ...

    def __getitem__(self, number: int) -> Stones:
        """Return an opening."""
        ...

    def has(self, key: str, lap: int) -> bool:
        """Return whether this lap already has an opening with this key."""
        ...

    def extend(self, openings: Iterable[DrawnOpening]) -> None:
        """Add the next openings: all of them, or none on error. `has` may be called while they are being added."""
        ...

    def state(self) -> DrawState | None:
        """Return the state after the last opening, or None if there is no opening."""
        ...


class ShelfInMemory:
    """A shelf that exists only in memory."""

    def __init__(self) -> None:
        self._openings: list[Stones] = []
        self._keys: set[tuple[str, int]] = set()
        self._state: DrawState | None = None

    def __len__(self) -> int:
        return len(self._openings)

    def __getitem__(self, number: int) -> Stones:
        return self._openings[number]

    def has(self, key: str, lap: int) -> bool:
        """Return whether this lap already has an opening with this key."""
        return (key, lap) in self._keys

    def extend(self, openings: Iterable[DrawnOpening]) -> None:
        """Add the next openings."""
        for opening, key, state in openings:
            self._openings.append(opening)
            self._keys.add((key, state.lap))
            self._state = state

    def state(self) -> DrawState | None:
        """Return the state after the last opening, or None if there is no opening."""
        return self._state


class RandomOpenings(Sequence[Stones]):
    """`count` openings of random stones near the centre; the same seed gives the same openings.

    Openings are generated in small batches when they are first accessed. If the shelf is from an earlier run, that
    run's openings are reused.

    The stones are within two lines of the centre, or more if there are too few points. No line that could still win
    contains more than `win_length` - 3 stones (at least 1) of one colour. With the default number of stones, openings
    that the engine proves won or lost are rejected, if it supports the ruleset; on 6x6 with four in a row, that is most
    of them. Openings are distinct under symmetry until all distinct ones are used.
    """

    def __init__(
        self, ruleset: Ruleset, count: int, seed: int, stones: int | None = None, shelf: OpeningShelf | None = None
    ) -> None:
        self._ruleset = ruleset
        self._count = count
        self._seed = seed
        self._wanted = default_stone_count(ruleset) if stones is None else stones
        self._is_empty = ruleset.opening is not Opening.FREE or self._wanted == 0
        self._is_judged = stones is None
        self._shelf = shelf if shelf is not None else ShelfInMemory()
        self._draw: Iterator[DrawnOpening] | None = None

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, number: int) -> Stones: ...
    @overload
    def __getitem__(self, number: slice) -> list[Stones]: ...

    def __getitem__(self, number: int | slice) -> Stones | list[Stones]:
        if isinstance(number, slice):
            return [self[each] for each in range(*number.indices(self._count))]
        if not 0 <= number < self._count:
            raise IndexError(f"there is no opening {number}: the {self._count} openings are numbered from 0")
        if self._is_empty:
            return ()
        if (made := len(self._shelf)) <= number:
            draw = self._draw or self._openings_after(self._shelf.state())
            self._draw = None  # if extending the shelf fails, the next call resumes after its last opening
            self._shelf.extend(islice(draw, min(self._count, number + _BATCH) - made))
            self._draw = draw
        return self._shelf[number]

    def _openings_after(self, state: DrawState | None) -> Iterator[DrawnOpening]:
        """Yield an endless stream of random openings, continuing from a given generator state."""
        rng = random.Random(f"openings {self._seed}")
        if state is not None:
            rng.setstate(state.rng)
        lap = state.lap if state is not None else 0
        misses = 0
        with make_agent(_JUDGE) as judge:
            is_judged = self._is_judged and judge.supports(self._ruleset)
            for opening in random_stones(self._ruleset, self._wanted, rng):
                key = _key_text(self._ruleset, opening)
                is_known = self._shelf.has(key, lap)
                if misses < _TRIES and (
                    is_known or (is_judged and _is_decided(judge, Position.from_moves(self._ruleset, opening)))
                ):
                    misses += 1
                    continue
                lap += is_known
                misses = 0
                yield opening, key, DrawState(lap, rng.getstate())


def _is_decided(judge: Agent, position: Position) -> bool:
    """Return whether a short search proves the result of the position."""
    for nodes in _JUDGE_NODES:
        judge.new_game(position.ruleset, 0)
        if judge.choose(position, Limits(nodes=nodes)).proof is not None:
            return True
    return False


def random_stones(ruleset: Ruleset, stones: int, rng: random.Random, reach: int = 2) -> Iterator[Stones]:
    """Yield an endless stream of random openings with this number of stones; openings may repeat."""
    points = _central_points(ruleset, stones, reach)
    refused = 0
    while True:
        opening = tuple(rng.sample(points, stones))
        if _is_quiet(ruleset, opening) or refused >= _TRIES:
            try:
                _check(Position.from_moves(ruleset, opening))
            except InputError:
                refused += 1
                if refused > 2 * _TRIES:
                    raise InputError(f"no opening with {stones} stones found for {ruleset}") from None
                continue
            refused = 0
            yield opening
        else:
            refused += 1


def canonical_key(ruleset: Ruleset, opening: Sequence[Point]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return a key that two openings share if and only if they are equal under a symmetry of the board."""
    indices = [point.index(ruleset.width) for point in opening]
    black, white = indices[::2], indices[1::2]
    images = []
    for symmetry in symmetries(ruleset):
        image = permutation(symmetry, ruleset)
        images.append((tuple(sorted(int(image[i]) for i in black)), tuple(sorted(int(image[i]) for i in white))))
    return min(images)


def _key_text(ruleset: Ruleset, opening: Sequence[Point]) -> str:
    return "/".join(",".join(map(str, stones)) for stones in canonical_key(ruleset, opening))


def transform_opening(ruleset: Ruleset, opening: Sequence[Point], symmetry: int) -> Stones:
    """Apply a symmetry of the board to an opening."""
    return tuple(transform_point(point, symmetry, ruleset) for point in opening)


def _central_points(ruleset: Ruleset, stones: int, reach: int) -> list[Point]:
    """Return the points within `reach` lines of the centre; this distance grows until there are 3 points per stone."""
    if stones > ruleset.area:
        raise InputError(f"an opening with {stones} stones does not fit on the {ruleset} board")
    centre = ruleset.centre
    everywhere = [Point.from_index(index, ruleset.width) for index in range(ruleset.area)]
    while True:
        near = [point for point in everywhere if max(abs(point.x - centre.x), abs(point.y - centre.y)) <= reach]
        if len(near) >= min(3 * stones, ruleset.area):
            return near
        reach += 1


def _is_quiet(ruleset: Ruleset, opening: Sequence[Point]) -> bool:
    """Return whether no line that could still win has more than `win_length` - 3 stones (at least 1) of one colour."""
    most = max(1, ruleset.win_length - 3)
    owner = {point: ply % 2 for ply, point in enumerate(opening)}
    for point in opening:
        for dx, dy in ((1, 0), (0, 1), (1, 1), (1, -1)):
            for shift in range(ruleset.win_length):
                line = [(point.x + (k - shift) * dx, point.y + (k - shift) * dy) for k in range(ruleset.win_length)]
                if not all(0 <= x < ruleset.width and 0 <= y < ruleset.height for x, y in line):
                    continue
                owners = [owner[at] for x, y in line if (at := Point.at(x, y)) in owner]
                if len(owners) > most and len(set(owners)) == 1:
                    return False
    return True


def _check(position: Position) -> None:
    if position.is_over:
        raise InputError(f"the opening already ends the game\n{position}")
