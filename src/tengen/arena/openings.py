"""Openings for games: read from files, generated at random, or selected for balance by an engine.

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
from tengen.agents.registry import check_plays, make_agent
from tengen.core.contracts import Agent, Limits, Opening, Ruleset
from tengen.core.geometry import Point
from tengen.core.position import Position
from tengen.core.symmetry import permutation, symmetries, transform_point
from tengen.errors import AgentError, InputError, RecordError
from tengen.records import position_string

Stones = tuple[Point, ...]

_BATCH = 32
"""Number of random openings generated and stored together."""
_TRIES = 200
"""Number of consecutive rejected candidates after which the conditions are relaxed."""


def default_stone_count(ruleset: Ruleset) -> int:
    """Return the number of stones in a random opening: five, or one on boards with fewer than 25 points."""
    return 5 if ruleset.area >= 25 else 1


def load_openings(path: Path, ruleset: Ruleset) -> list[Stones]:
    """Read the openings from a file (offsets from the centre, or position strings) for the board of `ruleset`."""
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
    """Return all openings from `RandomOpenings`."""
    return list(RandomOpenings(ruleset, count, seed, stones))


@dataclass(frozen=True, slots=True)
class DrawState:
    """State of the random draw after an opening."""

    lap: int
    """Number of times that all distinct openings have been used up."""
    rng: tuple[Any, ...]
    """State of the generator, as `random.Random.getstate` returns it."""


DrawnOpening: TypeAlias = tuple[Stones, str, DrawState]
"""An opening, its key (the same for symmetric openings) and the state of the draw afterwards."""


class OpeningShelf(Protocol):
    """Storage for the openings generated so far, so that none is generated twice."""

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

    The stones are within two lines of the centre, or more if there are too few points. Neither colour has more than two
    stones in a line that could become a five. With the default number of stones, openings that the engine proves won or
    lost are rejected, if it supports the ruleset; on 6x6 with four in a row, that is most of them. Openings are
    distinct under symmetry until all distinct ones are used.
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
        """Yield an endless stream of random openings, continuing from a given state of the draw."""
        rng = random.Random(f"openings {self._seed}")
        if state is not None:
            rng.setstate(state.rng)
        lap = state.lap if state is not None else 0
        misses = 0
        with make_agent(_UNDECIDED.agent) as judge:
            is_judged = self._is_judged and judge.supports(self._ruleset)
            for opening in random_stones(self._ruleset, self._wanted, rng):
                key = _key_text(self._ruleset, opening)
                is_known = self._shelf.has(key, lap)
                if misses < _TRIES and (
                    is_known
                    or (is_judged and not _judged(judge, Position.from_moves(self._ruleset, opening), _UNDECIDED))
                ):
                    misses += 1
                    continue
                lap += is_known
                misses = 0
                yield opening, key, DrawState(lap, rng.getstate())


@dataclass(frozen=True, slots=True, kw_only=True)
class BalanceSettings:
    """Conditions that a random opening must meet to count as balanced."""

    agent: str = "alphabeta"
    """Agent that evaluates the openings; its decisions must have values."""
    nodes: int = 20_000
    """Nodes per evaluation."""
    max_value: float = 0.15
    """Largest absolute value that an opening may have."""
    min_stones: int = 3
    max_stones: int = 6
    reach: int = 3
    """Largest distance of a stone from the centre, in lines."""

    def __post_init__(self) -> None:
        if not 0 < self.max_value <= 1:
            raise InputError(f"max_value must be above 0 and at most 1, not {self.max_value}")
        if not 1 <= self.min_stones <= self.max_stones:
            raise InputError(f"min_stones={self.min_stones} must be between 1 and max_stones={self.max_stones}")
        if self.nodes < 1 or self.reach < 1:
            raise InputError(f"nodes={self.nodes} and reach={self.reach} must be at least 1")


_UNDECIDED = BalanceSettings(agent="alphabeta:hash-mb=2", nodes=4_000, max_value=1.0)
"""Default condition for random openings: neither side has a proved win."""


@dataclass(frozen=True, slots=True)
class BalancedOpening:
    """An opening and its value for the side to move according to the agent."""

    stones: Stones
    value_to_move: float


def balanced_openings(ruleset: Ruleset, seed: int, settings: BalanceSettings) -> Iterator[BalancedOpening | None]:
    """Yield an endless stream of balanced openings, distinct under symmetry, and None for each rejected candidate.

    A candidate is evaluated with a tenth of the nodes first, then with all of them. The same seed and agent produce
    the same openings.
    """
    rng = random.Random(f"balanced {seed}")
    sources = [
        random_stones(ruleset, stones, rng, settings.reach)
        for stones in range(settings.min_stones, settings.max_stones + 1)
    ]
    seen: set[object] = set()
    with make_agent(settings.agent) as judge:
        check_plays(judge, ruleset)
        while True:
            stones = next(rng.choice(sources))
            key = canonical_key(ruleset, stones)
            if key in seen:
                yield None
                continue
            seen.add(key)
            yield _judged(judge, Position.from_moves(ruleset, stones), settings)


def find_balanced(
    ruleset: Ruleset, count: int, seed: int, settings: BalanceSettings, *, max_tries: int
) -> list[BalancedOpening]:
    """Return the first `count` balanced openings. Raises `AgentError` after `max_tries` consecutive rejections."""
    found: list[BalancedOpening] = []
    misses = 0
    for opening in balanced_openings(ruleset, seed, settings):
        if opening is not None:
            found.append(opening)
        misses = misses + 1 if opening is None else 0
        if len(found) == count or misses == max_tries:
            break
    if len(found) < count:
        raise AgentError(
            f"found only {len(found)} of {count} openings for {ruleset}: the last {max_tries} candidates were all"
            " rejected; raise max_value, max_stones or reach"
        )
    return found


def format_openings(ruleset: Ruleset, openings: Sequence[BalancedOpening], seed: int, settings: BalanceSettings) -> str:
    """Return an opening file: the command that generated it, then one position string per line."""
    command = (
        f"tengen openings generate --rules {ruleset} --count {len(openings)} --seed {seed} --agent {settings.agent}"
        f" --nodes {settings.nodes} --max-value {settings.max_value:g} --min-stones {settings.min_stones}"
        f" --max-stones {settings.max_stones} --reach {settings.reach}"
    )
    largest = max((abs(opening.value_to_move) for opening in openings), default=0.0)
    lines = [
        f"# {len(openings)} balanced openings for {ruleset}, distinct under the symmetries of the board.",
        f"# A search of {settings.nodes} nodes values each at no more than {largest:.3f} (of 1) for either side.",
        f"# {command}",
    ]
    prefix = position_string.prefix_of(ruleset)
    lines += [prefix + "".join(opening.stones) for opening in openings]
    return "\n".join(lines) + "\n"


def _judged(judge: Agent, position: Position, settings: BalanceSettings) -> BalancedOpening | None:
    value = 1.0
    for nodes, bound in ((max(1, settings.nodes // 10), 2 * settings.max_value), (settings.nodes, settings.max_value)):
        judge.new_game(position.ruleset, 0)
        decision = judge.choose(position, Limits(nodes=nodes))
        if decision.value_to_move is None:
            raise AgentError(f"{settings.agent} cannot evaluate openings: it returns no values for its moves")
        value = decision.value_to_move
        if decision.proof is not None or abs(value) > bound:
            return None
    return BalancedOpening(position.moves, value)


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
    """Return the points within `reach` lines of the centre, or within more lines until there are 3 points per stone."""
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
    """Return whether no possible winning line contains three or more stones, all of the same colour."""
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
