"""The shipped puzzles, and the job that judges an attempt to solve one."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tengen.core.contracts import Rule, Ruleset
from tengen.core.geometry import parse_points
from tengen.core.shipped import shipped_folder
from tengen.errors import NotFoundError
from tengen.puzzles.judging import TryResult, judge_try
from tengen.puzzles.puzzle import Puzzle, PuzzleKind, Theme, parse_puzzles
from tengen.web.messages.puzzles import Puzzle as PuzzleMessage
from tengen.web.messages.puzzles import PuzzleList, PuzzleSource, PuzzleSummary
from tengen.web.positions import fouls_of, stones_of
from tengen.web.workers.jobs import Desk, Job

_TRY_MS = 15_000


@dataclass(frozen=True, kw_only=True)
class TryPuzzle(Job):
    """Judge an attempt and find the best defence."""

    puzzle: Puzzle
    moves: tuple[str, ...]

    @property
    def limit_ms(self) -> int:
        return _TRY_MS

    def run(self, desk: Desk) -> TryResult:
        return judge_try(self.puzzle, self.moves)


class PuzzleCollection:
    """Puzzles by id, sorted by grade, then by number of stones."""

    def __init__(self, puzzles: Sequence[Puzzle]) -> None:
        ordered = sorted(puzzles, key=lambda one: (one.grade, len(parse_points(one.moves)), one.depth, one.id))
        self._puzzles = {puzzle.id: puzzle for puzzle in ordered}
        self._summaries = {puzzle.id: summary_of(puzzle) for puzzle in ordered}

    @classmethod
    def load(cls) -> PuzzleCollection:
        """Load the shipped puzzles."""
        files = sorted((shipped_folder("data") / "puzzles").glob("*.jsonl"))
        return cls([puzzle for file in files for puzzle in parse_puzzles(file.read_text(encoding="utf-8"))])

    def __len__(self) -> int:
        return len(self._puzzles)

    def get(self, id: str) -> Puzzle:
        """Return the puzzle with this id. Raises `NotFoundError` for an unknown id."""
        if id not in self._puzzles:
            raise NotFoundError(f"there is no puzzle with the id {id!r}")
        return self._puzzles[id]

    def summaries(self) -> Iterable[PuzzleSummary]:
        """Return all puzzles without their positions."""
        return self._summaries.values()

    def daily(self, day: str) -> PuzzleSummary:
        """Return the puzzle of a day; it is the same on every server with the same puzzles."""
        ids = sorted(self._puzzles)
        number = int.from_bytes(hashlib.sha256(day.encode("ascii")).digest()[:8])
        return self._summaries[ids[number % len(ids)]]


def page_of(
    summaries: Iterable[PuzzleSummary],
    limit: int,
    offset: int,
    *,
    kind: PuzzleKind | None = None,
    rule: Rule | None = None,
    grade: int | None = None,
    theme: Theme | None = None,
    pending: int = 0,
) -> PuzzleList:
    """Return one page of the puzzles that match; a filter of None matches all."""
    matching = [
        puzzle
        for puzzle in summaries
        if kind in (None, puzzle.kind)
        and grade in (None, puzzle.grade)
        and rule in (None, Ruleset.parse(puzzle.rules).rule)
        and (theme is None or theme in puzzle.themes)
    ]
    return PuzzleList(total=len(matching), puzzles=matching[offset : offset + limit], pending=pending)


def summary_of(puzzle: Puzzle, source: PuzzleSource | None = None) -> PuzzleSummary:
    """Return the list entry for a puzzle."""
    return PuzzleSummary(
        id=puzzle.id,
        kind=puzzle.kind,
        themes=sorted(puzzle.themes()),
        rules=puzzle.rules,
        depth=puzzle.depth,
        grade=puzzle.grade,
        rating=puzzle.rating,
        stones=len(parse_points(puzzle.moves)),
        current_player=puzzle.position().to_move,
        source=source,
    )


def message_of(puzzle: Puzzle, source: PuzzleSource | None = None) -> PuzzleMessage:
    """Convert a puzzle to a message without its solution."""
    position = puzzle.position()
    return PuzzleMessage(
        **summary_of(puzzle, source).model_dump(),
        board_x_size=position.ruleset.width,
        board_y_size=position.ruleset.height,
        initial_stones=stones_of(position),
        last_move=position.last_move,
        legal=list(position.legal_points()),
        fouls=fouls_of(position),
    )
