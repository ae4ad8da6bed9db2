"""Puzzles from a person's own games: the forced wins and only defences that the person missed.

A reviewed game is searched once, in the workers. Its puzzles are stored with it and deleted with it.
"""

from __future__ import annotations

import asyncio
import json
import logging
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from tengen.errors import AgentError, BusyError, InputError, NotationError, NotFoundError, StorageError
from tengen.puzzles.making import missed_puzzle
from tengen.puzzles.puzzle import Puzzle, format_puzzle, parse_puzzles
from tengen.web.games.game import Game
from tengen.web.games.live_games import mistakes_of
from tengen.web.messages.puzzles import PuzzleSource
from tengen.web.store import Listed, Store
from tengen.web.workers.jobs import Desk, Job
from tengen.web.workers.scheduler import SearchPool

_log = logging.getLogger(__name__)

_MAX_GAMES = 500
"""Maximum number of games searched per browser; older games are skipped."""
_HUNG_MS = 600_000
"""Time after which a search counts as hung; its node limits end it much earlier."""
_ID = re.compile(r"own-(\d{1,3})-([A-Za-z0-9_-]{16,64})")


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnPuzzle:
    """A puzzle and the mistake from which it was created."""

    puzzle: Puzzle
    source: PuzzleSource


@dataclass(frozen=True, kw_only=True)
class FindMissedPuzzle(Job):
    """Search for the forced win or only defence that a bad move missed, and make a puzzle of it."""

    game_id: str
    game: str
    """The stored game."""
    turn_number: int
    """Turn number of the bad move."""

    @property
    def limit_ms(self) -> int:
        return _HUNG_MS

    def run(self, desk: Desk) -> OwnPuzzle | None:
        end = Game.from_json(self.game_id, self.game).position
        played = end.moves[self.turn_number - 1]
        puzzle = missed_puzzle(end.undo(len(end.moves) - self.turn_number + 1), played)
        if puzzle is None:
            return None
        source = PuzzleSource(game_id=self.game_id, turn_number=self.turn_number, played=played)
        return OwnPuzzle(puzzle=puzzle, source=source)


class OwnPuzzles:
    """The puzzles from the games of all browsers. All methods must be called on the event loop of the pool."""

    def __init__(self, store: Store, pool: SearchPool) -> None:
        self._store = store
        self._pool = pool
        self._searches: dict[str, asyncio.Task[None]] = {}
        """The running searches by browser."""
        self._failed: set[str] = set()
        """Games whose search has failed; they are not searched again until the server restarts."""

    def listed(self, browser: str) -> tuple[list[OwnPuzzle], int]:
        """Return a browser's puzzles, from the newest games first, and the number of games still to be searched.

        Starts the search if there are such games. A position that occurred in several games is listed once.
        """
        found: dict[str, OwnPuzzle] = {}
        pending = 0
        for game in self._reviewed(browser):
            puzzles = self._of_game(game)
            if puzzles is None:
                pending += game.id not in self._failed
                continue
            for own in puzzles:
                found.setdefault(own.puzzle.id, own)
        if pending:
            self.search(browser)
        return list(found.values()), pending

    def get(self, id: str, browser: str) -> OwnPuzzle | None:
        """Return a puzzle by the id that `own_id` returns; None if the id has a different form.

        Raises `NotFoundError` if this browser has no such puzzle.
        """
        parts = _ID.fullmatch(id)
        if parts is None:
            return None
        turn_number, game_id = int(parts[1]), parts[2]
        game = self._store.find("game", game_id)
        if game is not None and browser and game.owner == browser:
            for own in self._of_game(game) or ():
                if own.source.turn_number == turn_number:
                    return own
        raise NotFoundError(f"there is no puzzle with the id {id!r}")

    def search(self, browser: str) -> None:
        """Search the browser's reviewed games that have not been searched, in the background."""
        if browser and browser not in self._searches:
            task = self._searches[browser] = asyncio.create_task(self._search_all(browser))
            task.add_done_callback(lambda _: self._searches.pop(browser, None))

    def search_game(self, game_id: str) -> None:
        """Search a game that has just been reviewed, and the other unsearched games of its browser."""
        game = self._store.find("game", game_id)
        if game is not None:
            self.search(game.owner)

    def close(self) -> None:
        """Stop all searches."""
        for task in self._searches.values():
            task.cancel()

    async def _search_all(self, browser: str) -> None:
        try:
            # A game may be reviewed during the search, so the list is read again after each game.
            while (game := self._next(browser)) is not None:
                try:
                    await self._search(game, browser)
                except (AgentError, InputError) as error:
                    _log.warning("no puzzles from game %s: %s", game.id, error)
                    self._failed.add(game.id)
        except (BusyError, StorageError) as error:  # the next request tries again
            _log.warning("the search for puzzles was stopped: %s", error)

    def _next(self, browser: str) -> Listed | None:
        waiting = (game for game in self._reviewed(browser) if game.id not in self._failed)
        return next((game for game in waiting if self._of_game(game) is None), None)

    async def _search(self, game: Listed, browser: str) -> None:
        text = self._store.get("game", game.id) or ""
        lines = []
        for turn_number in mistakes_of(game):
            job = FindMissedPuzzle(game_id=game.id, game=text, turn_number=turn_number)
            own: OwnPuzzle | None = await self._pool.run(job, owner=f"puzzles {browser}")
            if own is not None:
                lines.append({"turn": turn_number, "played": own.source.played, "puzzle": format_puzzle(own.puzzle)})
        if self._store.find("game", game.id) == game:  # it may have changed during the search
            body = json.dumps(lines)
            self._store.put("puzzles", _entry(game.id), body, owner=game.id, summary=_state(game), is_new=True)

    def _reviewed(self, browser: str) -> Iterator[Listed]:
        """Yield the browser's games whose reviews found mistakes, newest first."""
        for game in self._store.listed("game", browser, _MAX_GAMES) if browser else ():
            if mistakes_of(game):
                yield game

    def _of_game(self, game: Listed) -> list[OwnPuzzle] | None:
        """Return the puzzles of a game; None if it has not been searched since its last change or review."""
        entry = self._store.find("puzzles", _entry(game.id))
        if entry is None or entry.summary != _state(game):
            return None
        try:
            body = json.loads(self._store.get("puzzles", entry.id) or "")
            return [
                OwnPuzzle(
                    puzzle=parse_puzzles(one["puzzle"])[0],
                    source=PuzzleSource(game_id=game.id, turn_number=one["turn"], played=one["played"]),
                )
                for one in (body if isinstance(body, list) else [body])
            ]
        except (KeyError, TypeError, ValueError, IndexError, NotationError) as error:
            _log.warning("the stored puzzles of game %s are damaged; searching the game again: %s", game.id, error)
            return None


def own_id(own: OwnPuzzle) -> str:
    """Return the id under which a browser finds its puzzle: `own-23-<game>` for the mistake at move 23."""
    return f"own-{own.source.turn_number}-{own.source.game_id}"


def with_own_id(own: OwnPuzzle) -> Puzzle:
    """Return a copy of the puzzle with the id that `own_id` returns."""
    return replace(own.puzzle, id=own_id(own))


def _state(game: Listed) -> str:
    """Return a string that changes whenever the game must be searched again."""
    return f"{game.changed_at!r} {mistakes_of(game)}"


def _entry(game_id: str) -> str:
    return f"puzzles {game_id}"
