"""The generated shape tables agree with the oracle's definitions on lines, at edges and on whole boards."""

from __future__ import annotations

from random import Random

import pytest

from tengen._native import LineShape as TableShape
from tengen._native import PatternBoard
from tests.core.bridge import position_of
from tests.oracle.boards import has_winner, scattered_stones, tactical_stones
from tests.oracle.rules import BLACK, DIRECTIONS, WHITE, Point, Rules, Stones, empty_points
from tests.oracle.shapes import ONE_STONE_EARLIER, Shape, shape

KINDS = [(rule, win_length) for rule in ("freestyle", "standard", "caro", "caro-exact") for win_length in (4, 5)] + [
    ("renju", 5)
]

# The tables grade twos and threes more finely than the definitions.
COARSE = {
    TableShape.NOTHING: Shape.NONE,
    TableShape.CLOSED_ONE: Shape.ONE,
    TableShape.OPEN_ONE: Shape.ONE,
    TableShape.CLOSED_TWO: Shape.TWO,
    TableShape.OPEN_TWO: Shape.OPEN_TWO,
    TableShape.OPEN_TWO_GOOD: Shape.OPEN_TWO,
    TableShape.OPEN_TWO_BEST: Shape.OPEN_TWO,
    TableShape.CLOSED_THREE: Shape.THREE,
    TableShape.OPEN_THREE: Shape.OPEN_THREE,
    TableShape.OPEN_THREE_BEST: Shape.OPEN_THREE,
    TableShape.FOUR: Shape.FOUR,
    TableShape.OPEN_FOUR: Shape.OPEN_FOUR,
    TableShape.FIVE: Shape.FIVE,
    TableShape.FOUL_LINE: Shape.OVERLINE,
}


def expected_shape(rules: Rules, stones: Stones, colour: str, point: Point, step: tuple[int, int]) -> Shape:
    """Translate the oracle's shape to the table's.

    Two fours in one line count as an open four, but as a foul for black in renju. An overline is a foul for black in
    renju and nothing otherwise.
    """
    fouls = rules.rule == "renju" and colour == BLACK
    earlier = {**ONE_STONE_EARLIER, Shape.DOUBLE_FOUR: Shape.NONE if fouls else Shape.OPEN_THREE}
    made = shape(rules, stones, colour, point, step, earlier=earlier)
    if made is Shape.DOUBLE_FOUR:
        return Shape.OVERLINE if fouls else Shape.OPEN_FOUR
    if made is Shape.OVERLINE and not fouls:
        return Shape.NONE
    return made


def check_points(rules: Rules, stones: Stones, points: list[Point], steps: tuple[tuple[int, int], ...]) -> set[Shape]:
    """Compare both colours on the given points and directions; return the shapes that occurred."""
    patterns = PatternBoard(position_of(rules, stones, BLACK).native)
    seen = set()
    for number, colour in enumerate((BLACK, WHITE)):
        table = patterns.shapes(number)
        for point in points:
            for step in steps:
                found = TableShape(int(table[DIRECTIONS.index(step), point[1] * rules.width + point[0]]))
                expected = expected_shape(rules, stones, colour, point, step)
                assert COARSE[found] is expected, (str(rules), colour, point, step, stones)
                seen.add(expected)
    return seen


@pytest.mark.parametrize(("rule", "win_length"), KINDS)
def test_boards(rule: str, win_length: int):
    rng = Random(win_length)
    for scatter in (scattered_stones, tactical_stones, tactical_stones) * 4:
        rules = Rules(rng.randint(5, 12), rng.randint(5, 12), win_length, rule)
        stones = scatter(rng, rules)
        empties = empty_points(rules, stones)
        if not has_winner(rules, stones):
            check_points(rules, stones, rng.sample(empties, min(4, len(empties))), DIRECTIONS)


@pytest.mark.parametrize(("rule", "win_length"), KINDS)
def test_lines_with_many_stones(rule: str, win_length: int):
    rng = Random(10 * win_length)
    seen = set()
    for marks in ("...XXX", "..XXXO", "....XO", "..XXXX"):
        for _ in range(30):
            width = rng.randint(5, 13)
            point = rng.randrange(width), 1
            drawn = {(x, 1): rng.choice(marks) for x in range(width) if (x, 1) != point}
            stones = {place: BLACK if mark == "X" else WHITE for place, mark in drawn.items() if mark != "."}
            rules = Rules(width, 3, win_length, rule)
            if not has_winner(rules, stones):
                seen |= check_points(rules, stones, [point], ((1, 0),))
    assert set(Shape) - seen <= {Shape.DOUBLE_FOUR} | (set() if rule == "renju" else {Shape.OVERLINE}) | (
        {Shape.ONE} if win_length == 4 else set()
    )
