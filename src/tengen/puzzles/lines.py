"""Threats, defences and lines of play for puzzles."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from tengen.core.contracts import Colour, Limits
from tengen.core.geometry import Point
from tengen.core.native_enums import colour_to_native
from tengen.core.position import Position
from tengen.patterns.explain import Kind, explain
from tengen.search.threats import ThreatKind, ThreatResult, Verdict, solve_threats

PROOF_NODES = 10_000
"""Node limit per search in a defence puzzle; a puzzle is used only if no search reaches it."""
_MAX_QUIET_DEFENCES = 12
"""Maximum number of nearby points to try as defences if no single stone answers all threats."""
_MAX_LINE = 80
"""Maximum length of a line that is played out to the five."""
_FOURS = (Kind.OPEN_FOUR, Kind.DOUBLE_FOUR, Kind.FOUR_THREE, Kind.FOUR)


def defences(position: Position) -> Iterator[Point]:
    """Yield the replies worth trying against a threat."""
    defender = position.to_move
    yield from fives_of(position, defender)
    fives = fives_of(position, defender.opponent)
    if fives:
        yield from (fives if len(fives) == 1 and position.is_legal(fives[0]) else ())
        return
    explanation = explain(position)
    answers = explanation.answers
    yield from answers
    chances = explanation.chances[defender]
    yield from (point for one in _FOURS for point in chances.get(one, ()) if point not in answers)
    if not answers:
        yield from near_stones(position)[:_MAX_QUIET_DEFENCES]


def fives_of(position: Position, colour: Colour) -> list[Point]:
    """Return the points where a stone of the colour wins, regardless of the side to move."""
    board, number = position.native, colour_to_native(colour)
    empty: list[int] = np.flatnonzero(position.cells().ravel() == 0).tolist()
    return [Point.from_index(index, position.ruleset.width) for index in empty if board.would_win(index, number)]


def near_stones(position: Position, reach: int = 2) -> list[Point]:
    """Return the legal points at most `reach` points away from a stone."""
    stones = [point for colour in Colour for point in position.points_of(colour)]
    return [
        point
        for point in position.legal_points()
        if any(max(abs(point.x - stone.x), abs(point.y - stone.y)) <= reach for stone in stones)
    ]


def last_stand(position: Position) -> Point:
    """Return a reply to a move that cannot be stopped: a point where a five is threatened, or any legal point."""
    fives = [point for point in fives_of(position, position.to_move.opponent) if position.is_legal(point)]
    return (fives or near_stones(position) or list(position.legal_points()))[0]


def to_the_five(position: Position, line: Sequence[Point], kind: ThreatKind) -> tuple[Point, ...]:
    """Return a winning line of the side to move, continued until the five."""
    attacker = position.to_move
    moves: list[Point] = []
    for move in line:
        position = position.play(move)
        moves.append(move)
    while not position.is_over and len(moves) < _MAX_LINE:
        if position.to_move is attacker:
            found = solve_threats(position, kind, Limits(nodes=PROOF_NODES))
            if found.verdict is not Verdict.WIN:
                break
            move = found.line[0]
        else:
            move = next(defences(position), None) or last_stand(position)
        position = position.play(move)
        moves.append(move)
    return tuple(moves)


def until_unstoppable(position: Position, line: tuple[Point, ...]) -> tuple[Point, ...]:
    """Return the line up to the attacker's first move that has no answer, such as an open four."""
    for ply, move in enumerate(line):
        position = position.play(move)
        if ply % 2 == 0 and (position.is_over or not any(True for _ in defences(position))):
            return line[: ply + 1]
    return line


def solve_defence(position: Position, kind: ThreatKind, attacker: Colour | None = None) -> ThreatResult:
    """Search for a win of the attacker (default: the side to move), with the node limit of defence puzzles."""
    return solve_threats(position, kind, Limits(nodes=PROOF_NODES), for_side=attacker)
