"""Definition of the line shapes by what one more stone makes of them.

`shape(rules, stones, colour, point, step)` returns what a stone of `colour` on the empty `point` makes on the line
through it in direction `step`. Only this line matters: fouls elsewhere and crossing lines do not count. Let k be the
win length and p the point with the new stone:

FIVE        the run through p wins under the rule (k or more, exactly k, not closed at both ends by enemy stones, …).
OVERLINE    the run through p is longer than k and does not win; no run through p on this line can win any more.
Otherwise an empty point of the line is a *completion* if a further own stone there wins with a run that contains p,
and a *stopper* if an enemy stone there leaves no completion.
OPEN_FOUR   there are completions and no stopper, and the run through p is exactly k − 1 stones: the straight four.
DOUBLE_FOUR there are completions and no stopper, but the run is shorter: two fours in one line, such as X.XXX.X.
FOUR        there are completions, and a stopper.
Otherwise the shape depends on the best shape containing p that one further own stone q on this line makes:
OPEN_THREE  an OPEN_FOUR.
THREE       a FOUR or DOUBLE_FOUR.
OPEN_TWO    an OPEN_THREE.
TWO         a THREE.
ONE         an OPEN_TWO or TWO.
NONE        less than that.

Under freestyle, standard and renju a four with two completions has no stopper, and one with a single completion has
that point as its only stopper, so OPEN_FOUR is the unbroken four that both ends complete. Under caro an enemy stone
at the end of a line may close it: `O.XXXX.O` has two completions but is a FOUR, as a stone on either end stops both;
`..XXXXO` has two stoppers, the completion and the point beyond it.

The names are those of win length 5. For win length 4 they shift by one: FOUR is then three stones that one more wins.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum

from tests.oracle.rules import Point, Rules, Step, is_empty, opponent, run_through, run_wins, shift


class Shape(IntEnum):
    """What a stone makes on one line. Except for OVERLINE, a greater value is a stronger shape."""

    NONE = 0
    OVERLINE = 1
    ONE = 2
    TWO = 3
    OPEN_TWO = 4
    THREE = 5
    OPEN_THREE = 6
    FOUR = 7
    DOUBLE_FOUR = 8
    OPEN_FOUR = 9
    FIVE = 10


ONE_STONE_EARLIER: Mapping[Shape, Shape] = {
    Shape.OPEN_FOUR: Shape.OPEN_THREE,
    Shape.DOUBLE_FOUR: Shape.THREE,
    Shape.FOUR: Shape.THREE,
    Shape.OPEN_THREE: Shape.OPEN_TWO,
    Shape.THREE: Shape.TWO,
    Shape.OPEN_TWO: Shape.ONE,
    Shape.TWO: Shape.ONE,
}
"""For each shape, the shape one stone earlier; shapes that are not listed come from NONE."""

_STONES_FROM_ONE_TO_FOUR = 3

_Known = dict[frozenset[Point], Shape]
"""Cache of shapes by the occupied points of the line, since the order of further stones does not matter."""


def shape(
    rules: Rules,
    stones: Mapping[Point, str],
    colour: str,
    point: Point,
    step: Step,
    reach: int | None = None,
    earlier: Mapping[Shape, Shape] = ONE_STONE_EARLIER,
) -> Shape:
    """Return the shape that a stone of `colour` on the empty `point` makes on the line in direction `step`.

    Further stones are tried up to `reach` points away from `point` (default: the win length). Stones further away
    change nothing; the tests try whole lines. `earlier` may redefine threes and twos, for example for a table that
    treats two fours in one line like a straight four.
    """
    reach = rules.win_length if reach is None else reach
    line = [shift(point, step, times) for times in range(-max(rules[:2]), max(rules[:2]) + 1)]
    after = {place: stones[place] for place in line if place in stones} | {point: colour}
    return _shape_of(rules, after, point, step, reach, _STONES_FROM_ONE_TO_FOUR, {}, earlier)


def completions(rules: Rules, stones: Mapping[Point, str], point: Point, step: Step) -> set[Point]:
    """Return the empty points of the line where a stone of the same colour wins with a run through `point`."""
    found = set()
    run = run_through(stones, point, step)
    # A run through the point and the new stone requires that the new stone extends or joins the present run.
    for end in (shift(run[0], step, -1), shift(run[-1], step)):
        if is_empty(rules, stones, end):
            after = {**stones, end: stones[point]}
            if run_wins(rules, after, run_through(after, end, step), step):
                found.add(end)
    return found


def stoppers(rules: Rules, stones: Mapping[Point, str], point: Point, step: Step) -> set[Point]:
    """Return the empty points of the line where an enemy stone leaves no completion for the stone on `point`."""
    enemy = opponent(stones[point])
    reach = max(rules.width, rules.height)
    near = [shift(point, step, times) for times in range(-reach, reach + 1)]
    return {
        stop
        for stop in near
        if is_empty(rules, stones, stop) and not completions(rules, {**stones, stop: enemy}, point, step)
    }


def _shape_of(
    rules: Rules,
    stones: Mapping[Point, str],
    point: Point,
    step: Step,
    reach: int,
    further_stones: int,
    known: _Known,
    earlier: Mapping[Shape, Shape],
) -> Shape:
    """Return the shape of the stone on `point`, trying at most this many further stones."""
    run = run_through(stones, point, step)
    if run_wins(rules, stones, run, step):
        return Shape.FIVE
    if len(run) > rules.win_length:
        return Shape.OVERLINE
    if completions(rules, stones, point, step):
        if stoppers(rules, stones, point, step):
            return Shape.FOUR
        return Shape.OPEN_FOUR if len(run) == rules.win_length - 1 else Shape.DOUBLE_FOUR
    if further_stones == 0:
        return Shape.NONE
    best = Shape.NONE
    for times in range(-reach, reach + 1):
        added = shift(point, step, times)
        if is_empty(rules, stones, added):
            after = {**stones, added: stones[point]}
            key = frozenset(after)
            if key not in known:
                known[key] = _shape_of(rules, after, point, step, reach, further_stones - 1, known, earlier)
            best = max(best, earlier.get(known[key], Shape.NONE))
    return best
