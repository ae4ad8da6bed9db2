"""Networks of players: named, found by the board, or those of a training run while it goes on."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Protocol

from tengen.core.contracts import Agent, Evaluator, Ruleset
from tengen.errors import AgentError, InputError, RulesetError
from tengen.nets.models import Backend, ModelInfo, Precision, find_model, load_model, model_names
from tengen.search.puct import UniformEvaluator

UNIFORM = "uniform"
"""The name of the network that knows nothing, which plays every ruleset: the search alone."""

MODEL_HELP = "a shipped model, a folder with model.onnx, or an .onnx file; uniform for none; by the board if not given"
RUN_HELP = "folder of a training run; its newest network is taken at the start of each game"
SEED_HELP = "another series of random choices; it is mixed with the seed of each game"

COLDEST = 0.01
"""Temperatures below this play the best move."""


class NetworkParameters(Protocol):
    """What all of these players may be told."""

    @property
    def model(self) -> str | None: ...
    @property
    def run(self) -> str | None: ...
    @property
    def temperature(self) -> float: ...
    @property
    def precision(self) -> Precision: ...
    @property
    def backend(self) -> Backend: ...
    @property
    def seed(self) -> int: ...


def check_source(model: str | None, run: str | None) -> None:
    """Refuse two networks at once."""
    if model is not None and run is not None:
        raise InputError(f"model={model} and run={run} name two networks")


def check_temperature(temperature: float) -> None:
    """Refuse what is no temperature."""
    if not (math.isfinite(temperature) and 0 <= temperature <= 100):
        raise InputError(f"temperature {temperature} is outside 0–100")


class _Network:
    """The network an agent was told of, loaded when it is first needed.

    One that is not named is found by the board; one of a run is loaded anew when its file has changed.
    """

    def __init__(self, parameters: NetworkParameters, family: str = "") -> None:
        self._family = family
        self._source = parameters.model or parameters.run
        self._follows_run = parameters.run is not None
        self._precision = parameters.precision
        self._backend = parameters.backend
        self._loaded: tuple[str, Evaluator, ModelInfo | None] | None = None
        self._found: dict[Ruleset, str] = {}
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
        source = self._source or self._found.get(ruleset)
        if source is None:
            source = self._found[ruleset] = _model_for(ruleset, self._family)
        if self._loaded is None or self._loaded[0] != source:
            self._load(source)
        assert self._loaded is not None
        _, evaluator, info = self._loaded
        if info is not None:
            info.check_supports(ruleset)
        return evaluator

    @property
    def discount(self) -> float | None:
        """What the network's values have learned, if anything; known once it is loaded."""
        info = self._loaded[2] if self._loaded else None
        return info.discount if info else None

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


def _model_for(ruleset: Ruleset, family: str) -> str:
    """The shipped model named after a board: `9x9`, `6x6x4` where the win length is not five, `ppo-9x9` of a family.

    Where there is none, it is the network of the nearest board that plays boards of any size. Without a family only
    names of boards alone count, which are AlphaZero's.
    """
    prefix = f"{family}-" if family else ""
    names = [name for name in model_names() if re.fullmatch(rf"{prefix}\d+x\d+(x\d+)?", name)]

    def distance(name: str) -> int:
        width, height = name.removeprefix(prefix).split("x")[:2]
        return abs(int(width) * int(height) - ruleset.area)

    tail = "" if ruleset.win_length == 5 else f"x{ruleset.win_length}"
    own = f"{prefix}{ruleset.width}x{ruleset.height}{tail}"
    if own in names:
        return own
    for name in sorted(names, key=distance):  # reading a network takes time, so the others are not read
        if load_model(name)[1].supports(ruleset):
            return name
    kind = f" of {family}" if family else ""
    raise RulesetError(f"no network{kind} is shipped for {ruleset} (shipped: {', '.join(names) or 'none'})")


class NetworkAgent(Agent):
    """What players with a network share: the network and seeds."""

    def __init__(self, parameters: NetworkParameters, family: str = "") -> None:
        """`family` is the beginning of the names among which a network that is not named is looked for."""
        self._network = _Network(parameters, family)
        self._temperature = parameters.temperature
        self._seed = parameters.seed
        self._game_seed = 0

    def supports(self, ruleset: Ruleset) -> bool:
        return self._network.supports(ruleset)

    def check_supports(self, ruleset: Ruleset) -> None:
        try:
            self._network.evaluator(ruleset)
        except RulesetError as error:
            raise AgentError(f"{self.name} does not play {ruleset}: {error}") from None

    def new_game(self, ruleset: Ruleset, seed: int = 0) -> None:
        self._game_seed = seed
        self._network.refresh()
