"""What worker processes can be asked to do. A job is data that travels to a worker and is done there.

Whatever may take long, or reads bytes from strangers, is a job: the server's own process only passes messages on.
"""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any, Protocol

from tengen.agents.opening_choices import choose_actions
from tengen.core.contracts import Agent, Analysis, Colour, Decision, ExcludesMoves, Limits, Ruleset
from tengen.core.geometry import Point
from tengen.core.opening_procedure import OpeningState
from tengen.core.position import Position
from tengen.core.stop_signal import StopSignal
from tengen.patterns.explain import Explanation, explain
from tengen.search.threats import ThreatKind, ThreatResult, solve_threats

SHORT_MS = 2000
"""The limit of what nobody should wait for; an analysis that may take longer can be interrupted."""

WAITED_FOR = 4.0
"""The weight of what a person waits for, against analyses that just go on."""


class Desk(Protocol):
    """What a job finds in its worker."""

    def agent(self, text: str, ruleset: Ruleset, seed: int | None = None) -> Agent:
        """The agent with that text, ready to play; with a seed, in the game of that seed."""
        ...

    def report(self, payload: Any) -> None:
        """Send something before the job is done."""
        ...

    @property
    def stop(self) -> StopSignal:
        """Set when the job has to end early, perhaps before it starts."""
        ...


class Job(ABC):
    """Something to do. Frozen dataclasses, small when pickled."""

    @property
    @abstractmethod
    def limit_ms(self) -> int:
        """How long it may take; much later its worker is taken for hung."""

    @property
    def family(self) -> str:
        """What it has in common with jobs that take about as long."""
        return type(self).__name__

    @property
    def weight(self) -> float:
        """How many times its fair share the owner gets for it."""
        return 1.0

    @property
    def is_preemptible(self) -> bool:
        """Whether it can be interrupted for others and `resumed`."""
        return False

    def resumed(self, used_ms: int) -> Job | None:
        """What is left to do after it was interrupted; None when that is nothing, as of a job that is never resumed."""
        return None

    @abstractmethod
    def run(self, desk: Desk) -> Any:
        """Do it; the result travels back."""


@dataclass(frozen=True, kw_only=True)
class Choose(Job):
    """An agent's move."""

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
    """What an agent does in an opening procedure: stones and options."""

    agent: str
    ruleset: Ruleset
    taken: tuple[str, ...]
    """The actions of the opening so far."""
    limits: Limits
    seed: int

    @property
    def limit_ms(self) -> int:
        assert self.limits.time_ms is not None
        return 3 * self.limits.time_ms

    @property
    def weight(self) -> float:
        return WAITED_FOR

    def run(self, desk: Desk) -> tuple[str, ...]:
        agent = desk.agent(self.agent, self.ruleset, self.seed)
        state = OpeningState.replay(self.ruleset, self.taken)
        rng = random.Random(self.seed * 1000 + len(self.taken))
        return tuple(str(action) for action in choose_actions(agent, state, self.limits, rng, desk.stop))


@dataclass(frozen=True, kw_only=True)
class Think(Job):
    """An analysis: reports every snapshot, and its result is the last one."""

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
        search = agent.start(self.position, self.limits, self.lines)
        with desk.stop.calling(search.stop):
            for last in search:
                desk.report(last)
        return last


@dataclass(frozen=True, kw_only=True)
class SolveThreats(Job):
    """A win by continuous threats, if there is one."""

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
    """The threats of a position in words and as data."""

    position: Position

    @property
    def limit_ms(self) -> int:
        return SHORT_MS

    def run(self, desk: Desk) -> Explanation:
        return explain(self.position)


@dataclass(frozen=True, kw_only=True)
class Supports(Job):
    """Whether an agent can be made and plays under a ruleset."""

    agent: str
    ruleset: Ruleset

    @property
    def limit_ms(self) -> int:
        return SHORT_MS

    def run(self, desk: Desk) -> bool:
        return desk.agent(self.agent, self.ruleset).supports(self.ruleset)
