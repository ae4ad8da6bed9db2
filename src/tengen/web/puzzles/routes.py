"""HTTP routes for puzzles."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query

from tengen.core.contracts import Rule
from tengen.puzzles.judging import TryResult
from tengen.puzzles.puzzle import PuzzleKind, Theme
from tengen.web.messages.puzzles import Puzzle, PuzzleList, PuzzleSolution, PuzzleSummary, PuzzleTry, PuzzleVerdict
from tengen.web.positions import facts_of
from tengen.web.puzzles.collection import TryPuzzle, message_of
from tengen.web.routes import PROBLEMS, OwnerHere, ServicesHere

router = APIRouter(prefix="/api/puzzles", responses=PROBLEMS)

PuzzleId = Annotated[str, Path(pattern="^[a-z0-9-]{1,40}$")]


@router.get("")
def get_puzzles(
    services: ServicesHere,
    kind: PuzzleKind | None = None,
    theme: Theme | None = None,
    rule: Rule | None = None,
    grade: Annotated[int | None, Query(ge=1, le=5)] = None,
    limit: Annotated[int, Query(ge=1, le=1000)] = 1000,
    offset: Annotated[int, Query(ge=0, le=1_000_000)] = 0,
) -> PuzzleList:
    """List the matching puzzles, easiest first, and among equals those with few stones."""
    return services.puzzles.find(kind, rule, grade, limit, offset, theme)


@router.get("/daily")
def get_daily(services: ServicesHere, day: Annotated[str, Query(pattern=r"^\d{4}-\d{2}-\d{2}$")]) -> PuzzleSummary:
    """Return the puzzle of a day, such as 2026-11-18."""
    return services.puzzles.daily(day)


@router.get("/{puzzle_id}")
def get_puzzle(puzzle_id: PuzzleId, services: ServicesHere) -> Puzzle:
    """Return a puzzle without its solution."""
    return message_of(services.puzzles.get(puzzle_id))


@router.get("/{puzzle_id}/solution")
def get_solution(puzzle_id: PuzzleId, services: ServicesHere) -> PuzzleSolution:
    """Return the winning line of a puzzle up to the five, or the only defence."""
    return PuzzleSolution(pv=list(services.puzzles.get(puzzle_id).full_line()))


@router.post("/{puzzle_id}/try")
async def post_try(puzzle_id: PuzzleId, request: PuzzleTry, services: ServicesHere, owner: OwnerHere) -> PuzzleVerdict:
    """Judge the last move of a line and return the opponent's reply."""
    puzzle = services.puzzles.get(puzzle_id)
    job = TryPuzzle(puzzle=puzzle, moves=tuple(request.moves))
    result: TryResult = await services.pool.run(job, owner=owner)
    position = puzzle.position()
    for move in (*request.moves, *(() if result.reply is None else (result.reply,))):
        position = position.play(move)
    return PuzzleVerdict(
        verdict=result.verdict.value,
        reply=result.reply,
        reason=result.reason,
        refutation=list(result.refutation),
        position=facts_of(position),
    )
