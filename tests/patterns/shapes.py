"""A slow reference for the line shapes and threats of cpp/patterns/shapes.h, built on the oracle.

The oracle (tests/oracle/shapes.py) distinguishes fewer shapes. One definition differs: here two fours in one line count
as an open four, because they cannot be stopped, but as a foul for black in renju.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from tengen._native import LineShape as Shape
from tests.oracle.rules import BLACK, Point, Rules, Step, is_empty, run_through, run_wins, shift
from tests.oracle.shapes import completions, stoppers

OPEN_TWOS = (Shape.OPEN_TWO, Shape.OPEN_TWO_GOOD, Shape.OPEN_TWO_BEST)
OPEN_THREES = (Shape.OPEN_THREE, Shape.OPEN_THREE_BEST)

_STONES_FROM_ONE_TO_FOUR = 3
_Known = dict[frozenset[Point], Shape]


def line_shape(rules: Rules, stones: Mapping[Point, str], colour: str, point: Point, step: Step) -> Shape:
    """The shape that a stone of `colour` on the empty `point` makes along direction `step`."""
    line = [shift(point, step, times) for times in range(-22, 23)]
    after = {place: stones[place] for place in line if place in stones} | {point: colour}
    return _shape_of(rules, after, point, step, _STONES_FROM_ONE_TO_FOUR, {})


def _shape_of(
    rules: Rules, stones: Mapping[Point, str], point: Point, step: Step, further_stones: int, known: _Known
) -> Shape:
    has_fouls = rules.rule == "renju" and stones[point] == BLACK
    run = run_through(stones, point, step)
    if run_wins(rules, stones, run, step):
        return Shape.FIVE
    if len(run) > rules.win_length:
        return Shape.FOUL_LINE if has_fouls else Shape.NOTHING
    if completions(rules, stones, point, step):
        if stoppers(rules, stones, point, step):
            return Shape.FOUR
        return Shape.FOUL_LINE if has_fouls and len(run) < rules.win_length - 1 else Shape.OPEN_FOUR
    if further_stones == 0:
        return Shape.NOTHING
    made: Counter[Shape] = Counter()
    for times in range(-rules.win_length, rules.win_length + 1):
        added = shift(point, step, times)
        if is_empty(rules, stones, added):
            after = {**stones, added: stones[point]}
            key = frozenset(after)
            if key not in known:
                known[key] = _shape_of(rules, after, point, step, further_stones - 1, known)
            made[known[key]] += 1
    return _one_stone_earlier(made)


def _one_stone_earlier(made: Mapping[Shape, int]) -> Shape:
    """The shape whose next stone makes the given shapes, each in the given number of ways."""
    open_threes = sum(made.get(shape, 0) for shape in OPEN_THREES)
    if made.get(Shape.OPEN_FOUR, 0) >= 2:
        return Shape.OPEN_THREE_BEST
    if made.get(Shape.OPEN_FOUR, 0) == 1:
        return Shape.OPEN_THREE
    if made.get(Shape.FOUR, 0):
        return Shape.CLOSED_THREE
    if open_threes:
        return {1: Shape.OPEN_TWO, 2: Shape.OPEN_TWO, 3: Shape.OPEN_TWO_GOOD}.get(open_threes, Shape.OPEN_TWO_BEST)
    if made.get(Shape.CLOSED_THREE, 0):
        return Shape.CLOSED_TWO
    if any(made.get(shape, 0) for shape in OPEN_TWOS):
        return Shape.OPEN_ONE
    return Shape.CLOSED_ONE if made.get(Shape.CLOSED_TWO, 0) else Shape.NOTHING


THREATS = (
    "none",
    "forbidden",
    "two",
    "closed three",
    "double two",
    "closed three plus",
    "three",
    "three plus",
    "double three",
    "four",
    "four plus",
    "four-three",
    "open four",
    "five",
)
"""The names of `Threat` in its order."""


def threat_of(shapes: Sequence[int], *, has_fouls: bool) -> str:
    """Combine the shapes of the four lines through a point into a threat."""
    fives, open_fours, fours = (shapes.count(shape) for shape in (Shape.FIVE, Shape.OPEN_FOUR, Shape.FOUR))
    threes = sum(shape in OPEN_THREES for shape in shapes)
    twos = sum(shape in OPEN_TWOS for shape in shapes)
    closed_threes = shapes.count(Shape.CLOSED_THREE)
    if fives:
        return "five"
    if has_fouls and (Shape.FOUL_LINE in shapes or open_fours + fours > 1 or threes > 1):
        return "forbidden"
    if open_fours or fours > 1:
        return "open four"
    plus = " plus" if twos or closed_threes else ""
    if fours:
        return "four-three" if threes else f"four{plus}"
    if threes:
        return "double three" if threes > 1 else f"three{plus}"
    if closed_threes:
        return "closed three plus" if twos or closed_threes > 1 else "closed three"
    return {0: "none", 1: "two"}.get(twos, "double two")
