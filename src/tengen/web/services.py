"""Objects shared by all routes of a server: configuration, worker pool, games, puzzles, laboratory."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from starlette.requests import HTTPConnection

from tengen.core.contracts import Ruleset
from tengen.errors import AgentError
from tengen.web.games.collections import Collections
from tengen.web.games.live_games import LiveGames
from tengen.web.games.players import AllowedAgents, NamedAgent
from tengen.web.laboratory.folders import Lab
from tengen.web.laboratory.operating import OperatingLimits, Operations
from tengen.web.limits import WebLimits, client_of
from tengen.web.messages.games import Person, Player
from tengen.web.puzzles.collection import PuzzleCollection
from tengen.web.puzzles.own import OwnPuzzles
from tengen.web.store import Store
from tengen.web.workers.jobs import Supports
from tengen.web.workers.scheduler import SearchPool, SearchPoolConfig

_MAX_CACHED_CHECKS = 1000


@dataclass(frozen=True, kw_only=True)
class ServerConfig:
    """Configuration for a server."""

    data: Path | None = None
    """Folder where games are stored; None keeps them in memory only."""
    runs: tuple[Path, ...] = ()
    """Folders with the training runs and tournaments that the laboratory shows."""
    papers: Path | None = None
    """Folder with the reproduced papers that the laboratory shows."""
    read_only: str = "the server was not set up to start processes"
    """Why browsers cannot start training runs and tournaments; empty if they can, which needs `data` and `runs`."""
    operating: OperatingLimits = field(default_factory=OperatingLimits)
    limits: WebLimits = field(default_factory=WebLimits)
    pool: SearchPoolConfig = field(default_factory=SearchPoolConfig)


class Services:
    """The shared objects of one server. Call `start` and `close` on its event loop."""

    def __init__(self, config: ServerConfig) -> None:
        self.config = config
        self.pool = SearchPool(config.pool)
        self.sockets: dict[str, int] = {}
        """Number of open sockets by client address."""
        self._supported: dict[tuple[str, Ruleset], bool] = {}

    @cached_property
    def store(self) -> Store:
        """Games and studies on disk."""
        return Store(None if self.config.data is None else self.config.data / "games.sqlite")

    @cached_property
    def games(self) -> LiveGames:
        """All games, loaded from the store on demand."""
        return LiveGames(self.store, self.pool, self.agents)

    @cached_property
    def agents(self) -> AllowedAgents:
        """The agents that a browser may use."""
        return AllowedAgents(self.lab.run_folders, self.config.pool.agents)

    @cached_property
    def collections(self) -> Collections:
        """Reader for game files, with a cache of recently read ones."""
        return Collections(self.pool)

    @cached_property
    def puzzles(self) -> PuzzleCollection:
        """The shipped puzzles."""
        return PuzzleCollection.load()

    @cached_property
    def own_puzzles(self) -> OwnPuzzles:
        """The puzzles from the games that were played on this server."""
        return OwnPuzzles(self.store, self.pool)

    @cached_property
    def lab(self) -> Lab:
        """The runs, tournaments, models and papers that the laboratory shows."""
        return Lab(runs=self.config.runs, papers=self.config.papers)

    @cached_property
    def operations(self) -> Operations:
        """The training runs and tournaments that browsers start."""
        config = self.config
        why_not = config.read_only
        if not why_not and not (config.data and config.runs):
            why_not = "the server has no folders for data or runs"
        root, data = next(iter(config.runs), Path()), config.data or Path()
        # The processes know only the built-in agents, not those of `--agents`.
        agents = AllowedAgents(self.lab.run_folders)
        return Operations(root, data, self.lab, agents, config.operating, why_not)

    def open_store(self) -> None:
        """Open the store now instead of in `start`. Raises `InputError` if the file cannot be used."""
        self.store  # noqa: B018

    async def start(self) -> None:
        """Start the workers and open the store."""
        self.open_store()
        await self.pool.start()
        await asyncio.to_thread(self.operations.recover)

    async def close(self) -> None:
        """Stop all games and searches and close the store."""
        self.games.close()
        self.own_puzzles.close()
        await self.pool.close()
        self.store.close()

    async def check_player(self, player: Player, ruleset: Ruleset) -> None:
        """Raise `AgentError` if a browser may not use the player or if the player does not support the ruleset."""
        if isinstance(player, Person):
            return
        agent, _ = self.agents.of_player(player, ruleset)
        await self.check_agent(agent, ruleset)

    async def check_agent(self, agent: NamedAgent, ruleset: Ruleset) -> None:
        """Raise `AgentError` if the agent does not support the ruleset."""
        question = (agent.text, ruleset)
        if question not in self._supported:
            if len(self._supported) >= _MAX_CACHED_CHECKS:
                self._supported.clear()
            self._supported[question] = await self.pool.run(Supports(agent=agent.text, ruleset=ruleset), owner="checks")
        if not self._supported[question]:
            raise AgentError(f"{agent.shown} does not play {ruleset}; choose another agent or other rules")


def owner_of(connection: HTTPConnection) -> str:
    """Return the owner that the worker pool charges for a request, identified by the client's address."""
    return f"client {client_of(connection.scope)}"


def services_of(connection: HTTPConnection) -> Services:
    """Return the services of the server that received a request or WebSocket."""
    services: Services = connection.app.state.services
    return services
