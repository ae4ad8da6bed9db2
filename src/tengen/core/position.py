"""Immutable game positions: `play` and `undo` return new ones.

The stones are stored in a native board. `Position` adds point names, errors that contain the position, and drawings.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from tengen._native import Board
from tengen.core.contracts import Colour, Foul, Outcome, Rule, Ruleset
from tengen.core.geometry import Point, parse_points
from tengen.core.native_enums import (
    colour_from_native,
    colour_to_native,
    foul_from_native,
    outcome_from_native,
    rule_to_native,
)
from tengen.errors import (
    ForbiddenPointError,
    GameOverError,
    IllegalMoveError,
    InputError,
    NotationError,
    PositionError,
)

Move = Point | str | int
"""A point, its name, or its index y·width + x."""

_CELLS = ".XO"


class Position:
    """The stones on the board, the side to move and the outcome.

    >>> position = Position.start(Ruleset(9, 9)).play("e5").play("e6")
    >>> position.to_move, position.last_move, position.outcome.value
    (<Colour.BLACK: 'black'>, Point('e6'), 'ongoing')
    """

    __slots__ = ("_native", "_outcome", "ruleset")

    ruleset: Ruleset

    def __init__(self, ruleset: Ruleset, native: Board) -> None:
        """Use `start`, `from_stones`, `from_moves` or `parse` instead."""
        self.ruleset = ruleset
        self._native = native
        self._outcome: Outcome | None = None

    # -- creating positions ----------------------------------------------------------------------------------------

    @classmethod
    def start(cls, ruleset: Ruleset | str = "15x15") -> Position:
        """The empty board, black to move. The ruleset can be given as text, such as `9x9:5:renju`."""
        ruleset = Ruleset.of(ruleset)
        return cls(ruleset, _new_board(ruleset))

    @classmethod
    def from_stones(
        cls,
        ruleset: Ruleset | str,
        *,
        black: Iterable[Move] = (),
        white: Iterable[Move] = (),
        to_move: Colour | str | None = None,
    ) -> Position:
        """A position set up from stones, without move history.

        If `to_move` is None, the side with fewer stones moves, or black if the numbers are equal. Any number of stones
        is allowed, but two winners are not.
        """
        ruleset = Ruleset.of(ruleset)
        sides: list[list[int]] = []
        seen: set[int] = set()
        for colour, points in zip(Colour, (black, white), strict=True):
            side = [_index_of(ruleset, point) for point in points]
            for point in side:
                if point in seen:
                    name = Point.from_index(point, ruleset.width)
                    raise PositionError(f"there are two stones on {name}; the second is {colour}")
                seen.add(point)
            sides.append(side)
        if to_move is None:
            mover = Colour.BLACK if len(sides[0]) <= len(sides[1]) else Colour.WHITE
        else:
            mover = _colour(to_move)
        board = _new_board(ruleset)
        try:
            board.set_up(sides[0], sides[1], colour_to_native(mover))
        except ValueError as error:
            raise PositionError(
                f"{error}: black {_names(ruleset, sides[0])}, white {_names(ruleset, sides[1])}"
            ) from None
        return cls(ruleset, board)

    @classmethod
    def from_moves(cls, ruleset: Ruleset | str, moves: str | Iterable[Move]) -> Position:
        """The position after `moves` from the empty board; `moves` is a string (`h8i9j10`) or an iterable."""
        position = cls.start(ruleset)
        for move in parse_points(moves) if isinstance(moves, str) else moves:
            position = position.play(move)
        return position

    # -- playing ---------------------------------------------------------------------------------------------------

    def play(self, move: Move) -> Position:
        """Return the position after the side to move has played `move`."""
        index = self._checked_index(move)
        board = self._native.copy()
        board.make(index)
        return Position(self.ruleset, board)

    def undo(self, count: int = 1) -> Position:
        """Return the position before the last `count` moves; set-up stones cannot be undone."""
        if not 0 <= count <= self._native.ply:
            raise IllegalMoveError(f"cannot undo {count} moves: only {self._native.ply} have been played\n{self}")
        board = self._native.copy()
        for _ in range(count):
            board.unmake()
        return Position(self.ruleset, board)

    def legal_points(self) -> list[Point]:
        """All legal points for the side to move; empty when the game is over. Renju fouls are not legal."""
        width = self.ruleset.width
        return [Point.from_index(int(index), width) for index in np.flatnonzero(self.legal_mask())]

    def legal_mask(self) -> npt.NDArray[np.bool_]:
        """The legal points as a bool array [area]."""
        return self._native.legal_mask()

    def forbidden_points(self) -> dict[Point, Foul]:
        """The renju fouls for the side to move, by point; empty unless black is to move."""
        width = self.ruleset.width
        fouls = ((index, foul_from_native(kind)) for index, kind in self._native.fouls())
        return {Point.from_index(index, width): foul for index, foul in fouls if foul is not None}

    def is_legal(self, move: Move) -> bool:
        """Whether `play(move)` would succeed."""
        try:
            self._checked_index(move)
        except InputError:
            return False
        return True

    def is_win(self, move: Move) -> bool:
        """Whether `move` wins the game for the side to move."""
        return self._native.would_win(self._checked_index(move), self._native.to_move)

    # -- state -----------------------------------------------------------------------------------------------------

    @property
    def to_move(self) -> Colour:
        """The side to move; if the game is over, the side that would move next."""
        return colour_from_native(self._native.to_move)

    @property
    def outcome(self) -> Outcome:
        """The outcome of the game. In renju, black loses if it has no legal point."""
        if self._outcome is None:
            self._outcome = outcome_from_native(self._native.outcome())
        return self._outcome

    @property
    def is_over(self) -> bool:
        """Whether the game is finished."""
        return self.outcome is not Outcome.ONGOING

    @property
    def winning_line(self) -> tuple[Point, ...]:
        """The points of the winning line, in order; empty if nobody has won."""
        return tuple(Point.from_index(index, self.ruleset.width) for index in self._native.winning_line())

    @property
    def moves(self) -> tuple[Point, ...]:
        """The moves played since the start or the set-up."""
        return tuple(Point.from_index(index, self.ruleset.width) for index in self._native.moves())

    @property
    def last_move(self) -> Point | None:
        """The last move played; None before the first move."""
        moves = self._native.moves()
        return Point.from_index(moves[-1], self.ruleset.width) if moves else None

    @property
    def stones(self) -> int:
        """The number of stones on the board."""
        return self._native.stones

    @property
    def hash(self) -> int:
        """A 64-bit hash of the stones and the side to move; identical on all machines."""
        return self._native.hash

    @property
    def native(self) -> Board:
        """The underlying native board. Do not modify it; copy it first."""
        return self._native

    def cells(self) -> npt.NDArray[np.uint8]:
        """The board as uint8 [height, width]: 0 empty, 1 black, 2 white; row 0 is the bottom row."""
        return self._native.cells()

    def at(self, point: Move) -> Colour | None:
        """The colour of the stone on `point`, or None if the point is empty."""
        cell = self._native.at(_index_of(self.ruleset, point))
        return colour_from_native(cell - 1) if cell else None

    def points_of(self, colour: Colour | str) -> list[Point]:
        """All stones of a colour, ordered by point index."""
        cell = colour_to_native(_colour(colour)) + 1
        width = self.ruleset.width
        return [Point.from_index(int(index), width) for index in np.flatnonzero(self.cells().ravel() == cell)]

    def __eq__(self, other: object) -> bool:
        """Compare ruleset, stones and side to move; the move order does not matter."""
        if not isinstance(other, Position):
            return NotImplemented
        return (
            self.ruleset == other.ruleset
            and self.to_move is other.to_move
            and self.hash == other.hash
            and bool(np.array_equal(self.cells(), other.cells()))
        )

    def __hash__(self) -> int:
        return hash((self.ruleset, self.hash))

    def __getstate__(self) -> dict[str, Any]:
        start = self.undo(self._native.ply)
        return {
            "ruleset": self.ruleset.name,
            "black": [str(point) for point in start.points_of(Colour.BLACK)],
            "white": [str(point) for point in start.points_of(Colour.WHITE)],
            "to_move": str(start.to_move),
            "moves": [str(point) for point in self.moves],
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        ruleset = Ruleset.parse(state["ruleset"])
        position = Position.from_stones(ruleset, black=state["black"], white=state["white"], to_move=state["to_move"])
        for move in state["moves"]:
            position._native.make(Point(move).index(ruleset.width))
        type(self).__init__(self, ruleset, position._native)

    # -- drawing ---------------------------------------------------------------------------------------------------

    def __str__(self) -> str:
        """Draw the board with coordinates, X for black, O for white and the last move in parentheses.

        `parse` is the inverse.
        """
        last = self.last_move
        rows = [f"{self.ruleset}  {self._headline()}"]
        cells = self.cells()
        for y in reversed(range(self.ruleset.height)):
            row = "".join(f" {_CELLS[cell]}" for cell in cells[y]) + " "
            if last is not None and last.y == y:
                place = 2 * last.x
                row = f"{row[:place]}({row[place + 1]}){row[place + 3 :]}"
            rows.append(f"{y + 1:>2} {row}".rstrip())
        rows.append("    " + " ".join(chr(ord("a") + x) for x in range(self.ruleset.width)))
        return "\n".join(rows)

    def __repr__(self) -> str:
        return f"<Position {self.ruleset} {self._headline()}, {self.stones} stones>"

    def _headline(self) -> str:
        if self.outcome is Outcome.DRAW:
            return "draw"
        winner = self.outcome.winner
        return f"{winner} has won" if winner else f"{self.to_move} to move"

    def to_svg(self, *, numbers: bool = False, coordinates: bool = True) -> str:
        """Return a picture of the board as SVG text; `numbers` adds the move numbers."""
        from tengen.core.board_picture import PictureOptions, draw_svg

        return draw_svg(self, PictureOptions(numbers=numbers, coordinates=coordinates))

    def to_png(self, *, numbers: bool = False, coordinates: bool = True) -> bytes:
        """Return a picture of the board as the bytes of a PNG file; `numbers` adds the move numbers."""
        from tengen.core.board_picture import PictureOptions
        from tengen.core.board_png import draw_png

        return draw_png(self, PictureOptions(numbers=numbers, coordinates=coordinates))

    def _repr_svg_(self) -> str:
        """Draw the board in a notebook."""
        return self.to_svg()

    @classmethod
    def parse(cls, text: str, ruleset: Ruleset | str | None = None) -> Position:
        """Parse a drawing: rows of `.`, `X` and `O`, with or without coordinates and headline.

        The headline, if there is one, states the ruleset and the side to move; `ruleset` overrides its ruleset. If the
        last move is in parentheses, it becomes the move history.
        """
        return _parse_drawing(cls, text, None if ruleset is None else Ruleset.of(ruleset))

    # -- internals -------------------------------------------------------------------------------------------------

    def _checked_index(self, move: Move) -> int:
        try:
            index = _index_of(self.ruleset, move)
        except InputError as error:
            raise type(error)(f"{error}\n{self}") from None
        point = Point.from_index(index, self.ruleset.width)
        if self.is_over:
            raise GameOverError(f"cannot play {point}: the game is over\n{self}")
        if self._native.at(index):
            raise IllegalMoveError(f"cannot play {point}: the point is occupied\n{self}")
        if self.ruleset.rule is Rule.RENJU and self.to_move is Colour.BLACK:
            foul = foul_from_native(self._native.foul_at(index))
            if foul is not None:
                raise ForbiddenPointError(f"cannot play {point}: {foul} is forbidden for black\n{self}")
        return index


def _new_board(ruleset: Ruleset) -> Board:
    return Board(ruleset.width, ruleset.height, ruleset.win_length, rule_to_native(ruleset.rule))


def _colour(text: Colour | str) -> Colour:
    try:
        return Colour(text)
    except ValueError:
        raise NotationError(f"not a colour: {text!r} (use black or white)") from None


def _index_of(ruleset: Ruleset, move: Move) -> int:
    if isinstance(move, (int, np.integer)):
        if 0 <= move < ruleset.area:
            return int(move)
        raise IllegalMoveError(f"point {move} is off the {ruleset.width}x{ruleset.height} board")
    point = Point(move)
    if not ruleset.contains(point):
        last = Point.at(ruleset.width - 1, ruleset.height - 1)
        raise IllegalMoveError(
            f"{point} is off the {ruleset.width}x{ruleset.height} board, whose points are a1 to {last}"
        )
    return point.index(ruleset.width)


def _names(ruleset: Ruleset, indices: Iterable[int]) -> str:
    return " ".join(Point.from_index(index, ruleset.width) for index in indices) or "none"


_MAX_DRAWING = 1 << 16
"""Maximum number of characters in a drawing; a 22x22 board takes about a thousand."""
# Possessive quantifiers never backtrack, so both patterns take linear time on any text.
_ROW = re.compile(r"\s*+(?:\d{1,2}\s++)?+((?:[\s(]*+[.XO]\)?+)++)\s*+(?:\d{1,2})?+\s*+", re.ASCII)
_HEADLINE = re.compile(r"\s*+(\S++)\s++(?:(black|white) (to move|has won)|(draw))\s*+", re.ASCII)


def _drawn_rows(text: str) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(text.splitlines(), 1):
        match = _ROW.fullmatch(" " + line)
        if match is not None:
            yield number, match[1]


def _parse_drawing(cls: type[Position], text: str, ruleset: Ruleset | None) -> Position:
    if len(text) > _MAX_DRAWING:
        raise NotationError(
            f"a drawing can have at most {_MAX_DRAWING} characters, but this one has {len(text)}: {text[:40]!r}…"
        )
    headline = _HEADLINE.fullmatch(text.lstrip("\n").split("\n", 1)[0])
    if ruleset is None and headline is not None:
        ruleset = Ruleset.parse(headline[1])
    rows = list(_drawn_rows(text))
    if not rows:
        raise NotationError(f"the drawing contains no board: {text[:80]!r}")
    width = sum(row.count(mark) for mark in ".XO" for row in (rows[0][1],))
    for number, row in rows:
        if sum(row.count(mark) for mark in ".XO") != width:
            raise NotationError(f"line {number} of the drawing is not {width} points wide: {row.strip()!r}")
    if ruleset is None:
        ruleset = Ruleset(width, len(rows), min(5, max(width, len(rows))))
    if (ruleset.width, ruleset.height) != (width, len(rows)):
        raise NotationError(f"the drawing is {width}x{len(rows)}, but the ruleset is {ruleset}")
    stones: dict[str, list[int]] = {"X": [], "O": []}
    last: tuple[int, str] | None = None
    for y, (_, row) in zip(reversed(range(len(rows))), rows, strict=True):
        x = 0
        for place, mark in enumerate(row):
            if mark not in ".XO":
                continue
            if mark != ".":
                stones[mark].append(y * width + x)
                if row[place - 1] == "(":
                    last = (y * width + x, mark)
            x += 1
    return _assemble(cls, ruleset, stones, last, headline)


def _assemble(
    cls: type[Position],
    ruleset: Ruleset,
    stones: dict[str, list[int]],
    last: tuple[int, str] | None,
    headline: re.Match[str] | None,
) -> Position:
    if last is not None:
        index, mark = last
        stones[mark].remove(index)
        mover = Colour.BLACK if mark == "X" else Colour.WHITE
        before = cls.from_stones(ruleset, black=stones["X"], white=stones["O"], to_move=mover)
        return before.play(index)
    to_move = headline[2] if headline is not None and headline[3] == "to move" else None
    return cls.from_stones(ruleset, black=stones["X"], white=stones["O"], to_move=to_move)
