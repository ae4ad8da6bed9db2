"""Decisions in swap2: the opening to propose and the side to choose.

The proposer places three stones. The chooser takes black (SWAP), stays white and plays the fourth stone, or places two
more stones and lets the proposer choose. After three or five stones it is white's turn. A player that can evaluate the
position stays white if the value for white is not negative, and takes black otherwise. It never passes the choice on,
because the proposer would then take the better side.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tengen.core.contracts import Agent, Limits, Ruleset
from tengen.core.geometry import Point
from tengen.core.opening_procedure import Option
from tengen.core.position import Position
from tengen.core.stop_signal import StopSignal
from tengen.protocols.piskvork.fallback import nearest_point
from tengen.protocols.piskvork.notation import squares_of_points

Square = tuple[int, int]

_SMALLEST_FOR_OPENINGS = 12

OPENINGS: tuple[tuple[Square, Square, Square], ...] = (
    ((6, 1), (4, 2), (3, 3)),
    ((0, 8), (3, 0), (6, 1)),
    ((4, 1), (2, 0), (0, 3)),
    ((3, 6), (4, 4), (1, 6)),
    ((4, 7), (2, 7), (2, 1)),
    ((2, 2), (3, 0), (0, 8)),
)
"""Openings as a black, a white and a black stone, each given as column and row counted from a corner.

These are the most balanced of 81 random triples near a corner. The alpha-beta engine gives white, who is to move, a
value within 0.09 of zero after 300,000 nodes, on 15x15 under freestyle, standard and renju and on 20x20.
"""


@dataclass(frozen=True, slots=True)
class Swap2Answer:
    """The answer to a swap2 opening: the option chosen and the stones placed."""

    option: Option | None
    """None when the proposer places the first three stones."""
    points: tuple[Point, ...] = ()

    def text(self, height: int) -> str:
        """Return the answer to SWAP2BOARD as one line."""
        return "SWAP" if self.option is Option.TAKE_BLACK else squares_of_points(self.points, height)


def propose_opening(ruleset: Ruleset, seed: int) -> Swap2Answer:
    """Return a balanced opening of three stones; the seed selects the opening and its symmetry."""
    if min(ruleset.width, ruleset.height) < _SMALLEST_FOR_OPENINGS:
        return Swap2Answer(None, _small_opening(ruleset))
    squares = OPENINGS[seed % len(OPENINGS)]
    symmetry = seed // len(OPENINGS)
    points: list[Point] = []
    for column, row in squares:
        x, y = (row, column) if symmetry & 4 else (column, row)
        points.append(
            Point.at(ruleset.width - 1 - x if symmetry & 1 else x, ruleset.height - 1 - y if symmetry & 2 else y),
        )
    return Swap2Answer(None, tuple(points))


def choose_side(agent: Agent, position: Position, limits: Limits, stop: StopSignal) -> Swap2Answer:
    """Choose a side after three or five stones, with white to move, by the value of the agent's search.

    An agent that does not evaluate positions stays white.
    """
    search = agent.start(position, limits)
    with stop.calling(search.stop):
        decision = search.result()
    if decision.value_to_move is not None and decision.value_to_move < 0.0:
        return Swap2Answer(Option.TAKE_BLACK)
    return Swap2Answer(Option.TAKE_WHITE, (decision.move,))


def position_of_opening(ruleset: Ruleset, points: Sequence[Point]) -> Position:
    """Return the position after an opening; the stones alternate, black first. White moves after three or five stones.

    Raises `PositionError` if two stones share a point.
    """
    return Position.from_stones(ruleset, black=points[0::2], white=points[1::2])


def _small_opening(ruleset: Ruleset) -> tuple[Point, ...]:
    """Return an opening on the edge: a corner, its diagonal neighbour and a side point, far from the centre."""
    corner, diagonal = Point.at(0, 0), Point.at(1, 1)
    others = (Point.at(x, 0) for x in range(2, ruleset.width))
    return corner, diagonal, nearest_point(list(others), Point.at(3, 0))
