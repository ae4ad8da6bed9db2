"""Judges a player's moves in a puzzle and replies to them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from tengen.core.contracts import Limits
from tengen.core.geometry import Point
from tengen.core.position import Position
from tengen.errors import InputError
from tengen.patterns.explain import explain
from tengen.puzzles.lines import PROOF_NODES, defences, fives_of, last_stand, solve_defence, to_the_five
from tengen.puzzles.puzzle import Puzzle, PuzzleKind
from tengen.search.threats import ThreatKind, Verdict, solve_threats

_JUDGE_NODES = {ThreatKind.VCF: 5_000, ThreatKind.VCT: 8_000}
"""Node limits for judging a move that is not in the solution; if one is reached, the move counts as right."""


class TryVerdict(StrEnum):
    """The verdict on a move in a puzzle."""

    RIGHT = "right"
    """The move keeps the win; the defender replies."""
    SOLVED = "solved"
    """The move wins or, in a defence, stops every attack."""
    WRONG = "wrong"


@dataclass(frozen=True, slots=True, kw_only=True)
class TryResult:
    """The result of an attempt."""

    verdict: TryVerdict
    reply: Point | None
    """The defender's reply; after a wrong move, the refutation."""
    reason: str
    refutation: tuple[Point, ...] = ()
    """After a wrong move, how the opponent wins or stops the attack, starting with the reply."""


def judge_try(puzzle: Puzzle, moves: Sequence[str]) -> TryResult:
    """Judge the last of the moves played in a puzzle; attacker and defender alternate.

    After the first move, every move that keeps a win by threats of the given kind is right, not only the move in the
    solution. An attack is solved when the attacker makes five. A defence puzzle has only one move.
    """
    if puzzle.kind is PuzzleKind.DEFENCE:
        return _judge_defence(puzzle, moves)
    if len(moves) % 2 == 0:
        raise InputError(f"the attacker must make the last move, so the number of moves must be odd, not {len(moves)}")
    before = puzzle.position()
    for move in moves[:-1]:
        before = before.play(move)
    attacker = before.to_move
    after = before.play(moves[-1])
    if after.is_over:
        if after.outcome.winner is attacker:
            return TryResult(verdict=TryVerdict.SOLVED, reply=None, reason="five in a row")
        return TryResult(verdict=TryVerdict.WRONG, reply=None, reason="that does not win")
    if not _is_threat(after, puzzle.kind.threats):
        wanted = "a four" if puzzle.kind is PuzzleKind.VCF else "a threat"
        return _wrong(after, f"that is not {wanted}")
    line = [str(point) for point in puzzle.line()]
    if len(moves) < len(line) and line[: len(moves)] == list(moves):  # proved when the puzzle was created
        return TryResult(verdict=TryVerdict.RIGHT, reply=Point(line[len(moves)]), reason="")
    return _defend(puzzle, after)


def _judge_defence(puzzle: Puzzle, moves: Sequence[str]) -> TryResult:
    if len(moves) != 1:
        raise InputError(f"a defence puzzle takes exactly one move, not {len(moves)}")
    after = puzzle.position().play(moves[0])
    if after.is_over or moves[0] == puzzle.solution:
        return TryResult(verdict=TryVerdict.SOLVED, reply=None, reason="that stops every attack")
    for kind in ThreatKind:
        found = solve_defence(after, kind)
        if found.verdict is Verdict.WIN:
            line = to_the_five(after, found.line, kind)
            return TryResult(verdict=TryVerdict.WRONG, reply=line[0], reason=f"{line[0]} wins", refutation=line)
    return TryResult(verdict=TryVerdict.SOLVED, reply=None, reason="that stops every attack")


def _wrong(after: Position, reason: str) -> TryResult:
    """Return the verdict on a wrong move; its refutation is a forced win of the opponent, if there is one."""
    found = solve_threats(after, ThreatKind.VCF, Limits(nodes=PROOF_NODES))
    line = to_the_five(after, found.line, ThreatKind.VCF) if found.verdict is Verdict.WIN else ()
    return TryResult(verdict=TryVerdict.WRONG, reply=line[0] if line else None, reason=reason, refutation=line)


def _defend(puzzle: Puzzle, position: Position) -> TryResult:
    """Reply with a refutation if there is one, otherwise with the defence that holds out longest."""
    toughest: Point | None = None
    longest = -1
    for defence in defences(position):
        answered = position.play(defence)
        if answered.is_over:
            return TryResult(
                verdict=TryVerdict.WRONG, reply=defence, reason=f"{defence} wins first", refutation=(defence,)
            )
        kind = puzzle.kind.threats
        found = solve_threats(answered, kind, Limits(nodes=_JUDGE_NODES[kind]))
        if found.verdict is Verdict.NO_WIN:
            return TryResult(
                verdict=TryVerdict.WRONG, reply=defence, reason=f"{defence} stops the attack", refutation=(defence,)
            )
        if len(found.line) > longest:
            toughest, longest = defence, len(found.line)
    return TryResult(verdict=TryVerdict.RIGHT, reply=toughest or last_stand(position), reason="")


def _is_threat(position: Position, kind: ThreatKind) -> bool:
    """Whether the last move made a threat of the given kind."""
    attacker = position.to_move.opponent
    if fives_of(position, attacker):
        return True
    if kind is ThreatKind.VCF:
        return False
    standing = explain(position).against_mover
    if standing:
        return True
    limits = Limits(nodes=_JUDGE_NODES[ThreatKind.VCF])
    return solve_threats(position, ThreatKind.VCF, limits, for_side=attacker).verdict is not Verdict.NO_WIN
