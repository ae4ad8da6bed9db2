"""Start the web application with uvicorn."""

from __future__ import annotations

import ipaddress
import socket
import sys
import threading
import webbrowser
from pathlib import Path

import uvicorn
from fastapi import FastAPI

from tengen.agents.registry import AgentRegistry
from tengen.core.shipped import shipped_folder
from tengen.errors import InputError
from tengen.web.app import create_app
from tengen.web.connections import ACCEPTED_AT_ONCE, bounded_protocol, connections_allowed
from tengen.web.limits import WebLimits
from tengen.web.logs import set_up_logging
from tengen.web.services import ServerConfig
from tengen.web.workers.scheduler import SearchPoolConfig

_PING_S = 5
"""Interval between keep-alive pings on an idle WebSocket."""
DEFAULT_RUNS = Path("runs")
"""The folder in which training creates its runs; it may not exist yet."""
_BACKLOG = 512
_OPEN_BROWSER_AFTER_S = 1.0


def run_server(
    *,
    host: str,
    port: int,
    open_browser: bool,
    data: Path,
    runs: tuple[Path, ...],
    hosts: tuple[str, ...],
    proxies: tuple[str, ...] = (),
    agents: tuple[str, ...] = (),
    workers: int,
    read_only: bool = False,
) -> None:
    """Serve until Ctrl-C. Raises `InputError` if a folder does not exist or the port is in use.

    `agents` are the files with agents that browsers may use, as `FILE.py` or `FILE.py:NAME`.
    `read_only` prevents browsers from starting training runs and tournaments; so does any address except loopback.
    """
    for folder in runs:
        if not folder.is_dir():
            raise InputError(f"--runs {folder}: no such folder")
    why_not = _why_read_only(host, hosts, proxies, read_only=read_only)
    limits = WebLimits(
        hosts=WebLimits().hosts | {host.lower(), *(name.lower() for name in hosts)}, trusted_proxies=frozenset(proxies)
    )
    pool = SearchPoolConfig(workers=workers, agents=AgentRegistry().of_files(agents))
    config = ServerConfig(
        data=data,
        runs=runs or (DEFAULT_RUNS,),
        papers=shipped_folder("papers"),
        read_only=why_not,
        limits=limits,
        pool=pool,
    )
    app = create_app(config)
    server = make_server(app, limits)
    with _listen(host, port) as listening:
        app.state.services.open_store()  # fail before the address is printed
        address = f"http://{_shown(host)}:{listening.getsockname()[1]}/"
        print(f"Tengen is running at {address} (press Ctrl-C to stop)", file=sys.stderr, flush=True)
        if open_browser:
            timer = threading.Timer(_OPEN_BROWSER_AFTER_S, webbrowser.open, args=(address,))
            timer.daemon = True
            timer.start()
        set_up_logging()
        server.run(sockets=[listening])


def _why_read_only(host: str, hosts: tuple[str, ...], proxies: tuple[str, ...], *, read_only: bool) -> str:
    """Return why browsers cannot start processes; empty if they can."""
    if read_only:
        return "the server was started with --read-only"
    if host != "localhost" and not _is_loopback(host):
        return f"the server listens on {host}, so other machines can reach it"
    if hosts or proxies:
        return "the server was started with --allow-host or --trust-proxy, so other machines may reach it"
    return ""


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def make_server(app: FastAPI, limits: WebLimits) -> uvicorn.Server:
    """Return a server for the application that enforces the connection limits."""
    return uvicorn.Server(
        uvicorn.Config(
            app,
            http=bounded_protocol(limits, connections_allowed(limits.max_connections)),
            backlog=ACCEPTED_AT_ONCE,
            log_level="warning",
            log_config=None,  # see `logs`
            access_log=False,
            ws_max_size=limits.max_message_bytes,
            ws_ping_interval=_PING_S,
            ws_ping_timeout=_PING_S,
            ws_per_message_deflate=False,  # compressing short messages costs more than it saves
            # Trust X-Forwarded-For only from the listed proxies: any other client could forge an address to evade the
            # rate limit.
            proxy_headers=bool(limits.trusted_proxies),
            forwarded_allow_ips=sorted(limits.trusted_proxies),
            timeout_graceful_shutdown=2,
            server_header=False,
        )
    )


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # With an explicit protocol, asyncio disables Nagle's algorithm, so small responses are sent immediately.
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
        listening.listen(_BACKLOG)  # browsers that connect before the workers are ready wait in the backlog
    except OSError as error:
        listening.close()
        raise InputError(
            f"cannot listen on {host}, port {port}: {error.strerror or error}; try another --port"
        ) from None
    return listening


def _shown(host: str) -> str:
    return f"[{host}]" if ":" in host else host
