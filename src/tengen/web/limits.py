"""Protection against overload and cross-origin requests: rate and size limits, allowed hosts, security headers.

`LimitsMiddleware` is plain ASGI and runs before everything else. It accepts requests from our own page and from
programs that send no Origin header. It refuses pages from other origins. It also refuses unknown Host names, because
an attacker could point a domain at this server (DNS rebinding).
"""

from __future__ import annotations

import asyncio
import ipaddress
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tengen.web.messages.base import ProblemCode
from tengen.web.problems import problem_response

_LOCAL_HOSTS = frozenset({"localhost", "127.0.0.1", "::1"})
_MAX_CLIENTS = 10_000
_CLOSE_POLICY = 1008
_MAX_DIGITS = 15

_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'self'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self';"
        " object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}


@dataclass(frozen=True, kw_only=True)
class WebLimits:
    """Limits for the server. Rates are per second and per client; a burst is the number allowed at once."""

    hosts: frozenset[str] = _LOCAL_HOSTS
    """Accepted names in the Host header; empty accepts any name."""
    requests_per_s: float = 60
    request_burst: int = 240
    games_per_s: float = 5
    """Rate of requests that store data or start a search, such as new games and studies."""
    game_burst: int = 120
    messages_per_s: float = 40
    """Rate of messages on one socket."""
    message_burst: int = 120
    max_message_bytes: int = 64 * 1024
    max_body_bytes: int = 8 * 1024 * 1024
    """Maximum body size of a request that carries a game file or a record."""
    max_small_body_bytes: int = 256 * 1024
    """Maximum body size of any other request."""
    max_held_bytes: int = 128 * 1024 * 1024
    """Maximum total body size of all requests in progress."""
    max_study_bytes: int = 4 * 1024 * 1024
    """Maximum size of a stored study."""
    max_head_s: float = 10.0
    """Time within which the head of a request must arrive."""
    max_body_s: float = 60.0
    """Time within which the body of a request must arrive."""
    max_write_s: float = 30.0
    """Time after which a client that does not read its response is disconnected."""
    max_connections: int = 1200
    """Maximum number of open connections, including WebSockets; reduced if there are too few file descriptors."""
    max_connections_per_client: int = 250
    trusted_proxies: frozenset[str] = frozenset()
    """Addresses of reverse proxies whose `X-Forwarded-For` header is trusted to name the client."""
    max_sockets: int = 1000
    max_sockets_per_client: int = 200
    max_watches: int = 16
    """Maximum number of games that one socket can watch."""
    max_searches: int = 4
    """Maximum number of searches that one socket can run at once."""
    max_queued_messages: int = 512
    """Number of unsent messages at which a slow client's socket is closed."""


class TokenBucket:
    """Rate limit that allows `burst` requests at once and `rate` per second on average."""

    def __init__(self, rate: float, burst: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate = rate
        self._burst = burst
        self._clock = clock
        self._tokens = burst
        self._at = clock()

    def take(self) -> float:
        """Take a token and return 0. If the bucket is empty, return the number of seconds until the next token."""
        now = self._clock()
        self._tokens = min(self._burst, self._tokens + self._rate * (now - self._at))
        self._at = now
        if self._tokens >= 1:
            self._tokens -= 1
            return 0.0
        return (1 - self._tokens) / self._rate


class RateLimiter:
    """A token bucket per client; when there are too many clients, the least recently seen ones are dropped."""

    def __init__(self, rate: float, burst: float) -> None:
        self._rate = rate
        self._burst = burst
        self._buckets: OrderedDict[str, TokenBucket] = OrderedDict()

    def take(self, client: str) -> float:
        """Like `TokenBucket.take`, for one client."""
        bucket = self._buckets.get(client)
        if bucket is None:
            if len(self._buckets) >= _MAX_CLIENTS:
                self._buckets.popitem(last=False)
            bucket = self._buckets[client] = TokenBucket(self._rate, self._burst)
        self._buckets.move_to_end(client)
        return bucket.take()


class LimitsMiddleware:
    """ASGI middleware that enforces the limits on every request and adds the security headers."""

    def __init__(self, app: ASGIApp, limits: WebLimits) -> None:
        self._app = app
        self._limits = limits
        self._requests = RateLimiter(limits.requests_per_s, limits.request_burst)
        self._costly = RateLimiter(limits.games_per_s, limits.game_burst)
        self._held_bytes = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            if self._refusal(Headers(scope=scope)) is not None:
                await receive()  # the connect event must be read before the socket can be closed
                await send({"type": "websocket.close", "code": _CLOSE_POLICY, "reason": "origin or host not allowed"})
                return
            await self._app(scope, receive, send)
        elif scope["type"] == "http":
            await self._handle_http(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    async def _handle_http(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope)
        send = _with_headers(send)
        refusal = self._refusal(headers)
        if refusal is not None:
            await problem_response(403, refusal, ProblemCode.REFUSED)(scope, receive, send)
            return
        wait_s = self._wait_s(scope)
        if wait_s:
            await _too_many(wait_s)(scope, receive, send)
            return
        max_bytes = self._limits.max_body_bytes if _is_file(scope["path"]) else self._limits.max_small_body_bytes
        length = headers.get("content-length", "0")
        if not length.isdecimal() or len(length) > _MAX_DIGITS or int(length) > max_bytes:
            await _too_large(max_bytes)(scope, receive, send)
            return
        body = _Body()
        try:
            refusal_of_body = await self._receive_body(body, receive, max_bytes)
            if refusal_of_body is not None:
                await refusal_of_body(scope, receive, send)
            elif body.is_complete:  # otherwise the client has disconnected
                await self._app(scope, body.replayed(receive), send)
        finally:
            self._held_bytes -= len(body.data)

    async def _receive_body(self, body: _Body, receive: Receive, max_bytes: int) -> JSONResponse | None:
        """Read a body without trusting its declared length. Return an error response if it is too large or too slow."""
        try:
            async with asyncio.timeout(self._limits.max_body_s):
                while not body.is_complete and (message := await receive())["type"] == "http.request":
                    part = message.get("body", b"")
                    body.add(part, is_last=not message.get("more_body", False))
                    self._held_bytes += len(part)
                    if len(body.data) > max_bytes:
                        return _too_large(max_bytes)
                    if self._held_bytes > self._limits.max_held_bytes:
                        error = "too many large requests at once; try again later"
                        return _closing(problem_response(503, error, ProblemCode.BUSY))
        except TimeoutError:
            error = f"the request body did not arrive within {self._limits.max_body_s:g} s"
            return _closing(problem_response(408, error, ProblemCode.TOO_SLOW))
        return None

    def _wait_s(self, scope: Scope) -> float:
        client = client_of(scope)
        wait_s = self._requests.take(client)
        if not wait_s and scope["method"] in ("POST", "PUT") and _is_costly(scope["path"]):
            wait_s = self._costly.take(client)
        return wait_s

    def _refusal(self, headers: Headers) -> str | None:
        """Return why a request is refused, or None if it is accepted."""
        host = headers.get("host", "")
        if self._limits.hosts and _hostname(f"//{host}") not in self._limits.hosts:
            return f"unknown host name {host!r}; to accept it, start the server with --allow-host NAME"
        origin = headers.get("origin")
        if origin is not None and origin.partition("://")[2] != host:
            return "requests from pages with a different origin are not allowed"
        if headers.get("sec-fetch-site") == "cross-site" and headers.get("sec-fetch-mode") != "navigate":
            return "requests from pages with a different origin are not allowed"
        return None


def is_loopback(scope: Scope) -> bool:
    """Whether a request comes from this machine, without a proxy, and uses a local host name."""
    headers = Headers(scope=scope)
    if any(name in headers for name in ("forwarded", "x-forwarded-for", "x-real-ip", "via")):
        return False  # forwarded by a proxy on this machine
    if scope.get("http_version") == "1.0":
        return False  # by default, nginx forwards with HTTP/1.0 and adds none of these headers
    try:
        client = ipaddress.ip_address(client_of(scope))
    except ValueError:
        return False
    return client.is_loopback and _hostname(f"//{headers.get('host', '')}") in _LOCAL_HOSTS


def is_from_own_page(headers: Headers) -> bool:
    """Whether a request with a JSON body comes from our own page or from a program.

    A page with a different origin can send only plain text and forms without a preflight request, and browsers mark
    its requests in `Sec-Fetch-Site`.
    """
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    return kind == "application/json" and headers.get("sec-fetch-site", "same-origin") == "same-origin"


def client_of(scope: Scope) -> str:
    """Return the client's address, which identifies it for rate limits."""
    client = scope.get("client")
    return str(client[0]) if client else "unknown"


def _is_file(path: str) -> bool:
    """Whether requests to a path carry game files or records."""
    return path.startswith(("/api/import", "/api/export", "/api/studies"))


def _is_costly(path: str) -> bool:
    return path in ("/api/games", "/api/studies", "/api/import") or path.endswith("/rematch")


def _hostname(url: str) -> str | None:
    try:
        return urlsplit(url).hostname
    except ValueError:
        return None


def _too_many(wait_s: float) -> JSONResponse:
    seconds = max(1, round(wait_s + 0.5))
    response = problem_response(429, f"too many requests; try again in {seconds} s", ProblemCode.TOO_MANY)
    response.headers["Retry-After"] = str(seconds)
    return response


def _with_headers(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in _HEADERS.items():
                headers.setdefault(name, value)
        await send(message)

    return sending


class _Body:
    """The part of a request body received so far."""

    def __init__(self) -> None:
        self.data = bytearray()
        self.is_complete = False

    def add(self, part: bytes, *, is_last: bool) -> None:
        self.data += part
        self.is_complete = is_last

    def replayed(self, receive: Receive) -> Receive:
        """Return a `receive` function that replays the body and then waits for the client to disconnect."""
        is_given = False

        async def receiving() -> Message:
            nonlocal is_given
            if is_given:
                return await receive()
            is_given = True
            return {"type": "http.request", "body": bytes(self.data), "more_body": False}

        return receiving


def _too_large(max_bytes: int) -> JSONResponse:
    error = f"the request body is larger than {max_bytes} bytes"
    return _closing(problem_response(413, error, ProblemCode.TOO_LARGE))


def _closing(response: JSONResponse) -> JSONResponse:
    """Mark the connection for closing after the response, because the rest of the request is not read."""
    response.headers["Connection"] = "close"
    return response
