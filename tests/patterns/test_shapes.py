"""The native shape tables: the number of ways to the next shape, and the threat that four line shapes make."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest

from tengen import _native
from tengen._native import LineShape as Shape
from tests.core.bridge import position_of
from tests.oracle.boards import has_winner, tactical_stones
from tests.oracle.rules import BLACK, DIRECTIONS, RULES, WHITE, Rules, Stones, empty_points, shift
from tests.patterns.shapes import THREATS, line_shape, threat_of

KINDS = [f"11x11:5:{rule}" for rule in RULES] + [f"9x8:4:{rule}" for rule in RULES if rule != "renju"]
COLOURS = (BLACK, WHITE)


def random_board(rng: Random, rules: Rules) -> Stones:
    """A random position with stones close together and no winner."""
    while True:
        stones = tactical_stones(rng, rules)
        if stones and not has_winner(rules, stones):
            return stones


def points_near(rng: Random, rules: Rules, stones: Stones, count: int) -> list[tuple[int, int]]:
    """A sample of the empty points within two steps of a stone."""
    steps = [(dx, dy) for dx in (-2, -1, 0, 1, 2) for dy in (-2, -1, 0, 1, 2)]
    near = [point for point in empty_points(rules, stones) if any(shift(point, step) in stones for step in steps)]
    return rng.sample(near, min(count, len(near)))


@pytest.mark.parametrize("text", KINDS)
def test_shapes_are_what_one_more_stone_makes(text):
    rules, rng = Rules.parse(text), Random(f"shapes {text}")
    seen: Counter[Shape] = Counter()
    for _ in range(8):
        stones = random_board(rng, rules)
        board = _native.PatternBoard(position_of(rules, stones, BLACK).native)
        for point in points_near(rng, rules, stones, 6):
            for direction, step in enumerate(DIRECTIONS):
                for number, colour in enumerate(COLOURS):
                    found = Shape(board.shape(number, direction, point[1] * rules.width + point[0]))
                    assert found is line_shape(rules, stones, colour, point, step), (stones, colour, point, step)
                    seen[found] += 1
    # Make sure that the boards contain enough different shapes.
    assert sum(count for shape, count in seen.items() if shape >= Shape.CLOSED_THREE) > 15, seen


@pytest.mark.parametrize("text", KINDS)
def test_threats_combine_the_four_shapes(text):
    rules, rng = Rules.parse(text), Random(f"threats {text}")
    seen: Counter[str] = Counter()
    for _ in range(40):
        stones = random_board(rng, rules)
        board = _native.PatternBoard(position_of(rules, stones, BLACK).native)
        threats = board.threats()
        for number, colour in enumerate(COLOURS):
            shapes = board.shapes(number)
            for x, y in empty_points(rules, stones):
                index = y * rules.width + x
                has_fouls = rules.rule == "renju" and colour == BLACK
                wanted = threat_of([int(shape) for shape in shapes[:, index]], has_fouls=has_fouls)
                assert THREATS[threats[number, index]] == wanted, (stones, colour, (x, y))
                seen[wanted] += 1
    assert len(seen) >= 11, seen


def test_an_occupied_point_has_no_shape():
    rules = Rules.parse("15x15:5:freestyle")
    stones = {(7, 7): BLACK, (8, 7): BLACK, (9, 7): BLACK}
    board = _native.PatternBoard(position_of(rules, stones, BLACK).native)
    assert board.shape(0, 0, 7 * 15 + 8) == 0
    assert not board.threats()[:, [7 * 15 + 7, 7 * 15 + 8]].any()
    assert THREATS[board.threats()[0, 7 * 15 + 10]] == "open four"


def test_codes_are_the_combinations_of_four_shapes():
    codes = _native.shape_codes()
    assert len(codes) == _native.SHAPE_CODES == len({tuple(sorted(code)) for code in codes})
    assert all(code == sorted(code) for code in codes)
