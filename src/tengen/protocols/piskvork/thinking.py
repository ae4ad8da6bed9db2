"""Runs the player in a worker thread with a deadline, so that the brain always answers in time.

The player may also ponder, that is, search while the opponent thinks. Pondering has no result: it only fills the
player's tables. The next command ends it.

One worker thread owns the player: it creates the player, prepares it for the game and runs its searches, so that only
one thread uses it. The calling thread watches the clock. It stops the search when the time is up or the manager sends a
stop. If the player does not stop, the brain continues with the best move so far. A late player's answer is discarded,
but the player stays in use.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass

from tengen.core.contracts import (
    Agent,
    Analysis,
    Decision,
    ExcludesMoves,
    HasTable,
    Limits,
    Ruleset,
    Search,
    WarmsUp,
)
from tengen.core.geometry import Point
from tengen.core.position import Position
from tengen.core.stop_signal import StopSignal
from tengen.errors import AgentError
from tengen.protocols.piskvork.settings import Budget

STOP_GRACE_S = 0.3
"""Seconds to wait for a player after the manager has stopped it."""

Monitor = Callable[[Analysis], None]


@dataclass(frozen=True, slots=True)
class Order:
    """A search request to the player: position and limits."""

    position: Position
    budget: Budget
    game: int
    """Number of the game; a new number resets the player."""
    number: int = 0
    """Number of the command that requested the search; a stop command with a later number ends it."""
    nodes: int | None = None
    depth: int | None = None
    threads: int | None = None
    memory_bytes: int | None = None
    table_bytes: int | None = None
    excluded: frozenset[Point] = frozenset()

    def limits(self) -> Limits:
        """Return the limits for a search that starts now."""
        return self.budget.limits(time.monotonic(), nodes=self.nodes, depth=self.depth, threads=self.threads)


class Thought:
    """One job of the worker. Its fields are final once it is over; `best` may change until then."""

    def __init__(self, work: Callable[[Agent, Thought], None], order: Order) -> None:
        self.work = work
        self.order = order
        self.stop = StopSignal()
        """Ends the work, even if it has not started yet."""
        self.search: Search | None = None
        """The search for the move; None before it has started."""
        self.best: Decision | None = None
        """The player's choice, or the best move so far if the player was too late."""
        self.is_supported = True
        """Whether the player supports the ruleset."""
        self.error: BaseException | None = None
        self.is_over = False
        self.is_dropped = False
        """Whether the result is no longer needed; the thought must then print nothing."""


class Thinker:
    """The worker thread and its player, which `make_agent` creates on first use."""

    def __init__(self, make_agent: Callable[[], Agent]) -> None:
        self._make_agent = make_agent
        self._agent: Agent | None = None
        self._failure: BaseException | None = None
        self._jobs: queue.SimpleQueue[Callable[[], object]] = queue.SimpleQueue()
        self._changed = threading.Condition()
        self._stopped_before = 0
        self._last_command = 0
        self._pondering: Thought | None = None
        self._is_closing = False
        self._ready_for: tuple[object, ...] = ()
        self._bounds: tuple[int | None, int | None, int | None] | None = None
        self._worker = threading.Thread(target=self._run, name="thinker", daemon=True)
        self._worker.start()

    # -- requests ------------------------------------------------------------------------------------------------------

    def think(self, work: Callable[[Agent, Thought], None], order: Order) -> Thought:
        """Run `work` in the worker; return when it is done, when its time is up, or when the brain closes."""
        thought = Thought(work, order)
        self._jobs.put(lambda: self._do(thought))
        self._watch(thought)
        if not thought.is_over:
            _stop(thought)
        if thought.best is None and thought.search is not None:
            thought.best = thought.search.best_so_far()
        return thought

    def ponder(self, order: Order) -> None:
        """Search in the background until the next command. Does nothing if that command has already been read."""
        thought = Thought(choose_move, order)
        with self._changed:
            if self._is_closing or order.number < self._last_command:
                return
            self._pondering = thought
        self._jobs.put(lambda: self._do(thought))

    def note_command(self, number: int) -> None:
        """Record that command `number` has been read, and stop pondering. Returns immediately."""
        with self._changed:
            self._last_command = number
        self._stop_pondering()

    def warm_up(self, order: Order, rulesets: Sequence[Ruleset], *, wait_s: float) -> None:
        """Create and prepare the player, so that its first search starts at once.

        The player is prepared for the game of `order`, and for a rule change to any of `rulesets`. Returns after
        `wait_s` even if the player is not ready; it then continues in the background.
        """
        is_ready = False

        def work() -> None:
            nonlocal is_ready
            try:
                agent = self._made_agent()
                self._prepare(agent, order)
                if isinstance(agent, WarmsUp):
                    agent.warm_up(rulesets)
            finally:
                with self._changed:
                    is_ready = True
                    self._changed.notify_all()

        self._jobs.put(work)
        with self._changed:
            self._changed.wait_for(lambda: is_ready or self._is_closing, wait_s)

    def stop_before(self, number: int) -> None:
        """Stop all thoughts, running or pending, whose command has a lower sequence number."""
        with self._changed:
            self._stopped_before = max(self._stopped_before, number)
            self._changed.notify_all()

    @property
    def is_closing(self) -> bool:
        """Whether the session is ending; no new thought is started."""
        return self._is_closing

    def begin_close(self) -> None:
        """Abandon the running thought and all later ones. Returns immediately."""
        with self._changed:
            self._is_closing = True
            self._changed.notify_all()
        self._stop_pondering()

    def close(self, timeout_s: float) -> None:
        """Stop the worker thread and close the player if it stops in time."""
        self.begin_close()
        self._jobs.put(lambda: None)
        self._worker.join(timeout_s)

    @property
    def agent(self) -> Agent | None:
        """The agent, or None before it is created. A search may be running, so use only simple queries."""
        return self._agent

    def _stop_pondering(self) -> None:
        with self._changed:
            thought, self._pondering = self._pondering, None
        if thought is not None:
            thought.is_dropped = True
            _stop(thought)

    # -- watching ------------------------------------------------------------------------------------------------------

    def _watch(self, thought: Thought) -> None:
        stop_at, answer_at = thought.order.budget.stop_at, thought.order.budget.answer_at
        was_told = False
        while True:
            with self._changed:
                if thought.is_over or self._is_closing:
                    return
                now = time.monotonic()
                if not was_told and thought.order.number < self._stopped_before:
                    was_told = True
                    stop_at, answer_at = now, min(answer_at, now + STOP_GRACE_S)
                if now >= answer_at:
                    return
                is_stopped = thought.stop.is_set()
                if is_stopped or now < stop_at:
                    self._changed.wait(min((answer_at if is_stopped else stop_at) - now, threading.TIMEOUT_MAX))
                    continue
            _stop(thought)

    # -- the worker ----------------------------------------------------------------------------------------------------

    def _run(self) -> None:
        while not self._is_closing:
            # A failure to create the player is reported at the first search.
            with suppress(BaseException):
                self._jobs.get()()
        if self._agent is not None:
            with suppress(Exception):
                self._agent.close()

    def _do(self, thought: Thought) -> None:
        if not thought.is_dropped:
            try:
                agent = self._made_agent()
                thought.is_supported = self._prepare(agent, thought.order)
                if thought.is_supported and not thought.is_dropped:
                    thought.work(agent, thought)
            except BaseException as error:  # a player's library may even call sys.exit
                thought.error = error
        with self._changed:
            thought.is_over = True
            self._changed.notify_all()

    def _made_agent(self) -> Agent:
        if self._failure is not None:
            raise AgentError(f"the player could not be created: {self._failure}")
        if self._agent is None:
            try:
                self._agent = self._make_agent()
            except BaseException as error:
                self._failure = error
                raise
        return self._agent

    def _prepare(self, agent: Agent, order: Order) -> bool:
        ruleset = order.position.ruleset
        if not agent.supports(ruleset):
            return False
        bounds = (order.memory_bytes, order.table_bytes, order.threads)
        if self._bounds != bounds:
            agent.configure(memory_bytes=order.memory_bytes, threads=order.threads)
            if order.table_bytes is not None and isinstance(agent, HasTable):
                agent.resize_table(order.table_bytes)
            self._bounds = bounds
        if self._ready_for != (ruleset, order.game):
            agent.new_game(ruleset, seed=order.game)
            self._ready_for = (ruleset, order.game)
        if isinstance(agent, ExcludesMoves):
            agent.exclude(order.excluded)
        return True


def _stop(thought: Thought) -> None:
    # An exception in the player's stop function must not end `_watch`.
    with suppress(Exception):
        thought.stop.set()


def choose_move(agent: Agent, thought: Thought) -> None:
    """Choose a move with the player; used as the `work` of a thought."""
    thought.best = _choose(agent, thought)


def _choose(agent: Agent, thought: Thought) -> Decision:
    search = thought.search = agent.start(thought.order.position, thought.order.limits())
    with thought.stop.calling(search.stop):
        return search.result()


def analyse_moves(lines: int, monitor: Monitor) -> Callable[[Agent, Thought], None]:
    """Return work that analyses the `lines` best moves and passes every snapshot to `monitor`.

    If the player cannot analyse, it only chooses a move, and the snapshot is created from its decision.
    """

    def work(agent: Agent, thought: Thought) -> None:
        order = thought.order
        began = time.monotonic()
        search = thought.search = agent.start(order.position, order.limits(), lines)
        try:
            with thought.stop.calling(search.stop):
                for analysis in search:
                    if thought.is_dropped:
                        return
                    if analysis.lines:
                        monitor(analysis)
        except AgentError:
            if search.best_so_far() is not None:
                raise
        best = search.best_so_far()
        if best is None:
            best = _choose(agent, thought)
            monitor(best.as_analysis(1000 * (time.monotonic() - began)))
        thought.best = best

    return work
