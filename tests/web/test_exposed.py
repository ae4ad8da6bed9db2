"""A server that strangers can reach: half-open connections, endless bodies, floods of the log, dead workers."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import logging
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx2
import psutil
import pytest
from starlette.testclient import TestClient

from tengen.core.contracts import Ruleset
from tengen.core.position import Position
from tengen.core.worker_process import WorkerProcess
from tengen.errors import AgentError
from tengen.web.app import create_app
from tengen.web.connections import connections_allowed
from tengen.web.limits import WebLimits
from tengen.web.logs import FloodFilter
from tengen.web.services import ServerConfig
from tengen.web.serving import make_server
from tengen.web.workers.jobs import Explain
from tengen.web.workers.scheduler import SearchPool, SearchPoolConfig
from tests.web.conftest import GENEROUS
from tests.web.talk import PERSON
from tests.web.test_restart import server as server_process

LOCAL = replace(GENEROUS, hosts=frozenset({"127.0.0.1"}))


@contextlib.contextmanager
def serving(limits: WebLimits) -> Iterator[int]:
    """Run a server in a thread and yield its port. Its worker is started like that of a real one."""
    server = make_server(create_app(ServerConfig(limits=limits, pool=SearchPoolConfig(workers=1))), limits)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        wait_until(lambda: server.started or not thread.is_alive())
        try:
            yield listening.getsockname()[1]
        finally:
            server.should_exit = True
            thread.join()


def wait_until(is_true: Callable[[], bool], at_most_s: float = 60) -> None:
    deadline = time.monotonic() + at_most_s
    while not is_true():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def connect(port: int, sent: bytes = b"") -> socket.socket:
    connection = socket.create_connection(("127.0.0.1", port), timeout=60)
    connection.sendall(sent)
    return connection


def read_all(connection: socket.socket) -> bytes:
    """Return everything until the server closes the connection."""
    data = b""
    with contextlib.suppress(ConnectionResetError):
        while part := connection.recv(1 << 16):
            data += part
    return data


def is_alive(port: int) -> bool:
    return httpx2.get(f"http://127.0.0.1:{port}/api/puzzles?limit=1", timeout=60).status_code == 200


def head(length: str) -> bytes:
    return f"POST /api/games HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n{length}\r\n\r\n".encode()


# ---- Time -----------------------------------------------------------------------------------------------------------


def test_requests_that_do_not_arrive_are_given_up() -> None:
    with serving(replace(LOCAL, max_head_s=0.3, max_body_s=0.3)) as port:
        silent, half, body, chunked = (
            connect(port, sent)
            for sent in (
                b"",
                b"GET /api/info HTTP/1.1\r\nHost: 12",
                head("Content-Length: 100") + b"{",
                head("Transfer-Encoding: chunked") + b"1\r\n{\r\n",
            )
        )
        # A byte now and then does not prolong the time.
        with contextlib.suppress(OSError):
            for _ in range(100):
                half.sendall(b"7")
                time.sleep(0.05)
        assert read_all(silent).startswith(b"HTTP/1.1 408 ")
        for connection in (body, chunked):
            answer = read_all(connection)
            assert answer.startswith(b"HTTP/1.1 408 ")
            assert b'"code":"too-slow"' in answer
        assert is_alive(port)


def test_a_second_request_must_arrive_in_time_as_well() -> None:
    with serving(replace(LOCAL, max_head_s=0.5)) as port:
        connection = connect(port, b"GET /api/puzzles?limit=1 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        assert connection.recv(1 << 16).startswith(b"HTTP/1.1 200 ")
        connection.sendall(b"GET /api")
        assert b"HTTP/1.1 408 " in read_all(connection)


def test_a_client_that_does_not_read_is_disconnected() -> None:
    with serving(replace(LOCAL, max_write_s=0.3)) as port:
        connection = socket.socket()
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.connect(("127.0.0.1", port))
        connection.settimeout(60)
        request = b"GET /api/puzzles HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
        with contextlib.suppress(OSError):
            for _ in range(10_000):
                connection.sendall(100 * request)
        # The server has closed the connection, or the loop would have waited for ever.
        assert is_alive(port)


# ---- Number and size ------------------------------------------------------------------------------------------------


def test_half_open_connections_are_limited() -> None:
    with serving(replace(LOCAL, max_connections=20, max_connections_per_client=8)) as port:
        held = [connect(port, b"GET /api/info HTTP/1.1\r\nHos") for _ in range(8)]
        refused = connect(port)
        assert read_all(refused).startswith(b"HTTP/1.1 503 ")
        for connection in held:
            connection.close()
        wait_until(lambda: is_alive(port))


def test_connections_of_all_clients_are_limited() -> None:
    with serving(replace(LOCAL, max_connections=5)) as port:
        held = [connect(port, b"GET ") for _ in range(5)]
        assert read_all(connect(port)).startswith(b"HTTP/1.1 503 ")
        for connection in held:
            connection.close()
        wait_until(lambda: is_alive(port))


def test_oversize_bodies_get_413_however_they_are_sent() -> None:
    limits = replace(LOCAL, max_body_bytes=100_000, max_small_body_bytes=10_000)
    chunk = b"1000\r\n" + b" " * 4096 + b"\r\n"
    with serving(limits) as port:
        for sent in (head("Content-Length: 10001"), head("Transfer-Encoding: chunked") + 3 * chunk):
            answer = read_all(connect(port, sent))
            assert answer.startswith(b"HTTP/1.1 413 ")
            assert b"larger than 10000 bytes" in answer
        files = head("Transfer-Encoding: chunked").replace(b"/api/games", b"/api/import")
        assert read_all(connect(port, files + 25 * chunk)).startswith(b"HTTP/1.1 413 ")
        assert is_alive(port)


def test_the_bodies_of_all_requests_are_limited() -> None:
    with serving(replace(LOCAL, max_held_bytes=300_000, max_connections=40)) as port:
        part = head("Content-Length: 200000").replace(b"/api/games", b"/api/import") + b" " * 100_000
        answers = [connect(port, part) for _ in range(4)]
        assert b'"code":"busy"' in read_all(answers[-1])
        for connection in answers:
            connection.close()
        wait_until(lambda: is_alive(port))


def test_the_number_of_connections_fits_the_descriptors() -> None:
    assert connections_allowed(100) == 100
    assert connections_allowed(10**9) < 10**9 or sys.platform == "win32"


def test_a_named_proxy_tells_the_client_and_nobody_else_does() -> None:
    game = {"black": PERSON, "white": PERSON}
    for proxies, expected in ((frozenset({"127.0.0.1"}), [201, 201, 429]), (frozenset[str](), [201, 429, 429])):
        with serving(replace(LOCAL, games_per_s=0.001, game_burst=1, trusted_proxies=proxies)) as port:
            answers = [
                httpx2.post(f"http://127.0.0.1:{port}/api/games", json=game, headers={"X-Forwarded-For": client})
                for client in ("203.0.113.1", "203.0.113.2", "203.0.113.2")
            ]
            assert [answer.status_code for answer in answers] == expected


# ---- The log --------------------------------------------------------------------------------------------------------


def test_a_flood_of_messages_is_summed_up() -> None:
    now = 0.0
    flood = FloodFilter(per_place=3, window_s=60, clock=lambda: now)

    def record(line: int) -> logging.LogRecord:
        return logging.LogRecord("x", logging.WARNING, "x.py", line, "no space for %s", ("a game",), None)

    assert [flood.filter(record(1)) for _ in range(1000)] == 3 * [True] + 997 * [False]
    assert flood.filter(record(2))
    now = 61.0
    later = record(1)
    assert flood.filter(later)
    assert later.getMessage() == "no space for a game (and 997 more like this in the last minute)"


if sys.platform != "win32":

    def test_running_out_of_descriptors_fills_no_log(tmp_path: Path) -> None:
        log = tmp_path / "log"
        command = [sys.executable, "-m", "tengen.cli", "serve", "--no-open", "--port", "0", "--workers", "1"]
        limit = "import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (100, 100)); "
        code = f"{limit}import sys; sys.argv = ['tengen', *{command[3:]!r}]; from tengen.cli import main; main()"
        with open(log, "wb") as stderr:
            process = subprocess.Popen([sys.executable, "-c", code, "--data", str(tmp_path)], stderr=stderr)
        held: list[socket.socket] = []
        try:
            wait_until(lambda: b"running at" in log.read_bytes() or process.poll() is not None)
            port = int(log.read_bytes().split(b"127.0.0.1:")[1].split(b"/")[0])
            wait_until(lambda: is_alive(port))
            with contextlib.suppress(OSError):
                held += [connect(port, b"GET /") for _ in range(260)]
            time.sleep(3)  # the event loop tries again every second
            assert len(log.read_bytes()) < 50_000
            for connection in held:
                connection.close()
            wait_until(lambda: is_alive(port))
        finally:
            process.kill()
            process.wait()


# ---- Worker processes -----------------------------------------------------------------------------------------------


def command_line(process: psutil.Process) -> str:
    """Return the command line, which is empty for a process that has ended."""
    try:
        return " ".join(process.cmdline())
    except (psutil.NoSuchProcess, psutil.ZombieProcess):
        return ""


def is_zombie(process: psutil.Process) -> bool:
    try:
        return bool(process.status() == psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def test_dead_workers_are_replaced_and_leave_no_zombie(tmp_path: Path) -> None:
    with server_process(tmp_path) as (address, process):
        wait_until(lambda: is_alive(int(address.split(":")[1])))
        parent = psutil.Process(process.pid)

        def workers() -> list[psutil.Process]:
            return [child for child in parent.children() if "spawn_main" in command_line(child)]

        dead: set[psutil.Process] = set()
        for _ in range(2):
            (worker,) = workers()
            dead.add(worker)
            os.kill(worker.pid, signal.SIGTERM if sys.platform == "win32" else signal.SIGKILL)
            wait_until(lambda: bool(workers()) and not dead.intersection(parent.children()))
            wait_until(lambda: httpx2.post(f"http://{address}/api/import", json={"text": "h8"}, timeout=60).is_success)
        assert not any(is_zombie(child) for child in parent.children(recursive=True))


def test_a_worker_that_cannot_be_started_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    refusals = 0

    def refuse_twice(*arguments: Any, **options: Any) -> WorkerProcess:
        nonlocal refusals
        if refusals < 2:
            refusals += 1
            raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
        return WorkerProcess(*arguments, **options)

    async def lose_a_worker() -> None:
        pool = SearchPool(SearchPoolConfig(workers=1))
        await pool.start()
        monkeypatch.setattr("tengen.web.workers.scheduler.WorkerProcess", refuse_twice)
        monkeypatch.setattr("tengen.web.workers.scheduler._RETRY_S", 0.05)
        try:
            worker = pool._workers[0]
            search = pool.submit(Explain(position=Position.start(Ruleset(9, 9))), owner="x")
            pool.lost(worker, "it was killed")
            with pytest.raises(AgentError, match="it was killed"):
                await search.result
            explanation = await pool.run(Explain(position=Position.start(Ruleset(9, 9))), owner="x")
            assert explanation.sentences
        finally:
            await pool.close()

    asyncio.run(lose_a_worker())
    assert refusals == 2


def test_schema_of_problems_names_every_status(client: TestClient) -> None:
    responses = client.get("/api/openapi.json").json()["paths"]["/api/games"]["post"]["responses"]
    assert {"408", "413", "503", "507"} <= set(responses)
