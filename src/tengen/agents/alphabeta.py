"""The player `alphabeta`: the alpha-beta engine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tengen.agents.registry import AgentKind, parameter
from tengen.core.contracts import Agent, Decision, Limits, Report, Ruleset, Search
from tengen.core.geometry import Point
from tengen.core.position import Position
from tengen.core.stop_signal import StopSignal
from tengen.errors import InputError
from tengen.search.alphabeta import (
    ALL_INGREDIENTS,
    DEFAULT_TABLE_MB,
    AlphaBeta,
    AlphaBetaConfig,
    Ingredient,
    parse_ingredients,
)
from tengen.search.limits import MAX_THREADS

# Memory that the process uses apart from the table: interpreter, numpy, pattern tables, stacks. On Linux with one
# thread, we measured about 60 MB under every rule.
_MEMORY_WITHOUT_TABLE = 80 << 20
_MEMORY_PER_THREAD = 4 << 20
_MOST_TABLE_MB = 1 << 20
_BOUNDS = (
    ("depth", 0, 1000),
    ("nodes", 0, 10**18),
    ("threads", 0, MAX_THREADS),
    ("hash_mb", 1, _MOST_TABLE_MB),
)


@dataclass(frozen=True)
class AlphaBetaParameters:
    """Parameters of `alphabeta`."""

    preset: str = parameter(
        "best", help="best, fudan (depth 7, fours searched to depth 16) or stanford15 (3 plies, no threat search)"
    )
    depth: int = parameter(0, help="maximum depth in plies; 0 for no fixed maximum (only the per-move limits apply)")
    nodes: int = parameter(0, help="maximum nodes per move; 0 for no fixed maximum (only the per-move limits apply)")
    hash_mb: int = parameter(DEFAULT_TABLE_MB, help="size of the transposition table in MB")
    threads: int = parameter(0, help="number of search threads; 0 for the number in the per-move limits")
    without: str = parameter("", help="search ingredients to disable, joined by + (for example singular+history)")
    weights: str = parameter("", help="weights file (default: the shipped weights)")

    def __post_init__(self) -> None:
        if self.preset not in _PRESETS:
            raise ValueError(f"unknown preset {self.preset!r} (known: {', '.join(_PRESETS)})")
        for name, low, high in _BOUNDS:
            value = getattr(self, name)
            if not low <= value <= high:
                raise InputError(f"{name.replace('_', '-')}={value} is outside the range {low}–{high}")
        parse_ingredients(self.without)


@dataclass(frozen=True)
class _Preset:
    depth: int = 0
    ingredients: int = ALL_INGREDIENTS
    max_four_depth: int = 0


_PLAIN = Ingredient.TABLE | Ingredient.HISTORY | Ingredient.COUNTER_MOVE
_PRESETS = {
    "best": _Preset(),
    # Fixed depth with the paper's methods: incremental shape scores, a hash table, checkmate search for both sides.
    "fudan": _Preset(
        depth=7,
        ingredients=_PLAIN | Ingredient.DEFENCE_SETS | Ingredient.LEAF_FOURS | Ingredient.ROOT_FOURS,
        max_four_depth=8,
    ),
    # The paper's amateur-level opponent: three plies with the static evaluation.
    "stanford15": _Preset(depth=3, ingredients=_PLAIN),
}


class AlphaBetaAgent(Agent):
    """Plays the best move found by an alpha-beta search."""

    def __init__(self, parameters: AlphaBetaParameters) -> None:
        preset = _PRESETS[parameters.preset]
        self._parameters = parameters
        self._depth = parameters.depth or preset.depth
        self._engine = AlphaBeta(
            AlphaBetaConfig(
                table_mb=parameters.hash_mb,
                ingredients=preset.ingredients & ~parse_ingredients(parameters.without),
                max_four_depth=preset.max_four_depth,
                weights=Path(parameters.weights) if parameters.weights else None,
            )
        )
        self._most_table_mb = _MOST_TABLE_MB
        self._excluded: frozenset[Point] = frozenset()

    def supports(self, ruleset: Ruleset) -> bool:
        return AlphaBeta.supports(ruleset)

    def configure(self, *, memory_bytes: int | None = None, threads: int | None = None) -> None:
        if threads:
            self._parameters = replace(self._parameters, threads=threads)
        if memory_bytes:
            more_threads = max(self._parameters.threads, 1) - 1
            left = memory_bytes - _MEMORY_WITHOUT_TABLE - _MEMORY_PER_THREAD * more_threads
            self._most_table_mb = max(1, left >> 20)
            self._engine.set_table_mb(min(self._parameters.hash_mb, self._most_table_mb))

    def warm_up(self, rulesets: Sequence[Ruleset]) -> None:
        """Load the weights and the tables now, so that the first search does not have to."""
        self._engine.warm_up(rulesets)

    def resize_table(self, table_bytes: int) -> None:
        """Resize the table, within the memory limit. Overrides the parameter `hash-mb`."""
        self._engine.set_table_mb(min(max(1, table_bytes >> 20), self._most_table_mb))

    def exclude(self, points: frozenset[Point]) -> None:
        """Exclude `points` from all later moves, unless there is no other move. Replaces earlier exclusions."""
        self._excluded = points

    def table_usage(self) -> float:
        """Return the fraction of the table in use, from 0 to 1."""
        return self._engine.table_usage

    def new_game(self, ruleset: Ruleset, seed: int = 0) -> None:
        self._engine.new_game(ruleset)

    def start(self, position: Position, limits: Limits, lines: int = 1) -> Search:
        own, excluded = self._own_limits(limits), self._excluded_from(position)

        def run(stop: StopSignal, report: Report) -> Decision:
            analysis = self._engine.search(position, own, lines=lines, excluded=excluded, stop=stop, on_analysis=report)
            return analysis.decide()

        return Search(run)

    def _excluded_from(self, position: Position) -> frozenset[Point]:
        """Return the excluded points on this board; empty if excluding them would leave no move."""
        excluded = frozenset(point for point in self._excluded if position.ruleset.contains(point))
        return excluded if excluded and not excluded.issuperset(position.legal_points()) else frozenset()

    def _own_limits(self, limits: Limits) -> Limits:
        """Return the per-move limits, tightened by the agent's own parameters."""
        return replace(
            limits,
            depth=min(filter(None, (limits.depth, self._depth)), default=None),
            nodes=min(filter(None, (limits.nodes, self._parameters.nodes)), default=None),
            threads=self._parameters.threads or limits.threads,
        )


KINDS = (
    AgentKind(
        name="alphabeta",
        summary="Alpha-beta search with incremental threat patterns and a search for continuous fours at the leaves.",
        parameters=AlphaBetaParameters,
        make=AlphaBetaAgent,
    ),
)
