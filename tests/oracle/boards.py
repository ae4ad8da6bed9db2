"""Random boards with many threats.

Stones distributed evenly over a large board hardly ever make a four, let alone a double-three. Here they are placed in
a small part of the board, or along a few crossing lines.
"""

from __future__ import annotations

from random import Random

from tests.oracle.rules import (
    BLACK,
    DIRECTIONS,
    WHITE,
    Point,
    Rules,
    Stones,
    all_points,
    colours_with_winning_line,
    on_board,
    run_through,
    shift,
)


def scattered_stones(rng: Random, rules: Rules) -> Stones:
    """Place any number of stones of both colours anywhere; winning lines are possible."""
    points = list(all_points(rules))
    rng.shuffle(points)
    return {point: rng.choice((BLACK, WHITE)) for point in points[: rng.randint(0, len(points))]}


def crowded_stones(rng: Random, rules: Rules, side: int = 9) -> Stones:
    """Place stones in a square of `side` points, more black than white ones, without a five."""
    left = rng.randint(0, max(rules.width - side, 0))
    low = rng.randint(0, max(rules.height - side, 0))
    points = [(x, y) for x, y in all_points(rules) if left <= x < left + side and low <= y < low + side]
    rng.shuffle(points)
    black = rng.randint(len(points) // 10, len(points) // 3)
    white = rng.randint(0, len(points) // 5)
    stones = dict.fromkeys(points[:black], BLACK) | dict.fromkeys(points[black : black + white], WHITE)
    return without_winning_lines(rng, rules, stones)


def crossing_stones(rng: Random, rules: Rules) -> Stones:
    """Place stones of one colour on three or four lines through an empty point, and a few enemy stones."""
    centre = rng.randrange(rules.width), rng.randrange(rules.height)
    own = rng.choice((BLACK, BLACK, WHITE))
    enemy = WHITE if own == BLACK else BLACK
    stones: Stones = {}
    for step in rng.sample(DIRECTIONS, rng.choice((3, 4))):
        for times in range(-rules.win_length, rules.win_length + 1):
            point = shift(centre, step, times)
            if times and on_board(rules, point):
                draw = rng.random()
                if draw < 0.4:
                    stones[point] = own
                elif draw < 0.5:
                    stones[point] = enemy
    return without_winning_lines(rng, rules, stones)


def without_winning_lines(rng: Random, rules: Rules, stones: Stones) -> Stones:
    """Remove stones until nobody has a winning line or an overline."""
    kept = dict(stones)
    for point in rng.sample(sorted(stones), len(stones)):
        if any(len(run_through(kept, point, step)) >= rules.win_length for step in DIRECTIONS):
            del kept[point]
    return kept


def tactical_stones(rng: Random, rules: Rules) -> Stones:
    """Return a crowded or a crossing board at random."""
    return rng.choice((crowded_stones, crossing_stones))(rng, rules)


def transformed(rules: Rules, point: Point, symmetry: int) -> Point:
    """Map a point by one of the eight symmetries of a square (the first four for a rectangle)."""
    x, y = point
    if symmetry & 1:
        x = rules.width - 1 - x
    if symmetry & 2:
        y = rules.height - 1 - y
    return (y, x) if symmetry & 4 else (x, y)


def has_winner(rules: Rules, stones: Stones) -> bool:
    """Whether any colour has a winning line."""
    return bool(colours_with_winning_line(rules, stones))
