"""The definitions of the line shapes, on rows drawn by hand and on random lines."""

from __future__ import annotations

from random import Random

import pytest

from tests.oracle.rules import BLACK, RULES, WHITE, Rules, Stones, shift
from tests.oracle.shapes import Shape, completions, shape, stoppers

ROW, COLUMN = (1, 0), (0, 1)
COLOUR_BLIND = ("freestyle", "standard", "caro", "caro-exact")

# Rows as wide as the board; black `X` plays on `*`. The first shape applies to all rules that are not listed.
FIVES = [
    ("XX*XX", {}, Shape.FIVE),
    ("..XXXX*..", {}, Shape.FIVE),
    ("OXX*XXO", {"caro": Shape.NONE, "caro-exact": Shape.NONE}, Shape.FIVE),
    ("OXX*XX.", {}, Shape.FIVE),
    ("XXX*XX", dict.fromkeys(("standard", "renju", "caro-exact"), Shape.OVERLINE), Shape.FIVE),
]
FOURS = [
    (".XX*X.", {}, Shape.OPEN_FOUR),
    ("..XX*X..", {}, Shape.OPEN_FOUR),
    ("O.XX*X.O", {"caro": Shape.FOUR, "caro-exact": Shape.FOUR}, Shape.OPEN_FOUR),
    ("..XX*X.O", {"caro": Shape.FOUR, "caro-exact": Shape.FOUR}, Shape.OPEN_FOUR),
    ("X.XX*X.", {"freestyle": Shape.OPEN_FOUR, "caro": Shape.OPEN_FOUR}, Shape.FOUR),
    ("X.XX*X.X", {"freestyle": Shape.OPEN_FOUR, "caro": Shape.OPEN_FOUR}, Shape.NONE),
    ("OXX*X.", {}, Shape.FOUR),
    ("OXX*X..", {}, Shape.FOUR),
    ("OXX*X.O", {"caro": Shape.NONE, "caro-exact": Shape.NONE}, Shape.FOUR),
    ("XX.*X", {}, Shape.FOUR),
    ("X.X*X.X", {}, Shape.DOUBLE_FOUR),
    ("OX.X*X.XO", {"caro": Shape.FOUR, "caro-exact": Shape.FOUR}, Shape.DOUBLE_FOUR),
    ("XX.*X.XX", {}, Shape.DOUBLE_FOUR),
    ("XXX.*.XXX", {}, Shape.DOUBLE_FOUR),
    ("X.X*X.XX", {"freestyle": Shape.DOUBLE_FOUR, "caro": Shape.DOUBLE_FOUR}, Shape.FOUR),
]
THREES = [
    ("..XX*..", {}, Shape.OPEN_THREE),
    ("..X.X*..", {}, Shape.OPEN_THREE),
    ("O.XX*..", {"caro": Shape.THREE, "caro-exact": Shape.THREE}, Shape.OPEN_THREE),
    (".XX*.", {}, Shape.THREE),
    ("OXX*..", {}, Shape.THREE),
    ("O.XX*.O", {"caro": Shape.NONE, "caro-exact": Shape.NONE}, Shape.THREE),
    ("X.X.*", {}, Shape.THREE),
    ("XX..*", {}, Shape.THREE),
    ("X..XX*..X", {"freestyle": Shape.OPEN_THREE, "caro": Shape.OPEN_THREE}, Shape.THREE),
]
FEWER: list[tuple[str, dict[str, Shape], Shape]] = [
    ("...X*...", {}, Shape.OPEN_TWO),
    ("..X.*...", {}, Shape.OPEN_TWO),
    (".X..*..", {}, Shape.OPEN_TWO),
    ("OX*...", {}, Shape.TWO),
    ("X...*", {}, Shape.TWO),
    ("....*....", {}, Shape.ONE),
    ("*....", {}, Shape.ONE),
    ("O.*..O", {}, Shape.NONE),
    ("O*...", {}, Shape.NONE),
    ("O.X*XO", {}, Shape.NONE),
]


def stones_of(row: str, y: int = 1) -> Stones:
    return {(x, y): BLACK if mark == "X" else WHITE for x, mark in enumerate(row) if mark in "XO"}


@pytest.mark.parametrize(("row", "exceptions", "expected"), FIVES + FOURS + THREES + FEWER)
@pytest.mark.parametrize("rule", RULES)
def test_shapes_of_five(row: str, exceptions: dict[str, Shape], expected: Shape, rule: str):
    rules = Rules(len(row), 3, 5, rule)
    assert shape(rules, stones_of(row), BLACK, (row.index("*"), 1), ROW) is exceptions.get(rule, expected)


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ("XX*X", Shape.FIVE),
        (".X*X.", Shape.OPEN_FOUR),
        ("OX*X.", Shape.FOUR),
        ("X.*X.X", Shape.DOUBLE_FOUR),
        (".X*..", Shape.OPEN_THREE),
        ("OX*..", Shape.THREE),
        ("..*..", Shape.OPEN_TWO),
        ("*...", Shape.TWO),
        ("O*..", Shape.NONE),
    ],
)
def test_shapes_of_four(row: str, expected: Shape):
    rules = Rules(len(row), 3, 4, "freestyle")
    assert shape(rules, stones_of(row), BLACK, (row.index("*"), 1), ROW) is expected


def test_white_may_have_overlines_in_renju():
    stones = dict.fromkeys(stones_of("XXX*XX"), WHITE)
    assert shape(Rules.parse("6x3:5:renju"), stones, WHITE, (3, 1), ROW) is Shape.FIVE
    assert shape(Rules.parse("6x3:5:standard"), stones, WHITE, (3, 1), ROW) is Shape.OVERLINE


def test_completions_and_stoppers():
    caro, freestyle = Rules.parse("9x3:5:caro"), Rules.parse("9x3:5:freestyle")
    stones = stones_of("..XXXXO..")
    assert completions(caro, stones, (2, 1), ROW) == {(1, 1)}
    assert stoppers(caro, stones, (2, 1), ROW) == {(1, 1), (0, 1)}
    assert stoppers(freestyle, stones, (2, 1), ROW) == {(1, 1)}


def test_other_lines_do_not_count():
    rules = Rules.parse("9x9:5:freestyle")
    column = {(4, y): BLACK for y in (2, 3, 5)}
    assert shape(rules, column, BLACK, (4, 4), COLUMN) is Shape.OPEN_FOUR
    assert shape(rules, column, BLACK, (4, 4), ROW) is Shape.ONE


def random_row(rng: Random, width: int) -> tuple[Stones, int]:
    marks = [rng.choice("....XXXO") for _ in range(width)]
    x = rng.randrange(width)
    marks[x] = "*"
    return stones_of("".join(marks)), x


@pytest.mark.parametrize("win_length", [4, 5])
@pytest.mark.parametrize("rule", COLOUR_BLIND)
def test_further_stones_beyond_reach_change_nothing(rule: str, win_length: int):
    rng = Random(win_length)
    rules = Rules(13, 3, win_length, rule)
    for _ in range(15):
        stones, x = random_row(rng, rules.width)
        near = shape(rules, stones, BLACK, (x, 1), ROW)
        assert near is shape(rules, stones, BLACK, (x, 1), ROW, reach=rules.width)


@pytest.mark.parametrize("rule", RULES)
def test_a_row_shifted_mirrored_or_turned_keeps_its_shapes(rule: str):
    rng = Random(9)
    rules = Rules(11, 11, 5, rule)
    for _ in range(20):
        stones, x = random_row(rng, 11)
        made = shape(rules, stones, BLACK, (x, 1), ROW)
        mirrored = {(10 - px, py): colour for (px, py), colour in stones.items()}
        assert made is shape(rules, mirrored, BLACK, (10 - x, 1), ROW)
        turned = {(py, px): colour for (px, py), colour in stones.items()}
        assert made is shape(rules, turned, BLACK, (1, x), COLUMN)
        diagonal = {(px, px): colour for (px, _), colour in stones.items()}
        assert made is shape(rules, diagonal, BLACK, (x, x), (1, 1))


@pytest.mark.parametrize("rule", COLOUR_BLIND)
def test_shapes_are_the_same_for_both_colours(rule: str):
    rng = Random(4)
    rules = Rules(12, 3, 5, rule)
    for _ in range(20):
        stones, x = random_row(rng, 12)
        swapped = {point: WHITE if colour == BLACK else BLACK for point, colour in stones.items()}
        assert shape(rules, stones, BLACK, (x, 1), ROW) is shape(rules, swapped, WHITE, (x, 1), ROW)


@pytest.mark.parametrize("rule", RULES)
def test_an_open_four_cannot_be_stopped_and_a_four_can(rule: str):
    rng = Random(6)
    rules = Rules(10, 3, 5, rule)
    seen = set()
    for _ in range(400):
        stones, x = random_row(rng, 10)
        point = (x, 1)
        made = shape(rules, stones, BLACK, point, ROW)
        after = {**stones, point: BLACK}
        seen.add(made)
        if made in (Shape.OPEN_FOUR, Shape.DOUBLE_FOUR):
            empties = [shift((0, 1), ROW, times) for times in range(10) if (times, 1) not in after]
            assert all(completions(rules, {**after, stop: WHITE}, point, ROW) for stop in empties)
        elif made is Shape.FOUR:
            assert stoppers(rules, after, point, ROW)
    assert {Shape.FIVE, Shape.FOUR, Shape.THREE, Shape.NONE} <= seen
