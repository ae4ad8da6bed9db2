"""The player `alphazero`: a tree search that asks a network (docs/mcts.md)."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from tengen.agents.networks import (
    COLDEST,
    MODEL_HELP,
    RUN_HELP,
    SEED_HELP,
    NetworkAgent,
    check_source,
    check_temperature,
)
from tengen.agents.registry import AgentKind, parameter
from tengen.agents.searching import least, seed_at
from tengen.agents.streaming import Report, stream_analysis
from tengen.core.contracts import Analysis, Decision, Evaluator, Limits, Ruleset
from tengen.core.geometry import Point
from tengen.core.position import Position
from tengen.errors import InputError
from tengen.nets.models import Backend, Precision
from tengen.search.alphabeta import AlphaBeta, AlphaBetaConfig
from tengen.search.limits import MAX_THREADS, RESERVE_MS, move_time_ms
from tengen.search.puct import PRESETS, PuctConfig, Symmetry
from tengen.search.puct_search import PuctSearch

Preset = Literal["best", "zero9", "alphagomoku8"]

# What the process needs beside the tree: interpreter, numpy, onnxruntime, stacks.
_MEMORY_BESIDE_TREE = 200 << 20

_RESISTANCE_NODES = 20_000
_MOST_RESISTANCE_NODES = 10**18
_RESISTANCE_TABLE_MB = 16
# Of a time limit, this part is kept for it.
_RESISTANCE_SHARE = 20
# Below this value the search takes the game for lost.
_LOST = -0.5


@dataclass(frozen=True)
class AlphaZeroParameters:
    """What `alphazero` may be told; what is not given comes from the preset."""

    model: str | None = parameter(None, help=MODEL_HELP)
    run: str | None = parameter(None, help=RUN_HELP)
    simulations: int | None = parameter(None, help="simulations a move; without them the limits of each move decide")
    seconds: float | None = parameter(None, help="thinking time a move; the limits of each move count as well")
    preset: Preset = parameter("best", help="best, or a paper's search: zero9, alphagomoku8")
    c: float | None = parameter(None, help="exploration constant of PUCT")
    temperature: float = parameter(0.0, help="moves are drawn from visits to the power of 1/this; 0 plays the best")
    gumbel: bool = parameter(False, help="choose root moves by sequential halving, without noise")
    vcf: int | None = parameter(None, help="nodes of the search for continuous fours at each leaf; 0 for none")
    vct: int | None = parameter(
        None, help="nodes of the search for continuous threats at positions visited more than a few times; 0 for none"
    )
    discount: float | None = parameter(
        None, help="values shrink by this each ply; if not given as the network learned it, or by a little"
    )
    resist: int | None = parameter(
        None, help="nodes alpha-beta gets to find the longest resistance when the game looks lost; 0 for none"
    )
    symmetry: Symmetry | None = parameter(None, help="how the network sees positions: none, random or average")
    batch: int = parameter(16, help="leaves handed to the network at once")
    reuse: bool = parameter(True, help="keep the tree from move to move")
    precision: Precision = parameter(Precision.FP32, help="numbers the network computes with: fp32 or int8")
    backend: Backend = parameter(Backend.ONNXRUNTIME, help="what computes the network: onnxruntime or torch")
    threads: int = parameter(0, help="search threads; 0 leaves it to the limits of each move")
    memory_mb: int = parameter(512, help="bound of the tree in MB")
    seed: int = parameter(0, help=SEED_HELP)

    def __post_init__(self) -> None:
        check_source(self.model, self.run)
        if self.simulations is not None and self.simulations < 1:
            raise InputError(f"simulations {self.simulations} is below 1")
        if self.seconds is not None and not (math.isfinite(self.seconds) and self.seconds > 0):
            raise InputError(f"seconds {self.seconds} is not a number above 0")
        if not 0 <= self.threads <= MAX_THREADS:
            raise InputError(f"threads {self.threads} is outside 0–{MAX_THREADS}")
        if not 1 <= self.memory_mb <= 1 << 17:
            raise InputError(f"memory_mb {self.memory_mb} is outside 1–{1 << 17}")
        if self.resist is not None and not 0 <= self.resist <= _MOST_RESISTANCE_NODES:
            raise InputError(f"resist {self.resist} is outside 0–{_MOST_RESISTANCE_NODES}")
        check_temperature(self.temperature)
        self.config()

    @property
    def resistance_nodes(self) -> int:
        """Nodes of alpha-beta in games that look lost; unless told, only who plays to win as best it can has any."""
        if self.resist is not None:
            return self.resist
        return _RESISTANCE_NODES if self.preset == "best" and self.temperature < COLDEST else 0

    def config(self) -> PuctConfig:
        """The search that preset and parameters describe, without the noise of training."""
        preset = PRESETS[self.preset]
        vcf = preset.vcf_nodes_leaf if self.vcf is None else self.vcf
        vct = preset.vct_nodes if self.vct is None else self.vct
        for name, nodes in (("vcf", vcf), ("vct", vct)):
            if nodes and not preset.tactics:
                raise InputError(f"preset {self.preset} has no tactics, and so no {name}={nodes}")
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
    """Plays the most visited move of a PUCT search, which keeps its tree from move to move.

    When all is lost, visits tell nothing any more, and a tree proves by the first refutations it finds, not by the
    shortest. Which move resists longest is then asked of alpha-beta.
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
        self._stop_requested = threading.Event()
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
            self._memory_mb = min(self._memory_mb, max(1, (memory_bytes - _MEMORY_BESIDE_TREE) >> 20))
            self._search = None

    def exclude(self, points: frozenset[Point]) -> None:
        """Never choose one of `points` from now on, unless there is no other move; each call replaces the last."""
        self._excluded = points

    def choose(self, position: Position, limits: Limits) -> Decision:
        started = time.perf_counter()
        search = self._prepared(position.ruleset)
        own = self._own_limits(limits)
        time_ms = move_time_ms(own)
        if self._resistance is None or self._excluded:
            return self._run(search, position, own, 1, None).decide()
        if time_ms is not None:
            kept_ms = max(1, time_ms // _RESISTANCE_SHARE)
            own = replace(own, time_ms=max(1, time_ms - kept_ms), clock_ms=None)
        found = self._run(search, position, own, 1, None).decide()
        if found.value_to_move is None or found.value_to_move > _LOST or self._stop_requested.is_set():
            return found
        left_ms = None if time_ms is None else time_ms - math.ceil(1000 * (time.perf_counter() - started))
        if left_ms is not None and left_ms <= RESERVE_MS:
            return found
        nodes = least(limits.nodes, self._resistance_nodes)
        return self._resist(self._resistance, position, found, Limits(nodes=nodes, time_ms=left_ms))

    def analyse(self, position: Position, limits: Limits, lines: int = 1) -> Iterator[Analysis]:
        search, own = self._prepared(position.ruleset), self._own_limits(limits)
        return stream_analysis(lambda report: self._run(search, position, own, lines, report), search.stop)

    def stop(self) -> None:
        self._stop_requested.set()
        if self._search is not None:
            self._search.stop()
        if self._resistance is not None:
            self._resistance.stop()

    @staticmethod
    def _resist(engine: AlphaBeta, position: Position, found: Decision, limits: Limits) -> Decision:
        """What the engine would play; the move that was `found` if neither of the two has a proof."""
        answer = engine.search(position, limits).decide()
        if answer.proof is None and found.proof is None:
            return found
        if answer.proof is not None and answer.proof.result != "loss":
            return answer
        return replace(found, move=answer.move, line=answer.line, proof=answer.proof or found.proof)

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
        # A stop that comes from here on ends both, whichever of them is at work.
        self._stop_requested.clear()
        search.clear_stop()
        if self._resistance is not None:
            self._resistance.clear_stop()
        return search

    def _own_limits(self, limits: Limits) -> Limits:
        """The limits of the move, tightened by the agent's own parameters."""
        return replace(
            limits,
            simulations=least(limits.simulations, self._simulations),
            time_ms=least(limits.time_ms, self._time_ms),
            threads=self._threads or limits.threads,
        )

    def _run(
        self, search: PuctSearch, position: Position, limits: Limits, lines: int, report: Report | None
    ) -> Analysis:
        return search.search(
            position,
            limits,
            seed=seed_at(position, self._seed, self._game_seed),
            lines=lines,
            excluded=self._excluded,
            temperature=self._temperature if self._temperature >= COLDEST else 0.0,
            on_analysis=report,
        )


KINDS = (
    AgentKind(
        name="alphazero",
        summary="PUCT search guided by a network, with exact tactics; plays from a shipped model or a training run.",
        parameters=AlphaZeroParameters,
        make=AlphaZeroAgent,
    ),
)
