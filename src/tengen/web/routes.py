"""HTTP routes for positions, games, files and studies, and the WebSocket."""

from __future__ import annotations

import asyncio
import os
import re
import secrets
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Query, WebSocket
from pydantic import StringConstraints
from starlette.requests import Request
from starlette.responses import Response

from tengen import __version__
from tengen.core.board_picture import PictureOptions, draw_svg
from tengen.core.contracts import Opening, Rule
from tengen.core.position import Position
from tengen.errors import NotFoundError
from tengen.records import FORMATS
from tengen.web.analysis.review import export_review
from tengen.web.games.explorer import explore
from tengen.web.games.listing import GameFilter, search_games
from tengen.web.games.my_games import export_games
from tengen.web.games.pictures import DrawPng
from tengen.web.games.players import DEFAULT_AGENT, describe_levels
from tengen.web.games.rating import with_adaptive_levels
from tengen.web.games.records import CheckRecord, WriteRecord, read_job
from tengen.web.limits import client_of
from tengen.web.messages.base import MAX_MOVES, GameId, Problem
from tengen.web.messages.explorer import ExplorerResult
from tengen.web.messages.games import (
    Deleted,
    GameAction,
    GameList,
    GameState,
    LevelPlayer,
    MyResult,
    NewGame,
    PlayerRating,
)
from tengen.web.messages.info import FormatInfo, ServerInfo
from tengen.web.messages.positions import PositionInfo, PositionRequest, RulesFields
from tengen.web.messages.records import ExportResult, ExportReview, ImportRequest, ImportResult, Study
from tengen.web.positions import facts_of, position_of, ruleset_of, threats_of
from tengen.web.raw_bodies import RawBodyRoute, RawExportRequest, RawRecord
from tengen.web.services import Services, owner_of, services_of
from tengen.web.session import Session
from tengen.web.workers.jobs import Explain

PROBLEMS: dict[int | str, dict[str, Any]] = {
    status: {"model": Problem} for status in (400, 403, 404, 408, 409, 413, 422, 429, 500, 503, 507)
}
"""Error responses for every route, for the OpenAPI schema."""

router = APIRouter(prefix="/api", responses=PROBLEMS)
raw_router = APIRouter(prefix="/api", responses=PROBLEMS, route_class=RawBodyRoute)
"""Router for requests whose bodies are parsed by a worker."""


class PictureQuery(RulesFields):
    """Query parameters for a picture."""

    moves: Annotated[str, StringConstraints(max_length=4 * MAX_MOVES)] = ""
    """Moves without separators: `h8i9j10`."""
    numbers: bool = False
    coordinates: bool = True

    def position(self) -> Position:
        """Return the position after the moves."""
        return Position.from_moves(ruleset_of(self), self.moves)


ServicesHere = Annotated[Services, Depends(services_of)]
OwnerHere = Annotated[str, Depends(owner_of)]
GameIdHere = Annotated[GameId, Path()]
_SERVER_FULL = 1013

_BROWSER_COOKIE = "tengen-browser"
_BROWSER_ID = re.compile(r"[A-Za-z0-9_-]{16,64}")
_COOKIE_AGE_S = 400 * 24 * 3600


def browser_of(request: Request) -> str:
    """Return the id of the browser from its cookie; empty if it has none."""
    found = request.cookies.get(_BROWSER_COOKIE, "")
    return found if _BROWSER_ID.fullmatch(found) else ""


def new_browser_of(request: Request, response: Response) -> str:
    """Return the id of the browser, creating one if necessary, and renew the cookie."""
    browser = browser_of(request) or secrets.token_urlsafe(16)
    response.set_cookie(
        _BROWSER_COOKIE,
        browser,
        max_age=_COOKIE_AGE_S,
        httponly=True,
        samesite="strict",
        secure=request.url.scheme == "https",
    )
    return browser


Browser = Annotated[str, Depends(browser_of)]
NewBrowser = Annotated[str, Depends(new_browser_of)]


@router.get("/info")
def get_info(services: ServicesHere) -> ServerInfo:
    """Describe the server: rules, levels, agents, formats, limits."""
    limits = services.config.limits
    return ServerInfo(
        version=__version__,
        rules=[rule.value for rule in Rule],
        openings=[opening.value for opening in Opening],
        levels=describe_levels(),
        agents=services.agents.describe(),
        default_agent=DEFAULT_AGENT,
        formats=[
            FormatInfo(name=one.name, title=one.title, endings=list(one.endings), is_written=one.write is not None)
            for one in FORMATS.values()
        ],
        cores=os.cpu_count() or 1,
        max_message_bytes=limits.max_message_bytes,
        max_searches=limits.max_searches,
        models=services.lab.model_names(),
    )


@router.post("/position")
async def post_position(request: PositionRequest, services: ServicesHere, owner: OwnerHere) -> PositionInfo:
    """Return the facts about a position: legal points, fouls, outcome, winning line and, on request, threats."""
    position = position_of(request)
    threats = None
    if request.include_threats and position.ruleset.win_length in (4, 5):
        threats = threats_of(await services.pool.run(Explain(position=position), owner=owner))
    return facts_of(position, threats)


@router.post("/explorer")
async def post_explorer(request: PositionRequest, services: ServicesHere, browser: Browser) -> ExplorerResult:
    """Return the moves played in a position, in the shipped engine games and in this browser's games."""
    position = position_of(request)
    games = services.games.finished(browser, position.ruleset) if browser else ()
    return await asyncio.to_thread(explore, position, games)


@router.post("/games", status_code=201)
async def post_game(request: NewGame, services: ServicesHere, browser: NewBrowser) -> GameState:
    """Start a game. It is listed among this browser's games; a cookie identifies the browser."""
    return await _begin(request, services, browser)


async def _begin(request: NewGame, services: Services, browser: str) -> GameState:
    if any(isinstance(player, LevelPlayer) and player.is_adaptive for player in (request.black, request.white)):
        request = with_adaptive_levels(request, services.games.rating(browser).suggested_level)
    ruleset = ruleset_of(request)
    for player in (request.black, request.white):
        await services.check_player(player, ruleset)
    return services.games.begin(request, browser)


@router.get("/games/{game_id}")
async def get_game(game_id: GameIdHere, services: ServicesHere) -> GameState:
    """Return the current state of a game."""
    return services.games.state(game_id)


@router.delete("/games/{game_id}")
async def delete_game(game_id: GameIdHere, services: ServicesHere, browser: Browser) -> Deleted:
    """Delete one of this browser's games with its reviews."""
    services.games.delete(game_id, browser)
    return Deleted(id=game_id)


@router.post("/games/{game_id}/rematch", status_code=201)
async def post_rematch(game_id: GameIdHere, services: ServicesHere, browser: NewBrowser) -> GameState:
    """Start a new game from the same starting position with the seats exchanged."""
    return await _begin(services.games.game(game_id).rematch(), services, browser)


@router.get("/my-games")
async def get_my_games(
    services: ServicesHere,
    browser: Browser,
    opponent: Annotated[str | None, Query(max_length=220)] = None,
    result: MyResult | None = None,
    rule: Rule | None = None,
    since: Annotated[float | None, Query(ge=0)] = None,
    until: Annotated[float | None, Query(ge=0)] = None,
    limit: Annotated[int, Query(ge=1, le=500)] = 100,
    offset: Annotated[int, Query(ge=0, le=1_000_000)] = 0,
) -> GameList:
    """List this browser's games that match all filters, newest first.

    `since` and `until` restrict the time at which a game started, in seconds since 1970.
    """
    wanted = GameFilter(opponent=opponent, result=result, rule=rule, since=since, until=until)
    rows = services.games.listed(browser)
    return await asyncio.to_thread(search_games, rows, wanted, limit, offset)


@router.get("/my-rating")
async def get_my_rating(services: ServicesHere, browser: Browser) -> PlayerRating:
    """Return the rating of this browser's player, based on games against the levels, and the level to play next."""
    return services.games.rating(browser)


@router.get("/my-games/export")
async def get_my_games_file(
    services: ServicesHere,
    browser: Browser,
    format: Annotated[str, Query(max_length=10)] = "sgf",
    game_id: Annotated[GameId | None, Query()] = None,
) -> ExportResult:
    """Return one of this browser's games, or all of them, as a file."""
    stored = services.games.stored(browser, game_id)
    return await asyncio.to_thread(export_games, stored, format)


@router.post("/reviews/export")
async def post_review_file(request: ExportReview, services: ServicesHere) -> ExportResult:
    """Return the stored review of a game as a file with comments, marks and variations."""
    return export_review(services, request)


@router.post("/games/{game_id}/actions")
async def post_action(game_id: GameIdHere, action: GameAction, services: ServicesHere) -> GameState:
    """Perform an action in a game and return the new state."""
    return services.games.act(game_id, action)


@router.get("/picture.svg", response_class=Response, responses={200: {"content": {"image/svg+xml": {}}}})
async def get_svg(query: Annotated[PictureQuery, Query()]) -> Response:
    """Return a picture of a position as SVG."""
    options = PictureOptions(numbers=query.numbers, coordinates=query.coordinates)
    return Response(draw_svg(query.position(), options), media_type="image/svg+xml")


@router.get("/picture.png", response_class=Response, responses={200: {"content": {"image/png": {}}}})
async def get_png(query: Annotated[PictureQuery, Query()], services: ServicesHere, owner: OwnerHere) -> Response:
    """Return a picture of a position as PNG."""
    options = PictureOptions(numbers=query.numbers, coordinates=query.coordinates)
    job = DrawPng(position=query.position(), options=options)
    return Response(await services.pool.run(job, owner=owner), media_type="image/png")


@router.post("/import")
async def post_import(request: ImportRequest, services: ServicesHere, owner: OwnerHere) -> ImportResult:
    """Read a game file or pasted text."""
    return await services.collections.read(read_job(request), owner)


@raw_router.post("/export")
async def post_export(request: RawExportRequest, services: ServicesHere, owner: OwnerHere) -> ExportResult:
    """Return a record as a file."""
    result: ExportResult = await services.pool.run(WriteRecord(body=_bytes(request)), owner=owner)
    return result


@raw_router.post("/studies", status_code=201, response_model=Study)
async def post_study(record: RawRecord, services: ServicesHere, owner: OwnerHere) -> Response:
    """Store a record as a study. The response contains the id under which it can be loaded."""
    text = await _checked_record(services, record, owner)
    study_id = secrets.token_urlsafe(16)
    services.store.put("study", study_id, text, is_new=True)
    return _study(study_id, text, 201)


@router.get("/studies/{study_id}", response_model=Study)
async def get_study(study_id: GameIdHere, services: ServicesHere) -> Response:
    """Return a stored study."""
    return _study(study_id, _stored_record(services, study_id))


@raw_router.put("/studies/{study_id}", response_model=Study)
async def put_study(study_id: GameIdHere, record: RawRecord, services: ServicesHere, owner: OwnerHere) -> Response:
    """Replace the record in a stored study."""
    _stored_record(services, study_id)
    text = await _checked_record(services, record, owner)
    services.store.put("study", study_id, text)
    return _study(study_id, text)


def _bytes(body: object) -> bytes:
    """Return the body of a `RawBodyRoute` request, which is annotated as a message only for the schema."""
    assert isinstance(body, bytes)
    return body


async def _checked_record(services: Services, record: RawRecord, owner: str) -> str:
    job = CheckRecord(body=_bytes(record), max_bytes=services.config.limits.max_study_bytes)
    text: str = await services.pool.run(job, owner=owner)
    return text


def _stored_record(services: Services, study_id: str) -> str:
    body = services.store.get("study", study_id)
    if body is None:
        raise NotFoundError(f"there is no study with the id {study_id!r}; it may have been deleted")
    return body


def _study(study_id: str, record: str, status: int = 200) -> Response:
    """Return a `Study` response without parsing its record."""
    return Response(f'{{"id":"{study_id}","record":{record}}}', status, media_type="application/json")


@router.websocket("/socket")
async def socket(socket: WebSocket) -> None:
    """Serve games, analyses and reviews with live updates."""
    services = services_of(socket)
    limits, client = services.config.limits, client_of(socket.scope)
    client_sockets = services.sockets.get(client, 0)
    if client_sockets >= limits.max_sockets_per_client or sum(services.sockets.values()) >= limits.max_sockets:
        await socket.close(_SERVER_FULL, "too many sockets")
        return
    services.sockets[client] = client_sockets + 1
    try:
        await Session(socket, services).run()
    finally:
        services.sockets[client] -= 1
        if not services.sockets[client]:
            del services.sockets[client]
