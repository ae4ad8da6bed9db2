"""Games in memory with their watchers, running searches and clocks.

A game is loaded from the store when a client requests it. Every change is applied to a copy, which replaces the game
once it is stored; if storing fails, the game stays as it was. The agents and clocks of a game run only while at least
one client watches it. When the last tab is closed, the search stops. When the game is opened again, even after a
restart of the server, it continues.
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any, NamedTuple, TypeAlias

from tengen.agents.opening_choices import OpeningDecision
from tengen.core.contracts import Decision, Limits, Outcome, Ruleset
from tengen.core.geometry import Point
from tengen.core.opening_procedure import Option, Seat
from tengen.errors import AgentError, NotDueError, NotFoundError, StorageError, TengenError
from tengen.web.analysis.review_messages import accuracies_of
from tengen.web.games.explorer import PlayedGame
from tengen.web.games.game import Game, check_turn_number, moves_of_stored
from tengen.web.games.listing import summary_of
from tengen.web.games.players import AllowedAgents, NamedAgent
from tengen.web.games.rating import rating_of
from tengen.web.messages.games import (
    ChooseAction,
    GameAction,
    GameState,
    MoveNote,
    NewGame,
    Person,
    PlayAction,
    PlayerRating,
    SimpleAction,
)
from tengen.web.messages.reviews import ReviewResult
from tengen.web.positions import black_winrate_of, proof_of, winrate_of
from tengen.web.store import Listed, Store
from tengen.web.workers.jobs import Choose, ChooseInOpening
from tengen.web.workers.scheduler import SearchPool, SearchTask

_log = logging.getLogger(__name__)

_MAX_GAMES = 500
"""Number of games in memory above which games without watchers are evicted; they stay in the store."""
_MAX_LISTED = 20_000
"""Maximum number of games per browser that a search covers; equal to the store's default limit."""
_MAX_EXPORTED = 5000
"""Maximum number of games in an export of all games."""
_MAX_RATED = 5000
"""Maximum number of games from which a rating is computed."""
_MAX_EXPLORED = 500
"""Maximum number of games per browser in the opening explorer."""
_MIN_MOVE_MS = 10
"""Thinking time for an agent whose clock has almost run out."""
_RETRY_S = 5.0
"""Delay before retrying to store a loss on time."""

Update: TypeAlias = GameState | TengenError
"""Update sent to a watcher: a new state, or an agent or disk error, after which the game is paused."""
Watcher: TypeAlias = Callable[[Update], None]


class _LiveGame:
    """A game in memory with its watchers, its search and its clock."""

    def __init__(self, game: Game) -> None:
        self.game = game
        self.watchers: list[Watcher] = []
        self.thinking: asyncio.Task[None] | None = None
        self.search: SearchTask | None = None
        self.flag_timer: asyncio.TimerHandle | None = None
        self.turn_began: float | None = None
        """Time at which the clock of the seat to move was started; None while the clock is stopped."""
        self.turn_used_ms = 0
        """Time used in this turn before the clock was last stopped."""
        self.is_stalled = False
        """Set if neither an agent's move nor the subsequent pause could be stored; the game is then shown as paused."""

    def running_ms(self) -> int:
        """Return the time used so far in this turn, in milliseconds."""
        running = 0.0 if self.turn_began is None else time.monotonic() - self.turn_began
        return self.turn_used_ms + round(1000 * running)


class StoredGame(NamedTuple):
    """A game in its stored form."""

    id: str
    created_at: float
    body: str


class LiveGames:
    """All games on the server, loaded from the store on demand."""

    def __init__(self, store: Store, pool: SearchPool, agents: AllowedAgents) -> None:
        self._store = store
        self._pool = pool
        self._agents = agents
        self._games: OrderedDict[str, _LiveGame] = OrderedDict()

    # -- interface -------------------------------------------------------------------------------------------------

    def begin(self, request: NewGame, browser: str = "") -> GameState:
        """Start a game for a browser. The caller must have checked its players with `Services.check_player`."""
        game = Game.begin(request)
        self._store.put("game", game.id, game.as_json(), is_new=True, owner=browser, summary=game.summary())
        live = self._games[game.id] = _LiveGame(game)
        self._evict_idle()
        return self._state(live)

    def state(self, id: str) -> GameState:
        """Return the current state of a game."""
        return self._state(self._find(id))

    def game(self, id: str) -> Game:
        """Return the game itself, for reading only."""
        return self._find(id).game

    def act(self, id: str, action: GameAction) -> GameState:
        """Perform an action and store the game.

        Raises `InputError` if the action is not allowed now, and `StorageError` if the game cannot be stored. In both
        cases the game is unchanged.
        """
        live = self._find(id)
        game = live.game.copy()
        match action:
            case PlayAction():
                self._check_person(live)
                check_turn_number(game, action.turn_number)
                game.play(action.point, time_ms=live.running_ms())
            case ChooseAction():
                self._check_person(live)
                game.choose(action.option, time_ms=live.running_ms())
            case SimpleAction():
                if action.action == "moveNow":
                    return self._move_now(live)
                if action.action == "step":
                    return self._step(live)
                self._act_without_argument(game, action)
        self._commit(live, game)
        return self._state(live)

    def watch(self, id: str, watcher: Watcher) -> GameState:
        """Call `watcher` after every change. The game's agents and clocks run while it has a watcher."""
        live = self._find(id)
        live.watchers.append(watcher)
        self._resume(live)
        return self._state(live)

    def unwatch(self, id: str, watcher: Watcher) -> None:
        """Remove a watcher. The game halts when it has none left."""
        live = self._games.get(id)
        if live is None or watcher not in live.watchers:
            return
        live.watchers.remove(watcher)
        if not live.watchers:
            self._halt(live)
            live.is_stalled = False

    def delete(self, id: str, browser: str) -> None:
        """Delete one of a browser's games with its reviews, and tell its watchers that it is gone."""
        self._check_owner(id, browser)
        self._store.delete("game", id)
        live = self._games.pop(id, None)
        if live is not None:
            self._halt(live)
            for watcher in live.watchers:
                watcher(NotFoundError(f"game {id} was deleted"))

    def listed(self, browser: str) -> list[Listed]:
        """Return all games of a browser, newest first; `search_games` selects from them."""
        return self._store.listed("game", browser, limit=_MAX_LISTED) if browser else []

    def stored(self, browser: str, id: str | None = None) -> list[StoredGame]:
        """Return one of a browser's games, or all of them, oldest first, in their stored form."""
        if id is None:
            rows = self._store.listed("game", browser, limit=_MAX_EXPORTED)[::-1]
        else:
            rows = [self._check_owner(id, browser)]
        return [StoredGame(row.id, row.created_at, self._store.get("game", row.id) or "") for row in rows]

    def record_review(self, id: str, review: ReviewResult) -> None:
        """Store the accuracies and mistakes from a review with its game, if the game still has the reviewed moves."""
        with suppress(NotFoundError):
            game = self._find(id).game
            if list(game.position.moves) == [judged.move for judged in review.moves]:
                mistakes = [
                    judged.turn_number
                    for judged in review.moves
                    if judged.colour in game.people and judged.quality.is_bad and (judged.win or judged.reply_win)
                ]
                self._store.set_summary("game", id, game.summary(accuracies_of(review), mistakes))

    def finished(self, browser: str, ruleset: Ruleset) -> list[PlayedGame]:
        """Return a browser's newest finished games with this ruleset under any opening procedure."""
        return [
            PlayedGame(moves_of_stored(self._store.get("game", row.id) or ""), game.outcome)
            for row in self._store.listed("game", browser, limit=_MAX_EXPLORED)
            if (game := summary_of(row)).outcome is not Outcome.ONGOING
            and replace(Ruleset.parse(game.rules), opening=ruleset.opening) == ruleset
        ]

    def rating(self, browser: str) -> PlayerRating:
        """Return the rating of the person using a browser, computed from that browser's games."""
        rows = self._store.listed("game", browser, limit=_MAX_RATED)[::-1]
        return rating_of(summary_of(row) for row in rows)

    def mark_assisted(self, id: str) -> None:
        """Record that the person has had help, so that an ongoing game is no longer rated."""
        live = self._find(id)
        if not live.game.is_rated or live.game.is_over:
            return
        game = live.game.copy()
        game.is_assisted = True
        game.revision += 1
        self._store.put("game", game.id, game.as_json(), summary=game.summary())
        live.game = game
        self._notify(live)

    def _check_owner(self, id: str, browser: str) -> Listed:
        found = self._store.find("game", id)
        if found is None or not browser or found.owner != browser:
            raise NotFoundError(f"this browser has no game {id}")
        return found

    def close(self) -> None:
        """Halt all games. They stay in the store."""
        for live in self._games.values():
            self._halt(live)

    # -- actions ---------------------------------------------------------------------------------------------------

    @staticmethod
    def _check_person(live: _LiveGame) -> None:
        game = live.game
        if game.due is not None and not isinstance(game.players[game.due], Person):
            raise NotDueError("it is not your turn")

    @staticmethod
    def _act_without_argument(game: Game, action: SimpleAction) -> None:
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

    def _move_now(self, live: _LiveGame) -> GameState:
        if live.search is None:
            raise NotDueError("no agent is thinking")
        self.mark_assisted(live.game.id)
        live.search.stop()
        return self._state(live)

    def _step(self, live: _LiveGame) -> GameState:
        if not live.game.agent_due:
            raise NotDueError("it is not an agent's turn")
        if live.thinking is None:
            live.thinking = asyncio.create_task(self._think(live))
        self._notify(live)
        return self._state(live)

    # -- running a game --------------------------------------------------------------------------------------------

    def _commit(self, live: _LiveGame, game: Game) -> None:
        """Store a changed copy of the game, make it the current state, start the next turn and notify the watchers.

        On `StorageError` nothing changes; the search and the clock continue.
        """
        self._store.put("game", game.id, game.as_json(), summary=game.summary())
        self._halt(live)
        live.game = game
        live.is_stalled = False
        live.turn_used_ms = 0
        self._resume(live, notify=False)
        self._notify(live)

    def _resume(self, live: _LiveGame, *, notify: bool = True) -> None:
        """If the game is watched and not paused, start the clock and, on an agent's turn, the search."""
        game = live.game
        if not live.watchers or game.is_over or game.is_paused or live.is_stalled:
            return
        if live.turn_began is None:
            live.turn_began = time.monotonic()
        if game.agent_due:
            if live.thinking is None:
                live.thinking = asyncio.create_task(self._think(live))
                if notify:
                    self._notify(live)
        elif game.clock is not None and live.flag_timer is None and game.due is not None:
            left_s = (game.left_ms[game.due] - live.turn_used_ms) / 1000
            live.flag_timer = asyncio.get_running_loop().call_later(
                max(0.0, left_s), self._lose_on_time, live, game.due
            )

    def _halt(self, live: _LiveGame) -> None:
        """Stop the search and the clock."""
        live.turn_used_ms = live.running_ms()
        live.turn_began = None
        if live.flag_timer is not None:
            live.flag_timer.cancel()
            live.flag_timer = None
        if live.thinking is not None and live.thinking is not asyncio.current_task():
            live.thinking.cancel()
        live.thinking = None
        live.search = None

    def _lose_on_time(self, live: _LiveGame, seat: Seat) -> None:
        live.flag_timer = None
        game = live.game.copy()
        game.left_ms[seat] = 0
        game.end(seat, "time")
        try:
            self._commit(live, game)
        except StorageError as error:
            _log.warning("game %s: %s", game.id, error)
            live.flag_timer = asyncio.get_running_loop().call_later(_RETRY_S, self._lose_on_time, live, seat)
            self._tell(live, error)

    async def _think(self, live: _LiveGame) -> None:
        """Search for the agent whose turn it is and play the result. If that fails, pause the game."""
        try:
            await (self._think_of_move(live) if live.game.opening.is_done else self._think_of_opening(live))
        except TengenError as error:
            _log.warning("game %s: %s", live.game.id, error)
            self._pause(live)
            self._tell(live, error)
        except Exception:
            _log.exception("game %s: a search failed", live.game.id)
            self._pause(live)
            self._tell(live, AgentError("internal error"))

    def _pause(self, live: _LiveGame) -> None:
        """Pause the game; if the pause cannot be stored, pause it in memory only."""
        game = live.game.copy()
        game.set_paused(True)
        try:
            self._commit(live, game)
        except StorageError:
            self._halt(live)
            live.is_stalled = True
            self._notify(live)

    async def _think_of_move(self, live: _LiveGame) -> None:
        agent, limits = self._agent_due(live.game)
        began = time.monotonic()
        job = Choose(agent=agent.text, position=live.game.position, limits=limits, seed=live.game.seed)
        decision: Decision = await self._search(live, job)
        time_ms = _charged_ms(began, limits)
        game = live.game.copy()
        game.play(decision.move, time_ms=time_ms, note=_note(decision, game, time_ms))
        self._commit(live, game)

    async def _think_of_opening(self, live: _LiveGame) -> None:
        agent, limits = self._agent_due(live.game)
        began = time.monotonic()
        job = ChooseInOpening(
            agent=agent.text,
            ruleset=live.game.start.ruleset,
            taken=live.game.actions,
            limits=limits,
            seed=live.game.seed,
        )
        decision: OpeningDecision = await self._search(live, job)
        time_ms = _charged_ms(began, limits)
        game = live.game.copy()
        for action in decision.actions:
            if action in tuple(Option):
                game.choose(Option(action), time_ms=time_ms, note=_choice_note(decision, time_ms))
            else:
                game.play(Point(action), time_ms=time_ms)
            if game.is_over:
                break
            time_ms = 0
        self._commit(live, game)

    async def _search(self, live: _LiveGame, job: Choose | ChooseInOpening) -> Any:
        live.search = self._pool.submit(job, owner=f"game {live.game.id}")
        search = live.search
        try:
            return await search.result
        except asyncio.CancelledError:
            search.cancel()
            raise
        finally:
            live.search = None

    def _agent_due(self, game: Game) -> tuple[NamedAgent, Limits]:
        """Return the agent whose turn it is and its limits for this move, capped by the time left on its clock."""
        assert game.due is not None
        player = game.players[game.due]
        if isinstance(player, Person):
            raise AgentError("it is not an agent's turn")
        agent, limits = self._agents.of_player(player, game.start.ruleset)
        if game.clock is None:
            return agent, limits
        left_ms = max(_MIN_MOVE_MS, game.left_ms[game.due])
        time_ms = max(_MIN_MOVE_MS, min(limits.time_ms or _MIN_MOVE_MS, left_ms))
        return agent, Limits(time_ms=time_ms, clock_ms=left_ms, increment_ms=game.clock.increment_ms)

    # -- games in memory -------------------------------------------------------------------------------------------

    def _find(self, id: str) -> _LiveGame:
        live = self._games.get(id)
        if live is None:
            body = self._store.get("game", id)
            if body is None:
                raise NotFoundError(f"there is no game with the id {id!r}; it may have been deleted")
            live = self._games[id] = _LiveGame(Game.from_json(id, body))
            self._evict_idle()
        self._games.move_to_end(id)
        return live

    def _evict_idle(self) -> None:
        idle = [key for key, live in self._games.items() if not live.watchers and live.thinking is None]
        for key in idle[: max(0, len(self._games) - _MAX_GAMES)]:
            del self._games[key]

    def _notify(self, live: _LiveGame) -> None:
        if live.watchers:
            self._tell(live, self._state(live))

    @staticmethod
    def _tell(live: _LiveGame, update: Update) -> None:
        for watcher in list(live.watchers):
            watcher(update)

    @staticmethod
    def _state(live: _LiveGame) -> GameState:
        is_running = live.turn_began is not None
        return live.game.state(
            is_thinking=live.thinking is not None,
            running=live.game.due if is_running else None,
            running_ms=live.running_ms(),
            is_stalled=live.is_stalled,
        )


def _charged_ms(began: float, limits: Limits) -> int:
    """Return the time to charge an agent, capped at its limit because the search may have waited for a worker."""
    return min(round(1000 * (time.monotonic() - began)), limits.time_ms or 0)


def _choice_note(decision: OpeningDecision, time_ms: int) -> MoveNote | None:
    if decision.white_value is None:
        return None
    return MoveNote(time_ms=time_ms, black_winrate=winrate_of(-decision.white_value))


def mistakes_of(row: Listed) -> list[int]:
    """Return the turn numbers of the mistakes that the last review of a stored game found."""
    turns: list[int] = json.loads(row.summary).get("mistakes", [])
    return turns


def _note(decision: Decision, game: Game, time_ms: int) -> MoveNote:
    value = decision.value_to_move
    return MoveNote(
        time_ms=time_ms,
        black_winrate=None if value is None else black_winrate_of(value, game.position.to_move),
        depth=decision.depth,
        visits=decision.nodes,
        proof=proof_of(decision.proof),
    )
