"""Conversions between the oracle's tuples and dicts and the package's types, and sample rulesets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from hypothesis import strategies as st

from tengen.core.contracts import Ruleset
from tengen.core.geometry import Point
from tengen.core.position import Position
from tests.oracle import rules as oracle


def ruleset_of(rules: oracle.Rules) -> Ruleset:
    return Ruleset.parse(str(rules))


def point_of(point: oracle.Point) -> Point:
    return Point.at(*point)


def position_of(rules: oracle.Rules, stones: Mapping[oracle.Point, str], to_move: str) -> Position:
    """Set up a position; `PositionError` if both colours have a winning line."""
    return Position.from_stones(
        ruleset_of(rules),
        black=[point_of(point) for point, colour in stones.items() if colour == oracle.BLACK],
        white=[point_of(point) for point, colour in stones.items() if colour == oracle.WHITE],
        to_move=to_move,
    )


def tuples(points: Iterable[Point]) -> set[oracle.Point]:
    return {(point.x, point.y) for point in points}


def stones_of(position: Position) -> dict[oracle.Point, str]:
    return {(point.x, point.y): colour for colour in ("black", "white") for point in position.points_of(colour)}


def fouls_of(position: Position) -> dict[oracle.Point, str]:
    return {(point.x, point.y): str(kind) for point, kind in position.forbidden_points().items()}


@st.composite
def some_rules(draw: st.DrawFn, rules: tuple[str, ...] = oracle.RULES) -> oracle.Rules:
    """Any ruleset, small boards more often than large ones."""
    rule = draw(st.sampled_from(rules))
    win_length = 5 if rule == "renju" else draw(st.integers(3, 6))
    sizes = st.one_of(st.integers(3, 9), st.integers(3, 22))
    width = draw(sizes)
    height = draw(sizes if width >= win_length else st.integers(win_length, 22))
    return oracle.Rules(width, height, win_length, rule)


seeds = st.integers(0, 2**32 - 1)
colours = st.sampled_from((oracle.BLACK, oracle.WHITE))
