"""Latency of the web server: idle, for a click in Chromium, and with 50 players and 20 analyses at once.

`python -m benchmarks web` takes half a minute; `python -m benchmarks.bench_web 120` loads the server for two minutes.
The click is measured only if Playwright and Chromium are installed (`make test-web` installs both).
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from typing import Any

import psutil
from websockets.asyncio.client import ClientConnection, connect

PLAYERS = 50
ANALYSTS = 20
LEVELS = 8
"""Number of opponent levels, assigned to the players in turn."""
ROUNDS = 15
LOAD_S = 20.0
CLOSED_TABS = 4
QUIET_S = 1.5
"""A search that has used no processor time for this long counts as ended."""
THINKING_S = (0.5, 2.5)
"""Time between a person's turn and their click."""
CLICKS = ("h8", "i9", "i8", "g8", "j8", "k8", "j9", "h7", "j7", "j10", "j6", "j5", "a1", "c3", "o15", "m13")
_CHROMIUMS = ("chromium", "chromium-browser", "google-chrome")
_ADDRESS = re.compile(r"http://(127\.0\.0\.1:\d+)/")

Json = dict[str, Any]


def run(load_s: float = LOAD_S) -> dict[str, float]:
    """Return all figures. Milliseconds are medians on an idle server, except where the name says otherwise."""
    with server() as (address, process):
        figures = asyncio.run(measure_latency(address))
        figures |= measure_clicks(address)
        figures |= asyncio.run(measure_load(address, process, load_s))
    return figures


@contextmanager
def server() -> Iterator[tuple[str, psutil.Process]]:
    """Run a server with an empty store in a separate process, and yield its address and the process."""
    with tempfile.TemporaryDirectory() as data:
        command = [sys.executable, "-m", "tengen.cli", "serve", "--no-open", "--port", "0", "--data", data]
        process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        try:
            assert process.stderr is not None
            found = _ADDRESS.search(process.stderr.readline())
            assert found is not None
            ask(found[1], "GET", "/api/info")  # waits until the server accepts requests
            yield found[1], psutil.Process(process.pid)
        finally:
            process.terminate()
            process.wait()


def ask(address: str, method: str, path: str, body: Json | None = None) -> Json:
    data = None if body is None else json.dumps(body).encode()
    headers = {"content-type": "application/json"}
    request = urllib.request.Request(f"http://{address}{path}", data, headers, method=method)
    with urllib.request.urlopen(request, timeout=60) as response:
        answer: Json = json.load(response)
    return answer


async def begin(address: str, level: int, rules: str = "15x15:5:freestyle") -> str:
    body = {"rules": rules, "black": {"kind": "person"}, "white": {"kind": "level", "level": level}}
    return str((await asyncio.to_thread(ask, address, "POST", "/api/games", body))["id"])


class Tab:
    """A client that behaves like a browser tab."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket
        self.errors = 0

    async def send(self, **message: Any) -> None:
        await self.socket.send(json.dumps(message))

    async def receive(self) -> Json:
        message: Json = json.loads(await self.socket.recv())
        self.errors += message["type"] == "error"
        return message

    async def wait_for(self, wanted: Any) -> Json:
        while not wanted(message := await self.receive()):
            pass
        return message


@asynccontextmanager
async def tab(address: str) -> Any:
    async with connect(f"ws://{address}/api/socket", max_queue=None) as socket:
        yield Tab(socket)


# ---- Latency --------------------------------------------------------------------------------------------------------


async def measure_latency(address: str) -> dict[str, float]:
    stones, moves, lines = [], [], []
    async with tab(address) as one:
        game = await begin(address, level=1)
        await one.send(type="watch", id="w", gameId=game)
        state = (await one.receive())["game"]
        for _ in range(ROUNDS):
            started = time.perf_counter()
            state = await play(one, game, state)
            stones.append(time.perf_counter() - started)
            state = await answered(one, state)
            moves.append(time.perf_counter() - started)
            if state["turn"] is None:
                break
        position = ["h8", "i9", "g7", "i7", "i8", "g6", "h7", "h9"]
        for ply in range(len(position)):
            started = time.perf_counter()
            await one.send(type="analyse", id="a", moves=position[:ply], lines=5)
            await one.wait_for(lambda message, ply=ply: message.get("turnNumber") == ply)
            lines.append(time.perf_counter() - started)
    return {
        "stone_ms": 1000 * statistics.median(stones),
        "level_1_move_ms": 1000 * statistics.median(moves),
        "first_lines_ms": 1000 * statistics.median(lines),
    }


async def play(one: Tab, game: str, state: Json) -> Json:
    """Place a stone next to another stone and wait until the server confirms it."""
    rng = random.Random(state["revision"])
    near = [point for point in state["turn"]["legal"] if is_near(point, state["moves"])]
    point = rng.choice(near or state["turn"]["legal"])
    before = state["revision"]
    action = {"action": "play", "point": point, "turnNumber": len(state["moves"])}
    await one.send(type="act", id="p", gameId=game, action=action)
    message = await one.wait_for(lambda found: found["type"] == "game" and found["game"]["revision"] > before)
    shown: Json = message["game"]
    return shown


async def answered(one: Tab, state: Json) -> Json:
    """Wait until it is the person's turn again, or the game is over."""
    while state["turn"] is not None and not state["turn"]["isPerson"]:
        state = (await one.wait_for(lambda found: found["type"] == "game"))["game"]
    return state


def is_near(point: str, moves: list[str]) -> bool:
    x, y = ord(point[0]), int(point[1:])
    return any(max(abs(ord(move[0]) - x), abs(int(move[1:]) - y)) <= 1 for move in moves)


# ---- A click --------------------------------------------------------------------------------------------------------

_WATCH_CLICKS = """() => {
    window.waits = [];
    addEventListener("click", (event) => {
        const before = document.querySelectorAll(".board .stone").length;
        const look = () => {
            if (document.querySelectorAll(".board .stone").length === before) return requestAnimationFrame(look);
            // A task queued now runs after the frame has been drawn.
            const channel = new MessageChannel();
            channel.port1.onmessage = () => window.waits.push(performance.now() - event.timeStamp);
            channel.port2.postMessage(null);
        };
        requestAnimationFrame(look);
    }, true);
}"""


def measure_clicks(address: str) -> dict[str, float]:
    """Measure the time from a click to the end of the first frame with the stone, in a game between two people."""
    path = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, _CHROMIUMS)), None)
    try:
        from playwright.sync_api import expect, sync_playwright
    except ImportError:
        return {}
    if path is None:
        return {}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--headless", "--no-sandbox", "--disable-gpu"])
        page = browser.new_page()
        page.goto(f"http://{address}/#/play")
        page.get_by_role("radio", name="Person").check()
        page.get_by_role("button", name="Start game").click()
        for number, point in enumerate(CLICKS):
            expect(page.locator(".board.is-playable")).to_be_attached(timeout=60_000)
            if not number:
                page.evaluate(_WATCH_CLICKS)
            page.locator(f'[data-point="{point}"]').click()
            page.wait_for_function("count => window.waits.length === count", arg=number + 1)
        waits: list[float] = page.evaluate("window.waits")
        browser.close()
    return {"click_to_frame_ms": statistics.median(waits), "click_to_frame_longest_ms": max(waits)}


# ---- Load -----------------------------------------------------------------------------------------------------------


async def measure_load(address: str, process: psutil.Process, load_s: float) -> dict[str, float]:
    end = time.monotonic() + load_s
    players = [asyncio.create_task(play_until(address, number, end)) for number in range(PLAYERS)]
    analysts = [asyncio.create_task(analyse_until(address, end)) for _ in range(ANALYSTS)]
    memory = asyncio.create_task(sample_memory(process, end))
    played = [await task for task in players]
    analysed = [await task for task in analysts]
    samples = await memory
    stopped_ms = await measure_stop(address, process)
    waits = sorted(wait for _, waits, _ in played for wait in waits)
    visits = [count for count, _ in analysed]
    quarter = samples[len(samples) // 4 : len(samples) // 2]
    return {
        "load_seconds": load_s,
        "load_errors": sum(errors for _, _, errors in played) + sum(errors for _, errors in analysed),
        "load_moves_a_second": sum(moves for moves, _, _ in played) / load_s,
        "load_move_median_ms": 1000 * waits[len(waits) // 2],
        "load_move_99_percent_ms": 1000 * waits[int(len(waits) * 0.99)],
        "least_to_mean_moves_ratio": least_share([moves for moves, _, _ in played]),
        "least_to_mean_visits_ratio": min(visits) / statistics.mean(visits),
        "memory_mb": samples[-1] / 2**20,
        "memory_end_to_second_quarter_ratio": statistics.mean(samples[-5:]) / statistics.mean(quarter),
        "closed_tabs_stop_ms": stopped_ms,
    }


def least_share(moves: list[int]) -> float:
    """Return the lowest ratio of a player's moves to the mean of all players with the same opponent."""
    levels = [moves[level::LEVELS] for level in range(LEVELS)]
    return min(min(equals) / statistics.mean(equals) for equals in levels)


async def play_until(address: str, number: int, end: float) -> tuple[int, list[float], int]:
    """Play one game after another; return the number of moves, the seconds waited for each reply, and the errors."""
    rng = random.Random(number)
    moves, waits = 0, []
    async with tab(address) as one:
        state: Json = {"turn": None}
        game = ""
        while time.monotonic() < end:
            if state["turn"] is None:
                game = await begin(address, level=1 + number % LEVELS)
                await one.send(type="watch", id="w", gameId=game)
                state = (await one.wait_for(lambda found, game=game: found.get("game", {}).get("id") == game))["game"]
            await asyncio.sleep(rng.uniform(*THINKING_S))
            started = time.perf_counter()
            state = await answered(one, await play(one, game, state))
            waits.append(time.perf_counter() - started)
            moves += 1
        return moves, waits, one.errors


async def analyse_until(address: str, end: float) -> tuple[int, int]:
    """Analyse one position continuously; return the number of visits and of errors."""
    visits = 0
    async with tab(address) as one:
        await one.send(type="analyse", id="a", moves=["h8", "i9", "g7", "i7"], lines=3, reportDuringSearchEvery=0.5)
        while time.monotonic() < end:
            try:
                message = await asyncio.wait_for(one.receive(), timeout=max(0.01, end - time.monotonic()))
            except TimeoutError:
                break
            visits = max(visits, message.get("rootInfo", {}).get("visits", 0))
        return visits, one.errors


async def sample_memory(process: psutil.Process, end: float) -> list[int]:
    samples = []
    while time.monotonic() < end:
        family = [process, *process.children(recursive=True)]
        samples.append(sum(member.memory_info().rss for member in family))
        await asyncio.sleep(0.5)
    return samples


async def measure_stop(address: str, process: psutil.Process) -> float:
    """Return the milliseconds between closing tabs with running analyses and the end of their searches."""
    async with AsyncExitStack() as tabs:
        for _ in range(CLOSED_TABS):
            one = await tabs.enter_async_context(tab(address))
            await one.send(type="analyse", id="a", moves=["h8", "i9"], lines=3)
            await one.wait_for(lambda message: message["type"] == "analysis")
        closed = time.monotonic()
    last_busy, used = time.monotonic(), cpu_seconds(process)
    while time.monotonic() < last_busy + QUIET_S:
        await asyncio.sleep(0.01)
        if (now := cpu_seconds(process)) > used:
            last_busy, used = time.monotonic(), now
    return 1000 * (last_busy - closed)


def cpu_seconds(process: psutil.Process) -> float:
    return sum(times.user + times.system for times in (child.cpu_times() for child in process.children()))


if __name__ == "__main__":
    for name, figure in run(float(sys.argv[1]) if len(sys.argv) > 1 else LOAD_S).items():
        print(f"{name:40} {figure:12,.3f}")
