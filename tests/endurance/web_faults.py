"""A disk that fails under the server, during a session with games, studies, an analysis, a review and an import.

The session repeats each request that failed, and afterwards a second server reads the same folder.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from anyio.from_thread import BlockingPortal, start_blocking_portal
from starlette.testclient import TestClient, WebSocketTestSession

from tengen.errors import InputError
from tengen.web.app import create_app
from tengen.web.services import ServerConfig
from tengen.web.workers.scheduler import SearchPool, SearchPoolConfig
from tests.faults import Fault, Kind, fail_nth
from tests.web.conftest import GENEROUS
from tests.web.talk import BEGINNER, PERSON, Json

RULES = "9x9:5:freestyle"


class Machine:
    """An event loop and search processes that outlive the servers of the tests, because they are slow to start."""

    def __init__(self, portal: BlockingPortal, pool: SearchPool) -> None:
        self._portal = portal
        self._pool = pool

    @contextmanager
    def server(self, data: Path) -> Iterator[TestClient]:
        """Run a server on a folder; leaving the block is like killing it."""
        app = create_app(ServerConfig(data=data, limits=GENEROUS))
        services = app.state.services
        services.pool = self._pool
        services.open_store()
        client = TestClient(app)
        client.portal = self._portal
        try:
            yield client
        finally:
            self._portal.call(services.games.close)
            services.store.close()


@contextmanager
def start_machine() -> Iterator[Machine]:
    """Start the event loop and one search process."""
    with start_blocking_portal() as portal:
        pool = SearchPool(SearchPoolConfig(workers=1))
        portal.call(pool.start)
        try:
            yield Machine(portal, pool)
        finally:
            portal.call(pool.close)


class Visit:
    """A client that remembers what the server has acknowledged and repeats what it refused."""

    def __init__(self, client: TestClient, socket: WebSocketTestSession, fault: Fault) -> None:
        self._client = client
        self._socket = socket
        self._fault = fault
        self.games: dict[str, Json] = {}
        self.studies: dict[str, Json] = {}
        self.refusals = 0

    def http(self, method: str, path: str, body: Json) -> Json:
        """Send a request until it is stored."""
        while (response := self._client.request(method, f"/api/{path}", json=body)).status_code == 507:
            assert response.json()["code"] == "storage"
            assert "cannot store" in response.json()["error"]
            self._refused()
        assert response.is_success, response.text
        found: Json = response.json()
        return found

    def begin(self, **fields: Any) -> str:
        """Start a game."""
        return self._keep(self.http("POST", "games", {"black": PERSON, "white": PERSON, "rules": RULES} | fields))

    def rematch(self, game: str) -> None:
        """Start a rematch."""
        self._keep(self.http("POST", f"games/{game}/rematch", {}))

    def act(self, game: str, action: str, **fields: Any) -> None:
        """Act over HTTP."""
        self._keep(self.http("POST", f"games/{game}/actions", {"action": action} | fields))

    def act_by_socket(self, game: str, action: str, **fields: Any) -> None:
        """Act over the socket."""
        request = {"type": "act", "id": "act", "gameId": game, "action": {"action": action} | fields}
        self._socket.send_json(request)
        while (answer := self.receive(lambda message: message["id"] == "act"))["type"] == "error":
            assert answer["code"] == "storage"
            assert not answer["goesOn"]
            self._refused()
            self._socket.send_json(request)
        self._keep(self._state(game))

    def wait_for_agent(self, game: str, moves: int) -> None:
        """Wait for an agent's move. If it cannot be stored, the game is paused and resumed here."""
        self._socket.send_json({"type": "watch", "id": "agent", "gameId": game})
        while True:
            message = self.receive(lambda message: message["id"] == "agent")
            if message["type"] == "error":
                assert (message["code"], message["goesOn"]) == ("storage", True)
                assert self._state(game)["isPaused"]
                self.refusals += 1
                if self._fault.lasting:
                    self._fault.is_armed = False
                self.act_by_socket(game, "resume")
            elif len(message["game"]["moves"]) == moves:
                self._keep(message["game"])
                return

    def keep_study(self, record: Json, study: str = "") -> str:
        """Store or replace a study."""
        found = self.http("PUT" if study else "POST", f"studies/{study}".rstrip("/"), record)
        self.studies[found["id"]] = found
        return str(found["id"])

    def ask(self, type: str, **fields: Any) -> Json:
        """Run a search and return its last message."""
        self._socket.send_json({"type": type, "id": "search", "rules": RULES} | fields)
        return self.receive(lambda message: message["id"] == "search" and not message.get("isDuringSearch"))

    def review(self, game: str, moves: list[str]) -> None:
        """Review a game until the review is stored; one that cannot be stored is sent nevertheless."""
        while not (last := self.ask("review", gameId=game, moves=moves, effort="quick"))["isStored"]:
            assert last["summary"]
            self._refused()

    def receive(self, is_wanted: Callable[[Json], bool]) -> Json:
        """Return the next message that matches."""
        while not is_wanted(message := self._socket.receive_json()):
            pass
        found: Json = message
        return found

    def _keep(self, state: Json) -> str:
        self.games[state["id"]] = state
        return str(state["id"])

    def _state(self, game: str) -> Json:
        state: Json = self._client.get(f"/api/games/{game}").json()
        return state

    def _refused(self) -> None:
        """Check that nothing has changed; a disk that stays full works again from now on."""
        self.refusals += 1
        assert self.refusals < 100
        check_all(self._client, self)
        if self._fault.lasting and self.refusals == 3:
            self._fault.is_armed = False


def check_all(client: TestClient, visit: Visit) -> None:
    """Compare everything that was acknowledged with what a server has."""
    for game, state in visit.games.items():
        assert stored_part(client.get(f"/api/games/{game}").json()) == stored_part(state)
    for study, body in visit.studies.items():
        assert client.get(f"/api/studies/{study}").json() == body


def stored_part(state: Json) -> Json:
    """Return the state without what is true of the moment only."""
    return {key: value for key, value in state.items() if key not in ("isThinking", "clock")}


def spend_an_evening(visit: Visit) -> None:
    """Use everything that writes, and the searches in between."""
    game = visit.begin()
    for point in ("e5", "e6", "d5"):
        visit.act_by_socket(game, "play", point=point)
    visit.act_by_socket(game, "undo")
    visit.act_by_socket(game, "redo")
    visit.act(game, "play", point="d6")
    assert visit.ask("analyse", moves=["e5", "e6"], maxVisits=200)["moveInfos"]
    visit.act(game, "resign")
    visit.review(game, ["e5", "e6", "d5", "d6"])
    visit.rematch(game)
    imported = visit.http("POST", "import", {"text": "e5e6d5", "rules": RULES})
    study = visit.keep_study(imported["record"])
    visit.keep_study(imported["record"] | {"black": "Ann"}, study)
    against = visit.begin(white=BEGINNER)
    visit.act_by_socket(against, "play", point="e5")
    visit.wait_for_agent(against, moves=2)
    visit.act_by_socket(against, "undo")


def spend_evening_with_fault(machine: Machine, data: Path, n: int, kind: Kind, *, lasting: bool = False) -> Fault:
    """Run the session with a fault, then check what a second server finds."""
    visit: Visit | None = None
    with fail_nth(n, kind, under=data, lasting=lasting) as fault:
        try:
            with machine.server(data) as client, client.websocket_connect("/api/socket") as socket:
                visit = Visit(client, socket, fault)
                spend_an_evening(visit)
        except InputError:  # the server does not start
            assert visit is None
    with machine.server(data) as client:
        if visit is not None:
            assert visit.refusals >= fault.happened
            check_all(client, visit)
    return fault
