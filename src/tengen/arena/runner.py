"""Plays games in worker processes and survives whatever happens to them.

Each worker plays one game at a time on one core and has the next one waiting. A worker that dies costs its game
nothing but time: the game is played again by another one, and after a few such deaths it is lost by the player whose
turn it was. A worker whose player thinks far longer than allowed is ended, and that player loses.
"""

from __future__ import annotations

import multiprocessing
import time
import uuid
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from multiprocessing.sharedctypes import RawArray

from tengen.arena.match import Ending, GameResult
from tengen.arena.processes import kill_marked
from tengen.arena.schedule import Game
from tengen.arena.worker import (
    DEADLINE,
    DESK_CELLS,
    GAME,
    NO_DEADLINE,
    NO_GAME,
    SEAT,
    Desk,
    WorkerFailure,
    WorkerSettings,
    forfeited,
    work,
)
from tengen.errors import AgentError

GRACE_MS = 20_000
"""How much later than tolerated a move may come before its worker is taken for hung."""
UNTIMED_MS = 3_600_000
"""How long a move without a time limit may take."""

_MAX_DEATHS = 3
_GAMES_AHEAD = 2
_LOOK_S = 0.5
_LEAVE_S = 3.0

OnResult = Callable[[Game, GameResult], None]
OnIdle = Callable[[], None]


@dataclass(slots=True)
class _Worker:
    process: SpawnProcess
    connection: Connection
    desk: Desk
    mark: str
    """By which the processes it started are known."""
    games: deque[Game] = field(default_factory=deque)
    """What it was given and has not answered, the game in play first."""
    is_ready: bool = False


class Runner:
    """Worker processes for the games of one tournament; a context manager that leaves no process behind."""

    def __init__(self, settings: WorkerSettings, *, concurrency: int = 1, pins_cores: bool = False) -> None:
        self._settings = settings
        self._pins_cores = pins_cores
        self._concurrency = concurrency
        self._workers: list[_Worker | None] = [None] * concurrency
        self._waiting: deque[Game] = deque()
        """Games that come back from dead workers."""
        self._deaths: dict[int, int] = {}
        """Workers that died over a game, by its number."""
        self._false_starts = 0

    def run(self, games: Iterable[Game], on_result: OnResult, on_idle: OnIdle | None = None) -> None:
        """Play all games; `on_result` hears of each as it ends, `on_idle` is called now and then.

        Games are taken from the iterable when a worker has room for one, in order; results come in any order.
        """
        source = iter(games)
        while True:
            for place in range(self._concurrency):
                self._feed(place, source, on_result)
            busy = [worker for worker in self._workers if worker is not None and worker.games]
            if not busy and not self._waiting:
                return
            self._listen(busy, on_result)
            if on_idle is not None:
                on_idle()

    def close(self) -> None:
        """End all workers, in the middle of their games if need be."""
        living = [worker for worker in self._workers if worker is not None]
        self._workers = [None] * self._concurrency
        for worker in living:
            if not worker.games:
                with suppress(OSError):
                    worker.connection.send(None)
        deadline = time.monotonic() + _LEAVE_S
        for worker in living:
            if not worker.games:
                worker.process.join(max(0.0, deadline - time.monotonic()))
            _end(worker)

    def __enter__(self) -> Runner:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    # -- giving games away -----------------------------------------------------------------------------------------

    def _feed(self, place: int, source: Iterator[Game], on_result: OnResult) -> None:
        """Give the worker of a place as many games as it should have, starting it when there is need."""
        while True:
            worker = self._workers[place]
            if worker is not None and len(worker.games) >= _GAMES_AHEAD:
                return
            game = self._next_game(source)
            if game is None:
                return
            if worker is None:
                worker = self._workers[place] = self._start(place)
            worker.games.append(game)
            try:
                worker.connection.send(game)
            except OSError:
                self._bury(place, on_result)

    def _next_game(self, source: Iterator[Game]) -> Game | None:
        return self._waiting.popleft() if self._waiting else next(source, None)

    def _start(self, place: int) -> _Worker:
        context = multiprocessing.get_context("spawn")
        here, there = context.Pipe()
        desk: Desk = RawArray("d", DESK_CELLS)
        desk[GAME], desk[DEADLINE] = NO_GAME, NO_DEADLINE
        core = place if self._pins_cores else None
        mark = uuid.uuid4().hex
        process = context.Process(
            target=work, args=(there, self._settings, desk, mark, core), name=f"arena worker {place + 1}"
        )
        process.start()
        there.close()
        return _Worker(process, here, desk, mark)

    # -- hearing of them -------------------------------------------------------------------------------------------

    def _listen(self, busy: list[_Worker], on_result: OnResult) -> None:
        ready = wait([worker.connection for worker in busy], timeout=_LOOK_S)
        for place, worker in enumerate(self._workers):
            if worker is None or not worker.games:
                continue
            if worker.connection in ready:
                self._receive(place, worker, on_result)
            elif 0 < worker.desk[DEADLINE] < time.monotonic():
                self._end_hung(place, worker, on_result)

    def _receive(self, place: int, worker: _Worker, on_result: OnResult) -> None:
        try:
            message = worker.connection.recv()
        except (EOFError, OSError):
            self._bury(place, on_result)
            return
        if isinstance(message, WorkerFailure):
            raise AgentError(f"a worker of the arena failed\n{message.report}")
        if message is None:
            worker.is_ready = True
            self._false_starts = 0
            return
        number, result = message
        game = worker.games.popleft()
        assert game.number == number, "a worker answers in order"
        self._deaths.pop(number, None)
        on_result(game, result)

    def _end_hung(self, place: int, worker: _Worker, on_result: OnResult) -> None:
        """The player whose turn it is has been thinking for far too long."""
        seat = int(worker.desk[SEAT])
        game = worker.games.popleft()
        self._remove(place, worker)
        on_result(game, forfeited(game, seat, Ending.TIMEOUT, "the player did not answer and its process was ended"))

    def _bury(self, place: int, on_result: OnResult) -> None:
        """A worker is dead: its games go to others, unless the first one has cost too many workers already."""
        worker = self._workers[place]
        assert worker is not None
        worker.process.join(_LEAVE_S)
        exit_code = worker.process.exitcode
        if not worker.is_ready:
            self._false_starts += 1
            if self._false_starts >= _MAX_DEATHS * self._concurrency:
                raise AgentError(f"the workers of the arena die at their start (exit code {exit_code})")
        in_play = worker.games[0] if worker.games and worker.desk[GAME] == worker.games[0].number else None
        seat = int(worker.desk[SEAT])
        self._remove(place, worker)
        if in_play is None:
            return
        deaths = self._deaths[in_play.number] = self._deaths.get(in_play.number, 0) + 1
        if deaths >= _MAX_DEATHS:
            self._waiting.remove(in_play)
            detail = f"the process of the player died {deaths} times in this game (exit code {exit_code})"
            on_result(in_play, forfeited(in_play, seat, Ending.CRASH, detail))

    def _remove(self, place: int, worker: _Worker) -> None:
        self._workers[place] = None
        self._waiting.extendleft(reversed(worker.games))
        worker.games.clear()
        _end(worker)


def _end(worker: _Worker) -> None:
    """End a worker with all that it started, unless it has left in order."""
    if worker.process.exitcode != 0:
        worker.process.kill()
        worker.process.join()
        kill_marked(worker.mark)
    worker.process.close()
    worker.connection.close()
