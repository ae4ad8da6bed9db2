"""Openings of matches: from files, at random, or balanced by an engine.

An opening is a run of stones from the empty board, black first. Two openings that a symmetry of the board turns into
one another are the same opening.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tengen import records
from tengen.agents.registry import check_plays, make_agent
from tengen.core.contracts import Agent, Limits, Opening, Ruleset
from tengen.core.geometry import Point
from tengen.core.position import Position
from tengen.core.symmetry import permutation, symmetries, transform_point
from tengen.errors import AgentError, InputError, RecordError
from tengen.records import position_string

Stones = tuple[Point, ...]

_TRIES = 200
"""Random openings looked at for each that is wanted, before a board is taken for exhausted."""


def default_stone_count(ruleset: Ruleset) -> int:
    """How many stones a random opening has: five, but one on the smallest boards."""
    return 5 if ruleset.area >= 25 else 1


def load_openings(path: Path, ruleset: Ruleset) -> list[Stones]:
    """The openings of a file (offsets from the centre or position strings) on the board of `ruleset`."""
    if not path.exists():
        raise RecordError(f"{path} does not exist")
    openings: list[Stones] = []
    for number, record in enumerate(records.load(path, ruleset=ruleset), start=1):
        here = record.ruleset
        if (here.width, here.height) != (ruleset.width, ruleset.height):
            raise RecordError(f"{path}: opening {number} is for {here.width}x{here.height}, not for {ruleset}")
        stones = tuple(move.point for move in record.moves() if move.point is not None)
        try:
            _check(Position.from_moves(ruleset, stones))
        except InputError as error:
            raise RecordError(f"{path}: opening {number}: {error}") from None
        openings.append(stones)
    if not openings:
        raise RecordError(f"{path}: no opening in it")
    return openings


def random_openings(ruleset: Ruleset, count: int, seed: int, stones: int | None = None) -> list[Stones]:
    """`count` openings of stones put at random near the centre, the same for the same seed.

    The stones lie within two lines of the centre (more on boards where these are too few points) and no colour has
    more than two of them in a line that could become a five. Unless a number of stones is asked for, the engine leaves
    out what is decided already, where it plays the ruleset; four in a row on 6x6 is mostly that. The openings differ by
    more than a symmetry as long as there are enough different ones.
    """
    wanted = default_stone_count(ruleset) if stones is None else stones
    if ruleset.opening is not Opening.FREE or wanted == 0:
        return [()] * count
    found: list[Stones] = []
    seen: set[object] = set()
    misses = 0
    with make_agent(_UNDECIDED.agent) as judge:
        is_judged = stones is None and judge.supports(ruleset)
        for opening in random_stones(ruleset, wanted, random.Random(f"openings {seed}")):
            if len(found) == count:
                break
            key = canonical_key(ruleset, opening)
            if misses < _TRIES and (
                key in seen or (is_judged and not _judged(judge, Position.from_moves(ruleset, opening), _UNDECIDED))
            ):
                misses += 1
                continue
            if key in seen:
                seen.clear()
            misses = 0
            seen.add(key)
            found.append(opening)
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class BalanceSettings:
    """What makes a random opening good enough."""

    agent: str = "alphabeta"
    """Who judges; its decisions must have values."""
    nodes: int = 20_000
    """Positions visited for a judgement."""
    max_value: float = 0.15
    """Largest |value| of an opening that is kept."""
    min_stones: int = 3
    max_stones: int = 6
    reach: int = 3
    """Stones lie within so many lines of the centre."""

    def __post_init__(self) -> None:
        if not 0 < self.max_value <= 1:
            raise InputError(f"max_value={self.max_value} is outside 0…1")
        if not 1 <= self.min_stones <= self.max_stones:
            raise InputError(f"an opening cannot have {self.min_stones} to {self.max_stones} stones")
        if self.nodes < 1 or self.reach < 1:
            raise InputError(f"nodes={self.nodes} and reach={self.reach} must be at least 1")


_UNDECIDED = BalanceSettings(agent="alphabeta:hash-mb=2", nodes=4_000, max_value=1.0)
"""What a random opening must be when nothing is said about it: not proved won or lost."""


@dataclass(frozen=True, slots=True)
class BalancedOpening:
    """An opening with the value that the judge gave it, for the side to move."""

    stones: Stones
    value_to_move: float


def balanced_openings(ruleset: Ruleset, seed: int, settings: BalanceSettings) -> Iterator[BalancedOpening | None]:
    """Endless openings that an agent finds balanced, distinct under symmetry; None for each candidate it refused.

    A candidate is looked at briefly first, then with all nodes. The same seed and the same agent find the same ones.
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
    """The first `count` balanced openings; `AgentError` after `max_tries` candidates without a new one."""
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
            f"only {len(found)} of {count} openings for {ruleset} found, then none among {max_tries} candidates:"
            " allow larger values, more stones or more reach"
        )
    return found


def format_openings(ruleset: Ruleset, openings: Sequence[BalancedOpening], seed: int, settings: BalanceSettings) -> str:
    """An opening file: how it was made, then one position string a line. `load_openings` reads it back."""
    command = (
        f"tengen openings generate --rules {ruleset} --count {len(openings)} --seed {seed} --agent {settings.agent}"
        f" --nodes {settings.nodes} --max-value {settings.max_value:g} --min-stones {settings.min_stones}"
        f" --max-stones {settings.max_stones} --reach {settings.reach}"
    )
    largest = max((abs(opening.value_to_move) for opening in openings), default=0.0)
    lines = [
        f"# {len(openings)} balanced openings for {ruleset}, no two alike under the symmetries of the board.",
        f"# Each is worth at most {largest:.3f} (of 1) to either side after a search of {settings.nodes} positions.",
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
            raise AgentError(f"{settings.agent} gives its moves no value and cannot judge openings")
        value = decision.value_to_move
        if decision.proof is not None or abs(value) > bound:
            return None
    return BalancedOpening(position.moves, value)


def random_stones(ruleset: Ruleset, stones: int, rng: random.Random, reach: int = 2) -> Iterator[Stones]:
    """Endless random openings of that many stones; they may repeat."""
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
                    raise InputError(f"no opening of {stones} stones found for {ruleset}") from None
                continue
            refused = 0
            yield opening
        else:
            refused += 1


def canonical_key(ruleset: Ruleset, opening: Sequence[Point]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Equal for two openings exactly when a symmetry of the board makes the same stones of both."""
    indices = [point.index(ruleset.width) for point in opening]
    black, white = indices[::2], indices[1::2]
    images = []
    for symmetry in symmetries(ruleset):
        image = permutation(symmetry, ruleset)
        images.append((tuple(sorted(int(image[i]) for i in black)), tuple(sorted(int(image[i]) for i in white))))
    return min(images)


def transform_opening(ruleset: Ruleset, opening: Sequence[Point], symmetry: int) -> Stones:
    """The opening mirrored or turned."""
    return tuple(transform_point(point, symmetry, ruleset) for point in opening)


def _central_points(ruleset: Ruleset, stones: int, reach: int) -> list[Point]:
    """The points within `reach` lines of the centre, or within as many as give each stone some choice."""
    if stones > ruleset.area:
        raise InputError(f"an opening of {stones} stones does not fit on {ruleset}")
    centre = ruleset.centre
    everywhere = [Point.from_index(index, ruleset.width) for index in range(ruleset.area)]
    while True:
        near = [point for point in everywhere if max(abs(point.x - centre.x), abs(point.y - centre.y)) <= reach]
        if len(near) >= min(3 * stones, ruleset.area):
            return near
        reach += 1


def _is_quiet(ruleset: Ruleset, opening: Sequence[Point]) -> bool:
    """Whether no line of the win length holds three stones of one colour and none of the other."""
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
        raise InputError(f"the opening is a finished game\n{position}")
