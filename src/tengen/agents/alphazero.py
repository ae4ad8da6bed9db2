"""The player `alphazero`: a tree search guided by a network (docs/how/mcts.md)."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

from tengen.agents.networks import (
    COLDEST,
    ITERATION_HELP,
    MODEL_HELP,
    RUN_HELP,
    SEED_HELP,
    NetworkAgent,
    check_source,
    check_temperature,
)
from tengen.agents.registry import AgentKind, parameter
from tengen.agents.searching import least, seed_at
from tengen.core.contracts import Decision, Evaluator, Limits, Report, Ruleset, Search
from tengen.core.geometry import Point
from tengen.core.position import Position
from tengen.core.stop_signal import StopSignal
from tengen.errors import InputError
from tengen.nets.models import Backend, Precision
from tengen.search.alphabeta import AlphaBeta, AlphaBetaConfig
from tengen.search.limits import MAX_THREADS, RESERVE_MS, move_time_ms
from tengen.search.puct_config import PRESETS, PuctConfig, Symmetry
from tengen.search.puct_search import PuctSearch

Preset = Literal["best", "zero9", "zero9-i", "zero9-ii", "alphagomoku8"]

# Memory that the process uses apart from the tree: interpreter, numpy, onnxruntime, stacks.
_MEMORY_WITHOUT_TREE = 200 << 20

_RESISTANCE_NODES = 20_000
_MOST_RESISTANCE_NODES = 10**18
_RESISTANCE_TABLE_MB = 16
# One twentieth of the time limit is reserved for finding the most stubborn defence.
_RESISTANCE_SHARE = 20
# At or below this value, the game looks lost.
_LOST = -0.5


@dataclass(frozen=True)
class AlphaZeroParameters:
    """Parameters of `alphazero`; the preset determines the defaults."""

    model: str | None = parameter(None, help=MODEL_HELP)
    run: str | None = parameter(None, help=RUN_HELP)
    iteration: int | None = parameter(None, help=ITERATION_HELP)
    simulations: int | None = parameter(None, help="simulations per move (default: set by the per-move limits)")
    seconds: float | None = parameter(None, help="maximum thinking time per move, in addition to the per-move limits")
    preset: Preset = parameter("best", help="best, or the search from a paper: zero9, zero9-i, zero9-ii, alphagomoku8")
    c: float | None = parameter(None, help="PUCT exploration constant")
    temperature: float = parameter(0.0, help="sampling temperature; 0 plays the most visited move")
    gumbel: bool = parameter(False, help="choose root moves by sequential halving, without noise")
    vcf: int | None = parameter(None, help="node limit for the continuous-four search at each leaf; 0 disables it")
    vct: int | None = parameter(
        None, help="node limit for the continuous-threat search at frequently visited positions; 0 disables it"
    )
    discount: float | None = parameter(
        None, help="value discount per ply (default: the discount used in training, if known, otherwise the preset's)"
    )
    resist: int | None = parameter(
        None, help="node limit for alpha-beta, which finds the longest defence when the game looks lost; 0 disables it"
    )
    symmetry: Symmetry | None = parameter(
        None, help="symmetries applied to the network's input: none, random or average"
    )
    batch: int = parameter(16, help="maximum number of leaves per network batch")
    reuse: bool = parameter(True, help="reuse the search tree between moves")
    precision: Precision = parameter(Precision.FP32, help="network precision: fp32 or int8")
    backend: Backend = parameter(Backend.ONNXRUNTIME, help="inference backend: onnxruntime, openvino or torch")
    threads: int = parameter(0, help="number of search threads; 0 for the number in the per-move limits")
    memory_mb: int = parameter(512, help="memory limit for the tree in MB")
    seed: int = parameter(0, help=SEED_HELP)

    def __post_init__(self) -> None:
        check_source(self.model, self.run, self.iteration)
        if self.simulations is not None and self.simulations < 1:
            raise InputError(f"simulations must be at least 1, not {self.simulations}")
        if self.seconds is not None and not (math.isfinite(self.seconds) and self.seconds > 0):
            raise InputError(f"seconds must be finite and above 0, not {self.seconds}")
        if not 0 <= self.threads <= MAX_THREADS:
            raise InputError(f"threads={self.threads} is outside the range 0–{MAX_THREADS}")
        if not 1 <= self.memory_mb <= 1 << 17:
            raise InputError(f"memory_mb={self.memory_mb} is outside the range 1–{1 << 17}")
        if self.resist is not None and not 0 <= self.resist <= _MOST_RESISTANCE_NODES:
            raise InputError(f"resist={self.resist} is outside the range 0–{_MOST_RESISTANCE_NODES}")
        check_temperature(self.temperature)
        self.config()

    @property
    def resistance_nodes(self) -> int:
        """Alpha-beta node limit when the game looks lost; 0 by default, except for preset `best` without sampling."""
        if self.resist is not None:
            return self.resist
        return _RESISTANCE_NODES if self.preset == "best" and self.temperature < COLDEST else 0

    def config(self) -> PuctConfig:
        """Return the configuration given by the preset and the parameters, without training noise."""
        preset = PRESETS[self.preset]
        vcf = preset.vcf_nodes_leaf if self.vcf is None else self.vcf
        vct = preset.vct_nodes if self.vct is None else self.vct
        for name, nodes in (("vcf", vcf), ("vct", vct)):
            if nodes and not preset.tactics:
                raise InputError(f"{name}={nodes} requires tactics, which preset {self.preset} does not enable")
        return replace(
            preset,
            simulations=self.simulations or preset.simulations,
            c_puct=preset.c_puct if self.c is None else self.c,
            discount=preset.discount if self.discount is None else self.discount,
            vcf_nodes_leaf=vcf,
            vct_nodes=vct,
            symmetry=self.symmetry or preset.symmetry,
            leaves=self.batch,
            noise=PuctConfig.noise,
            gumbel=self.gumbel,
            gumbel_scale=0.0,
            reuse_tree=self.reuse and not self.gumbel,
        )


class AlphaZeroAgent(NetworkAgent):
    """Plays the most visited move in a PUCT search, which keeps its tree from move to move.

    In a lost position, visit counts say little about how long a move delays the loss: the tree proves a loss with the
    first refutation that it finds, which may not be the shortest. An alpha-beta search then looks for the move that
    delays the loss longest.
    """

    def __init__(self, parameters: AlphaZeroParameters) -> None:
        super().__init__(parameters)
        self._config = parameters.config()
        self._keeps_discount = parameters.discount is not None or parameters.preset != "best"
        self._simulations = parameters.simulations
        self._time_ms = None if parameters.seconds is None else max(1, round(1000 * parameters.seconds))
        self._threads = parameters.threads
        self._memory_mb = parameters.memory_mb
        self._resistance_nodes = parameters.resistance_nodes
        self._resistance: AlphaBeta | None = None
        self._excluded: frozenset[Point] = frozenset()
        self._search: PuctSearch | None = None
        self._evaluator: Evaluator | None = None

    def new_game(self, ruleset: Ruleset, seed: int = 0) -> None:
        super().new_game(ruleset, seed)
        if self._search is not None:
            self._search.clear()
        if self._resistance is not None:
            self._resistance.new_game(ruleset)

    def configure(self, *, memory_bytes: int | None = None, threads: int | None = None) -> None:
        if threads:
            self._threads = threads
        if memory_bytes:
            self._memory_mb = min(self._memory_mb, max(1, (memory_bytes - _MEMORY_WITHOUT_TREE) >> 20))
            self._search = None

    def exclude(self, points: frozenset[Point]) -> None:
        """Exclude `points` from all later moves, unless there is no other move. Replaces earlier exclusions."""
        self._excluded = points

    def start(self, position: Position, limits: Limits, lines: int = 1) -> Search:
        return Search(partial(self._decide, position, limits, lines, self._excluded))

    def _decide(
        self,
        position: Position,
        limits: Limits,
        lines: int,
        excluded: frozenset[Point],
        stop: StopSignal,
        report: Report,
    ) -> Decision:
        started = time.perf_counter()
        search = self._prepared(position.ruleset)
        resistance = None if excluded else self._resistance
        own = self._own_limits(limits)
        time_ms = move_time_ms(own)
        if resistance is not None and time_ms is not None:
            reserved_ms = max(1, time_ms // _RESISTANCE_SHARE)
            own = replace(own, time_ms=max(1, time_ms - reserved_ms), clock_ms=None)
        analysis = search.search(
            position,
            own,
            seed=seed_at(position, self._seed, self._game_seed),
            lines=lines,
            excluded=excluded,
            temperature=self._temperature if self._temperature >= COLDEST else 0.0,
            stop=stop,
            on_analysis=report,
        )
        report(analysis)
        found = analysis.decide()
        if resistance is None or found.value_to_move is None or found.value_to_move > _LOST or stop.is_set():
            return found
        left_ms = None if time_ms is None else time_ms - math.ceil(1000 * (time.perf_counter() - started))
        if left_ms is not None and left_ms <= RESERVE_MS:
            return found
        nodes = least(limits.nodes, self._resistance_nodes)
        return _resist(resistance, position, found, Limits(nodes=nodes, time_ms=left_ms), stop)

    def _prepared(self, ruleset: Ruleset) -> PuctSearch:
        evaluator = self._network.evaluator(ruleset)
        search = self._search
        if search is None or search.ruleset != ruleset or evaluator is not self._evaluator:
            learned = None if self._keeps_discount else self._network.discount
            config = self._config if learned is None else replace(self._config, discount=learned)
            search = PuctSearch(ruleset, evaluator, config, memory_mb=self._memory_mb)
            self._search, self._evaluator = search, evaluator
            self._resistance = None
            if self._resistance_nodes and AlphaBeta.supports(ruleset):
                self._resistance = AlphaBeta(AlphaBetaConfig(table_mb=_RESISTANCE_TABLE_MB))
                self._resistance.new_game(ruleset)
        return search

    def _own_limits(self, limits: Limits) -> Limits:
        """Return the per-move limits, tightened by the agent's own parameters."""
        return replace(
            limits,
            simulations=least(limits.simulations, self._simulations),
            time_ms=least(limits.time_ms, self._time_ms),
            threads=self._threads or limits.threads,
        )


def _resist(engine: AlphaBeta, position: Position, found: Decision, limits: Limits, stop: StopSignal) -> Decision:
    """Return the engine's move if the engine or the tree has a proof; otherwise, the move `found` by the tree."""
    answer = engine.search(position, limits, stop=stop).decide()
    if answer.proof is None and found.proof is None:
        return found
    if answer.proof is not None and answer.proof.result != "loss":
        return answer
    return replace(found, move=answer.move, line=answer.line, proof=answer.proof or found.proof)


KINDS = (
    AgentKind(
        name="alphazero",
        summary="PUCT search guided by a network, with exact tactics; uses a shipped model or a training run.",
        parameters=AlphaZeroParameters,
        make=AlphaZeroAgent,
    ),
)
