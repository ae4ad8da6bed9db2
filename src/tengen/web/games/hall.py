"""The games that are open: who watches them, agents that think in them, clocks that run.

A game is read from the store when somebody asks for it and written back at every change. Agents think and clocks run
only while it is watched: when the last tab is closed, the search ends, and when the game is opened again, be it by
another server, it goes on.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, TypeAlias

from tengen.core.contracts import Decision, Limits
from tengen.core.geometry import Point
from tengen.core.opening_procedure import Option, Seat
from tengen.errors import AgentError, NotDueError, NotFoundError, TengenError
from tengen.web.games.game import Game, refuse_stale
from tengen.web.games.players import NamedAgent, OpenAgents
from tengen.web.messages.games import (
    ChooseAction,
    GameAction,
    GameState,
    MoveNote,
    NewGame,
    Person,
    PlayAction,
    SimpleAction,
)
from tengen.web.positions import black_winrate_of, proof_of
from tengen.web.store import Store
from tengen.web.workers.jobs import Choose, ChooseInOpening
from tengen.web.workers.scheduler import Search, SearchPool

_log = logging.getLogger(__name__)

_GAMES_OPEN = 500
"""Games kept in memory although nobody watches them."""
_LEAST_MS = 10
"""What an agent gets at the end of its clock."""

Update: TypeAlias = GameState | TengenError
"""What a watcher hears: a new state, or what went wrong. The game is paused then."""
Watcher: TypeAlias = Callable[[Update], None]


class _Room:
    """A game in memory with those who watch it."""

    def __init__(self, game: Game) -> None:
        self.game = game
        self.watchers: list[Watcher] = []
        self.thinking: asyncio.Task[None] | None = None
        self.search: Search | None = None
        self.flag: asyncio.TimerHandle | None = None
        self.turn_began: float | None = None
        """When the clock of the seat that is due was started, None while it stands."""
        self.turn_used_ms = 0
        """What the turn had used before the clock was stopped last."""

    def running_ms(self) -> int:
        """What the turn has used so far."""
        running = 0.0 if self.turn_began is None else time.monotonic() - self.turn_began
        return self.turn_used_ms + round(1000 * running)


class Hall:
    """All games of the server."""

    def __init__(self, store: Store, pool: SearchPool, agents: OpenAgents) -> None:
        self._store = store
        self._pool = pool
        self._agents = agents
        self._rooms: OrderedDict[str, _Room] = OrderedDict()

    # -- asking ----------------------------------------------------------------------------------------------------

    def begin(self, request: NewGame) -> GameState:
        """Begin a game; its agents must have been checked."""
        game = Game.begin(request)
        room = _Room(game)
        self._rooms[game.id] = room
        self._store.make_room("game")
        self._keep(room)
        self._forget_some()
        return self._state(room)

    def state(self, id: str) -> GameState:
        """A game as it stands."""
        return self._state(self._room(id))

    def game(self, id: str) -> Game:
        """The game itself, to be read only."""
        return self._room(id).game

    def act(self, id: str, action: GameAction) -> GameState:
        """Carry out an action. `InputError` when the rules or the moment do not allow it; nothing has changed then."""
        room = self._room(id)
        match action:
            case PlayAction():
                self._check_person(room)
                refuse_stale(room.game, action.turn_number)
                room.game.play(action.point, time_ms=room.running_ms())
            case ChooseAction():
                self._check_person(room)
                room.game.choose(action.option, time_ms=room.running_ms())
            case SimpleAction():
                if action.action == "moveNow":
                    return self._move_now(room)
                if action.action == "step":
                    return self._step(room)
                self._act_simply(room.game, action)
        self._changed(room)
        return self._state(room)

    def watch(self, id: str, watcher: Watcher) -> GameState:
        """Tell `watcher` of every change from now on; agents and clocks of the game run from now on."""
        room = self._room(id)
        room.watchers.append(watcher)
        self._go_on(room)
        return self._state(room)

    def unwatch(self, id: str, watcher: Watcher) -> None:
        """Stop telling; with the last one the game stands still."""
        room = self._rooms.get(id)
        if room is None or watcher not in room.watchers:
            return
        room.watchers.remove(watcher)
        if not room.watchers:
            self._stand_still(room)

    def close(self) -> None:
        """Stop all games; they are kept."""
        for room in self._rooms.values():
            self._stand_still(room)

    # -- actions ---------------------------------------------------------------------------------------------------

    @staticmethod
    def _check_person(room: _Room) -> None:
        game = room.game
        if game.due is not None and not isinstance(game.players[game.due], Person):
            raise NotDueError("it is not your turn")

    @staticmethod
    def _act_simply(game: Game, action: SimpleAction) -> None:
        match action.action:
            case "undo":
                game.undo()
            case "redo":
                game.redo()
            case "resign":
                game.resign()
            case "thinkAgain":
                game.take_back_agent()
            case "pause":
                game.set_paused(True)
            case "resume":
                game.set_paused(False)

    def _move_now(self, room: _Room) -> GameState:
        if room.search is None:
            raise NotDueError("no agent is thinking")
        room.search.stop()
        return self._state(room)

    def _step(self, room: _Room) -> GameState:
        if not room.game.agent_due:
            raise NotDueError("no agent is due")
        if room.thinking is None:
            room.thinking = asyncio.create_task(self._think(room))
        self._tell(room)
        return self._state(room)

    # -- the course of a game --------------------------------------------------------------------------------------

    def _changed(self, room: _Room) -> None:
        """Keep the game, tell the watchers, let the next one think."""
        self._stand_still(room)
        room.turn_used_ms = 0
        self._keep(room)
        self._go_on(room, tell=False)
        self._tell(room)

    def _go_on(self, room: _Room, *, tell: bool = True) -> None:
        """Start what a watched game needs: the clock, and the agent that is due."""
        game = room.game
        if not room.watchers or game.is_over or game.is_paused:
            return
        if room.turn_began is None:
            room.turn_began = time.monotonic()
        if game.agent_due:
            if room.thinking is None:
                room.thinking = asyncio.create_task(self._think(room))
                if tell:
                    self._tell(room)
        elif game.clock is not None and room.flag is None and game.due is not None:
            left_s = (game.left_ms[game.due] - room.turn_used_ms) / 1000
            room.flag = asyncio.get_running_loop().call_later(max(0.0, left_s), self._drop_flag, room, game.due)

    def _stand_still(self, room: _Room) -> None:
        """Stop the agent and the clock."""
        room.turn_used_ms = room.running_ms()
        room.turn_began = None
        if room.flag is not None:
            room.flag.cancel()
            room.flag = None
        if room.thinking is not None and room.thinking is not asyncio.current_task():
            room.thinking.cancel()
        room.thinking = None
        room.search = None

    def _drop_flag(self, room: _Room, seat: Seat) -> None:
        room.flag = None
        room.game.left_ms[seat] = 0
        room.game.end(seat, "time")
        self._changed(room)

    async def _think(self, room: _Room) -> None:
        """Let the agent that is due do what it has to."""
        game = room.game
        try:
            await (self._think_of_move(room) if game.opening.is_done else self._think_of_opening(room))
        except TengenError as error:
            _log.warning("game %s: %s", game.id, error)
            game.set_paused(True)
            self._changed(room)
            for watcher in list(room.watchers):
                watcher(error)

    async def _think_of_move(self, room: _Room) -> None:
        game = room.game
        agent, limits = self._agent_due(game)
        began = time.monotonic()
        job = Choose(agent=agent.text, position=game.position, limits=limits, seed=game.seed)
        decision: Decision = await self._search(room, job)
        time_ms = _charged_ms(began, limits)
        game.play(decision.move, time_ms=time_ms, note=_note(decision, game, time_ms))
        self._changed(room)

    async def _think_of_opening(self, room: _Room) -> None:
        game = room.game
        agent, limits = self._agent_due(game)
        began = time.monotonic()
        job = ChooseInOpening(
            agent=agent.text, ruleset=game.start.ruleset, taken=game.actions, limits=limits, seed=game.seed
        )
        actions: tuple[str, ...] = await self._search(room, job)
        time_ms = _charged_ms(began, limits)
        for action in actions:
            if action in tuple(Option):
                game.choose(Option(action), time_ms=time_ms)
            else:
                game.play(Point(action), time_ms=time_ms)
            if game.is_over:
                break
            time_ms = 0
        self._changed(room)

    async def _search(self, room: _Room, job: Choose | ChooseInOpening) -> Any:
        room.search = self._pool.submit(job, owner=f"game {room.game.id}")
        search = room.search
        try:
            return await search.result
        except asyncio.CancelledError:
            search.cancel()
            raise
        finally:
            room.search = None

    def _agent_due(self, game: Game) -> tuple[NamedAgent, Limits]:
        """The agent that must act, and how long it may think: by its own limits, and by its clock."""
        assert game.due is not None
        player = game.players[game.due]
        if isinstance(player, Person):
            raise AgentError("no agent is due")
        agent, limits = self._agents.of_player(player, game.start.ruleset)
        if game.clock is None:
            return agent, limits
        left_ms = max(_LEAST_MS, game.left_ms[game.due])
        time_ms = max(_LEAST_MS, min(limits.time_ms or _LEAST_MS, left_ms))
        return agent, Limits(time_ms=time_ms, clock_ms=left_ms, increment_ms=game.clock.increment_ms)

    # -- rooms -----------------------------------------------------------------------------------------------------

    def _room(self, id: str) -> _Room:
        room = self._rooms.get(id)
        if room is None:
            body = self._store.get("game", id)
            if body is None:
                raise NotFoundError(f"there is no game {id}")
            room = self._rooms[id] = _Room(Game.from_json(id, body))
            self._forget_some()
        self._rooms.move_to_end(id)
        return room

    def _forget_some(self) -> None:
        idle = [key for key, room in self._rooms.items() if not room.watchers and room.thinking is None]
        for key in idle[: max(0, len(self._rooms) - _GAMES_OPEN)]:
            del self._rooms[key]

    def _keep(self, room: _Room) -> None:
        self._store.put("game", room.game.id, room.game.as_json())

    def _tell(self, room: _Room) -> None:
        if room.watchers:
            state = self._state(room)
            for watcher in list(room.watchers):
                watcher(state)

    @staticmethod
    def _state(room: _Room) -> GameState:
        is_running = room.turn_began is not None
        return room.game.state(
            is_thinking=room.thinking is not None,
            running=room.game.due if is_running else None,
            running_ms=room.running_ms(),
        )


def _charged_ms(began: float, limits: Limits) -> int:
    """What an agent has used of its clock. What it waited for a worker is not taken off."""
    return min(round(1000 * (time.monotonic() - began)), limits.time_ms or 0)


def _note(decision: Decision, game: Game, time_ms: int) -> MoveNote:
    value = decision.value_to_move
    return MoveNote(
        time_ms=time_ms,
        black_winrate=None if value is None else black_winrate_of(value, game.position.to_move),
        depth=decision.depth,
        visits=decision.nodes,
        proof=proof_of(decision.proof),
    )
