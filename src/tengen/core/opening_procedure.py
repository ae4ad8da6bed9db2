"""Opening procedures: placing the first stones and assigning the colours.

A procedure is a small tree of steps, all plain data: `Place` (a seat places stones), `Choose` (a seat picks an option)
and `Done` (the colours are settled). An `OpeningState` is an immutable position in that tree; `apply` returns the next
state. The two players are called seats here, because their colours are not known until the procedure is done.

>>> state = OpeningState.start(Ruleset.parse("15x15:5:freestyle:swap2"))
>>> state = state.apply("h8").apply("i9").apply("g7")
>>> print(state)
chooser chooses take-black, take-white or place-two
>>> state.apply(Option.TAKE_WHITE).black
<Seat.PROPOSER: 'proposer'>
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from types import MappingProxyType
from typing import TypeAlias

from tengen.core.contracts import Colour, Opening, Ruleset
from tengen.core.geometry import Point
from tengen.core.position import Move, Position
from tengen.errors import IllegalMoveError, InputError, RulesetError


class Seat(StrEnum):
    """One of the two players before the colours are settled. The proposer places the first stone."""

    PROPOSER = "proposer"
    CHOOSER = "chooser"

    @property
    def other(self) -> Seat:
        """The opponent's seat."""
        return Seat.CHOOSER if self is Seat.PROPOSER else Seat.PROPOSER


class Option(StrEnum):
    """An option in a `Choose` step."""

    TAKE_BLACK = "take-black"
    """Play black from here on."""
    TAKE_WHITE = "take-white"
    """Play white from here on."""
    PLACE_TWO = "place-two"
    """Place a white and a black stone and let the other seat choose its colour (swap2)."""


class Region(StrEnum):
    """The area in which an opening stone may be placed, by its Chebyshev distance from the centre."""

    ANYWHERE = "anywhere"
    CENTRE = "centre"
    OUTSIDE_5X5 = "outside-5x5"
    """At least three lines from the centre."""
    OUTSIDE_7X7 = "outside-7x7"
    """At least four lines from the centre."""

    def contains(self, point: Point, ruleset: Ruleset) -> bool:
        """Whether the point lies in the region."""
        centre = ruleset.centre
        distance = max(abs(point.x - centre.x), abs(point.y - centre.y))
        match self:
            case Region.ANYWHERE:
                return True
            case Region.CENTRE:
                return distance == 0
            case Region.OUTSIDE_5X5:
                return distance >= 3
            case Region.OUTSIDE_7X7:
                return distance >= 4


@dataclass(frozen=True, slots=True)
class Place:
    """A seat places `count` stones of alternating colours."""

    seat: Seat
    count: int
    then: Step
    region: Region = Region.ANYWHERE


@dataclass(frozen=True, slots=True)
class Choose:
    """A seat picks one of the options; each leads to a different next step."""

    seat: Seat
    branches: Mapping[Option, Step]


@dataclass(frozen=True, slots=True)
class Done:
    """The opening is over; `black` is the seat that plays black."""

    black: Seat


Step: TypeAlias = Place | Choose | Done
Action: TypeAlias = Option | Move
"""A stone to place, or an option to pick (as an `Option` or its string value)."""

_PROPOSER, _CHOOSER = Seat.PROPOSER, Seat.CHOOSER


def _choose_colour(seat: Seat, more: Mapping[Option, Step] | None = None) -> Choose:
    branches: dict[Option, Step] = {Option.TAKE_BLACK: Done(seat), Option.TAKE_WHITE: Done(seat.other)}
    return Choose(seat, MappingProxyType(branches | dict(more or {})))


def _pro(third: Region) -> Place:
    last = Place(_PROPOSER, 1, Done(_PROPOSER), third)
    return Place(_PROPOSER, 1, Place(_CHOOSER, 1, last), Region.CENTRE)


PROCEDURES: Mapping[Opening, Step] = MappingProxyType(
    {
        Opening.FREE: Done(_PROPOSER),
        Opening.SWAP: Place(_PROPOSER, 3, _choose_colour(_CHOOSER)),
        Opening.SWAP2: Place(
            _PROPOSER,
            3,
            _choose_colour(_CHOOSER, {Option.PLACE_TWO: Place(_CHOOSER, 2, _choose_colour(_PROPOSER))}),
        ),
        Opening.PRO: _pro(Region.OUTSIDE_5X5),
        Opening.LONG_PRO: _pro(Region.OUTSIDE_7X7),
    }
)
"""The steps of every opening procedure (docs/reference/rules.md)."""


@dataclass(frozen=True, slots=True)
class OpeningState:
    """The state of an opening: the stones on the board, the pending step and the actions so far."""

    position: Position
    step: Step
    taken: tuple[Point | Option, ...] = ()
    """The actions so far; input for `replay`."""

    @classmethod
    def start(cls, ruleset: Ruleset | str) -> OpeningState:
        """Return the start of the opening procedure. Raises `RulesetError` if the board is too small for it."""
        ruleset = Ruleset.of(ruleset)
        step = PROCEDURES[ruleset.opening]
        _check_board_size(ruleset, step)
        return cls(Position.start(ruleset), step)

    @classmethod
    def replay(cls, ruleset: Ruleset | str, actions: Iterable[Action]) -> OpeningState:
        """Return the state after the given actions from the start."""
        state = cls.start(ruleset)
        for action in actions:
            state = state.apply(action)
        return state

    # -- pending step ----------------------------------------------------------------------------------------------

    @property
    def is_done(self) -> bool:
        """Whether the colours are settled and the game itself starts from `position`."""
        return isinstance(self.step, Done)

    @property
    def black(self) -> Seat | None:
        """The seat that plays black, or None until it is settled."""
        return self.step.black if isinstance(self.step, Done) else None

    @property
    def seat(self) -> Seat | None:
        """The seat that acts next, or None when done."""
        return None if isinstance(self.step, Done) else self.step.seat

    @property
    def stones_due(self) -> int:
        """Number of stones that `seat` still has to place in this step; 0 if the step is not `Place`."""
        return self.step.count if isinstance(self.step, Place) else 0

    @property
    def options(self) -> tuple[Option, ...]:
        """The options `seat` can choose from; empty if the step is not `Choose`."""
        return tuple(self.step.branches) if isinstance(self.step, Choose) else ()

    def allowed_points(self) -> list[Point]:
        """The points where the next stone may be placed, excluding winning moves; empty if the step is not `Place`."""
        if not isinstance(self.step, Place):
            return []
        region = self.step.region
        return [
            point
            for point in self.position.legal_points()
            if region.contains(point, self.position.ruleset) and not self.position.is_win(point)
        ]

    def actions(self) -> tuple[Point | Option, ...]:
        """All actions that `apply` accepts in this state."""
        return self.options or tuple(self.allowed_points())

    def colour_of(self, seat: Seat) -> Colour | None:
        """The colour the seat plays, or None until it is settled."""
        if self.black is None:
            return None
        return Colour.BLACK if seat is self.black else Colour.WHITE

    def __str__(self) -> str:
        match self.step:
            case Done(black):
                return f"{black} plays black, {black.other} white; {self.position.to_move} to move"
            case Choose(seat, branches):
                *first, last = branches
                return f"{seat} chooses {', '.join(first)} or {last}"
            case Place(seat, count, _, region):
                stones = "a stone" if count == 1 else f"{count} stones"
                where = "" if region is Region.ANYWHERE else f" ({region})"
                return f"{seat} places {stones}{where}, the next one {self.position.to_move}"

    # -- transitions -----------------------------------------------------------------------------------------------

    def apply(self, action: Action) -> OpeningState:
        """Return the state after `seat` has placed one stone or picked an option."""
        match self.step:
            case Done():
                raise InputError(f"cannot apply {action!r}: the opening is over ({self})")
            case Choose(_, branches):
                option = self._option(action)
                return replace(self, step=branches[option], taken=(*self.taken, option))
            case Place():
                return self._place_stone(action)

    def _option(self, action: Action) -> Option:
        if isinstance(action, str) and action in self.options:
            return Option(action)
        raise InputError(f"cannot apply {action!r}: {self}")

    def _place_stone(self, action: Action) -> OpeningState:
        assert isinstance(self.step, Place)
        if isinstance(action, str) and action in tuple(Option):
            raise InputError(f"cannot apply {action!r}: {self}")
        after = self.position.play(action)
        point = after.last_move
        assert point is not None
        if not self.step.region.contains(point, self.position.ruleset):
            raise IllegalMoveError(
                f"cannot play {point}: {self}; the centre is {self.position.ruleset.centre}\n{self.position}"
            )
        if after.is_over:
            raise IllegalMoveError(f"cannot play {point}: an opening stone may not end the game\n{self.position}")
        left = self.step.count - 1
        step = replace(self.step, count=left) if left else self.step.then
        return OpeningState(after, step, (*self.taken, point))


def _check_board_size(ruleset: Ruleset, step: Step) -> None:
    while isinstance(step, Place):
        points = (Point.from_index(index, ruleset.width) for index in range(ruleset.area))
        if not any(step.region.contains(point, ruleset) for point in points):
            raise RulesetError(
                f"{ruleset} has no point in the region {step.region}: the board is too small for this opening"
            )
        step = step.then
