"""Names the threats of a position, in words and as data.

Two things are told of each colour: the threats that *stand* on the board (a four makes five next move, an open three
makes an open four next move) with the points that answer them, and the *chances*: what one more stone would make on
each empty point. The words are those of docs/2-rules.md; with win length four they keep their meaning, so that "five"
is the row that wins and "four" one stone less.

Nothing is searched here: what a threat leads to further on is the business of `tengen.search`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import IntEnum, StrEnum

from tengen._native import PatternBoard
from tengen.core.contracts import Colour, Foul, Rule
from tengen.core.geometry import Point
from tengen.core.position import Position
from tengen.errors import RulesetError

_COLOURS = (Colour.BLACK, Colour.WHITE)
_FOULS = (None, Foul.OVERLINE, Foul.DOUBLE_FOUR, Foul.DOUBLE_THREE)
_STEPS = ((1, 0), (0, 1), (1, 1), (1, -1))
"""The four directions in the order of the native tables: along a row, along a column, the two diagonals."""
_MAX_NAMED = 12
"""More points than this are counted, not named, in a sentence."""


class Shape(IntEnum):
    """What a stone makes along one line, weakest first: `LineShape` of cpp/patterns/shapes.h, which defines them."""

    NOTHING = 0
    FOUL_LINE = 1
    CLOSED_ONE = 2
    OPEN_ONE = 3
    CLOSED_TWO = 4
    OPEN_TWO = 5
    OPEN_TWO_GOOD = 6
    OPEN_TWO_BEST = 7
    CLOSED_THREE = 8
    OPEN_THREE = 9
    OPEN_THREE_BEST = 10
    FOUR = 11
    OPEN_FOUR = 12
    FIVE = 13


class Kind(StrEnum):
    """What stands on the board, or what a stone would make, strongest first."""

    FIVE = "five"
    OPEN_FOUR = "open four"
    DOUBLE_FOUR = "double-four"
    FOUR_THREE = "four-three"
    FOUR = "four"
    DOUBLE_THREE = "double-three"
    OPEN_THREE = "open three"
    THREE = "three"
    OPEN_TWO = "open two"

    @property
    def with_article(self) -> str:
        """`an open four`, `a four`, …"""
        return f"{'an' if self.value[0] in 'aeiou' else 'a'} {self.value}"


_FOURS = (Kind.OPEN_FOUR, Kind.DOUBLE_FOUR, Kind.FOUR_THREE, Kind.FOUR)
# Threes and twos are too many to be worth a sentence.
_SPOKEN = (Kind.FIVE, *_FOURS, Kind.DOUBLE_THREE, Kind.OPEN_THREE)


@dataclass(frozen=True, slots=True, kw_only=True)
class StandingThreat:
    """A four, an open four or an open three on the board: its owner carries it out next move unless answered."""

    colour: Colour
    kind: Kind
    """FOUR, OPEN_FOUR or OPEN_THREE."""
    stones: tuple[Point, ...]
    """The stones that make it, along their line."""
    next_points: tuple[Point, ...]
    """Where the owner carries it out: makes five of a four, an open four of a three."""
    answers: tuple[Point, ...]
    """Legal points of the other side after which this threat is gone. Counter-threats are not among them."""

    @property
    def name(self) -> str:
        """The kind with its stones: `an open three g8-h8-i8`."""
        return f"{self.kind.with_article} {'-'.join(self.stones)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """What `explain` found. Its text is one sentence a line."""

    position: Position
    standing: tuple[StandingThreat, ...]
    """Threats on the board: those against the side to move first, strongest first."""
    chances: Mapping[Colour, Mapping[Kind, tuple[Point, ...]]]
    """For each colour the points where its next stone makes something, by the best thing it makes; fouls left out."""
    fouls: Mapping[Point, Foul]
    """The points that renju forbids black, whoever is to move."""

    @property
    def against_mover(self) -> tuple[StandingThreat, ...]:
        """The standing threats that the side to move has to answer."""
        return tuple(threat for threat in self.standing if threat.colour is not self.position.to_move)

    @property
    def answers(self) -> tuple[Point, ...]:
        """The points of the side to move after which no threat stands against it any more; empty without threats."""
        threats = self.against_mover
        if not threats:
            return ()
        common = set(threats[0].answers).intersection(*(threat.answers for threat in threats))
        return tuple(point for point in threats[0].answers if point in common)

    @property
    def sentences(self) -> tuple[str, ...]:
        """The explanation in words."""
        return tuple(_sentences(self))

    def __str__(self) -> str:
        return "\n".join(self.sentences)


def explain(position: Position) -> Explanation:
    """Name the threats of a position; nothing but the result is told of a finished game.

    Serves win lengths 4 and 5; other rulesets are a `RulesetError`.

    >>> from tengen.core.contracts import Ruleset
    >>> print(explain(Position.from_moves(Ruleset(15, 15), "h8h1g8g1i8")).sentences[1])
    black has an open three g8-h8-i8; white must answer at f8 or j8
    """
    if position.ruleset.win_length not in (4, 5):
        raise RulesetError(f"threats are named for win lengths 4 and 5, not for {position.ruleset}")
    if position.is_over:
        return Explanation(position=position, standing=(), chances={colour: {} for colour in _COLOURS}, fouls={})
    board = _Board(position)
    return Explanation(
        position=position,
        standing=board.find_standing(),
        chances={colour: board.find_chances(colour) for colour in _COLOURS},
        fouls=board.fouls,
    )


class _Board:
    """The native pattern board of a position, asked in the words of this module. Points are indices here."""

    def __init__(self, position: Position) -> None:
        self._position = position
        self._ruleset = position.ruleset
        self._patterns = PatternBoard(position.native)
        self._empty = [index for index in range(position.ruleset.area) if not position.native.at(index)]
        self._shapes = {colour: self._patterns.shapes(number) for number, colour in enumerate(_COLOURS)}
        self.fouls = self._find_fouls()

    # -- chances ---------------------------------------------------------------------------------------------------

    def find_chances(self, colour: Colour) -> dict[Kind, tuple[Point, ...]]:
        found: dict[Kind, list[int]] = {kind: [] for kind in Kind}
        for index in self._empty:
            kind = self._kind_at(colour, index)
            if kind is not None:
                found[kind].append(index)
        return {kind: self._points(indices) for kind, indices in found.items() if indices}

    def _kind_at(self, colour: Colour, index: int) -> Kind | None:
        """The best thing that a stone there makes; None for nothing worth a name and for fouls."""
        shapes = [int(shape) for shape in self._shapes[colour][:, index]]
        if Shape.FIVE in shapes:
            return Kind.FIVE
        if not self._is_legal(colour, index):
            return None
        if Shape.OPEN_FOUR in shapes:
            return Kind.OPEN_FOUR
        fours = shapes.count(Shape.FOUR)
        if fours > 1:
            return Kind.DOUBLE_FOUR
        threes = self._count_open_threes(colour, index, shapes)
        if fours:
            return Kind.FOUR_THREE if threes else Kind.FOUR
        if threes:
            return Kind.DOUBLE_THREE if threes > 1 else Kind.OPEN_THREE
        best = max(shapes)
        # An open three whose open four is a foul is still a three.
        return Kind.THREE if best >= Shape.CLOSED_THREE else Kind.OPEN_TWO if best >= Shape.OPEN_TWO else None

    def _count_open_threes(self, colour: Colour, index: int, shapes: Sequence[int]) -> int:
        """How many open threes a stone there makes. In renju a three of black whose open four is a foul is none."""
        lines = [line for line, shape in enumerate(shapes) if shape in (Shape.OPEN_THREE, Shape.OPEN_THREE_BEST)]
        if not self._has_fouls(colour):
            return len(lines)
        with self._stone(colour, index):
            return sum(
                any(
                    self._shape(colour, line, four) == Shape.OPEN_FOUR and self._is_legal(colour, four)
                    for four in self._line(index, line, self._ruleset.win_length - 2)
                )
                for line in lines
            )

    # -- what stands -----------------------------------------------------------------------------------------------

    def find_standing(self) -> tuple[StandingThreat, ...]:
        mover = self._position.to_move
        kinds = list(Kind)
        found = [
            threat
            for colour in (mover.opponent, mover)
            for makes in (Shape.FIVE, Shape.OPEN_FOUR)
            for threat in self._standing_of(colour, makes)
        ]
        fours = [set(threat.stones) for threat in found if threat.kind is not Kind.OPEN_THREE]
        # Three stones of a four are no threat of their own.
        found = [
            threat
            for threat in found
            if threat.kind is not Kind.OPEN_THREE or not any(four.issuperset(threat.stones) for four in fours)
        ]
        return tuple(sorted(found, key=lambda threat: (threat.colour is mover, kinds.index(threat.kind))))

    def _standing_of(self, colour: Colour, makes: Shape) -> Iterator[StandingThreat]:
        """Fours (they make five) or open threes (they make an open four), one for each set of stones on a line."""
        groups: dict[tuple[int, tuple[int, ...]], list[int]] = {}
        for line in range(len(_STEPS)):
            for index in self._empty:
                if self._shapes[colour][line, index] == makes and (
                    makes is Shape.FIVE or self._is_legal(colour, index)
                ):
                    groups.setdefault((line, self._stones_behind(colour, line, index)), []).append(index)
        for (line, stones), points in groups.items():
            answers = self._find_answers(colour, line, points, makes)
            kind = Kind.OPEN_THREE
            if makes is Shape.FIVE:
                # What only a foul could stop is still a four.
                kind = Kind.OPEN_FOUR if len(points) > 1 and not answers else Kind.FOUR
            yield StandingThreat(
                colour=colour,
                kind=kind,
                stones=self._points(stones),
                next_points=self._points(points),
                answers=self._points(answers),
            )

    def _stones_behind(self, colour: Colour, line: int, index: int) -> tuple[int, ...]:
        """The stones with which one on `index` makes five or an open four, along the line."""
        with self._stone(colour, index):
            stones = set(self._run(colour, line, index))
            if len(stones) < self._ruleset.win_length - 1:
                # Two fours in one line, X.XXX.X, are an open four as well: their stones lie beyond the gaps.
                for five in self._line(index, line, self._ruleset.win_length - 1):
                    if self._shape(colour, line, five) == Shape.FIVE:
                        run = self._run(colour, line, five)
                        stones |= set(run) - {five} if index in run else set()
        return tuple(sorted(stones - {index}, key=lambda stone: (stone % self._ruleset.width, stone)))

    def _find_answers(self, colour: Colour, line: int, points: Sequence[int], makes: Shape) -> list[int]:
        """The legal points of the other side after which none of `points` makes that shape on the line any more."""
        answers = []
        for index in self._empty:
            if not self._is_legal(colour.opponent, index):
                continue
            with self._stone(colour.opponent, index):
                still = any(
                    point != index
                    and self._shape(colour, line, point) == makes
                    and (makes is Shape.FIVE or self._is_legal(colour, point))
                    for point in points
                )
            if not still:
                answers.append(index)
        return answers

    # -- small questions -------------------------------------------------------------------------------------------

    def _find_fouls(self) -> dict[Point, Foul]:
        if self._ruleset.rule is not Rule.RENJU:
            return {}
        native = self._position.native
        kinds = ((index, _FOULS[native.foul_at(index)]) for index in self._empty)
        return {self._point(index): foul for index, foul in kinds if foul is not None}

    def _has_fouls(self, colour: Colour) -> bool:
        return self._ruleset.rule is Rule.RENJU and colour is Colour.BLACK

    def _is_legal(self, colour: Colour, index: int) -> bool:
        return self._patterns.is_legal(_COLOURS.index(colour), index)

    def _shape(self, colour: Colour, line: int, index: int) -> int:
        """The shape on an empty point of the board as it is now; 0 on a stone."""
        return self._patterns.shape(_COLOURS.index(colour), line, index)

    @contextmanager
    def _stone(self, colour: Colour, index: int) -> Iterator[None]:
        """Put a stone of either colour for a moment, whoever is to move."""
        out_of_turn = self._patterns.to_move != _COLOURS.index(colour)
        if out_of_turn:
            self._patterns.pass_turn()
        self._patterns.make(index)
        try:
            yield
        finally:
            self._patterns.unmake()
            if out_of_turn:
                self._patterns.pass_turn()

    def _line(self, index: int, line: int, reach: int) -> list[int]:
        """The points up to `reach` steps from `index` on both sides, itself left out."""
        steps = [*range(-reach, 0), *range(1, reach + 1)]
        return [point for step in steps if (point := self._shifted(index, line, step)) is not None]

    def _shifted(self, index: int, line: int, steps: int) -> int | None:
        y, x = divmod(index, self._ruleset.width)
        x, y = x + steps * _STEPS[line][0], y + steps * _STEPS[line][1]
        return y * self._ruleset.width + x if 0 <= x < self._ruleset.width and 0 <= y < self._ruleset.height else None

    def _run(self, colour: Colour, line: int, index: int) -> list[int]:
        """`index` and the stones of that colour next to it, without a gap."""
        run = [index]
        for sign in (-1, 1):
            step = sign
            while (point := self._shifted(index, line, step)) is not None and self._patterns.at(point) == (
                1 + _COLOURS.index(colour)
            ):
                run.append(point)
                step += sign
        return run

    def _point(self, index: int) -> Point:
        return Point.from_index(index, self._ruleset.width)

    def _points(self, indices: Iterable[int]) -> tuple[Point, ...]:
        return tuple(map(self._point, indices))


# -- words ------------------------------------------------------------------------------------------------------------


def _sentences(explanation: Explanation) -> Iterator[str]:
    position = explanation.position
    if position.is_over:
        winner = position.outcome.winner
        line = f" with {'-'.join(position.winning_line)}" if position.winning_line else ""
        yield f"{position.ruleset}: {f'{winner} has won{line}' if winner else 'a draw'}"
        return
    yield f"{position.ruleset}: {position.to_move} to move"
    if position.ruleset.win_length == 4:
        yield "four in a row wins: a five below is a row of four, a four has three stones, and so on"
    mover = position.to_move
    wins = explanation.chances[mover].get(Kind.FIVE, ())
    if wins:
        yield f"{mover} wins at once with five at {_either(wins)}"
    for threat in explanation.standing:
        yield _threat_sentence(explanation, threat, wins)
    against = explanation.against_mover
    if len(against) > 1 and not wins:
        answers = explanation.answers
        yield f"{_either(answers)} answers them all" if answers else "no point answers them all"
    if not explanation.standing:
        yield "no threat stands on the board"
    for colour in (mover, mover.opponent):
        yield from _chance_sentence(explanation, colour)
    if explanation.fouls:
        yield "black may not play " + ", ".join(f"{point} ({foul})" for point, foul in explanation.fouls.items())


def _threat_sentence(explanation: Explanation, threat: StandingThreat, wins: Sequence[Point]) -> str:
    mover = explanation.position.to_move
    has = f"{threat.colour} has {threat.name}"
    carried_out = Kind.OPEN_FOUR.with_article if threat.kind is Kind.OPEN_THREE else Kind.FIVE.value
    if threat.colour is mover or wins:
        return f"{has}: {carried_out} at {_either(threat.next_points)}"
    if threat.kind is Kind.OPEN_THREE:
        fours = [point for kind in _FOURS for point in explanation.chances[mover].get(kind, ())]
        counter = f"play a four at {_either(fours)}" if fours else ""
        if not threat.answers:
            return f"{has}; {mover} cannot stop it" + (f", only {counter}" if counter else "")
        return f"{has}; {mover} must answer at {_either(threat.answers)}" + (f", or {counter}" if counter else "")
    if threat.answers:
        return f"{has}; {mover} must answer at {_either(threat.answers)}"
    foul = next((explanation.fouls[point] for point in threat.next_points if point in explanation.fouls), None)
    why = f": {threat.next_points[0]} is forbidden ({foul})" if foul is not None and mover is Colour.BLACK else ""
    return f"{has}; {mover} cannot stop five at {_either(threat.next_points)}{why}"


def _chance_sentence(explanation: Explanation, colour: Colour) -> Iterator[str]:
    chances = explanation.chances[colour]
    parts = [
        f"{kind.value if kind is Kind.FIVE else kind.with_article} at {_either(chances[kind])}"
        for kind in _SPOKEN
        if kind in chances
    ]
    if parts:
        yield f"{colour} can make {'; '.join(parts)}"


def _either(points: Sequence[Point]) -> str:
    """`f8`, `f8 or j8`, `f8, j8 or k8`."""
    if len(points) > _MAX_NAMED:
        return f"{', '.join(points[:_MAX_NAMED])} or {len(points) - _MAX_NAMED} other points"
    return " or ".join(filter(None, (", ".join(points[:-1]), points[-1])))
