"""The board as a brain hears of it: stones that are its own or the opponent's, from which a `Position` is made.

Managers may set up anything: stones in any order, any number of each side, moves after a five. The stones are kept as
they were told; colours and history are worked out when a position is asked for.
"""

from __future__ import annotations

from collections.abc import Iterable

from tengen.core.contracts import Colour, Rule, Ruleset
from tengen.core.geometry import Point
from tengen.core.position import Position
from tengen.errors import InputError
from tengen.protocols.piskvork.notation import Field, point_of_square


class BrainBoard:
    """Stones in the order they came, and whose turn it is."""

    def __init__(self, width: int, height: int) -> None:
        self.width = width
        self.height = height
        self.is_own_turn = True
        self.blocked: set[Point] = set()
        self._owners: dict[Point, Field] = {}

    def point(self, x: int, y: int) -> Point | None:
        """The point of a square, None when off the board."""
        return point_of_square(x, y, self.width, self.height)

    def is_free(self, point: Point) -> bool:
        """Whether a stone may be put there as far as stones go."""
        return point not in self._owners and point not in self.blocked

    def free_points(self) -> list[Point]:
        """Every point without a stone, from the lower left."""
        points = (Point.at(x, y) for y in range(self.height) for x in range(self.width))
        return [point for point in points if self.is_free(point)]

    def clear(self) -> None:
        """Take all stones off."""
        self._owners.clear()
        self.blocked.clear()
        self.is_own_turn = True

    def add(self, point: Point, owner: Field) -> None:
        """Put a stone on a free point; the turn passes to the other side."""
        self._owners[point] = owner
        self.is_own_turn = owner is Field.OPPONENT

    def remove(self, point: Point) -> bool:
        """Take a stone back, after which its owner is to move; False when there is none."""
        owner = self._owners.pop(point, None)
        if owner is None:
            return False
        self.is_own_turn = owner is Field.OWN or not self._owners
        return True

    def swap_sides(self) -> None:
        """Let the brain stand for the other side: its stones become the opponent's, and the turn changes hands."""
        other = {Field.OWN: Field.OPPONENT, Field.OPPONENT: Field.OWN}
        self._owners = {point: other[owner] for point, owner in self._owners.items()}
        self.is_own_turn = not self.is_own_turn

    def set_up(self, rows: Iterable[str]) -> list[str]:
        """Replace everything by rows `X,Y,f`, the brain to move; returns the rows that could not be used."""
        self.clear()
        unused: list[str] = []
        for row in rows:
            stone = self._stone_of(row)
            if stone is None or not self.is_free(stone[0]):
                unused.append(row)
            elif stone[1] is Field.BLOCKED:
                self.blocked.add(stone[0])
            else:
                self._owners[stone[0]] = stone[1]
        self.is_own_turn = True
        return unused

    def position(self, rule: Rule) -> Position | None:
        """The position to think about; None when the stones cannot form one (two winners).

        It has the game's history when the stones alternate from black on, and the last move when that was the
        opponent's.
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
        """Black has moved first and therefore as often as the other when it is to move.

        With renju managers send the stones in the order of the game, so that there the first one is black's in set-ups
        of any count. Elsewhere the colour of an odd set-up does not matter.
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
