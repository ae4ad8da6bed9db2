"""HTTP routes of the laboratory. Most are not async, so FastAPI runs them in threads, because they read files."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query
from starlette.concurrency import run_in_threadpool

from tengen.web.games.records import ReadRecord
from tengen.web.messages.lab import (
    GameRows,
    ModelInfo,
    PaperInfo,
    RunDetail,
    RunList,
    TournamentDetail,
    TournamentList,
)
from tengen.web.messages.records import ImportResult, Record
from tengen.web.routes import PROBLEMS, OwnerHere, ServicesHere

router = APIRouter(prefix="/api", responses=PROBLEMS)

EntryName = Annotated[str, Path(min_length=1, max_length=200)]
_MAX_INDEX = 1_000_000
Limit = Annotated[int, Query(ge=1, le=500)]
Offset = Annotated[int, Query(ge=0, le=_MAX_INDEX)]


@router.get("/runs")
def get_runs(services: ServicesHere, limit: Limit = 100, offset: Offset = 0) -> RunList:
    """Return the training runs, newest first."""
    return services.lab.list_runs(limit, offset)


# Run names contain slashes, so the longer route must come first.
@router.get("/runs/{name:path}/games/{file}")
async def get_run_game(
    name: EntryName,
    file: EntryName,
    services: ServicesHere,
    owner: OwnerHere,
    index: Offset = 0,
) -> ImportResult:
    """Return a self-play game of a run."""
    data = await run_in_threadpool(services.lab.read_run_game, name, file, services.config.limits.max_body_bytes)
    job = ReadRecord(data=data, format=None, filename=file, ruleset=None, rows="bottom", index=index)
    return await services.collections.read(job, owner)


@router.get("/runs/{name:path}")
def get_run(name: EntryName, services: ServicesHere) -> RunDetail:
    """Return a training run with its curves."""
    return services.lab.run(name)


@router.get("/tournaments")
def get_tournaments(services: ServicesHere, limit: Limit = 100, offset: Offset = 0) -> TournamentList:
    """Return the tournaments, newest first."""
    return services.lab.list_tournaments(limit, offset)


@router.get("/tournaments/{name}")
def get_tournament(name: EntryName, services: ServicesHere) -> TournamentDetail:
    """Return a tournament with its tables."""
    return services.lab.tournament(name)


@router.get("/tournaments/{name}/games")
def get_tournament_games(
    name: EntryName,
    services: ServicesHere,
    limit: Limit = 100,
    offset: Offset = 0,
) -> GameRows:
    """Return the games of a tournament, newest first."""
    return services.lab.tournament_games(name, limit, offset)


@router.get("/tournaments/{name}/games/{number}")
def get_tournament_game(
    name: EntryName, number: Annotated[int, Path(ge=0, le=10**9)], services: ServicesHere
) -> Record:
    """Return one game of a tournament."""
    return services.lab.tournament_game(name, number)


@router.get("/models")
def get_models(services: ServicesHere) -> list[ModelInfo]:
    """Return the shipped networks with their cards."""
    return services.lab.list_models()


@router.get("/papers")
def get_papers(services: ServicesHere) -> list[PaperInfo]:
    """Return the reproduced papers."""
    return services.lab.list_papers()
