"""Limits on the number of connections, the time to receive a request head, and the time for a client to read data.

uvicorn limits the size of a request head and closes idle connections after a response. It has no time limit for a
request head, and `limit_concurrency` counts connections but never closes any. This subclass of uvicorn's protocol
enforces the limits below the application, so that half-open connections cannot exhaust memory or file descriptors.
"""

from __future__ import annotations

import asyncio
import sys
from collections import Counter
from typing import ClassVar, Literal, cast

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from tengen.web.limits import WebLimits

ACCEPTED_AT_ONCE = 64
"""Connections that the event loop accepts in one batch before it handles any of them."""
_RESERVED_DESCRIPTORS = 4 * ACCEPTED_AT_ONCE
"""File descriptors reserved for files, worker processes, and connections that are about to be closed."""
_WANTED_DESCRIPTORS = 4096
_TIMEOUT = b"HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
_FULL = b"HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"


def bounded_protocol(limits: WebLimits, max_connections: int) -> type[H11Protocol]:
    """Return a protocol class that enforces these limits for one server."""

    class Bounded(BoundedProtocol):
        """`BoundedProtocol` with the limits and counters of one server."""

    Bounded.limits = limits
    Bounded.max_connections = max_connections
    Bounded.open_by_client = Counter()
    return Bounded


class BoundedProtocol(H11Protocol):
    """One HTTP connection; the module docstring describes its limits."""

    limits: ClassVar[WebLimits]
    max_connections: ClassVar[int]
    open_by_client: ClassVar[Counter[str]]
    _head_timer: asyncio.TimerHandle | None = None
    _write_timer: asyncio.TimerHandle | None = None
    _counted_as: str | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(cast(asyncio.Transport, transport))
        client = self.client[0] if self.client else ""
        is_proxy = client in self.limits.trusted_proxies
        is_client_full = not is_proxy and self.open_by_client[client] >= self.limits.max_connections_per_client
        if len(self.connections) > self.max_connections or is_client_full:
            self._refuse(_FULL)
            return
        self._counted_as = client
        self.open_by_client[client] += 1
        self._watch_head()

    def connection_lost(self, exc: Exception | None) -> None:
        self._forget()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self.transport.is_closing():
            return
        super().data_received(data)
        self._watch_head()

    def handle_websocket_upgrade(self, event: h11.Request) -> None:
        self._forget()  # from now on, the application counts and limits this connection
        super().handle_websocket_upgrade(event)

    def pause_writing(self) -> None:
        super().pause_writing()
        self._watch_reader()

    def resume_writing(self) -> None:
        super().resume_writing()
        if not self.transport.is_closing():
            self._stop_timers("_write_timer")

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self.transport.is_closing():
            self._watch_reader()

    def timeout_keep_alive_handler(self) -> None:
        super().timeout_keep_alive_handler()
        self._watch_reader()

    def _watch_reader(self) -> None:
        """Start the timer that disconnects the client unless it reads its response in time."""
        if self._write_timer is None:
            self._write_timer = self.loop.call_later(self.limits.max_write_s, self.transport.abort)

    def _watch_head(self) -> None:
        """Start the timer while a request head is expected or incomplete, and stop it once the head is complete."""
        is_answering = self.cycle is not None and not self.cycle.response_complete
        if is_answering or self.timeout_keep_alive_task is not None or self.transport.is_closing():
            self._stop_timers("_head_timer")
        elif self._head_timer is None and self._counted_as is not None:
            self._head_timer = self.loop.call_later(self.limits.max_head_s, self._refuse, _TIMEOUT)

    def _refuse(self, answer: bytes) -> None:
        if not self.transport.is_closing():
            self.transport.write(answer)
            self.transport.close()
            self._watch_reader()

    def _forget(self) -> None:
        self._stop_timers("_head_timer", "_write_timer")
        if self._counted_as is not None:
            self.open_by_client[self._counted_as] -= 1
            if not self.open_by_client[self._counted_as]:
                del self.open_by_client[self._counted_as]
            self._counted_as = None

    def _stop_timers(self, *names: Literal["_head_timer", "_write_timer"]) -> None:
        for name in names:
            timer: asyncio.TimerHandle | None = getattr(self, name)
            if timer is not None:
                timer.cancel()
            setattr(self, name, None)


def connections_allowed(wanted: int) -> int:
    """Return how many connections this process can hold, up to `wanted`.

    Raises the process's limit on file descriptors where the system allows it.
    """
    if sys.platform == "win32":
        return wanted
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    unlimited = resource.RLIM_INFINITY
    if soft != unlimited and soft < _WANTED_DESCRIPTORS:
        soft = _WANTED_DESCRIPTORS if hard == unlimited else min(hard, _WANTED_DESCRIPTORS)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    return wanted if soft == unlimited else min(wanted, max(ACCEPTED_AT_ONCE, soft - _RESERVED_DESCRIPTORS))
