"""Jobs for the worker processes. A job is pickled, sent to a worker and run there.

Any work that may be slow or that reads untrusted bytes is a job; the server's main process only forwards messages.
"""

from __future__ import annotations

import random
import time
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any, Protocol

from tengen.agents.opening_choices import OpeningDecision, decide_opening
from tengen.agents.registry import make_agent, with_setting
from tengen.core.contracts import Agent, Analysis, Colour, Decision, ExcludesMoves, Limits, Ruleset
from tengen.core.geometry import Point
from tengen.core.opening_procedure import OpeningState
from tengen.core.position import Position
from tengen.core.stop_signal import StopSignal
from tengen.patterns.explain import Explanation, explain
from tengen.review import (
    Assessment,
    Effort,
    MoveReview,
    Reason,
    Thresholds,
    assess,
    judge_move,
    reason_to_play,
    try_move,
)
from tengen.search.threats import ThreatKind, ThreatResult, solve_threats

SHORT_MS = 2000
"""Time limit for quick jobs. An analysis with a longer limit can be preempted."""

_NETWORKS_MS = 20_000
"""Time limit for loading the networks of a run."""
_HUNG_MS = 600_000
"""Time after which a job with a node limit counts as hung; long enough never to affect a result."""

WAITED_FOR = 4.0
"""Scheduling weight of a job that a person is waiting for; a running analysis has weight 1."""


class Desk(Protocol):
    """Interface through which a running job uses its worker: agents, progress reports and the stop signal."""

    def agent(self, text: str, ruleset: Ruleset, seed: int | None = None) -> Agent:
        """Return the agent for a specification. With a seed, start a new game unless it is already in that game."""
        ...

    def report(self, payload: Any) -> None:
        """Send a progress report to the server while the job is running."""
        ...

    @property
    def stop(self) -> StopSignal:
        """Signal that is set when the job should end early; it may already be set when the job starts."""
        ...


class Job(ABC):
    """A unit of work. Subclasses are frozen dataclasses that are small when pickled."""

    @property
    @abstractmethod
    def limit_ms(self) -> int:
        """Time limit in milliseconds. A worker that exceeds it by a wide margin counts as hung."""

    @property
    def family(self) -> str:
        """Name shared by jobs of similar cost, for estimating how long a job will take."""
        return type(self).__name__

    @property
    def weight(self) -> float:
        """Scheduling weight. The owner is charged the CPU time divided by this weight."""
        return 1.0

    @property
    def is_preemptible(self) -> bool:
        """Whether the job can be interrupted and continued later with `resumed`."""
        return False

    def resumed(self, used_ms: int) -> Job | None:
        """Return the rest of an interrupted job, or None if nothing is left. Only called if `is_preemptible`."""
        return None

    @abstractmethod
    def run(self, desk: Desk) -> Any:
        """Run the job in the worker and return its result, which must be picklable."""


@dataclass(frozen=True, kw_only=True)
class Choose(Job):
    """Choose an agent's move."""

    agent: str
    position: Position
    limits: Limits
    seed: int

    @property
    def limit_ms(self) -> int:
        assert self.limits.time_ms is not None
        return self.limits.time_ms

    @property
    def family(self) -> str:
        return f"{self.agent} {self.limit_ms}"

    @property
    def weight(self) -> float:
        return WAITED_FOR

    def run(self, desk: Desk) -> Decision:
        agent = desk.agent(self.agent, self.position.ruleset, self.seed)
        if isinstance(agent, ExcludesMoves):
            agent.exclude(frozenset())
        search = agent.start(self.position, self.limits)
        with desk.stop.calling(search.stop):
            return search.result()


@dataclass(frozen=True, kw_only=True)
class ChooseInOpening(Job):
    """Choose an agent's actions in an opening procedure: stones to place and options to pick."""

    agent: str
    ruleset: Ruleset
    taken: tuple[str, ...]
    """Opening actions so far."""
    limits: Limits
    seed: int

    @property
    def limit_ms(self) -> int:
        assert self.limits.time_ms is not None
        return 3 * self.limits.time_ms

    @property
    def weight(self) -> float:
        return WAITED_FOR

    def run(self, desk: Desk) -> OpeningDecision:
        agent = desk.agent(self.agent, self.ruleset, self.seed)
        state = OpeningState.replay(self.ruleset, self.taken)
        rng = random.Random(self.seed * 1000 + len(self.taken))
        return decide_opening(agent, state, self.limits, rng, desk.stop)


@dataclass(frozen=True, kw_only=True)
class Think(Job):
    """Analyse a position. Every snapshot is reported, and the last one is the result."""

    agent: str
    position: Position
    limits: Limits
    lines: int = 1
    excluded: frozenset[Point] = frozenset()
    seed: int | None = None

    @property
    def limit_ms(self) -> int:
        assert self.limits.time_ms is not None
        return self.limits.time_ms

    @property
    def is_preemptible(self) -> bool:
        return self.limit_ms > SHORT_MS

    def resumed(self, used_ms: int) -> Think | None:
        left = self.limit_ms - used_ms
        return replace(self, limits=replace(self.limits, time_ms=left)) if left > 0 else None

    def run(self, desk: Desk) -> Analysis | None:
        agent = desk.agent(self.agent, self.position.ruleset, self.seed)
        if isinstance(agent, ExcludesMoves):
            agent.exclude(self.excluded)
        last = None
        started = time.monotonic()
        search = agent.start(self.position, self.limits, self.lines)
        with desk.stop.calling(search.stop):
            for last in search:
                desk.report(last)
        if last is not None and (nodes := search.result().nodes) > last.nodes:
            # The iteration that the end of the time slice interrupted counts, too.
            last = replace(last, nodes=nodes, elapsed_ms=1000 * (time.monotonic() - started))
            desk.report(last)
        return last


@dataclass(frozen=True, kw_only=True)
class SolveThreats(Job):
    """Search for a win by continuous threats."""

    position: Position
    kind: ThreatKind
    attacker: Colour
    time_ms: int

    @property
    def limit_ms(self) -> int:
        return self.time_ms

    def run(self, desk: Desk) -> ThreatResult:
        limits = Limits(time_ms=self.time_ms)
        return solve_threats(self.position, self.kind, limits, for_side=self.attacker, stop=desk.stop)


@dataclass(frozen=True, kw_only=True)
class Explain(Job):
    """Explain the threats in a position, in words and as data."""

    position: Position

    @property
    def limit_ms(self) -> int:
        return SHORT_MS

    def run(self, desk: Desk) -> Explanation:
        return explain(self.position)


@dataclass(frozen=True, kw_only=True)
class NetworkOpinion:
    """Evaluation of a position by a network, without search."""

    iteration: int | None
    value: float
    """For the side to move, -1 to 1."""
    policy: dict[Point, float]


@dataclass(frozen=True, kw_only=True)
class AskNetworks(Job):
    """Evaluate a position with the networks of a training run, without search."""

    networks: tuple[tuple[int | None, str], ...]
    """Iteration and folder of each network."""
    position: Position

    @property
    def limit_ms(self) -> int:
        return _NETWORKS_MS

    def run(self, desk: Desk) -> list[NetworkOpinion]:
        return [self._ask(iteration, folder) for iteration, folder in self.networks if not desk.stop.is_set()]

    def _ask(self, iteration: int | None, folder: str) -> NetworkOpinion:
        agent = make_agent(with_setting("policy", "model", folder))
        with agent:
            agent.check_supports(self.position.ruleset)
            decision = agent.choose(self.position, Limits())
        assert decision.policy is not None
        assert decision.value_to_move is not None
        return NetworkOpinion(iteration=iteration, value=decision.value_to_move, policy=dict(decision.policy))


@dataclass(frozen=True, kw_only=True)
class Supports(Job):
    """Check whether an agent can be created and supports a ruleset."""

    agent: str
    ruleset: Ruleset

    @property
    def limit_ms(self) -> int:
        return SHORT_MS

    def run(self, desk: Desk) -> bool:
        return desk.agent(self.agent, self.ruleset).supports(self.ruleset)


@dataclass(frozen=True, kw_only=True)
class _ReviewJob(Job):
    """A job that is part of a review. It is limited by nodes alone, so its result does not depend on the machine."""

    position: Position
    effort: Effort

    @property
    def limit_ms(self) -> int:
        return _HUNG_MS

    @property
    def family(self) -> str:
        return f"{type(self).__name__} {self.effort.nodes}"


@dataclass(frozen=True, kw_only=True)
class Assess(_ReviewJob):
    """Assess a position for a review."""

    def run(self, desk: Desk) -> Assessment:
        return assess(self.position, self.effort, desk.stop)


@dataclass(frozen=True, kw_only=True)
class JudgeMove(_ReviewJob):
    """Judge a move for a review from the assessments before and after it."""

    move: Point
    turn_number: int
    before: Assessment
    after: Assessment
    thresholds: Thresholds

    def run(self, desk: Desk) -> MoveReview:
        return judge_move(
            self.turn_number,
            self.position,
            self.move,
            self.before,
            self.after,
            self.effort,
            self.thresholds,
            desk.stop,
        )


@dataclass(frozen=True, kw_only=True)
class TryMove(_ReviewJob):
    """Judge a move that was not played."""

    move: Point
    thresholds: Thresholds

    @property
    def weight(self) -> float:
        return WAITED_FOR

    def run(self, desk: Desk) -> MoveReview:
        return try_move(self.position, self.move, self.effort, self.thresholds, desk.stop)


@dataclass(frozen=True, kw_only=True)
class FindHint(_ReviewJob):
    """Find the best move in a position and the reason to play it."""

    @property
    def weight(self) -> float:
        return WAITED_FOR

    def run(self, desk: Desk) -> tuple[Assessment, Reason]:
        found = assess(self.position, self.effort, desk.stop)
        return found, reason_to_play(self.position, found.line[0], found, self.effort)
