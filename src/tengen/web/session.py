"""One WebSocket connection: reads requests, runs searches and subscriptions, and ends both when the tab closes."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import secrets
from collections.abc import Coroutine
from functools import partial

from fastapi import WebSocket
from pydantic import TypeAdapter, ValidationError
from starlette.websockets import WebSocketState

from tengen.errors import BusyError, TengenError
from tengen.web.analysis.review import judge, review
from tengen.web.analysis.thinking import analyse, hint, solve
from tengen.web.games.live_games import Update, Watcher
from tengen.web.limits import TokenBucket
from tengen.web.messages.base import Message, MessageId, ProblemCode
from tengen.web.messages.events import Done, ErrorMessage, GameMessage, Pong, Terminated
from tengen.web.messages.games import GameState
from tengen.web.messages.requests import (
    CLIENT_MESSAGE,
    Act,
    Analyse,
    ClientMessage,
    Hint,
    Judge,
    Ping,
    Review,
    Solve,
    Terminate,
    Watch,
)
from tengen.web.problems import code_of, explain_validation, sentence_of
from tengen.web.services import Services

_log = logging.getLogger(__name__)

_TOO_SLOW = 1013
_FLOODED = 1008
_MESSAGE_ID: TypeAdapter[MessageId] = TypeAdapter(MessageId)


class Session:
    """A WebSocket and the searches and subscriptions started through it."""

    def __init__(self, socket: WebSocket, services: Services) -> None:
        self._socket = socket
        self._services = services
        limits = services.config.limits
        self._limits = limits
        self._bucket = TokenBucket(limits.messages_per_s, limits.message_burst)
        self._outgoing: asyncio.Queue[str | None] = asyncio.Queue(limits.max_queued_messages)
        self._searches: dict[str, asyncio.Task[None]] = {}
        self._watches: dict[str, tuple[str, Watcher]] = {}
        self._owner = f"socket {secrets.token_hex(8)}"
        self._refused_in_a_row = 0

    async def run(self) -> None:
        """Serve the socket until it is closed."""
        await self._socket.accept()
        sender = asyncio.create_task(self._send_all())
        try:
            while self._socket.client_state is WebSocketState.CONNECTED and not sender.done():
                message = await self._socket.receive()
                if message["type"] == "websocket.disconnect":
                    break
                if not self._receive(message.get("text")):
                    await self._socket.close(_FLOODED)
                    break
        finally:
            self._end_all()
            sender.cancel()
            with contextlib.suppress(asyncio.CancelledError, RuntimeError):
                await sender

    # -- messages --------------------------------------------------------------------------------------------------

    def _receive(self, text: str | None) -> bool:
        """Handle one message. Returns False if the client is flooding the socket, which must then be closed."""
        wait_s = self._bucket.take()
        if wait_s:
            self._refused_in_a_row += 1
            retry_after_ms = round(1000 * wait_s) + 1
            error = f"too many messages; try again in {retry_after_ms} ms"
            self._send(ErrorMessage(error=error, code=ProblemCode.TOO_MANY, retry_after_ms=retry_after_ms))
            return self._refused_in_a_row <= self._limits.message_burst
        self._refused_in_a_row = 0
        if text is None or len(text) > self._limits.max_message_bytes:
            limit = self._limits.max_message_bytes
            self._send(
                ErrorMessage(error=f"a message must be text of at most {limit} bytes", code=ProblemCode.TOO_LARGE)
            )
            return True
        try:
            request = CLIENT_MESSAGE.validate_json(text)
        except ValidationError as error:
            sentence, field = explain_validation(error.errors())
            self._send(ErrorMessage(id=_id_in(text), error=sentence, code=ProblemCode.INVALID, field=field))
            return True
        try:
            self._dispatch(request)
        except TengenError as error:
            self._send_error(request.id, error)
        except Exception:
            _log.exception("request %s failed", request.type)
            self._send(ErrorMessage(id=request.id, error="internal error", code=ProblemCode.INTERNAL))
        return True

    def _dispatch(self, request: ClientMessage) -> None:
        services, owner, send = self._services, self._owner, self._send
        match request:
            case Ping():
                send(Pong(id=request.id))
            case Watch():
                self._watch(request)
            case Act():
                state = services.games.act(request.game_id, request.action)
                send(Done(id=request.id, revision=state.revision))
            case Terminate():
                self._terminate(request)
            case Analyse():
                self._begin(request.id, analyse(services, request, owner, send))
            case Solve():
                self._begin(request.id, solve(services, request, owner, send))
            case Hint():
                self._begin(request.id, hint(services, request, owner, send))
            case Review():
                self._begin(request.id, review(services, request, owner, send))
            case Judge():
                self._begin(request.id, judge(services, request, owner, send))

    # -- searches and subscriptions --------------------------------------------------------------------------------

    def _begin(self, id: str, search: Coroutine[None, None, None]) -> None:
        """Start a search. It replaces a running search with the same id."""
        earlier = self._searches.pop(id, None)
        if earlier is not None:
            earlier.cancel()
        if len(self._searches) >= self._limits.max_searches:
            search.close()
            self._send_error(
                id, BusyError(f"at most {self._limits.max_searches} searches can run on a socket; terminate one")
            )
            return
        task = self._searches[id] = asyncio.create_task(self._guard(id, search))
        task.add_done_callback(partial(self._forget, id))

    async def _guard(self, id: str, search: Coroutine[None, None, None]) -> None:
        try:
            await search
        except TengenError as error:
            self._send_error(id, error)
        except Exception:
            _log.exception("search %s failed", id)
            self._send(ErrorMessage(id=id, error="internal error", code=ProblemCode.INTERNAL))

    def _forget(self, id: str, task: asyncio.Task[None]) -> None:
        if self._searches.get(id) is task:
            del self._searches[id]

    def _watch(self, request: Watch) -> None:
        self._unwatch(request.id)
        if len(self._watches) >= self._limits.max_watches:
            self._send_error(
                request.id, BusyError(f"a socket can watch at most {self._limits.max_watches} games; terminate one")
            )
            return

        def watcher(update: Update) -> None:
            if isinstance(update, GameState):
                self._send(GameMessage(id=request.id, game=update))
            else:
                self._send_error(request.id, update, goes_on=True)

        state = self._services.games.watch(request.game_id, watcher)
        self._watches[request.id] = (request.game_id, watcher)
        self._send(GameMessage(id=request.id, game=state))

    def _unwatch(self, id: str) -> bool:
        game_id, watcher = self._watches.pop(id, (None, None))
        if game_id is None or watcher is None:
            return False
        self._services.games.unwatch(game_id, watcher)
        return True

    def _terminate(self, request: Terminate) -> None:
        search = self._searches.pop(request.terminate_id, None)
        if search is not None:
            search.cancel()
        if search is not None or self._unwatch(request.terminate_id):
            self._send(Terminated(id=request.terminate_id))
        self._send(Done(id=request.id))

    def _end_all(self) -> None:
        for search in self._searches.values():
            search.cancel()
        for watch in list(self._watches):
            self._unwatch(watch)

    # -- sending ---------------------------------------------------------------------------------------------------

    def _send_error(self, id: MessageId, error: TengenError, *, goes_on: bool = False) -> None:
        self._send(ErrorMessage(id=id, error=sentence_of(error), code=code_of(error), goes_on=goes_on))

    def _send(self, message: Message) -> None:
        """Queue a message. If the client reads too slowly and the queue is full, close the socket."""
        try:
            self._outgoing.put_nowait(message.model_dump_json())
        except asyncio.QueueFull:
            while not self._outgoing.empty():
                self._outgoing.get_nowait()
            self._outgoing.put_nowait(None)

    async def _send_all(self) -> None:
        with contextlib.suppress(RuntimeError):  # the socket was closed in the meantime
            while (text := await self._outgoing.get()) is not None:
                await self._socket.send_text(text)
            await self._socket.close(_TOO_SLOW)


def _id_in(text: str) -> MessageId | None:
    """Return the id of an invalid message, or None if it has no valid id."""
    with contextlib.suppress(ValueError, RecursionError):
        found = json.loads(text)
        return _MESSAGE_ID.validate_python(found.get("id")) if isinstance(found, dict) else None
    return None
