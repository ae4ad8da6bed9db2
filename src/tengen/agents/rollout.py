"""The playout searches `uct` and `hmcts` as players (docs/how/rollouts.md)."""

from __future__ import annotations

import math
import random
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Literal

from tengen.agents.fudan_root import forced_point, neighbours
from tengen.agents.registry import AgentKind, parameter
from tengen.agents.searching import least, seed_at
from tengen.core.contracts import Agent, Decision, Limits, Report, Ruleset, Search
from tengen.core.geometry import Point
from tengen.core.position import Position
from tengen.core.stop_signal import StopSignal
from tengen.errors import InputError
from tengen.search.limits import MAX_THREADS
from tengen.search.rollout import Hmcts, HmctsConfig, PlayoutPolicy, RolloutSearch, Uct, UctConfig

UctPreset = Literal["best", "ucb1", "fudan", "fudan-authors"]
HmctsPreset = Literal["best", "fudan", "fudan-authors"]

_POLICY_HELP = "playout policy: heuristic (complete and block fours, then threes) or random"
_RADIUS_HELP = "maximum distance from a move to the nearest stone, in rows and columns; 0 for no limit"
_SECONDS_HELP = "maximum thinking time per move, in addition to the per-move limits"
_THREADS_HELP = "number of search threads; 0 for the number in the per-move limits"
_SEED_HELP = "random seed; it is combined with the seed of each game"

# Tree nodes count visits in 32 bits.
_MAX_PLAYOUTS = 1_000_000_000
_MAX_SECONDS = 1_000_000
# Memory that the process uses apart from the tree: interpreter, numpy, stacks.
_MEMORY_WITHOUT_TREE = 100 << 20


@dataclass(frozen=True)
class UctParameters:
    """Parameters of `uct`; the preset determines the defaults."""

    preset: UctPreset = parameter(
        "best",
        help="best (c tuned in matches), ucb1 (c = √2), fudan (the paper's UCT-10) or fudan-authors (the authors'"
        " program: four rules, otherwise a random point next to a stone)",
    )
    playouts: int | None = parameter(None, help="playouts per move (default: set by the per-move limits)")
    seconds: float | None = parameter(None, help=_SECONDS_HELP)
    c: float | None = parameter(None, help="UCB1 exploration constant, for results between 0 and 1")
    policy: PlayoutPolicy | None = parameter(None, help=_POLICY_HELP)
    radius: int | None = parameter(None, help=_RADIUS_HELP)
    expand_after: int | None = parameter(None, help="visits after which a node is expanded")
    solve: bool | None = parameter(None, help="prove wins and losses in the tree, and answer fours without playouts")
    threads: int = parameter(0, help=_THREADS_HELP)
    memory_mb: int = parameter(256, help="memory limit for the tree in MB")
    seed: int = parameter(0, help=_SEED_HELP)

    def __post_init__(self) -> None:
        _check(self.playouts, self.seconds, self.threads)
        self.config()

    def config(self) -> UctConfig:
        """Return the search configuration given by the preset and the parameters."""
        preset = _UCT_PRESETS[self.preset].config
        return UctConfig(
            exploration=preset.exploration if self.c is None else self.c,
            policy=self.policy or preset.policy,
            radius=preset.radius if self.radius is None else self.radius,
            expand_after=preset.expand_after if self.expand_after is None else self.expand_after,
            solve=preset.solve if self.solve is None else self.solve,
            memory_mb=self.memory_mb,
        )


@dataclass(frozen=True)
class HmctsParameters:
    """Parameters of `hmcts`; the preset determines the defaults."""

    preset: HmctsPreset = parameter(
        "best",
        help="best, fudan (the paper's HMCTS-10, ten playouts per candidate) or fudan-authors (the authors' program:"
        " four rules, otherwise ten random playouts per candidate)",
    )
    playouts: int | None = parameter(None, help="playouts per candidate (default: set by the per-move limits)")
    seconds: float | None = parameter(None, help=_SECONDS_HELP)
    policy: PlayoutPolicy | None = parameter(None, help=_POLICY_HELP)
    radius: int | None = parameter(None, help=_RADIUS_HELP)
    threads: int = parameter(0, help=_THREADS_HELP)
    seed: int = parameter(0, help=_SEED_HELP)

    def __post_init__(self) -> None:
        _check(self.playouts, self.seconds, self.threads)
        self.config()

    def config(self) -> HmctsConfig:
        """Return the search configuration given by the preset and the parameters."""
        preset = _HMCTS_PRESETS[self.preset]
        return HmctsConfig(
            playouts_a_candidate=preset.playouts_a_candidate if self.playouts is None else self.playouts,
            policy=self.policy or preset.policy,
            radius=preset.radius if self.radius is None else self.radius,
        )


@dataclass(frozen=True)
class _UctSetting:
    config: UctConfig
    playouts: int | None = None


_UCT_PRESETS: dict[UctPreset, _UctSetting] = {
    # The usual constant √2 would spread a few thousand playouts almost evenly over the moves. The match results are in
    # docs/how/rollouts.md.
    "best": _UctSetting(UctConfig(exploration=0.3)),
    "ucb1": _UctSetting(UctConfig()),
    # Algorithm 2 with T = 10: one new node per playout, only neighbours of stones, no proofs.
    "fudan": _UctSetting(UctConfig(expand_after=1, solve=False), playouts=10),
    "fudan-authors": _UctSetting(UctConfig(expand_after=1, solve=False, policy=PlayoutPolicy.RANDOM), playouts=10),
}
_HMCTS_PRESETS: dict[HmctsPreset, HmctsConfig] = {
    "best": HmctsConfig(),
    # Algorithm 1 with T = 10.
    "fudan": HmctsConfig(playouts_a_candidate=10),
    # The authors' program runs playouts only if no rule applies at the root. Its playout heuristic reads tables that
    # are not updated after the root, so no rule applies during the playouts either, and they are random.
    "fudan-authors": HmctsConfig(playouts_a_candidate=10, policy=PlayoutPolicy.RANDOM),
}


def _check(playouts: int | None, seconds: float | None, threads: int) -> None:
    if playouts is not None and not 1 <= playouts <= _MAX_PLAYOUTS:
        raise InputError(f"playouts={playouts} is outside the range 1–{_MAX_PLAYOUTS}")
    if seconds is not None and not (math.isfinite(seconds) and seconds > 0):
        raise InputError(f"seconds must be finite and above 0, not {seconds}")
    if seconds is not None and seconds > _MAX_SECONDS:
        raise InputError(f"seconds={seconds} is above the maximum of {_MAX_SECONDS}")
    if not 0 <= threads <= MAX_THREADS:
        raise InputError(f"threads={threads} is outside the range 0–{MAX_THREADS}")


class RolloutAgent(Agent, ABC):
    """Common base class of both players. The move depends on the seeds and the position, not on earlier searches."""

    def __init__(self, *, playouts: int | None, seconds: float | None, threads: int, seed: int) -> None:
        self._playouts = playouts
        self._time_ms = None if seconds is None else max(1, round(1000 * seconds))
        self._threads = threads
        self._seed = seed
        self._game_seed = 0
        self._excluded: frozenset[Point] = frozenset()

    @property
    @abstractmethod
    def _search(self) -> RolloutSearch: ...

    def new_game(self, ruleset: Ruleset, seed: int = 0) -> None:
        self._game_seed = seed

    def configure(self, *, memory_bytes: int | None = None, threads: int | None = None) -> None:
        if threads:
            self._threads = threads

    def exclude(self, points: frozenset[Point]) -> None:
        """Exclude `points` from all later moves, unless there is no other move. Replaces earlier exclusions."""
        self._excluded = points

    def start(self, position: Position, limits: Limits, lines: int = 1) -> Search:
        rollouts, own, excluded = self._search, self._own_limits(limits), self._excluded
        seed = seed_at(position, self._seed, self._game_seed)
        fixed = None if position.is_over else self._choose_without_search(position, seed)
        if fixed is not None and fixed not in excluded:
            return Search(lambda stop, report: Decision(move=fixed))

        def run(stop: StopSignal, report: Report) -> Decision:
            analysis = rollouts.search(
                position, own, seed=seed, lines=lines, excluded=excluded, stop=stop, on_analysis=report
            )
            report(analysis)
            return analysis.decide()

        return Search(run)

    def _choose_without_search(self, position: Position, seed: int) -> Point | None:
        """Return a move chosen without search; None if a search is needed."""
        return None

    def _own_limits(self, limits: Limits) -> Limits:
        """Return the per-move limits, tightened by the agent's own parameters."""
        return replace(
            limits,
            simulations=least(limits.simulations, self._playouts),
            time_ms=least(limits.time_ms, self._time_ms),
            threads=self._threads or limits.threads,
        )


class UctAgent(RolloutAgent):
    """Plays the most visited move in a UCT search."""

    def __init__(self, parameters: UctParameters) -> None:
        playouts = parameters.playouts or _UCT_PRESETS[parameters.preset].playouts
        super().__init__(
            playouts=playouts, seconds=parameters.seconds, threads=parameters.threads, seed=parameters.seed
        )
        self._config = parameters.config()
        self._is_authors = parameters.preset == "fudan-authors"
        self._uct = Uct(self._config)

    @property
    def _search(self) -> RolloutSearch:
        return self._uct

    def _choose_without_search(self, position: Position, seed: int) -> Point | None:
        if not self._is_authors:
            return None
        # The authors' program runs ten playouts as well, but does not use their results.
        return forced_point(position) or random.Random(seed).choice(neighbours(position))

    def configure(self, *, memory_bytes: int | None = None, threads: int | None = None) -> None:
        super().configure(threads=threads)
        if memory_bytes:
            megabytes = max(1, (memory_bytes - _MEMORY_WITHOUT_TREE) >> 20)
            self._uct = Uct(replace(self._config, memory_mb=min(self._config.memory_mb, megabytes)))


class HmctsAgent(RolloutAgent):
    """Plays the move with the best mean result in its playouts."""

    def __init__(self, parameters: HmctsParameters) -> None:
        super().__init__(playouts=None, seconds=parameters.seconds, threads=parameters.threads, seed=parameters.seed)
        self._is_authors = parameters.preset == "fudan-authors"
        self._hmcts = Hmcts(parameters.config())

    def _choose_without_search(self, position: Position, seed: int) -> Point | None:
        return forced_point(position) if self._is_authors else None

    @property
    def _search(self) -> RolloutSearch:
        return self._hmcts


KINDS = (
    AgentKind(
        name="uct",
        summary="Monte Carlo tree search with UCB1 and heuristic or random playouts.",
        parameters=UctParameters,
        make=UctAgent,
    ),
    AgentKind(
        name="hmcts",
        summary="Runs the same number of playouts for every move near a stone and plays the move with the best mean.",
        parameters=HmctsParameters,
        make=HmctsAgent,
    ),
)
