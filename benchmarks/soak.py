"""`python -m benchmarks.soak`: run a server under mixed load, kill processes at random, and check the consequences.

Clients play, analyse, review, import and store studies. A training run and a tournament write to the folder that the
laboratory shows. Workers, training and tournament are killed throughout the run, the server only during its first
third. At the end, no acknowledged data may be missing, no unexpected errors may have occurred, memory use must be
stable, and no descriptors or processes may be left over. Everything runs on 127.0.0.1 and in a temporary folder. If the
machine sleeps or all these processes are suspended, the run is extended by the same time.

The default is `--minutes 5`; the long form is `--minutes 60`. The exit code is 1 if a check failed.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import os
import random
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2
import psutil
from rich.console import Console
from rich.table import Table
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import WebSocketException

from tengen.arena.store import GameStore
from tengen.errors import InputError
from tengen.learning.run.reading import LeftOut, RunReader

PLAYERS = 4
ANALYSTS = 2
READERS = 1
WORKERS = 2
RULES = "9x9:5:freestyle"
LAST_PLY = 30
"""Number of stones from which the clients resign their games."""
GRACE_S = 30.0
"""Time after a suspension or a restart of the server during which the resulting errors are expected."""
WORKER_DIED = "the worker process died"
"""A job is retried when its worker dies, so this error requires two kills."""
ANSWER_S = 90.0
SAMPLE_S = 2.0
SUSPENDED_S = 20.0
"""If the main loop pauses for longer than this, the process is assumed to have been suspended."""
MAX_LOAD = 4.0
"""Runnable processes per core above which missed time limits are not the server's fault; this test causes about 2."""
MAX_MISSED = 0.001
"""Maximum share of requests that may miss a time limit on an overloaded machine."""
MAX_LOG_BYTES = 1 << 20
TOURNAMENT = """
name = "soak"
rules = "9x9:5:freestyle"
rounds = 100000
concurrency = 1
database = "soak.sqlite"
[openings]
stones = 0
[[players]]
agent = "alphabeta:nodes=2000"
[[players]]
agent = "naive:level=3"
"""
NEW_RUN = ("--preset", "6x6x4", "--set", "iterations=1000000", "--set", "minutes=0")
COLLECTION = "".join(f"(;GM[4]SZ[9]PB[Player {number}];B[ee];W[ed];B[dd])" for number in range(20))

Json = dict[str, Any]


# ---- Expectations ---------------------------------------------------------------------------------------------------


@dataclass
class Ledger:
    """Data that the server has acknowledged, its errors, and the injected faults that explain some of them."""

    games: dict[str, Json] = field(default_factory=dict)
    studies: dict[str, Json] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)
    errors: list[str] = field(default_factory=list)
    kills: Counter[str] = field(default_factory=Counter)
    last_kill: dict[str, float] = field(default_factory=dict)
    last_beat: float = math.inf
    """Time at which this process was last seen running; infinity if it is not being watched."""

    def killed(self, name: str) -> None:
        """Record a kill."""
        self.kills[name] += 1
        self.last_kill[name] = time.monotonic()

    def failed(self, what: str, *, is_connection: bool = False) -> None:
        """Record a failure. It is an error unless an injected fault explains it.

        These failures are explained: any failure around a suspension; a lost connection after the server was killed; a
        job that lost its worker twice, once per two kills; a missed time limit on an overloaded machine, up to a
        maximum share.
        """
        now = time.monotonic()
        twice_killed = self.kills["worker"] // 2
        if now - self.last_beat > SUSPENDED_S or now - self.last_kill.get("everything", -GRACE_S) < GRACE_S:
            self.counts["failures after a suspension"] += 1
        elif is_connection and now - self.last_kill.get("server", -GRACE_S) < GRACE_S:
            self.counts["connections lost when the server was killed"] += 1
        elif WORKER_DIED in what and self.counts["jobs that lost two workers"] < twice_killed:
            self.counts["jobs that lost two workers"] += 1
        elif "time" in what.lower() and psutil.getloadavg()[0] > MAX_LOAD * (os.cpu_count() or 1):
            self.counts["time limits missed on an overloaded machine"] += 1
        else:
            self.errors.append(what)

    @property
    def missed_share(self) -> float:
        """Share of requests that missed a time limit on an overloaded machine."""
        requests = sum(count for name, count in self.counts.items() if "request" in name) + self.counts["moves"]
        return self.counts["time limits missed on an overloaded machine"] / max(1, requests)

    def beat(self) -> float:
        """Record that this process is running; return the seconds for which it has just been suspended."""
        now = time.monotonic()
        gap, self.last_beat = now - self.last_beat, now
        if gap < SUSPENDED_S:
            return 0.0
        self.counts["suspensions"] += 1
        self.last_kill["everything"] = now
        return gap

    def acknowledged(self, state: Json) -> None:
        """Record a game state that the server has sent."""
        self.games[state["id"]] = {key: state[key] for key in ("revision", "moves", "outcome", "reason")}

    def check_game(self, state: Json) -> None:
        """Compare a game with its acknowledged state. The last action may have been stored without a reply."""
        known = self.games[state["id"]]
        is_same = all(state[key] == value for key, value in known.items())
        is_next = state["revision"] == known["revision"] + 1
        if not is_same and not is_next:
            self.errors.append(f"game {state['id']}: {known} was acknowledged, found revision {state['revision']}")


@dataclass
class Sample:
    """Measurements of the server at one moment."""

    at: float
    rss: int
    worker_rss: int
    descriptors: int
    processes: int


# ---- Programs -------------------------------------------------------------------------------------------------------


class Program:
    """A program that can be killed and restarted."""

    def __init__(self, name: str, arguments: list[str], log: Path) -> None:
        self.name = name
        self.log = log
        self._arguments = arguments
        self._process: subprocess.Popen[bytes] | None = None
        self.seen: set[psutil.Process] = set()
        """All processes of the program seen so far."""

    def start(self, *more: str) -> None:
        """Start the program."""
        with open(self.log, "ab") as log:
            command = [sys.executable, "-m", "tengen.cli", *self._arguments, *more]
            self._process = subprocess.Popen(command, stdout=log, stderr=log)
        self.look()

    @property
    def process(self) -> psutil.Process:
        """The program's main process."""
        assert self._process is not None
        return psutil.Process(self._process.pid)

    @property
    def is_running(self) -> bool:
        """Whether the program is running."""
        return self._process is not None and self._process.poll() is None

    def look(self) -> None:
        """Record the current processes of the program."""
        with suppress(psutil.Error):
            self.seen |= {self.process, *self.process.children(recursive=True)}

    def kill(self) -> None:
        """Kill the main process without warning; its children must detect this themselves."""
        assert self._process is not None
        self.look()
        self._process.kill()
        self._process.wait()

    def stop(self, stop_signal: signal.Signals, within_s: float) -> int | None:
        """Ask the program to exit. Return its exit code; None if it had to be killed."""
        assert self._process is not None
        self.look()
        self._process.send_signal(stop_signal)
        try:
            return self._process.wait(within_s)
        except subprocess.TimeoutExpired:
            self.kill()
            return None

    def left(self) -> list[psutil.Process]:
        """Return the processes that are still running."""
        return [process for process in self.seen if process.is_running() and process.status() != psutil.STATUS_ZOMBIE]


# ---- The load -------------------------------------------------------------------------------------------------------


class Soak:
    """The programs, the clients and the kills of one run."""

    def __init__(self, folder: Path, minutes: float, seed: int) -> None:
        self.folder = folder
        self.seconds = 60 * minutes
        self.chance = random.Random(seed)
        self.ledger = Ledger()
        self.samples: list[Sample] = []
        self.started = self.server_started = time.monotonic()
        self.is_over = False
        self.games_of_tournament: set[int] = set()
        self.checkpoint = 0
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.address = f"127.0.0.1:{free.getsockname()[1]}"
        self.runs = folder / "runs"
        self.runs.mkdir()
        (self.runs / "soak.toml").write_text(TOURNAMENT, encoding="utf-8")
        port = self.address.rpartition(":")[2]
        serve = ["serve", "--no-open", "--port", port, "--data", str(folder / "data"), "--runs", str(self.runs)]
        train = ["train", "ppo", "--run", str(self.runs / "ppo"), "--quiet"]
        self.server = Program("server", [*serve, "--workers", str(WORKERS)], folder / "server.log")
        self.training = Program("training", train, folder / "training.log")
        self.tournament = Program(
            "tournament", ["tournament", str(self.runs / "soak.toml"), "--resume", "--quiet"], folder / "tournament.log"
        )

    @property
    def elapsed_s(self) -> float:
        """Time since the start."""
        return time.monotonic() - self.started

    # -- running ---------------------------------------------------------------------------------------------------

    async def run(self) -> None:
        """Run all programs and clients until the time is up and the clients have finished."""
        self.server.start()
        await self.wait_for_server()
        self.idle_descriptors = self.server.process.num_fds()
        self.training.start(*NEW_RUN)
        self.tournament.start()
        self.started = self.server_started = time.monotonic()
        others = [asyncio.create_task(part) for part in (self.kill_at_random(), self.take_samples())]
        clients = [
            asyncio.create_task(self.repeat(client, random.Random(self.chance.random())))
            for client, count in ((self.play_game, PLAYERS), (self.search, ANALYSTS), (self.read, READERS))
            for _ in range(count)
        ]
        while self.elapsed_s < self.seconds:
            await asyncio.sleep(min(1.0, self.seconds))
            self.started += self.ledger.beat()
            for task in (*others, *clients):
                if task.done():
                    task.result()  # raises the client's exception, if any
        self.is_over = True
        self.ledger.last_beat = math.inf
        for task in others:
            task.cancel()
        await asyncio.gather(*clients)

    async def repeat(self, client: Callable[[random.Random], Awaitable[None]], chance: random.Random) -> None:
        """Run a client repeatedly. A lost connection is allowed only after the server was killed."""
        while not self.is_over:
            try:
                async with asyncio.timeout(4 * ANSWER_S):
                    await client(chance)
            except (OSError, WebSocketException, httpx2.HTTPError, TimeoutError) as error:
                self.ledger.failed(f"{client.__name__}: {type(error).__name__} {error}", is_connection=True)
                await asyncio.sleep(0.5)

    async def wait_for_server(self) -> None:
        """Wait until the server answers."""
        deadline = time.monotonic() + ANSWER_S
        while True:
            try:
                await self.ask("GET", "puzzles?limit=1")
                return
            except httpx2.HTTPError:
                if time.monotonic() > deadline or not self.server.is_running:
                    raise
                await asyncio.sleep(0.2)

    async def ask(self, method: str, path: str, body: Json | None = None) -> Any:
        """Send a request and return its JSON answer. Any other status than success is recorded as a failure."""
        async with httpx2.AsyncClient(timeout=ANSWER_S) as http:
            response = await http.request(method, f"http://{self.address}/api/{path}", json=body)
        self.ledger.counts["requests"] += 1
        if not response.is_success:
            self.ledger.failed(f"{method} {path}: {response.status_code} {response.text[:200]}")
            return None
        return response.json()

    def open_socket(self) -> connect:
        """Return a connection to the server's socket, as a context manager."""
        return connect(f"ws://{self.address}/api/socket", open_timeout=ANSWER_S)

    # -- clients ---------------------------------------------------------------------------------------------------

    async def play_game(self, chance: random.Random) -> None:
        """Play a game against an engine while the server and its workers are killed."""
        players = {"black": {"kind": "person"}, "white": {"kind": "level", "level": chance.choice((1, 2, 3))}}
        state = await self.ask("POST", "games", players | {"rules": RULES})
        if state is None:
            return
        self.ledger.acknowledged(state)
        self.ledger.counts["games"] += 1
        while state["turn"] is not None and not self.is_over:
            try:
                async with self.open_socket() as tab:
                    state = await self.continue_game(tab, state["id"], chance)
            except (OSError, WebSocketException, TimeoutError) as error:
                self.ledger.failed(f"game {state['id']}: {type(error).__name__} {error}", is_connection=True)
                await asyncio.sleep(0.5)

    async def continue_game(self, tab: ClientConnection, game: str, chance: random.Random) -> Json:
        """Watch a game, check that no move is missing, and play it to the end."""
        await tab.send(json.dumps({"type": "watch", "id": "w", "gameId": game}))
        state = await self.next_state(tab)
        self.ledger.check_game(state)
        while True:
            self.ledger.acknowledged(state)
            turn = state["turn"]
            if turn is None or self.is_over:
                return state
            if state["isPaused"]:
                await self.act(tab, game, action="resume")
            elif turn["isPerson"]:
                await asyncio.sleep(chance.uniform(0.05, 0.5))
                self.ledger.counts["moves"] += 1
                if len(state["moves"]) >= LAST_PLY:
                    await self.act(tab, game, action="resign")
                elif state["canUndo"] and chance.random() < 0.1:
                    await self.act(tab, game, action="undo")
                else:
                    await self.act(tab, game, action="play", point=chance.choice(turn["legal"]))
            state = await self.next_state(tab)

    async def act(self, tab: ClientConnection, game: str, **action: Any) -> None:
        """Send an action; the reply arrives with the next states."""
        await tab.send(json.dumps({"type": "act", "id": "a", "gameId": game, "action": action}))

    async def next_state(self, tab: ClientConnection) -> Json:
        """Return the next state of the watched game."""
        while True:
            message: Json = json.loads(await asyncio.wait_for(tab.recv(), ANSWER_S))
            if message["type"] == "game":
                state: Json = message["game"]
                return state
            if message["type"] == "error":
                self.ledger.failed(f"game: {message['code']} {message['error']}")

    async def search(self, chance: random.Random) -> None:
        """Analyse, review and solve random positions over one socket."""
        async with self.open_socket() as tab:
            for _ in range(10):
                points = chance.sample([f"{column}{row}" for column in "abcdefghi" for row in range(1, 10)], 6)
                request = chance.choice(
                    (
                        {"type": "analyse", "maxTimeMs": 600, "moves": points, "lines": 3},
                        {"type": "review", "effort": "quick", "moves": points},
                        {"type": "solve", "maxTimeMs": 300, "moves": points, "kind": "vcf"},
                    )
                )
                await tab.send(json.dumps({"id": "s", "rules": RULES} | request))
                while (message := json.loads(await asyncio.wait_for(tab.recv(), ANSWER_S))).get("isDuringSearch"):
                    pass
                if message["type"] == "error":
                    self.ledger.failed(f"{request['type']}: {message['code']} {message['error']}")
                self.ledger.counts[f"{request['type']} requests"] += 1
                if self.is_over:
                    return

    async def read(self, chance: random.Random) -> None:
        """Import a file, store a study, read the laboratory, and look at an old game."""
        imported = await self.ask("POST", "import", {"text": COLLECTION, "index": chance.randrange(20)})
        if imported is not None:
            study = await self.ask("POST", "studies", imported["record"])
            if study is not None:
                self.ledger.studies[study["id"]] = study
        for path in ("runs", "tournaments", "info", "models"):
            await self.ask("GET", path)
        for path in ("runs/ppo", "tournaments/soak", "tournaments/soak/games"):
            if (self.runs / ("ppo/config.toml" if path == "runs/ppo" else "soak.sqlite")).exists():
                await self.ask("GET", path)
        if self.ledger.games:
            await self.ask("GET", f"games/{chance.choice(list(self.ledger.games))}")
        await asyncio.sleep(0.5)

    # -- kills and samples -----------------------------------------------------------------------------------------

    async def kill_at_random(self) -> None:
        """Kill a process from time to time."""
        every_s = max(4.0, self.seconds / 60)
        server_kills = [share * self.seconds for share in (0.1, 0.2, 0.3)]
        while True:
            await asyncio.sleep(self.chance.uniform(0.5, 1.5) * every_s)
            if server_kills and self.elapsed_s > server_kills[0]:
                server_kills.pop(0)
                await self.kill_server()
                continue
            victim = self.chance.choice(("worker", "worker", "training", "tournament"))
            if victim == "worker":
                self.kill_worker()
            else:
                self.note_progress()
                program = self.training if victim == "training" else self.tournament
                await asyncio.to_thread(self.kill_program, program)
            for program in (self.training, self.tournament):
                if not program.is_running:
                    self.ledger.errors.append(f"{program.name} exited unexpectedly; see its log")

    def kill_worker(self) -> None:
        """Kill a worker of the server."""
        with suppress(psutil.Error):
            workers = [child for child in self.server.process.children() if "spawn_main" in " ".join(child.cmdline())]
            if workers:  # on a busy machine, there may be none because all are starting
                self.chance.choice(workers).kill()
                self.ledger.killed("worker")

    def kill_program(self, program: Program) -> None:
        """Kill the training or the tournament and restart it."""
        program.kill()
        self.ledger.killed(program.name)
        if program is self.training:
            program.start(*(["--resume"] if (self.runs / "ppo" / "config.toml").exists() else NEW_RUN))
        else:
            program.start()

    async def kill_server(self) -> None:
        """Kill the server and restart it on the same folder."""
        self.server.kill()
        self.ledger.killed("server")
        self.ledger.last_kill["server"] = math.inf  # excuse failures until the server is back
        self.server.start()
        await self.wait_for_server()
        self.ledger.last_kill["server"] = self.server_started = time.monotonic()

    def note_progress(self) -> None:
        """Record the progress of the training and the tournament."""
        with suppress(InputError):
            self.checkpoint = max(self.checkpoint, newest_checkpoint(self.runs / "ppo"))
            with GameStore(self.runs / "soak.sqlite", is_writer=False) as store:
                self.games_of_tournament |= store.numbers()

    async def take_samples(self) -> None:
        """Measure the server every two seconds."""
        while True:
            await asyncio.sleep(SAMPLE_S)
            for program in (self.server, self.training, self.tournament):
                program.look()
            with suppress(psutil.Error):
                process = self.server.process
                children = process.children(recursive=True)
                self.samples.append(
                    Sample(
                        time.monotonic(),
                        process.memory_info().rss,
                        sum(child.memory_info().rss for child in children),
                        process.num_fds(),
                        len(children),
                    )
                )

    # -- the end ---------------------------------------------------------------------------------------------------

    async def check(self) -> list[tuple[str, str, str, bool]]:
        """Stop all programs; return each check with its result, its allowed range, and whether it passed."""
        await asyncio.sleep(min(10.0, self.seconds / 10))
        process = self.server.process
        descriptors = process.num_fds()
        zombies = sum(child.status() == psutil.STATUS_ZOMBIE for child in process.children(recursive=True))
        await self.check_acknowledged()
        exit_code = self.server.stop(signal.SIGTERM, 20)
        self.server.start()
        await self.wait_for_server()
        await self.check_acknowledged()
        self.server.stop(signal.SIGTERM, 20)
        self.note_progress()
        for program in (self.training, self.tournament):
            program.stop(signal.SIGINT, 120)
        await asyncio.sleep(2)
        left = [one for program in (self.server, self.training, self.tournament) for one in program.left()]
        missing = self.games_of_tournament - stored_games(self.runs / "soak.sqlite")
        problem, checkpoint = inspect_run(self.runs / "ppo")
        first_mb, last_mb = self.memory_mb()
        allowed_mb = max(1.1 * first_mb, first_mb + 16)
        log = self.server.log.read_text(encoding="utf-8", errors="replace")
        peak = max((sample.worker_rss for sample in self.samples), default=0) >> 20
        busiest = max((sample.descriptors for sample in self.samples), default=0)
        return [
            ("unexpected errors", str(len(self.ledger.errors)), "0", not self.ledger.errors),
            (
                "time limits missed at high load",
                f"{self.ledger.missed_share:.2%}",
                f"≤ {MAX_MISSED:.1%}",
                self.ledger.missed_share <= MAX_MISSED,
            ),
            (
                "memory of the server, MB",
                f"{first_mb:.0f} → {last_mb:.0f}",
                f"≤ {allowed_mb:.0f}",
                last_mb <= allowed_mb,
            ),
            ("total worker memory, MB", f"at most {peak}", f"≤ {1024 * WORKERS}", peak <= 1024 * WORKERS),
            ("descriptors under load", str(busiest), "≤ 200", busiest <= 200),
            (
                "descriptors when idle",
                f"{self.idle_descriptors} → {descriptors}",
                f"≤ {self.idle_descriptors + 8}",
                descriptors <= self.idle_descriptors + 8,
            ),
            ("zombies", str(zombies), "0", not zombies),
            ("exit code of the server", str(exit_code), "0 or by signal", exit_code is not None),
            ("processes left", str(len(left)), "0", not left),
            ("tournament games lost", str(len(missing)), "0", not missing),
            ("training: newest checkpoint", str(checkpoint), f"≥ {self.checkpoint}", checkpoint >= self.checkpoint),
            ("training: damage", problem or "none", "none", not problem),
            ("server log, bytes", str(len(log)), f"≤ {MAX_LOG_BYTES}", len(log) <= MAX_LOG_BYTES),
            ("tracebacks in the server log", str(log.count("Traceback")), "0", "Traceback" not in log),
        ]

    async def check_acknowledged(self) -> None:
        """Compare all games and studies with what was acknowledged."""
        for game in list(self.ledger.games):
            state = await self.ask("GET", f"games/{game}")
            if state is not None:
                self.ledger.check_game(state)
            await asyncio.sleep(1 / 50)  # stay below the rate limit
        for study, body in self.ledger.studies.items():
            found = await self.ask("GET", f"studies/{study}")
            if found is not None and found != body:
                self.ledger.errors.append(f"study {study} differs from the acknowledged study")
            await asyncio.sleep(1 / 50)

    def memory_mb(self) -> tuple[float, float]:
        """Return the server's median memory in the first and the last third of the samples.

        The first fifth of the run after the server's last start does not count.
        """
        warm = self.server_started + self.seconds / 5
        settled = [sample.rss / 2**20 for sample in self.samples if sample.at > warm]
        third = max(1, len(settled) // 3)
        return statistics.median(settled[:third] or [0.0]), statistics.median(settled[-third:] or [0.0])


def newest_checkpoint(folder: Path) -> int:
    """Return the iteration of the newest checkpoint of a run; 0 if there is no checkpoint."""
    folders = RunReader.open(folder).checkpoint_folders()
    return int(folders[-1].name) if folders else 0


def inspect_run(folder: Path) -> tuple[str, int]:
    """Return the damage to a run, if any, and its newest checkpoint."""
    try:
        left_out = LeftOut()
        for _ in RunReader.open(folder).readable_metrics(left_out):
            pass
        return str(left_out), newest_checkpoint(folder)
    except InputError as error:
        return str(error), 0


def stored_games(path: Path) -> set[int]:
    """Return the numbers of the games of a tournament."""
    with GameStore(path, is_writer=False) as store:
        return store.numbers() if store.is_sound() else set()


def report(soak: Soak, checks: list[tuple[str, str, str, bool]]) -> None:
    """Print the events and the results of the checks."""
    console = Console()
    load = Table("event", title=f"{soak.seconds / 60:g} minutes")
    load.add_column("count", justify="right")
    for name, count in sorted(soak.ledger.counts.items()):
        load.add_row(name, f"{count}")
    for name, count in sorted(soak.ledger.kills.items()):
        load.add_row(f"kills: {name}", f"{count}")
    load.add_row("studies", f"{len(soak.ledger.studies)}")
    load.add_row("games of the tournament", f"{len(soak.games_of_tournament)}")
    console.print(load)
    table = Table("check", "found", "allowed", "result", title="Checks")
    for name, found, allowed, is_good in checks:
        table.add_row(name, found, allowed, "passed" if is_good else "[bold red]failed")
    console.print(table)
    for error in soak.ledger.errors[:20]:
        console.print(f"error: {error}", markup=False, highlight=False)


def main() -> int:
    """Run the soak test and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.soak", description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--minutes", type=float, default=5.0, help="duration of the load in minutes (default: 5)")
    parser.add_argument("--seed", type=int, default=0, help="random seed for the clients and the kills (default: 0)")
    parser.add_argument("--keep", type=Path, help="folder for the data and the logs (default: a temporary folder)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.keep or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        soak = Soak(folder, options.minutes, options.seed)
        try:
            asyncio.run(soak.run())
            checks = asyncio.run(soak.check())
        finally:
            for program in (soak.server, soak.training, soak.tournament):
                for process in program.left():
                    with suppress(psutil.Error):
                        process.kill()
        report(soak, checks)
    return 0 if all(is_good for *_, is_good in checks) else 1


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    sys.exit(main())
