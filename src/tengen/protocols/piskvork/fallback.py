"""Fallback moves: the brain's answers when its player fails or runs out of time.

A fallback move wins or blocks a win if possible, and otherwise stays near the last stone.
"""

from __future__ import annotations

from collections.abc import Collection

from tengen.core.contracts import Colour
from tengen.core.geometry import Point
from tengen.core.position import Position
from tengen.errors import InputError


def choose_fallback(position: Position, blocked: Collection[Point] = ()) -> Point | None:
    """Return a legal point that is not `blocked`, or None if every legal point is; the choice is deterministic."""
    legal = [point for point in position.legal_points() if point not in blocked]
    if not legal:
        return None
    for point in legal:
        if position.is_win(point):
            return point
    threatened = _winning_points(position, position.to_move.opponent)
    for point in legal:
        if point in threatened:
            return point
    return nearest_point(legal, position.last_move or position.ruleset.centre)


def nearest_point(points: Collection[Point], centre: Point) -> Point:
    """Return the point nearest to `centre`."""
    return min(points, key=lambda point: ((point.x - centre.x) ** 2 + (point.y - centre.y) ** 2, point.y, point.x))


def _winning_points(position: Position, colour: Colour) -> frozenset[Point]:
    try:
        turned = Position.from_stones(
            position.ruleset,
            black=position.points_of(Colour.BLACK),
            white=position.points_of(Colour.WHITE),
            to_move=colour,
        )
    except InputError:
        return frozenset()
    return frozenset(point for point in turned.legal_points() if turned.is_win(point))
