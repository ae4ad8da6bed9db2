"""Plays the games of a tournament in worker processes.

If a worker dies, another worker replays its game. After three deaths, the player to move loses. A player that far
exceeds its time limit loses by timeout, and its worker is terminated.
"""

from __future__ import annotations

import platform
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Protocol, runtime_checkable

from tengen.agents.agent_cache import AgentCache
from tengen.agents.registry import AgentRegistry
from tengen.arena.adjudication import Adjudication
from tengen.arena.entrant import Entrant
from tengen.arena.match import Ending, GameResult, TimeControl, play_game
from tengen.arena.schedule import ScheduledGame
from tengen.core.contracts import Agent, Outcome
from tengen.core.worker_pool import LostOrder, MakePool, Pool, WorkerPool
from tengen.core.worker_process import CarryOut, OrderContext
from tengen.errors import AgentError, TengenError

_MAX_AGENTS = 8
"""Maximum number of agents that a worker keeps between games."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaySettings:
    """Settings common to all games in a tournament."""

    players: tuple[Entrant, ...]
    adjudication: Adjudication
    agents: AgentRegistry = field(default_factory=AgentRegistry)
    """Creates the players."""
    grace_ms: int = 20_000
    """Milliseconds beyond the time limit and the tolerance after which a player counts as hung."""
    untimed_ms: int = 3_600_000
    """Milliseconds after which a player without a time limit counts as hung."""


class GamePlayer:
    """Plays tournament games and keeps agents open between them."""

    def __init__(self, settings: PlaySettings) -> None:
        self._settings = settings
        # The two players of a game always differ, so one agent per player is enough.
        self._agents = AgentCache(self._make, max_agents=_MAX_AGENTS)

    def play(self, game: ScheduledGame, context: OrderContext) -> GameResult:
        """Play one game, reporting the seat to move and its deadline to the context."""
        settings = self._settings
        first, second = (settings.players[player].limits or TimeControl() for player in game.players)
        controls = (first, second)

        def watch(seat: int, allowed_ms: float | None) -> None:
            patience_ms = controls[seat].tolerance_ms + settings.grace_ms
            ms = settings.untimed_ms if allowed_ms is None else allowed_ms + patience_ms
            context.expect_within(ms / 1000, note=seat)

        watch(0, None)
        self._close_idle_engines(game)
        agents: list[Agent] = []
        for seat, player in enumerate(game.players):
            try:
                agents.append(self._agents.get(player))
            except TengenError as error:
                return _forfeited(game, seat, Ending.START, str(error))
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
            # An agent that failed is in an unknown state.
            self._agents.drop(game.players[result.loser_seat])
        return result

    def close(self) -> None:
        """Close all agents."""
        self._agents.close()

    def _make(self, player: int) -> Agent:
        entrant = self._settings.players[player]
        agent = self._settings.agents.make(entrant.agent)
        if entrant.memory_mb is not None:
            agent.configure(memory_bytes=entrant.memory_mb << 20)
        return agent

    def _close_idle_engines(self, game: ScheduledGame) -> None:
        """Close external engines that do not play in this game, because they could take CPU time from it."""
        for player, agent in self._agents.items():
            if isinstance(agent, RunsProcess) and player not in game.players:
                self._agents.drop(player)


@runtime_checkable
class RunsProcess(Protocol):
    """An agent that runs a separate process: an external engine."""

    @property
    def pid(self) -> int | None:
        """Process id; None while the process is not running."""
        ...


def game_workers(
    settings: PlaySettings, *, workers: int = 1, pins_cores: bool = False, make_pool: MakePool | None = None
) -> Pool[ScheduledGame, GameResult]:
    """Return a pool that plays scheduled games and returns their results. The caller must close it.

    `make_pool` replaces the worker processes on this machine. Its workers check that they can create every player,
    because files may be missing on their machines.
    """
    if make_pool is None:
        prepare = partial(_open_player, settings)
        return WorkerPool(prepare, name="arena worker", workers=workers, pins_cores=pins_cores, on_loss=_lost)
    return make_pool(partial(_open_checked_player, settings), name="arena worker", on_loss=_lost)


@contextmanager
def _open_player(settings: PlaySettings) -> Iterator[CarryOut]:
    with closing(GamePlayer(settings)) as player:
        yield player.play


@contextmanager
def _open_checked_player(settings: PlaySettings) -> Iterator[CarryOut]:
    for entrant in settings.players:
        try:
            settings.agents.make(entrant.agent).close()
        except TengenError as error:
            raise AgentError(
                f"{entrant.agent} cannot be created on {platform.node()} in {Path.cwd()}: {error}"
            ) from None
    with _open_player(settings) as carry_out:
        yield carry_out


def _lost(game: ScheduledGame, lost: LostOrder) -> GameResult:
    return _forfeited(game, lost.note, Ending.TIMEOUT if lost.is_hung else Ending.CRASH, lost.reason)


def _forfeited(game: ScheduledGame, seat: int, ending: Ending, detail: str) -> GameResult:
    """Return a game that `seat` forfeited before its first move, or one whose moves were lost."""
    return GameResult(
        outcome=Outcome.WHITE if seat == 0 else Outcome.BLACK,
        ending=ending,
        detail=detail,
        black_seat=0,
        moves=game.opening,
        turns=(),
    )
