"""Self-play on a fleet: workers play continuously, and an iteration uses the games that have arrived.

Each call asks a worker to play for a short time with the newest weights and to return the games that it finishes.
Unfinished games stay in the worker between calls, so losing a worker loses only its unfinished games. Games that arrive
after an iteration is complete count towards the next iteration.
"""

from __future__ import annotations

import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from tengen.cluster.fleet import Answer, Fleet, Site
from tengen.learning.experience.game_source import Arrays, Generation, SelfPlayer, SelfPlaySpec
from tengen.learning.experience.replay import Samples
from tengen.learning.experience.self_play import FinishedGame, Games
from tengen.search.puct_config import PuctConfig

CALL_S = 1.0
"""Seconds after which a worker answers with the games it has finished; calls take longer in large fleets."""
_CALLS_PER_SECOND = 200
"""Maximum rate of answers that the driver has to process."""
_RATE_S = 30.0
"""Seconds over which rates are averaged."""
_LOOK_S = 0.5
_ARRAY = "fleet"
"""Name of the checkpoint array with the next worker's number and the number of workers lost so far."""


@dataclass(frozen=True, slots=True)
class Request:
    """A request for games, sent to a worker together with the model."""

    version: int
    search: PuctConfig
    max_games: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Shard:
    """A worker's answer: the games it finished."""

    games: list[FinishedGame]
    evaluations: int


class FleetSelfPlay:
    """A `GameSource` whose games are played by a fleet; a context manager that stops the workers on exit."""

    is_continuous = True

    def __init__(
        self,
        site: Site,
        put: Callable[[bytes], Any],
        spec: SelfPlaySpec,
        arrays: Arrays,
        *,
        workers: int = 0,
        warn: Callable[[str], None] = lambda _: None,
    ) -> None:
        """Use `put` to store a model for all workers. `arrays` come from the checkpoint that the run resumes from."""
        first_number, restarts = (int(number) for number in arrays.get(_ARRAY, np.zeros(2, np.int64)))
        self._spec = spec
        self._put = put
        self._fleet = Fleet[tuple[Request, Any]](site, workers=workers, first_number=first_number, warn=warn)
        self._restarts_before = restarts
        self._order: tuple[Request, Any] | None = None
        self._arrived: deque[FinishedGame] = deque()
        self._evaluations = 0
        self._started = time.monotonic()
        self._recent: deque[tuple[float, str, int]] = deque()
        """Time, node and number of games for each recent shard."""
        self._metrics: dict[str, Any] = {}
        self._error: BaseException | None = None
        self._is_closed = False
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=self._pump, name="fleet", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        with self._changed:
            self._is_closed = True
        self._thread.join()
        self._fleet.close()

    # -- called by the learner ---------------------------------------------------------------------------------------

    def publish(self, generation: Generation) -> None:
        """Use these weights for all new calls; calls in flight keep their weights."""
        seconds = max(CALL_S, sum(self._fleet.nodes.values()) / _CALLS_PER_SECOND)
        request = Request(generation.version, generation.search, self._spec.games, seconds)
        order = request, self._put(generation.model)
        with self._changed:
            self._order = order

    def collect(self) -> Games:
        """Wait for exactly as many games as one iteration needs, and return them."""
        count = self._spec.games
        with self._changed:
            while len(self._arrived) < count and self._error is None:
                self._changed.wait(timeout=1.0)  # a timeout, so that Ctrl-C is handled
            if self._error is not None:
                raise self._error
            games = [self._arrived.popleft() for _ in range(count)]
            evaluations, self._evaluations = self._evaluations, 0
            self._metrics = self._measure()
        return Games.join(games, evaluations)

    def arrays(self) -> Arrays:
        """Return the arrays for a checkpoint. They ensure that worker numbers are not reused after a restart."""
        return {_ARRAY: np.array([self._fleet.next_number, self._restarts], np.int64)}

    def metrics(self) -> Mapping[str, Any]:
        """Return the numbers of workers and restarts, and each node's games per second, as of the last `collect`."""
        return self._metrics

    def describe(self) -> str:
        """Return a short summary of the metrics."""
        rates = [rate for _, rate in self._metrics.get("nodes", ())]
        nodes = f"{len(rates)} nodes at {min(rates):.1f}–{max(rates):.1f} games/s" if rates else "0 nodes"
        return f"{self._metrics.get('workers', 0)} workers on {nodes}, {self._metrics.get('restarts', 0)} restarts"

    @property
    def _restarts(self) -> int:
        return self._restarts_before + self._fleet.restarts

    def _measure(self) -> dict[str, Any]:
        now = time.monotonic()
        seconds = min(_RATE_S, now - self._started)
        by_node: Counter[str] = Counter()
        for _, node, games in self._recent:
            by_node[node] += games
        workers = self._fleet.nodes
        return {
            "workers": sum(workers.values()),
            "restarts": self._restarts,
            # A list of pairs, because TensorBoard would draw a curve for each key of a mapping.
            "nodes": [[node, round(by_node[node] / seconds, 3)] for node in sorted({*workers, *by_node})],
        }

    # -- called by the thread of the fleet ---------------------------------------------------------------------------

    def _pump(self) -> None:
        try:
            while not self._is_closed:
                for answer in self._fleet.poll(self, _LOOK_S):
                    self._take_in(answer)
        except BaseException as error:  # raised again by `collect`
            with self._changed:
                self._error = error
                self._changed.notify_all()

    def take(self) -> tuple[Request, Any] | None:
        """Return the newest order; None while a whole iteration of games is waiting for the learner."""
        with self._changed:
            return self._order if len(self._arrived) < self._spec.games else None

    def lose(self, order: tuple[Request, Any], *, was_running: bool) -> None:
        """Do nothing: the worker that replaces the lost one gets a newer order."""

    def _take_in(self, answer: Answer[tuple[Request, Any]]) -> None:
        shard: Shard = answer.result
        # Copy the arrays, because views would keep the shared memory occupied.
        games = [
            replace(game, samples=Samples.concatenate([game.samples]), shard=str(answer.number)) for game in shard.games
        ]
        with self._changed:
            self._arrived.extend(games)
            self._evaluations += shard.evaluations
            now = time.monotonic()
            self._recent.append((now, answer.node, len(games)))
            while self._recent[0][0] < now - _RATE_S:
                self._recent.popleft()
            self._changed.notify_all()


@contextmanager
def open_player(spec: SelfPlaySpec, number: int) -> Iterator[Callable[[Request, bytes], Shard]]:
    """Prepare a worker that continues its unfinished games from call to call."""
    player = SelfPlayer(spec, parallel=spec.parallel // spec.actors, seed=spec.worker_seed(number))
    finished: deque[FinishedGame] = deque()
    version: int | None = None

    def play(request: Request, model: bytes) -> Shard:
        nonlocal version
        if request.version != version:
            player.use(Generation(request.version, model, request.search))
            version = request.version
        before = player.evaluations
        deadline = time.monotonic() + request.seconds
        while len(finished) < request.max_games and time.monotonic() < deadline:
            finished.extend(player.step())
        games = [finished.popleft() for _ in range(min(len(finished), request.max_games))]
        return Shard(games, player.evaluations - before)

    yield play
