"""Input planes: native planes match a plain Python definition, and threat planes match the rules."""

from __future__ import annotations

import numpy as np
import pytest

from tengen._native import LineShape as Shape
from tengen._native import write_planes
from tengen.core.contracts import Colour, Rule, Ruleset
from tengen.core.geometry import Point
from tengen.core.native_enums import colour_to_native
from tengen.core.planes import encode, encode_batch, layouts, native_layout, plane_count
from tengen.core.position import Position
from tengen.errors import InputError, RulesetError
from tests.core.bridge import stones_of
from tests.oracle.planes import LAYOUTS, View, encode_slowly
from tests.oracle.rules import DIRECTIONS, Rules
from tests.patterns.shapes import OPEN_THREES, line_shape

RULESETS = ("9x9:5:freestyle", "7x9:5:renju", "6x6:4:standard", "8x8:5:caro")


def random_positions(rules: str, count: int) -> list[Position]:
    """Return positions from random games with enough stones to contain threats."""
    ruleset = Ruleset.parse(rules)
    rng = np.random.default_rng(7)
    positions: list[Position] = []
    while len(positions) < count:
        position = Position.start(ruleset)
        for _ in range(int(rng.integers(0, ruleset.area // 2))):
            points = position.legal_points()
            position = position.play(points[int(rng.integers(len(points)))])
            if position.is_over:
                break
        positions.append(position)
    return positions


def view_of(position: Position, viewer: Colour) -> View:
    ruleset = position.ruleset
    moves = [(point.x, point.y) for point in position.moves]
    return View(ruleset.width, ruleset.height, stones_of(position), moves, viewer.value)


def test_the_reference_encoder_supports_every_layout_without_threats() -> None:
    assert tuple(LAYOUTS) == tuple(name for name in layouts() if not name.startswith("threats"))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("rules", [*RULESETS, "5x3:3:freestyle"])
def test_native_planes_match_the_definition(layout: str, rules: str) -> None:
    for position in random_positions(rules, 12):
        for viewer in Colour:
            expected = encode_slowly(view_of(position, viewer), layout)
            assert len(expected) == plane_count(layout)
            np.testing.assert_array_equal(encode(position, layout, viewer), expected)
            written = np.full_like(expected, 9)
            write_planes(position.native, native_layout(layout), colour_to_native(viewer), written)
            np.testing.assert_array_equal(written, expected)


@pytest.mark.parametrize("rules", ["9x9:5:renju", "6x6:4:freestyle"])
def test_the_combined_layout_is_threats_plus_last_moves(rules: str) -> None:
    for position in random_positions(rules, 12):
        for viewer in Colour:
            stones = encode_slowly(view_of(position, viewer), "stones")
            threats = encode(position, "threats", viewer)
            np.testing.assert_array_equal(threats[:3], stones[:3])
            expected = np.concatenate((threats, stones[3:]))
            np.testing.assert_array_equal(encode(position, "threats-last", viewer), expected)
            written = np.full_like(expected, 9)
            write_planes(position.native, native_layout("threats-last"), colour_to_native(viewer), written)
            np.testing.assert_array_equal(written, expected)


@pytest.mark.parametrize("rules", ["9x9:5:freestyle", "9x9:5:standard", "6x6:4:freestyle"])
def test_threat_planes_match_the_definition(rules: str) -> None:
    ruleset = Ruleset.parse(rules)
    oracle_rules = Rules(ruleset.width, ruleset.height, ruleset.win_length, str(ruleset.rule))
    seen = np.zeros(4)
    for position in random_positions(rules, 10):
        if position.is_over:
            continue
        planes = encode(position, "threats")
        stones = stones_of(position)
        for point in position.legal_points():
            for first, colour in ((3, position.to_move), (7, position.to_move.opponent)):
                place = (point.x, point.y)
                shapes = [line_shape(oracle_rules, stones, colour.value, place, step) for step in DIRECTIONS]
                five = Shape.FIVE in shapes
                fours = sum(made in (Shape.FOUR, Shape.OPEN_FOUR) for made in shapes)
                open_four = fours > 1 or Shape.OPEN_FOUR in shapes
                three = any(made in OPEN_THREES for made in shapes)
                wanted = [five, open_four and not five, fours == 1 and not open_four and not five]
                wanted.append(three and not five and not open_four)
                seen += wanted
                assert planes[first : first + 4, point.y, point.x].tolist() == wanted, (position, point, colour)
    assert (seen > 0).all()


def test_threat_planes_show_possible_fouls_of_black() -> None:
    ruleset = Ruleset(9, 9, 5, Rule.RENJU)
    position = Position.from_stones(
        ruleset, black=["d5", "f5", "e4", "e6"], white=["a1", "c1", "a3", "c3"], to_move="black"
    )
    assert Point("e5") in position.forbidden_points()
    for viewer in Colour:
        planes = encode(position, "threats", viewer)
        assert planes[11, 4, 4] == 1
        assert planes[11].sum() >= len(position.forbidden_points())


def test_threat_planes_do_not_depend_on_the_order_of_moves() -> None:
    ruleset = Ruleset(9, 9)
    a, b = (Position.from_moves(ruleset, moves) for moves in ("e5d4e6d3", "e6d3e5d4"))
    np.testing.assert_array_equal(encode(a, "threats"), encode(b, "threats"))
    assert not np.array_equal(encode(a, "stones"), encode(b, "stones"))


def test_batches_and_rejected_layouts() -> None:
    positions = random_positions("9x9:5:freestyle", 3)
    assert encode_batch(positions, "stones").shape == (3, plane_count("stones"), 9, 9)
    with pytest.raises(InputError, match=r"unknown plane layout 'zero' \(known: board"):
        encode(positions[0], "zero")
    with pytest.raises(RulesetError, match="'threats' requires a win length of 4 or 5, but 3x3:3:freestyle has 3"):
        encode(Position.start(Ruleset.parse("3x3:3")), "threats")
