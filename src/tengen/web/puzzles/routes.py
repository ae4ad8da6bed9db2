"""HTTP routes for puzzles: the shipped ones, and those from the games of the browser."""

from __future__ import annotations

import asyncio
from typing import Annotated, Literal

from fastapi import APIRouter, Path, Query

from tengen.core.contracts import Rule
from tengen.puzzles.judging import TryResult
from tengen.puzzles.puzzle import Puzzle as CorePuzzle
from tengen.puzzles.puzzle import PuzzleKind, Theme
from tengen.web.messages.puzzles import (
    Puzzle,
    PuzzleList,
    PuzzleSolution,
    PuzzleSource,
    PuzzleSummary,
    PuzzleTry,
    PuzzleVerdict,
)
from tengen.web.positions import facts_of
from tengen.web.puzzles.collection import TryPuzzle, message_of, page_of, summary_of
from tengen.web.puzzles.own import with_own_id
from tengen.web.routes import PROBLEMS, Browser, OwnerHere, ServicesHere
from tengen.web.services import Services

router = APIRouter(prefix="/api/puzzles", responses=PROBLEMS)

PuzzleId = Annotated[str, Path(pattern="^[A-Za-z0-9_-]{1,80}$")]


@router.get("")
async def get_puzzles(
    services: ServicesHere,
    browser: Browser,
    source: Literal["shipped", "own"] = "shipped",
    kind: PuzzleKind | None = None,
    theme: Theme | None = None,
    rule: Rule | None = None,
    grade: Annotated[int | None, Query(ge=1, le=5)] = None,
    limit: Annotated[int, Query(ge=1, le=1000)] = 1000,
    offset: Annotated[int, Query(ge=0, le=1_000_000)] = 0,
) -> PuzzleList:
    """List the matching puzzles. Shipped puzzles are sorted by grade, then by number of stones.

    `source=own` lists the puzzles from this browser's reviewed games, from the newest games first, and starts searching
    the games that have not been searched.
    """
    if source == "shipped":
        summaries, pending = list(services.puzzles.summaries()), 0
    else:
        own, pending = services.own_puzzles.listed(browser)
        summaries = await asyncio.to_thread(lambda: [summary_of(with_own_id(one), one.source) for one in own])
    return page_of(summaries, limit, offset, kind=kind, rule=rule, grade=grade, theme=theme, pending=pending)


@router.get("/daily")
def get_daily(services: ServicesHere, day: Annotated[str, Query(pattern=r"^\d{4}-\d{2}-\d{2}$")]) -> PuzzleSummary:
    """Return the puzzle of a day, such as 2026-11-18."""
    return services.puzzles.daily(day)


@router.get("/{puzzle_id}")
async def get_puzzle(puzzle_id: PuzzleId, services: ServicesHere, browser: Browser) -> Puzzle:
    """Return a puzzle without its solution."""
    return message_of(*_found(services, puzzle_id, browser))


@router.get("/{puzzle_id}/solution")
async def get_solution(puzzle_id: PuzzleId, services: ServicesHere, browser: Browser) -> PuzzleSolution:
    """Return the winning line of a puzzle up to the five, or the only defence."""
    puzzle, _ = _found(services, puzzle_id, browser)
    return PuzzleSolution(pv=list(await asyncio.to_thread(puzzle.full_line)))


@router.post("/{puzzle_id}/try")
async def post_try(
    puzzle_id: PuzzleId, request: PuzzleTry, services: ServicesHere, owner: OwnerHere, browser: Browser
) -> PuzzleVerdict:
    """Judge the last move of a line and return the opponent's reply."""
    puzzle, _ = _found(services, puzzle_id, browser)
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


def _found(services: Services, id: str, browser: str) -> tuple[CorePuzzle, PuzzleSource | None]:
    own = services.own_puzzles.get(id, browser)
    return (services.puzzles.get(id), None) if own is None else (with_own_id(own), own.source)
