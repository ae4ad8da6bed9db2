"""Reasons why a move is bad or good, as data and as English sentences about threats.

A reason states only facts that are visible on the board or that a solver has proved. Its sentence is a predicate whose
subject is the move: "misses a four-three at f6, which wins in 3 moves".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

from tengen.core.contracts import Colour, Limits
from tengen.core.geometry import Point
from tengen.core.position import Position
from tengen.patterns.explain import Explanation, Kind, StandingThreat, explain
from tengen.review.assess import Assessment, Effort, ForcedWin
from tengen.search.threats import ThreatKind, Verdict, solve_threats

_DECISIVE = (Kind.OPEN_FOUR, Kind.DOUBLE_FOUR, Kind.FOUR_THREE, Kind.DOUBLE_THREE)
"""Shapes that describe a win better than its length does."""
_NOTABLE = (*_DECISIVE, Kind.FOUR, Kind.OPEN_THREE)
_MODEST = (Kind.THREE, Kind.OPEN_TWO)
"""Shapes to mention if no other reason applies."""


class ReasonKind(StrEnum):
    """Kind of reason: a fault of a move, or a purpose that it serves."""

    MISSES_FIVE = "misses-five"
    IGNORES_FOUR = "ignores-four"
    MISSES_SHAPE = "misses-shape"
    MISSES_FOURS = "misses-fours"
    MISSES_THREATS = "misses-threats"
    IGNORES_THREE = "ignores-three"
    LETS_SHAPE = "lets-shape"
    LETS_FOURS = "lets-fours"
    LETS_THREATS = "lets-threats"
    BETTER = "better"
    MAKES_FIVE = "makes-five"
    STOPS_FOUR = "stops-four"
    WINS_SHAPE = "wins-shape"
    WINS_FOURS = "wins-fours"
    WINS_THREATS = "wins-threats"
    STOPS_THREE = "stops-three"
    STOPS_FOURS = "stops-fours"
    STOPS_THREATS = "stops-threats"
    MAKES_SHAPE = "makes-shape"
    TAKES_SHAPE = "takes-shape"
    SEARCH = "search"


SENTENCES: Mapping[ReasonKind, str] = MappingProxyType(
    {
        ReasonKind.MISSES_FIVE: "misses five in a row at {point}",
        ReasonKind.IGNORES_FOUR: "ignores the four {stones}: {colour} makes five at {point}",
        ReasonKind.MISSES_SHAPE: "misses {shape} at {point}, which wins in {moves} moves",
        ReasonKind.MISSES_FOURS: "misses a win by continuous fours in {moves} moves, starting at {point}",
        ReasonKind.MISSES_THREATS: "misses a win by continuous threats in {moves} moves, starting at {point}",
        ReasonKind.IGNORES_THREE: "ignores the open three {stones}: {colour} wins in {moves} moves",
        ReasonKind.LETS_SHAPE: "lets {colour} make {shape} at {point} and win in {moves} moves",
        ReasonKind.LETS_FOURS: "lets {colour} win by continuous fours in {moves} moves",
        ReasonKind.LETS_THREATS: "lets {colour} win by continuous threats in {moves} moves",
        ReasonKind.BETTER: "is worse than {point}, which {why}",
        ReasonKind.MAKES_FIVE: "makes five in a row",
        ReasonKind.STOPS_FOUR: "stops the four {stones}",
        ReasonKind.WINS_SHAPE: "makes {shape} and wins in {moves} moves",
        ReasonKind.WINS_FOURS: "wins by continuous fours in {moves} moves",
        ReasonKind.WINS_THREATS: "wins by continuous threats in {moves} moves",
        ReasonKind.STOPS_THREE: "answers the open three {stones}",
        ReasonKind.STOPS_FOURS: "stops {colour} from winning by continuous fours",
        ReasonKind.STOPS_THREATS: "stops {colour} from winning by continuous threats",
        ReasonKind.MAKES_SHAPE: "makes {shape}",
        ReasonKind.TAKES_SHAPE: "takes the point where {colour} could make {shape}",
        ReasonKind.SEARCH: "is the best move that the search found",
    }
)
"""The English sentences. The web pages have the same texts, with a translation of each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """A reason; which fields are set depends on the placeholders of its sentence."""

    kind: ReasonKind
    colour: Colour | None = None
    """The side that gains from the mistake, or whose threat is stopped."""
    point: Point | None = None
    shape: Kind | None = None
    stones: tuple[Point, ...] = ()
    moves: int | None = None
    """Number of moves by the winning side."""
    why: Reason | None = None
    """Why the better move is better."""

    @property
    def sentence(self) -> str:
        """The reason in English, without an initial capital or a full stop."""
        return SENTENCES[self.kind].format(
            colour=self.colour,
            point=self.point,
            shape="" if self.shape is None else self.shape.with_article,
            stones="-".join(self.stones),
            moves=self.moves,
            why="" if self.why is None else self.why.sentence,
        )


def reason_against(
    position: Position, move: Point, before: Assessment, after: Assessment, better: Point, effort: Effort
) -> Reason:
    """Return the reason why a move is bad, given the assessments before and after it and a better move."""
    if not _has_patterns(position):
        return _worse(position, better, before, effort)
    mover = position.to_move
    found = explain(position)
    fives = found.chances[mover].get(Kind.FIVE, ())
    if fives:
        return Reason(kind=ReasonKind.MISSES_FIVE, point=fives[0])
    four = _unanswered(found, (Kind.FOUR, Kind.OPEN_FOUR), move)
    if four is not None and four.answers:
        return Reason(
            kind=ReasonKind.IGNORES_FOUR, colour=mover.opponent, stones=four.stones, point=four.next_points[0]
        )
    if before.win is not None:
        return _of_win(found, before.win, "misses")
    if after.win is not None:
        three = _unanswered(found, (Kind.OPEN_THREE,), move)
        if three is not None and after.win.kind is ThreatKind.VCF and after.win.line[0] in three.next_points:
            return Reason(
                kind=ReasonKind.IGNORES_THREE,
                colour=mover.opponent,
                stones=three.stones,
                moves=after.win.moves,
            )
        return _of_win(explain(position.play(move)), after.win, "lets")
    return _worse(position, better, before, effort)


def reason_to_play(position: Position, move: Point, assessment: Assessment, effort: Effort) -> Reason:
    """Return the reason to play a move, given the assessment of the position before it."""
    if not _has_patterns(position):
        return Reason(kind=ReasonKind.SEARCH)
    mover = position.to_move
    found = explain(position)
    if move in found.chances[mover].get(Kind.FIVE, ()):
        return Reason(kind=ReasonKind.MAKES_FIVE)
    four = _answered(found, (Kind.FOUR, Kind.OPEN_FOUR), move)
    if four is not None:
        return Reason(kind=ReasonKind.STOPS_FOUR, stones=four.stones)
    if assessment.win is not None and assessment.win.line[0] == move:
        return _of_win(found, assessment.win, "wins")
    if assessment.threat is not None and _stops(position, move, assessment.threat, effort):
        three = _answered(found, (Kind.OPEN_THREE,), move)
        if three is not None:
            return Reason(kind=ReasonKind.STOPS_THREE, stones=three.stones)
        kind = ReasonKind.STOPS_FOURS if assessment.threat.kind is ThreatKind.VCF else ReasonKind.STOPS_THREATS
        return Reason(kind=kind, colour=mover.opponent)
    own, others = (_shape_at(found, colour, move) for colour in (mover, mover.opponent))
    for shapes in (_NOTABLE, _MODEST):
        if own in shapes:
            return Reason(kind=ReasonKind.MAKES_SHAPE, shape=own)
        if others in shapes:
            return Reason(kind=ReasonKind.TAKES_SHAPE, colour=mover.opponent, shape=others)
    return Reason(kind=ReasonKind.SEARCH)


def _worse(position: Position, better: Point, before: Assessment, effort: Effort) -> Reason:
    return Reason(kind=ReasonKind.BETTER, point=better, why=reason_to_play(position, better, before, effort))


def _of_win(found: Explanation, win: ForcedWin, verb: str) -> Reason:
    """Return the reason for a forced win; `verb` is the first word of the kind: `misses`, `lets` or `wins`."""
    shape = _shape_at(found, win.attacker, win.line[0])
    noun = "shape" if shape in _DECISIVE else "fours" if win.kind is ThreatKind.VCF else "threats"
    return Reason(
        kind=ReasonKind(f"{verb}-{noun}"),
        colour=win.attacker,
        point=win.line[0],
        shape=shape if noun == "shape" else None,
        moves=win.moves,
    )


def _shape_at(found: Explanation, colour: Colour, point: Point) -> Kind | None:
    return next((kind for kind, points in found.chances[colour].items() if point in points), None)


def _unanswered(found: Explanation, kinds: tuple[Kind, ...], move: Point) -> StandingThreat | None:
    return next((one for one in found.against_mover if one.kind in kinds and move not in one.answers), None)


def _answered(found: Explanation, kinds: tuple[Kind, ...], move: Point) -> StandingThreat | None:
    return next((one for one in found.against_mover if one.kind in kinds and move in one.answers), None)


def _stops(position: Position, move: Point, threat: ForcedWin, effort: Effort) -> bool:
    """Whether the solver proves that the attacker has no win by this kind of threat after the move."""
    after = position.play(move)
    if after.is_over:
        return False
    return solve_threats(after, threat.kind, Limits(nodes=effort.solver_nodes(threat.kind))).verdict is Verdict.NO_WIN


def _has_patterns(position: Position) -> bool:
    return position.ruleset.win_length in (4, 5)
