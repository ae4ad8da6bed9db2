"""The HTTP interface of positions, games and studies, and the socket."""

from __future__ import annotations

import os
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, WebSocket

from tengen import __version__
from tengen.core.contracts import Opening, Rule
from tengen.records import FORMATS
from tengen.web.jobs import Explain
from tengen.web.limits import client_of
from tengen.web.messages import (
    FormatInfo,
    GameAction,
    GameId,
    GameState,
    NewGame,
    PositionInfo,
    PositionRequest,
    Problem,
    ServerInfo,
)
from tengen.web.players import DEFAULT_AGENT, describe_agents, describe_levels
from tengen.web.positions import facts_of, position_of, ruleset_of, threats_of
from tengen.web.services import Services, services_of
from tengen.web.session import Session

PROBLEMS: dict[int | str, dict[str, Any]] = {
    status: {"model": Problem} for status in (400, 403, 404, 409, 413, 422, 429, 500, 503)
}
"""What any answer but a success looks like, for the OpenAPI description."""

router = APIRouter(prefix="/api", responses=PROBLEMS)

ServicesHere = Annotated[Services, Depends(services_of)]
GameIdHere = Annotated[GameId, Path()]
_SERVER_FULL = 1013


@router.get("/info")
def get_info(services: ServicesHere) -> ServerInfo:
    """What the server offers."""
    limits = services.config.limits
    return ServerInfo(
        version=__version__,
        rules=[rule.value for rule in Rule],
        openings=[opening.value for opening in Opening],
        levels=describe_levels(),
        agents=describe_agents(),
        default_agent=DEFAULT_AGENT,
        formats=[
            FormatInfo(name=one.name, title=one.title, endings=list(one.endings), is_written=one.write is not None)
            for one in FORMATS.values()
        ],
        cores=os.cpu_count() or 1,
        max_message_bytes=limits.max_message_bytes,
        max_searches=limits.max_searches,
        models=[],
    )


@router.post("/position")
async def post_position(request: PositionRequest, services: ServicesHere) -> PositionInfo:
    """The facts of a position: legal points, fouls, outcome, winning line, threats."""
    position = position_of(request)
    threats = None
    if request.include_threats and position.ruleset.win_length in (4, 5):
        threats = threats_of(await services.pool.run(Explain(position=position), owner="positions"))
    return facts_of(position, threats)


@router.post("/games", status_code=201)
async def post_game(request: NewGame, services: ServicesHere) -> GameState:
    """Begin a game."""
    ruleset = ruleset_of(request)
    for player in (request.black, request.white):
        await services.check_player(player, ruleset)
    return services.hall.begin(request)


@router.get("/games/{game_id}")
async def get_game(game_id: GameIdHere, services: ServicesHere) -> GameState:
    """A game as it stands."""
    return services.hall.state(game_id)


@router.post("/games/{game_id}/actions")
async def post_action(game_id: GameIdHere, action: GameAction, services: ServicesHere) -> GameState:
    """Carry out an action."""
    return services.hall.act(game_id, action)


@router.websocket("/socket")
async def socket(socket: WebSocket) -> None:
    """Games, analyses, reviews as they go on."""
    services = services_of(socket)
    limits, client = services.config.limits, client_of(socket.scope)
    mine = services.sockets.get(client, 0)
    if mine >= limits.max_sockets_per_client or sum(services.sockets.values()) >= limits.max_sockets:
        await socket.close(_SERVER_FULL, "too many sockets")
        return
    services.sockets[client] = mine + 1
    try:
        await Session(socket, services).run()
    finally:
        services.sockets[client] -= 1
        if not services.sockets[client]:
            del services.sockets[client]
