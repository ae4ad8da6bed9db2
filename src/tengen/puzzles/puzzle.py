"""Puzzles, their themes and their files.

An attack has exactly one first move that wins by threats of its kind: by continuous fours (VCF) or threats (VCT). The
solver proves that this move wins against all defences, and that no other first move does. In a defence, the opponent
threatens to win by continuous fours. The solver proves that all moves except one lose to continuous fours or threats,
and that this move stops both.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from enum import StrEnum

from tengen.core.contracts import Colour, Ruleset
from tengen.core.geometry import Point, parse_points
from tengen.core.position import Position
from tengen.errors import NotationError
from tengen.puzzles.lines import fives_of, to_the_five
from tengen.search.threats import ThreatKind


class PuzzleKind(StrEnum):
    """Task for the side to move."""

    VCF = "vcf"
    """Win by continuous fours."""
    VCT = "vct"
    """Win by continuous threats."""
    DEFENCE = "defence"
    """Find the only move that does not lose by continuous fours or threats."""

    @property
    def threats(self) -> ThreatKind:
        """The kind of threats that the attacker may use."""
        return ThreatKind.VCF if self is PuzzleKind.VCF else ThreatKind.VCT


class Theme(StrEnum):
    """Theme of a puzzle."""

    FOURS = "fours"
    THREES = "threes"
    DEFENCE = "defence"
    FOULS = "fouls"
    """White wins because renju forbids black the point that would stop a four."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Puzzle:
    """A position in which exactly one move is right."""

    id: str
    kind: PuzzleKind
    rules: str
    moves: str
    """The moves of the game up to the position, such as `h8i9j10`."""
    solution: str
    """The attacker's moves and one reply to each, up to a move that has no answer; for a defence, the only move."""
    depth: int
    """Number of moves by the attacker in the solution, or in the win that a defence prevents."""
    grade: int
    """Difficulty from 1 (easy) to 5, derived from the depth."""

    def position(self) -> Position:
        """Return the position to solve."""
        return Position.from_moves(Ruleset.parse(self.rules), self.moves)

    def line(self) -> tuple[Point, ...]:
        """Return the solution as points."""
        return parse_points(self.solution)

    def full_line(self) -> tuple[Point, ...]:
        """Return the solution of an attack up to the five; for a defence, only its move."""
        if self.kind is PuzzleKind.DEFENCE:
            return self.line()
        return to_the_five(self.position(), self.line(), self.kind.threats)

    def themes(self) -> frozenset[Theme]:
        """Return the themes of the puzzle."""
        if self.kind is PuzzleKind.DEFENCE:
            return frozenset({Theme.DEFENCE})
        main = Theme.FOURS if self.kind is PuzzleKind.VCF else Theme.THREES
        return frozenset({main, Theme.FOULS}) if _uses_fouls(self) else frozenset({main})

    @property
    def rating(self) -> int:
        """Estimated rating of the puzzle: a player with the same rating should solve it half of the time."""
        extra = {PuzzleKind.VCF: 0, PuzzleKind.VCT: 250, PuzzleKind.DEFENCE: 150}[self.kind]
        return 500 + extra + 180 * self.depth + 2 * min(len(parse_points(self.moves)), 100)


def _uses_fouls(puzzle: Puzzle) -> bool:
    """Whether white makes a five at a point in the solution that renju forbids black to block."""
    position = puzzle.position()
    if not puzzle.rules.endswith("renju") or position.to_move is not Colour.WHITE:
        return False
    for ply, move in enumerate(puzzle.line()):
        position = position.play(move)
        if ply % 2 == 0 and not position.is_over:
            fives = fives_of(position, Colour.WHITE)
            if fives and not any(map(position.is_legal, fives)):
                return True
    return False


# ---- Files ----------------------------------------------------------------------------------------------------------


def format_puzzle(puzzle: Puzzle) -> str:
    """Return the puzzle as a line of a puzzle file."""
    return json.dumps(asdict(puzzle), separators=(",", ":"))


def parse_puzzles(text: str) -> list[Puzzle]:
    """Parse a puzzle file with one JSON object per line. Raises `NotationError` for an invalid line."""
    puzzles = []
    for number, line in enumerate(text.splitlines(), start=1):
        try:
            found = json.loads(line)
            puzzle = Puzzle(**(found | {"kind": PuzzleKind(found["kind"])}))
            texts = (puzzle.id, puzzle.rules, puzzle.moves, puzzle.solution)
            if not all(type(text) is str for text in texts) or not all(
                type(number) is int for number in (puzzle.depth, puzzle.grade)
            ):
                raise ValueError("a field has the wrong type")
            puzzles.append(puzzle)
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            raise NotationError(f"line {number} is not a puzzle: {error}") from None
    return puzzles
