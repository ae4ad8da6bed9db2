"""HTTP routes of the laboratory. Most read files and are therefore not async, so FastAPI runs them in threads."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from fastapi import APIRouter, Path, Query
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from tengen.web.games.records import ReadRecord
from tengen.web.messages.lab import (
    GameRows,
    ModelInfo,
    PaperInfo,
    PolicyHistory,
    PolicyPoint,
    RunDetail,
    RunList,
    TournamentDetail,
    TournamentList,
)
from tengen.web.messages.positions import PositionRequest
from tengen.web.messages.records import ImportResult, Record
from tengen.web.positions import position_of
from tengen.web.routes import PROBLEMS, OwnerHere, ServicesHere
from tengen.web.workers.jobs import AskNetworks, NetworkOpinion

router = APIRouter(prefix="/api", responses=PROBLEMS)

EntryName = Annotated[str, Path(min_length=1, max_length=200)]
_MAX_INDEX = 1_000_000
Limit = Annotated[int, Query(ge=1, le=500)]
_FIGURE_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox",
    "Cache-Control": "max-age=3600",
}
"""Headers for pictures: an SVG file may use styles, but its scripts do not run even if it is opened directly."""


class FigureKind(StrEnum):
    """Kind of page that a picture belongs to."""

    PAPERS = "papers"
    MODELS = "models"


Offset = Annotated[int, Query(ge=0, le=_MAX_INDEX)]


@router.get("/runs")
def get_runs(services: ServicesHere, limit: Limit = 100, offset: Offset = 0) -> RunList:
    """Return the training runs, newest first."""
    return services.lab.list_runs(limit, offset)


# Run names may contain slashes, so the longer routes must come first.
@router.post("/runs/{name:path}/policies")
async def post_policies(
    name: EntryName, request: PositionRequest, services: ServicesHere, owner: OwnerHere
) -> PolicyHistory:
    """Return the policies and values of a run's networks for a position, without search, oldest network first."""
    position = position_of(request)
    networks = await run_in_threadpool(services.lab.networks_over_time, name)
    job = AskNetworks(networks=tuple((iteration, str(folder)) for iteration, folder in networks), position=position)
    found: list[NetworkOpinion] = await services.pool.run(job, owner=owner)
    return PolicyHistory(
        rules=position.ruleset.name,
        current_player=position.to_move,
        points=[
            PolicyPoint(
                iteration=one.iteration,
                winrate=(1 + one.value) / 2,
                policy={str(point): share for point, share in one.policy.items()},
            )
            for one in found
        ],
    )


@router.get("/runs/{name:path}/games/{file}")
async def get_run_game(
    name: EntryName,
    file: EntryName,
    services: ServicesHere,
    owner: OwnerHere,
    index: Offset = 0,
) -> ImportResult:
    """Return a self-play game from a run."""
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
    """Return a tournament's games, newest first."""
    return services.lab.tournament_games(name, limit, offset)


@router.get("/tournaments/{name}/games/{number}")
def get_tournament_game(
    name: EntryName, number: Annotated[int, Path(ge=0, le=10**9)], services: ServicesHere
) -> Record:
    """Return one game from a tournament."""
    return services.lab.tournament_game(name, number)


@router.get("/models")
def get_models(services: ServicesHere) -> list[ModelInfo]:
    """Return the shipped networks with their cards."""
    return services.lab.list_models()


@router.get(
    "/{kind}/{name}/figures/{file}",
    response_class=Response,
    responses={200: {"content": {"image/svg+xml": {}, "image/png": {}}}},
)
def get_figure(kind: FigureKind, name: EntryName, file: EntryName, services: ServicesHere) -> Response:
    """Return a picture of a paper or a model."""
    data, media_type = services.lab.figure(kind.value, name, file)
    return Response(data, media_type=media_type, headers=_FIGURE_HEADERS)


@router.get("/papers")
def get_papers(services: ServicesHere) -> list[PaperInfo]:
    """Return the reproduced papers."""
    return services.lab.list_papers()
