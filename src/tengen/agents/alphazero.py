"""Players with a network: `alphazero` searches with it, `policy` plays what it likes best (docs/mcts.md)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np

from tengen.agents.registry import AgentKind, parameter
from tengen.agents.streaming import Report, stream_analysis
from tengen.core.contracts import Agent, Analysis, AnalysisLine, Decision, Evaluator, Limits, Ruleset
from tengen.core.geometry import Point
from tengen.core.planes import encode
from tengen.core.position import Position
from tengen.core.symmetry import permutation, symmetries, transform_array
from tengen.errors import InputError, RulesetError
from tengen.nets.models import Backend, ModelInfo, Precision, find_model, load_model, model_names
from tengen.search.puct import PRESETS, WORD, PuctConfig, Symmetry, UniformEvaluator
from tengen.search.puct_search import PuctSearch

Preset = Literal["best", "zero9", "alphagomoku8"]

UNIFORM = "uniform"
"""The name of the network that knows nothing, which plays every ruleset: the search alone."""

_MODEL_HELP = "a shipped model, a folder with model.onnx, or an .onnx file; uniform for none; by the board if not given"
_RUN_HELP = "folder of a training run; its newest network is taken at the start of each game"
_SEED_HELP = "another series of random choices; it is mixed with the seed of each game"

# What the process needs beside the tree: interpreter, numpy, onnxruntime, stacks.
_MEMORY_BESIDE_TREE = 200 << 20
# Temperatures below this play the best move.
_COLDEST = 0.01


@dataclass(frozen=True)
class AlphaZeroParameters:
    """What `alphazero` may be told; what is not given comes from the preset."""

    model: str | None = parameter(None, help=_MODEL_HELP)
    run: str | None = parameter(None, help=_RUN_HELP)
    simulations: int | None = parameter(None, help="simulations a move; without them the limits of each move decide")
    seconds: float | None = parameter(None, help="thinking time a move; the limits of each move count as well")
    preset: Preset = parameter("best", help="best, or a paper's search: zero9, alphagomoku8")
    c: float | None = parameter(None, help="exploration constant of PUCT")
    temperature: float = parameter(0.0, help="moves are drawn from visits to the power of 1/this; 0 plays the best")
    gumbel: bool = parameter(False, help="choose root moves by sequential halving, without noise")
    vcf: int | None = parameter(None, help="nodes of the search for continuous fours at each leaf; 0 for none")
    symmetry: Symmetry | None = parameter(None, help="how the network sees positions: none, random or average")
    batch: int = parameter(16, help="leaves handed to the network at once")
    reuse: bool = parameter(True, help="keep the tree from move to move")
    precision: Precision = parameter(Precision.FP32, help="numbers the network computes with: fp32 or int8")
    backend: Backend = parameter(Backend.ONNXRUNTIME, help="what computes the network: onnxruntime or torch")
    threads: int = parameter(0, help="search threads; 0 leaves it to the limits of each move")
    memory_mb: int = parameter(512, help="bound of the tree in MB")
    seed: int = parameter(0, help=_SEED_HELP)

    def __post_init__(self) -> None:
        _check_source(self.model, self.run)
        if self.simulations is not None and self.simulations < 1:
            raise InputError(f"simulations {self.simulations} is below 1")
        if self.seconds is not None and not (math.isfinite(self.seconds) and self.seconds > 0):
            raise InputError(f"seconds {self.seconds} is not a number above 0")
        if self.threads < 0:
            raise InputError(f"threads {self.threads} is negative")
        if not 1 <= self.memory_mb <= 1 << 17:
            raise InputError(f"memory_mb {self.memory_mb} is outside 1–{1 << 17}")
        _check_temperature(self.temperature)
        self.config()

    def config(self) -> PuctConfig:
        """The search that preset and parameters describe, without the noise of training."""
        preset = PRESETS[self.preset]
        vcf = preset.vcf_nodes_leaf if self.vcf is None else self.vcf
        if vcf and not preset.tactics:
            raise InputError(f"preset {self.preset} has no tactics, and so no vcf={vcf}")
        return replace(
            preset,
            simulations=self.simulations or preset.simulations,
            c_puct=preset.c_puct if self.c is None else self.c,
            vcf_nodes_leaf=vcf,
            symmetry=self.symmetry or preset.symmetry,
            leaves=self.batch,
            noise=PuctConfig.noise,
            gumbel=self.gumbel,
            gumbel_scale=0.0,
            reuse_tree=self.reuse and not self.gumbel,
        )


@dataclass(frozen=True)
class PolicyParameters:
    """What `policy` may be told."""

    model: str | None = parameter(None, help=_MODEL_HELP)
    run: str | None = parameter(None, help=_RUN_HELP)
    temperature: float = parameter(0.0, help="moves are drawn from the policy to the power of 1/this; 0 plays the best")
    average: bool = parameter(False, help="average over all symmetries of the board")
    precision: Precision = parameter(Precision.FP32, help="numbers the network computes with: fp32 or int8")
    backend: Backend = parameter(Backend.ONNXRUNTIME, help="what computes the network: onnxruntime or torch")
    seed: int = parameter(0, help=_SEED_HELP)

    def __post_init__(self) -> None:
        _check_source(self.model, self.run)
        _check_temperature(self.temperature)


def _check_source(model: str | None, run: str | None) -> None:
    if model is not None and run is not None:
        raise InputError(f"model={model} and run={run} name two networks")


def _check_temperature(temperature: float) -> None:
    if not (math.isfinite(temperature) and 0 <= temperature <= 100):
        raise InputError(f"temperature {temperature} is outside 0–100")


class _Network:
    """The network an agent was told of, loaded when it is first needed.

    One that is not named is found by the board; one of a run is loaded anew when its file has changed.
    """

    def __init__(self, parameters: AlphaZeroParameters | PolicyParameters) -> None:
        self._source = parameters.model or parameters.run
        self._follows_run = parameters.run is not None
        self._precision = parameters.precision
        self._backend = parameters.backend
        self._loaded: tuple[str, Evaluator, ModelInfo | None] | None = None
        self._changed_at = 0
        # A network that cannot be had is reported when the player is made.
        if self._source is not None and self._source != UNIFORM:
            self._load(self._source)

    def supports(self, ruleset: Ruleset) -> bool:
        """Whether `evaluator` would have an answer."""
        try:
            self.evaluator(ruleset)
        except RulesetError:
            return False
        return True

    def evaluator(self, ruleset: Ruleset) -> Evaluator:
        """The network for a ruleset; `RulesetError` when it plays others."""
        source = self._source or _model_for(ruleset)
        if self._loaded is None or self._loaded[0] != source:
            self._load(source)
        assert self._loaded is not None
        _, evaluator, info = self._loaded
        if info is not None:
            info.check_supports(ruleset)
        return evaluator

    def refresh(self) -> None:
        """Load the network of a run again when training has written a newer one."""
        if self._follows_run and self._source is not None and self._file_time() != self._changed_at:
            self._load(self._source)

    def _load(self, source: str) -> None:
        if source == UNIFORM:
            self._loaded = (source, UniformEvaluator(), None)
            return
        if self._follows_run:
            self._changed_at = self._file_time()
        evaluator, info = load_model(source, precision=self._precision, backend=self._backend)
        self._loaded = (source, evaluator, info)

    def _file_time(self) -> int:
        file: Path = find_model(self._source or "", self._precision)
        return file.stat().st_mtime_ns


def _model_for(ruleset: Ruleset) -> str:
    """The shipped model named after a board: `9x9`, or `6x6x4` where the win length is not five."""
    tail = "" if ruleset.win_length == 5 else f"x{ruleset.win_length}"
    name = f"{ruleset.width}x{ruleset.height}{tail}"
    if name in model_names():
        return name
    raise RulesetError(f"no network is shipped for {ruleset} (shipped: {', '.join(model_names()) or 'none'})")


class _NetworkAgent(Agent):
    """What both players share: a network and seeds."""

    def __init__(self, parameters: AlphaZeroParameters | PolicyParameters) -> None:
        self._network = _Network(parameters)
        self._temperature = parameters.temperature
        self._seed = parameters.seed
        self._game_seed = 0

    def supports(self, ruleset: Ruleset) -> bool:
        return self._network.supports(ruleset)

    def new_game(self, ruleset: Ruleset, seed: int = 0) -> None:
        self._game_seed = seed
        self._network.refresh()

    def _seed_at(self, position: Position) -> int:
        # Odd factors keep agent and game seeds apart.
        return (self._seed * 0x9E3779B97F4A7C15 + self._game_seed * 0xD1342543DE82EF95 + position.hash) & WORD


class AlphaZeroAgent(_NetworkAgent):
    """Plays the most visited move of a PUCT search, which keeps its tree from move to move."""

    def __init__(self, parameters: AlphaZeroParameters) -> None:
        super().__init__(parameters)
        self._config = parameters.config()
        self._simulations = parameters.simulations
        self._time_ms = None if parameters.seconds is None else max(1, round(1000 * parameters.seconds))
        self._threads = parameters.threads
        self._memory_mb = parameters.memory_mb
        self._excluded: frozenset[Point] = frozenset()
        self._search: PuctSearch | None = None
        self._evaluator: Evaluator | None = None

    def new_game(self, ruleset: Ruleset, seed: int = 0) -> None:
        super().new_game(ruleset, seed)
        if self._search is not None:
            self._search.clear()

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
        search = self._prepared(position.ruleset)
        return self._run(search, position, limits, 1, None).decide()

    def analyse(self, position: Position, limits: Limits, lines: int = 1) -> Iterator[Analysis]:
        search = self._prepared(position.ruleset)
        return stream_analysis(lambda report: self._run(search, position, limits, lines, report), search.stop)

    def stop(self) -> None:
        if self._search is not None:
            self._search.stop()

    def _prepared(self, ruleset: Ruleset) -> PuctSearch:
        evaluator = self._network.evaluator(ruleset)
        search = self._search
        if search is None or search.ruleset != ruleset or evaluator is not self._evaluator:
            search = PuctSearch(ruleset, evaluator, self._config, memory_mb=self._memory_mb)
            self._search, self._evaluator = search, evaluator
        search.clear_stop()
        return search

    def _run(
        self, search: PuctSearch, position: Position, limits: Limits, lines: int, report: Report | None
    ) -> Analysis:
        own = replace(
            limits,
            simulations=_least(limits.simulations, self._simulations),
            time_ms=_least(limits.time_ms, self._time_ms),
            threads=self._threads or limits.threads,
        )
        return search.search(
            position,
            own,
            seed=self._seed_at(position),
            lines=lines,
            excluded=self._excluded,
            temperature=self._temperature if self._temperature >= _COLDEST else 0.0,
            on_analysis=report,
        )


class PolicyAgent(_NetworkAgent):
    """Plays from the network's policy alone, without looking ahead."""

    def __init__(self, parameters: PolicyParameters) -> None:
        super().__init__(parameters)
        self._average = parameters.average

    def choose(self, position: Position, limits: Limits) -> Decision:
        policy, value = self._evaluate(position)
        width = position.ruleset.width
        if self._temperature >= _COLDEST:
            heated = (policy / policy.max()) ** (1 / self._temperature)
            rng = np.random.default_rng(self._seed_at(position))
            index = int(rng.choice(len(policy), p=heated / heated.sum()))
        else:
            index = int(policy.argmax())
        move = Point.from_index(index, width)
        shares = {Point.from_index(int(i), width): float(policy[i]) for i in np.flatnonzero(policy)}
        return Decision(move=move, value_to_move=value, line=(move,), nodes=1, policy=shares)

    def analyse(self, position: Position, limits: Limits, lines: int = 1) -> Iterator[Analysis]:
        """One snapshot: the likeliest moves, all with the value of the position itself."""
        decision = self.choose(position, limits)
        assert decision.policy is not None
        assert decision.value_to_move is not None
        best = sorted(decision.policy.items(), key=lambda entry: -entry[1])[: max(1, lines)]
        shown = tuple(
            AnalysisLine(move=move, value_to_move=decision.value_to_move, line=(move,), prior=share)
            for move, share in best
        )
        yield Analysis(lines=shown, nodes=1, policy=decision.policy)

    def _evaluate(self, position: Position) -> tuple[np.ndarray[tuple[int], np.dtype[np.float64]], float]:
        """Policy [area] over legal points, and the value for the side to move."""
        if position.is_over:
            raise InputError(f"the game is over, there is nothing to play\n{position}")
        ruleset = position.ruleset
        evaluator = self._network.evaluator(ruleset)
        planes = encode(position, evaluator.plane_layout)
        seen = symmetries(ruleset) if self._average else range(1)
        batch = np.stack([np.ascontiguousarray(transform_array(planes, symmetry)) for symmetry in seen])
        log_policy, values = evaluator.evaluate(batch)
        policy = np.zeros(ruleset.area)
        for symmetry, row in zip(seen, log_policy, strict=True):
            policy += np.exp(row[permutation(symmetry, ruleset)].astype(np.float64))
        policy[~position.legal_mask()] = 0
        if not policy.sum() > 0:
            policy = position.legal_mask().astype(np.float64)
        return policy / policy.sum(), float(values.mean())


def _least(a: int | None, b: int | None) -> int | None:
    return min((bound for bound in (a, b) if bound is not None), default=None)


KINDS = (
    AgentKind(
        name="alphazero",
        summary="PUCT search guided by a network, with exact tactics; plays from a shipped model or a training run.",
        parameters=AlphaZeroParameters,
        make=AlphaZeroAgent,
    ),
    AgentKind(
        name="policy",
        summary="The move a network likes best, without search.",
        parameters=PolicyParameters,
        make=PolicyAgent,
    ),
)
