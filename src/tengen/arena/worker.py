"""The process that plays games: takes them from a pipe one by one, sends each result back as it comes.

It holds the agents of the games it plays and nothing else. When its parent dies, it ends its engines and itself.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
import traceback
from collections import OrderedDict
from collections.abc import Sequence
from contextlib import suppress
from ctypes import Array, c_double
from dataclasses import dataclass
from multiprocessing import parent_process
from multiprocessing.connection import Connection, wait
from typing import Protocol, runtime_checkable

from tengen.agents.registry import make_agent
from tengen.arena.entrant import Entrant
from tengen.arena.match import Adjudication, Ending, GameResult, TimeControl, play_game
from tengen.arena.processes import kill_marked, mark_this_process
from tengen.arena.schedule import Game
from tengen.core.contracts import Agent, Outcome
from tengen.errors import TengenError

AGENTS_KEPT = 8
"""Agents a worker keeps ready between games; beyond that, the one not used for longest is closed."""

# The cells of the desk, the memory in which a worker shows its parent what it is doing.
GAME, SEAT, DEADLINE = range(3)
DESK_CELLS = 3
NO_GAME = -1.0
NO_DEADLINE = 0.0

Desk = Array[c_double]


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerSettings:
    """What all games of a tournament have in common."""

    players: tuple[Entrant, ...]
    adjudication: Adjudication
    grace_ms: int
    """How much later than tolerated a move may come before the worker itself is taken for hung."""
    untimed_ms: int
    """The same for moves without a time limit."""


@dataclass(frozen=True, slots=True)
class WorkerFailure:
    """Sent instead of a result when a worker met a bug of ours."""

    report: str


def work(connection: Connection, settings: WorkerSettings, desk: Desk, mark: str, core: int | None) -> None:
    """Play the games that come over the connection until None or its end."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends its workers
    mark_this_process(mark)
    threading.Thread(target=_leave_with_parent, args=(mark,), name="parent watch", daemon=True).start()
    if core is not None:
        _stay_on_core(core)
    desk[GAME], desk[DEADLINE] = NO_GAME, NO_DEADLINE
    bench = _Bench(settings.players)
    try:
        connection.send(None)  # ready
        while (game := connection.recv()) is not None:
            result = _play(game, settings, bench, desk)
            desk[GAME], desk[DEADLINE] = NO_GAME, NO_DEADLINE
            connection.send((game.number, result))
    except (EOFError, OSError):
        pass
    except Exception:
        with suppress(OSError):
            connection.send(WorkerFailure(traceback.format_exc()))
    finally:
        bench.close()


def _play(game: Game, settings: WorkerSettings, bench: _Bench, desk: Desk) -> GameResult:
    first, second = (settings.players[player].limits or TimeControl() for player in game.players)
    controls = (first, second)

    def watch(seat: int, allowed_ms: float | None) -> None:
        patience_ms = controls[seat].tolerance_ms + settings.grace_ms
        ms = settings.untimed_ms if allowed_ms is None else allowed_ms + patience_ms
        desk[SEAT] = seat
        desk[DEADLINE] = time.monotonic() + ms / 1000

    watch(0, None)
    desk[GAME] = game.number
    bench.stop_engines(but=game.players)
    agents: list[Agent] = []
    for seat, player in enumerate(game.players):
        try:
            agents.append(bench.agent(player))
        except TengenError as error:
            return forfeited(game, seat, Ending.START, str(error))
    result = play_game(
        game.ruleset,
        (agents[0], agents[1]),
        controls=controls,
        opening=game.opening,
        adjudication=settings.adjudication,
        seed=game.seed,
        watch=watch,
    )
    if result.ending.is_forfeit and result.loser_seat is not None:
        # What raised or lied once is not trusted with another game.
        bench.drop(game.players[result.loser_seat])
    return result


def forfeited(game: Game, seat: int, ending: Ending, detail: str) -> GameResult:
    """The result of a game that a seat lost before a move was made, or whose moves nobody knows."""
    return GameResult(
        outcome=Outcome.WHITE if seat == 0 else Outcome.BLACK,
        ending=ending,
        detail=detail,
        black_seat=0,
        moves=game.opening,
        turns=(),
    )


@runtime_checkable
class RunsProcess(Protocol):
    """An agent with a process of its own: a foreign engine."""

    @property
    def pid(self) -> int | None:
        """Its number, None when it does not run."""
        ...


class _Bench:
    """The agents that are ready to play. No player meets itself, so one agent for each is enough."""

    def __init__(self, players: Sequence[Entrant]) -> None:
        self._players = players
        self._agents: OrderedDict[int, Agent] = OrderedDict()

    def agent(self, player: int) -> Agent:
        """The agent of a player, made when it is not there."""
        if player not in self._agents:
            while len(self._agents) >= AGENTS_KEPT:
                _close(self._agents.popitem(last=False)[1])
            self._agents[player] = _made(self._players[player])
        self._agents.move_to_end(player)
        return self._agents[player]

    def stop_engines(self, but: tuple[int, int]) -> None:
        """Close foreign engines that do not play the next game: they could work on in the time of others."""
        for player in [player for player, agent in self._agents.items() if isinstance(agent, RunsProcess)]:
            if player not in but:
                self.drop(player)

    def drop(self, player: int) -> None:
        """Close the agent; the next game gets a new one."""
        _close(self._agents.pop(player))

    def close(self) -> None:
        """Close all of them."""
        while self._agents:
            _close(self._agents.popitem()[1])


def _made(player: Entrant) -> Agent:
    agent = make_agent(player.agent)
    if player.memory_mb is not None:
        agent.configure(memory_bytes=player.memory_mb << 20)
    return agent


def _close(agent: Agent) -> None:
    with suppress(Exception):
        agent.close()


def _stay_on_core(core: int) -> None:
    """Run on one core only, engines included. Systems that know nothing of the kind are left alone."""
    if sys.platform == "linux":
        allowed = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, {allowed[core % len(allowed)]})
    elif sys.platform == "win32":
        import psutil

        cores = psutil.Process().cpu_affinity() or [0]
        psutil.Process().cpu_affinity([cores[core % len(cores)]])


def _leave_with_parent(mark: str) -> None:
    parent = parent_process()
    if parent is None:
        return
    wait([parent.sentinel])
    kill_marked(mark)
    os._exit(1)
