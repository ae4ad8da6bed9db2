"""Static explanation of the threats in a position, as data and as sentences.

For each colour, the explanation lists the *standing* threats, which are already on the board. With the next move, a
four becomes a five, and an open three becomes an open four. Each threat includes the points that answer it. The
*chances* are the shapes that one more stone would make on each empty point. The terms are those of
docs/reference/rules.md. With win length four, "five" still means the winning row, and "four" means one stone fewer.

This module does not search; `tengen.search` determines whether a threat wins.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from tengen._native import LineShape, PatternBoard
from tengen.core.contracts import Colour, Foul, Rule
from tengen.core.geometry import Point
from tengen.core.native_enums import colour_to_native, foul_from_native
from tengen.core.position import Position
from tengen.errors import RulesetError

_STEPS = ((1, 0), (0, 1), (1, 1), (1, -1))
"""The four directions in the order of the native tables: along a row, along a column, the two diagonals."""
_MAX_NAMED = 12
"""Maximum number of points that a sentence names; the rest are only counted."""


class Kind(StrEnum):
    """A shape on the board, or one that a stone would make, strongest first."""

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
        """The name with its article, such as `an open four`."""
        return f"{'an' if self.value[0] in 'aeiou' else 'a'} {self.value}"


_FOURS = (Kind.OPEN_FOUR, Kind.DOUBLE_FOUR, Kind.FOUR_THREE, Kind.FOUR)
# Closed threes and twos are too frequent to be worth a sentence.
_MENTIONED = (Kind.FIVE, *_FOURS, Kind.DOUBLE_THREE, Kind.OPEN_THREE)


@dataclass(frozen=True, slots=True, kw_only=True)
class StandingThreat:
    """A four, an open four or an open three on the board, which its owner completes next unless it is answered."""

    colour: Colour
    kind: Kind
    """FOUR, OPEN_FOUR or OPEN_THREE."""
    stones: tuple[Point, ...]
    """The stones of the threat, in order along their line."""
    next_points: tuple[Point, ...]
    """The points where the owner turns a four into a five, or an open three into an open four."""
    answers: tuple[Point, ...]
    """Legal points where the other side removes this threat. Counter-threats are not included."""

    @property
    def name(self) -> str:
        """The kind and the stones, such as `an open three g8-h8-i8`."""
        return f"{self.kind.with_article} {'-'.join(self.stones)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """The result of `explain`. Its string form has one sentence per line."""

    position: Position
    standing: tuple[StandingThreat, ...]
    """Threats on the board: first those against the side to move, each group strongest first."""
    chances: Mapping[Colour, Mapping[Kind, tuple[Point, ...]]]
    """For each colour, the points where its next stone makes a shape, grouped by the best kind; fouls are omitted."""
    fouls: Mapping[Point, Foul]
    """The points that are forbidden for black in renju, regardless of the side to move."""

    @property
    def against_mover(self) -> tuple[StandingThreat, ...]:
        """The standing threats that the side to move has to answer."""
        return tuple(threat for threat in self.standing if threat.colour is not self.position.to_move)

    @property
    def answers(self) -> tuple[Point, ...]:
        """The points that answer all threats against the side to move; may be empty."""
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
    """Explain the threats in a position; for a finished game, only its result.

    Supports only win lengths 4 and 5; raises `RulesetError` otherwise.

    >>> from tengen.core.contracts import Ruleset
    >>> print(explain(Position.from_moves(Ruleset(15, 15), "h8h1g8g1i8")).sentences[1])
    black has an open three g8-h8-i8; white must answer at f8 or j8
    """
    if position.ruleset.win_length not in (4, 5):
        raise RulesetError(f"cannot explain threats for {position.ruleset}: the win length must be 4 or 5")
    if position.is_over:
        return Explanation(position=position, standing=(), chances={colour: {} for colour in Colour}, fouls={})
    board = _Board(position)
    return Explanation(
        position=position,
        standing=board.find_standing(),
        chances={colour: board.find_chances(colour) for colour in Colour},
        fouls=board.fouls,
    )


def shape_of_move(position: Position, point: Point) -> Kind | None:
    """Return the strongest shape that the side to move makes with a stone on an empty point; None if it has no name.

    Supports only win lengths 4 and 5; raises `RulesetError` otherwise.
    """
    if position.ruleset.win_length not in (4, 5):
        raise RulesetError(f"cannot explain threats for {position.ruleset}: the win length must be 4 or 5")
    return _Board(position).kind_at(position.to_move, point.index(position.ruleset.width))


def describe_purpose(position: Position, point: Point) -> str:
    """Describe the shape that the side to move makes with a stone on a point, and the opponent's shape it prevents.

    Returns an empty string if neither shape has a name, or if the win length is not 4 or 5.

    >>> from tengen.core.contracts import Ruleset
    >>> describe_purpose(Position.from_moves(Ruleset(15, 15), "h8a1i8a2j8a3"), Point("k8"))
    'makes an open four'
    """
    if position.ruleset.win_length not in (4, 5):
        return ""
    index, board = point.index(position.ruleset.width), _Board(position)
    own, other = (board.kind_at(colour, index) for colour in (position.to_move, position.to_move.opponent))
    parts = [f"makes {own.with_article}"] if own is not None else []
    parts += [f"stops {other.with_article}"] if other is not None else []
    return ", ".join(parts)


def winning_shape(position: Position) -> Kind | None:
    """Return the shape that decided a game that ended with a five; None if there is no such shape.

    If a four-three or a double-three became an open four with the next stone, the earlier shape is returned.

    >>> from tengen.core.contracts import Ruleset
    >>> winning_shape(Position.from_moves(Ruleset(15, 15), "h8a1i8o15j8a15k8a14l8"))
    <Kind.OPEN_FOUR: 'open four'>
    """
    moves = position.moves
    if not position.winning_line or position.ruleset.win_length not in (4, 5) or len(moves) < 3:
        return None
    shape = shape_of_move(position.undo(3), moves[-3])
    if shape is Kind.OPEN_FOUR and len(moves) >= 5:
        earlier = shape_of_move(position.undo(5), moves[-5])
        if earlier in (Kind.FOUR_THREE, Kind.DOUBLE_THREE):
            return earlier
    return shape if shape in _FOURS else None


class _Board:
    """The native pattern board with this module's types. In this class, points are indices."""

    def __init__(self, position: Position) -> None:
        self._position = position
        self._ruleset = position.ruleset
        self._patterns = PatternBoard(position.native)
        self._empty = [index for index in range(position.ruleset.area) if not position.native.at(index)]
        self._shapes = {colour: self._patterns.shapes(colour_to_native(colour)) for colour in Colour}
        self.fouls = self._find_fouls()

    # -- chances ---------------------------------------------------------------------------------------------------

    def find_chances(self, colour: Colour) -> dict[Kind, tuple[Point, ...]]:
        found: dict[Kind, list[int]] = {kind: [] for kind in Kind}
        for index in self._empty:
            kind = self.kind_at(colour, index)
            if kind is not None:
                found[kind].append(index)
        return {kind: self._points(indices) for kind, indices in found.items() if indices}

    def kind_at(self, colour: Colour, index: int) -> Kind | None:
        """Return the best kind that a stone on `index` makes; None for fouls and for shapes without a name."""
        shapes = [int(shape) for shape in self._shapes[colour][:, index]]
        if LineShape.FIVE in shapes:
            return Kind.FIVE
        if not self._is_legal(colour, index):
            return None
        if LineShape.OPEN_FOUR in shapes:
            return Kind.OPEN_FOUR
        fours = shapes.count(LineShape.FOUR)
        if fours > 1:
            return Kind.DOUBLE_FOUR
        threes = self._count_open_threes(colour, index, shapes)
        if fours:
            return Kind.FOUR_THREE if threes else Kind.FOUR
        if threes:
            return Kind.DOUBLE_THREE if threes > 1 else Kind.OPEN_THREE
        best = max(shapes)
        # An open three whose open four would be a foul counts as a plain three.
        return Kind.THREE if best >= LineShape.CLOSED_THREE else Kind.OPEN_TWO if best >= LineShape.OPEN_TWO else None

    def _count_open_threes(self, colour: Colour, index: int, shapes: Sequence[int]) -> int:
        """Count the open threes that a stone on `index` makes; for black in renju, only if the open four is legal."""
        lines = [
            line for line, shape in enumerate(shapes) if shape in (LineShape.OPEN_THREE, LineShape.OPEN_THREE_BEST)
        ]
        if not self._has_fouls(colour):
            return len(lines)
        with self._stone(colour, index):
            return sum(
                any(
                    self._shape(colour, line, four) == LineShape.OPEN_FOUR and self._is_legal(colour, four)
                    for four in self._line(index, line, self._ruleset.win_length - 2)
                )
                for line in lines
            )

    # -- standing threats ------------------------------------------------------------------------------------------

    def find_standing(self) -> tuple[StandingThreat, ...]:
        mover = self._position.to_move
        kinds = list(Kind)
        found = [
            threat
            for colour in (mover.opponent, mover)
            for makes in (LineShape.FIVE, LineShape.OPEN_FOUR)
            for threat in self._standing_of(colour, makes)
        ]
        fours = [set(threat.stones) for threat in found if threat.kind is not Kind.OPEN_THREE]
        # Drop open threes whose stones are part of a four.
        found = [
            threat
            for threat in found
            if threat.kind is not Kind.OPEN_THREE or not any(four.issuperset(threat.stones) for four in fours)
        ]
        return tuple(sorted(found, key=lambda threat: (threat.colour is mover, kinds.index(threat.kind))))

    def _standing_of(self, colour: Colour, makes: LineShape) -> Iterator[StandingThreat]:
        """Find the fours (`makes` is FIVE) or open threes (OPEN_FOUR), one per set of stones on a line."""
        groups: dict[tuple[int, tuple[int, ...]], list[int]] = {}
        for line in range(len(_STEPS)):
            # The tables contain no shapes for occupied points.
            for index in np.flatnonzero(self._shapes[colour][line] == makes.value).tolist():
                if makes is LineShape.FIVE or self._is_legal(colour, index):
                    groups.setdefault((line, self._stones_behind(colour, line, index)), []).append(index)
        for (line, stones), points in groups.items():
            answers = self._find_answers(colour, line, points, makes)
            kind = Kind.OPEN_THREE
            if makes is LineShape.FIVE:
                # A four with one completing point stays a four even if the only answer is a foul.
                kind = Kind.OPEN_FOUR if len(points) > 1 and not answers else Kind.FOUR
            yield StandingThreat(
                colour=colour,
                kind=kind,
                stones=self._points(stones),
                next_points=self._points(points),
                answers=self._points(answers),
            )

    def _stones_behind(self, colour: Colour, line: int, index: int) -> tuple[int, ...]:
        """Return the stones on the line that form a five or an open four together with a stone on `index`."""
        with self._stone(colour, index):
            stones = set(self._run(colour, line, index))
            if len(stones) < self._ruleset.win_length - 1:
                # Two fours in one line, X.XXX.X, also count as an open four; include the stones beyond the gaps.
                for five in self._line(index, line, self._ruleset.win_length - 1):
                    if self._shape(colour, line, five) == LineShape.FIVE:
                        run = self._run(colour, line, five)
                        stones |= set(run) - {five} if index in run else set()
        return tuple(sorted(stones - {index}, key=lambda stone: (stone % self._ruleset.width, stone)))

    def _find_answers(self, colour: Colour, line: int, points: Sequence[int], makes: LineShape) -> list[int]:
        """Return the other side's legal moves after which no point in `points` makes the shape on the line."""
        answers = []
        for index in self._empty:
            if not self._is_legal(colour.opponent, index):
                continue
            with self._stone(colour.opponent, index):
                still = any(
                    point != index
                    and self._shape(colour, line, point) == makes
                    and (makes is LineShape.FIVE or self._is_legal(colour, point))
                    for point in points
                )
            if not still:
                answers.append(index)
        return answers

    # -- helpers ---------------------------------------------------------------------------------------------------

    def _find_fouls(self) -> dict[Point, Foul]:
        if self._ruleset.rule is not Rule.RENJU:
            return {}
        native = self._position.native
        kinds = ((index, foul_from_native(native.foul_at(index))) for index in self._empty)
        return {self._point(index): foul for index, foul in kinds if foul is not None}

    def _has_fouls(self, colour: Colour) -> bool:
        return self._ruleset.rule is Rule.RENJU and colour is Colour.BLACK

    def _is_legal(self, colour: Colour, index: int) -> bool:
        return self._patterns.is_legal(colour_to_native(colour), index)

    def _shape(self, colour: Colour, line: int, index: int) -> LineShape:
        """Return the current shape of a point; 0 if the point is occupied."""
        return self._patterns.shape(colour_to_native(colour), line, index)

    @contextmanager
    def _stone(self, colour: Colour, index: int) -> Iterator[None]:
        """Temporarily place a stone of either colour, regardless of the side to move."""
        out_of_turn = self._patterns.to_move != colour_to_native(colour)
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
        """Return the points up to `reach` steps from `index` in both directions, excluding `index` itself."""
        steps = [*range(-reach, 0), *range(1, reach + 1)]
        return [point for step in steps if (point := self._shifted(index, line, step)) is not None]

    def _shifted(self, index: int, line: int, steps: int) -> int | None:
        y, x = divmod(index, self._ruleset.width)
        x, y = x + steps * _STEPS[line][0], y + steps * _STEPS[line][1]
        return y * self._ruleset.width + x if 0 <= x < self._ruleset.width and 0 <= y < self._ruleset.height else None

    def _run(self, colour: Colour, line: int, index: int) -> list[int]:
        """Return `index` and the contiguous stones of the colour on both sides of it."""
        run = [index]
        for sign in (-1, 1):
            step = sign
            while (point := self._shifted(index, line, step)) is not None and self._patterns.at(point) == (
                1 + colour_to_native(colour)
            ):
                run.append(point)
                step += sign
        return run

    def _point(self, index: int) -> Point:
        return Point.from_index(index, self._ruleset.width)

    def _points(self, indices: Iterable[int]) -> tuple[Point, ...]:
        return tuple(map(self._point, indices))


# -- sentences --------------------------------------------------------------------------------------------------------


def _sentences(explanation: Explanation) -> Iterator[str]:
    position = explanation.position
    if position.is_over:
        winner = position.outcome.winner
        line = f" with {'-'.join(position.winning_line)}" if position.winning_line else ""
        yield f"{position.ruleset}: {f'{winner} has won{line}' if winner else 'a draw'}"
        return
    yield f"{position.ruleset}: {position.to_move} to move"
    if position.ruleset.win_length == 4:
        yield "four in a row wins: below, a five is a row of four stones, a four has three stones, and so on"
    mover = position.to_move
    wins = explanation.chances[mover].get(Kind.FIVE, ())
    if wins:
        yield f"{mover} wins immediately with five at {_either(wins)}"
    for threat in explanation.standing:
        yield _threat_sentence(explanation, threat, wins)
    against = explanation.against_mover
    if len(against) > 1 and not wins:
        answers = explanation.answers
        yield f"{_either(answers)} answers them all" if answers else "no point answers them all"
    if not explanation.standing:
        yield "there are no threats on the board"
    for colour in (mover, mover.opponent):
        yield from _chance_sentence(explanation, colour)
    if explanation.fouls:
        yield "black may not play " + ", ".join(f"{point} ({foul})" for point, foul in explanation.fouls.items())


def _threat_sentence(explanation: Explanation, threat: StandingThreat, wins: Sequence[Point]) -> str:
    mover = explanation.position.to_move
    has = f"{threat.colour} has {threat.name}"
    completion = Kind.OPEN_FOUR.with_article if threat.kind is Kind.OPEN_THREE else Kind.FIVE.value
    if threat.colour is mover or wins:
        return f"{has}: {completion} at {_either(threat.next_points)}"
    if threat.kind is Kind.OPEN_THREE:
        fours = [point for kind in _FOURS for point in explanation.chances[mover].get(kind, ())]
        counter = f"play a four at {_either(fours)}" if fours else ""
        if not threat.answers:
            return f"{has}; {mover} cannot stop it" + (f" but can {counter}" if counter else "")
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
        for kind in _MENTIONED
        if kind in chances
    ]
    if parts:
        yield f"{colour} can make {'; '.join(parts)}"


def _either(points: Sequence[Point]) -> str:
    """Join points as in `f8`, `f8 or j8`, `f8, j8 or k8`."""
    if len(points) > _MAX_NAMED:
        return f"{', '.join(points[:_MAX_NAMED])} or {len(points) - _MAX_NAMED} other points"
    return " or ".join(filter(None, (", ".join(points[:-1]), points[-1])))
