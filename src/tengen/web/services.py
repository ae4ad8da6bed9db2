"""What the parts of the server share: configuration, workers, games, puzzles, the laboratory."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from starlette.requests import HTTPConnection

from tengen.core.contracts import Ruleset
from tengen.errors import AgentError
from tengen.web.games.hall import Hall
from tengen.web.games.players import NamedAgent, OpenAgents
from tengen.web.laboratory.folders import Lab
from tengen.web.limits import WebLimits, client_of
from tengen.web.messages.games import Person, Player
from tengen.web.puzzles.shelf import PuzzleShelf
from tengen.web.store import Store
from tengen.web.workers.jobs import Supports
from tengen.web.workers.scheduler import SearchPool, SearchPoolConfig

_ANSWERS_KEPT = 1000


@dataclass(frozen=True, kw_only=True)
class ServerConfig:
    """How a server is set up."""

    data: Path | None = None
    """The folder in which games are kept; without one they are gone with the process."""
    runs: tuple[Path, ...] = ()
    """Folders whose training runs and tournaments are shown."""
    papers: Path | None = None
    """A folder of reproduced papers that are shown."""
    limits: WebLimits = field(default_factory=WebLimits)
    pool: SearchPoolConfig = field(default_factory=SearchPoolConfig)


class Services:
    """Made once for each server; `start` and `close` belong to its event loop."""

    def __init__(self, config: ServerConfig) -> None:
        self.config = config
        self.pool = SearchPool(config.pool)
        self.sockets: dict[str, int] = {}
        """Open sockets by client."""
        self._supported: dict[tuple[str, Ruleset], bool] = {}

    @cached_property
    def store(self) -> Store:
        """What is kept over a restart."""
        return Store(None if self.config.data is None else self.config.data / "games.sqlite")

    @cached_property
    def hall(self) -> Hall:
        """The games."""
        return Hall(self.store, self.pool, self.agents)

    @cached_property
    def agents(self) -> OpenAgents:
        """Who can be named from a browser."""
        return OpenAgents(self.lab.run_folders)

    @cached_property
    def puzzles(self) -> PuzzleShelf:
        """The puzzles that ship with Tengen."""
        return PuzzleShelf.load()

    @cached_property
    def lab(self) -> Lab:
        """The runs, tournaments, models and papers that are shown."""
        return Lab(runs=self.config.runs, papers=self.config.papers)

    def open_store(self) -> None:
        """Open what is kept over a restart; `InputError` when that cannot be. `start` does it otherwise."""
        self.store  # noqa: B018

    async def start(self) -> None:
        """Start the workers and open the store."""
        self.open_store()
        await self.pool.start()

    async def close(self) -> None:
        """Stop all games and searches."""
        self.hall.close()
        await self.pool.close()
        self.store.close()

    async def check_player(self, player: Player, ruleset: Ruleset) -> None:
        """`AgentError` unless the player may be named from a browser and plays under the ruleset."""
        if isinstance(player, Person):
            return
        agent, _ = self.agents.of_player(player, ruleset)
        await self.check_agent(agent, ruleset)

    async def check_agent(self, agent: NamedAgent, ruleset: Ruleset) -> None:
        """`AgentError` unless the agent plays under the ruleset."""
        question = (agent.text, ruleset)
        if question not in self._supported:
            if len(self._supported) >= _ANSWERS_KEPT:
                self._supported.clear()
            self._supported[question] = await self.pool.run(Supports(agent=agent.text, ruleset=ruleset), owner="checks")
        if not self._supported[question]:
            raise AgentError(f"{agent.shown} does not play {ruleset}")


def owner_of(connection: HTTPConnection) -> str:
    """Whose share a request is taken from."""
    return f"client {client_of(connection.scope)}"


def services_of(connection: HTTPConnection) -> Services:
    """The services of the server that a request or socket belongs to."""
    services: Services = connection.app.state.services
    return services
