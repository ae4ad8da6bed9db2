"""Test positions for the strategies S1 to S6 of pg9, with the points that each strategy may play."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tengen.agents.registry import make_agent
from tengen.core.contracts import Colour, Limits, Ruleset
from tengen.core.geometry import Point
from tengen.core.position import Position

SKILLS = ("S1", "S2", "S3", "S4", "S5", "S6")
_STEPS = ((1, 0), (0, 1), (1, 1), (1, -1))
_PLAYERS = ("naive:level=0", "naive:level=2", "naive:level=3", "chains", "random")

Test = tuple[Position, frozenset[Point]]
"""A position with black to move, and the points that its strategy may play."""


def find_positions(ruleset: Ruleset, count: int, seed: int) -> dict[str, list[Test]]:
    """Return positions in which each strategy is the first one that applies, from games of simple players.

    A fifth of the moves are random, so that the positions vary. Black is to move in all of them.
    """
    rng = np.random.default_rng(seed)
    players = [make_agent(text) for text in _PLAYERS]
    tests: dict[str, list[Test]] = {skill: [] for skill in SKILLS}
    while any(len(found) < count for found in tests.values()):
        position = Position.start(ruleset)
        pair = rng.choice(len(players), 2)
        for player in players:
            player.new_game(ruleset, int(rng.integers(1 << 30)))
        while not position.is_over:
            if position.to_move is Colour.BLACK and position.stones > 1:
                applies = next(((skill, points) for skill, points in strategies(position) if points), None)
                if applies is not None and len(tests[applies[0]]) < count:
                    tests[applies[0]].append((position, applies[1]))
            if rng.random() < 0.2:
                move = position.legal_points()[int(rng.integers(len(position.legal_points())))]
            else:
                move = players[int(pair[position.stones % 2])].choose(position, Limits()).move
            position = position.play(move)
    return tests


def strategies(position: Position) -> Iterator[tuple[str, frozenset[Point]]]:
    """Yield every strategy in the order of the naive player, with the points that it may play."""
    own, other, four = position.to_move, position.to_move.opponent, position.ruleset.win_length - 1
    yield "S1", _ends(position, own, four)
    yield "S2", _ends(position, other, four)
    yield "S3", _ends(position, other, four - 1, both=True)
    for skill, length in zip(SKILLS[3:], (four - 1, four - 2, four - 3), strict=True):
        yield skill, _ends(position, own, length)


def _ends(position: Position, colour: Colour, length: int, *, both: bool = False) -> frozenset[Point]:
    """Return the empty ends of unbroken runs of exactly `length` stones; with `both`, both ends must be empty."""
    ruleset = position.ruleset
    stones = {(point.x, point.y) for point in position.points_of(colour)}
    taken = stones | {(point.x, point.y) for point in position.points_of(colour.opponent)}
    found: set[Point] = set()
    for x, y in stones:
        for dx, dy in _STEPS:
            if (x - dx, y - dy) in stones:
                continue
            run = 1
            while (x + run * dx, y + run * dy) in stones:
                run += 1
            ends = [(x - dx, y - dy), (x + run * dx, y + run * dy)]
            empty = [
                end for end in ends if 0 <= end[0] < ruleset.width and 0 <= end[1] < ruleset.height and end not in taken
            ]
            if run == length and len(empty) == (2 if both else len(empty)):
                found.update(Point.at(*end) for end in empty)
    return frozenset(found)
