"""The board in the manager's terms: own stones and opponent's stones, without colours.

Managers may set up arbitrary positions: stones in any order, any number per side, moves after a five. The board
stores the stones as received; colours and history are derived only when a `Position` is needed.
"""

from __future__ import annotations

from collections.abc import Iterable

from tengen.core.contracts import Colour, Rule, Ruleset
from tengen.core.geometry import Point
from tengen.core.position import Position
from tengen.errors import InputError
from tengen.protocols.piskvork.notation import Field, point_of_square


class BrainBoard:
    """Stones in the order received, and the side to move."""

    def __init__(self, width: int, height: int) -> None:
        self.width = width
        self.height = height
        self.is_own_turn = True
        self.blocked: set[Point] = set()
        self._owners: dict[Point, Field] = {}

    def point(self, x: int, y: int) -> Point | None:
        """Return the point of a square; None if it is off the board."""
        return point_of_square(x, y, self.width, self.height)

    def is_free(self, point: Point) -> bool:
        """Whether the point has no stone and is not blocked; the rules are not checked."""
        return point not in self._owners and point not in self.blocked

    def free_points(self) -> list[Point]:
        """Return all free points, starting from the lower left."""
        points = (Point.at(x, y) for y in range(self.height) for x in range(self.width))
        return [point for point in points if self.is_free(point)]

    def clear(self) -> None:
        """Remove all stones."""
        self._owners.clear()
        self.blocked.clear()
        self.is_own_turn = True

    def add(self, point: Point, owner: Field) -> None:
        """Place a stone on a free point; the other side is then to move."""
        self._owners[point] = owner
        self.is_own_turn = owner is Field.OPPONENT

    def remove(self, point: Point) -> bool:
        """Remove a stone; its owner is then to move. Return False if the point is empty."""
        owner = self._owners.pop(point, None)
        if owner is None:
            return False
        self.is_own_turn = owner is Field.OWN or not self._owners
        return True

    def swap_sides(self) -> None:
        """Swap the owners of all stones, so that the brain plays the other side, and switch the side to move."""
        other = {Field.OWN: Field.OPPONENT, Field.OPPONENT: Field.OWN}
        self._owners = {point: other[owner] for point, owner in self._owners.items()}
        self.is_own_turn = not self.is_own_turn

    def set_up(self, rows: Iterable[str]) -> list[str]:
        """Set up the board from rows of the form `X,Y,field`, with the brain to move. Return the invalid rows."""
        self.clear()
        invalid: list[str] = []
        for row in rows:
            stone = self._stone_of(row)
            if stone is None or not self.is_free(stone[0]):
                invalid.append(row)
            elif stone[1] is Field.BLOCKED:
                self.blocked.add(stone[0])
            else:
                self._owners[stone[0]] = stone[1]
        self.is_own_turn = True
        return invalid

    def position(self, rule: Rule) -> Position | None:
        """Return the position to search; None if the stones do not form a valid one (two winners).

        The position has the full history if the stones alternate, starting with black. Otherwise it has only the last
        move, if that was the opponent's.
        """
        ruleset = Ruleset(self.width, self.height, 5, rule)
        own = self._own_colour(rule)
        to_move = own if self.is_own_turn else own.opponent
        stones = [(point, own if owner is Field.OWN else own.opponent) for point, owner in self._owners.items()]
        for make in (_with_history, _with_last_move, _without_history):
            try:
                position = make(ruleset, stones, to_move)
            except InputError:
                continue
            if position is not None:
                return position
        return None

    def _stone_of(self, row: str) -> tuple[Point, Field] | None:
        try:
            x, y, field = (int(number) for number in row.split(","))
            point = self.point(x, y)
            return None if point is None else (point, Field(field))
        except ValueError:
            return None

    def _own_colour(self, rule: Rule) -> Colour:
        """Derive the brain's colour: the side to move is black unless it has fewer stones than the other side.

        In renju, managers send the stones in the order of the game, so the first stone is always black. Under the other
        rules, the colours of an irregular set-up do not matter.
        """
        owners = list(self._owners.values())
        mover = Field.OWN if self.is_own_turn else Field.OPPONENT
        mover_stones = owners.count(mover)
        if rule is Rule.RENJU and owners:
            black = owners[0]
        else:
            black = mover if 2 * mover_stones >= len(owners) else Field(Field.OWN + Field.OPPONENT - mover)
        return Colour.BLACK if black is Field.OWN else Colour.WHITE


_Stones = list[tuple[Point, Colour]]


def _with_history(ruleset: Ruleset, stones: _Stones, to_move: Colour) -> Position | None:
    colours = [colour for _, colour in stones] + [to_move]
    if any(colour is not (Colour.WHITE if ply % 2 else Colour.BLACK) for ply, colour in enumerate(colours)):
        return None
    return Position.from_moves(ruleset, [point for point, _ in stones])


def _with_last_move(ruleset: Ruleset, stones: _Stones, to_move: Colour) -> Position | None:
    if not stones or stones[-1][1] is to_move:
        return None
    return _without_history(ruleset, stones[:-1], to_move.opponent).play(stones[-1][0])


def _without_history(ruleset: Ruleset, stones: _Stones, to_move: Colour) -> Position:
    return Position.from_stones(
        ruleset,
        black=[point for point, colour in stones if colour is Colour.BLACK],
        white=[point for point, colour in stones if colour is Colour.WHITE],
        to_move=to_move,
    )
