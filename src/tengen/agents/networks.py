"""Networks for players: set by name, chosen by board size, or taken from a training run (default: the newest)."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Protocol

from tengen.core.contracts import Agent, Evaluator, Rule, Ruleset
from tengen.errors import AgentError, InputError, RulesetError
from tengen.nets.models import Backend, ModelInfo, Precision, find_milestone, find_model, load_model, model_names
from tengen.search.evaluation import UniformEvaluator

UNIFORM = "uniform"
"""Name of the uniform network (`UniformEvaluator`), which supports every ruleset."""

MODEL_HELP = "a shipped model, a folder with model.onnx, an .onnx file, or uniform (default: chosen by board size)"
RUN_HELP = "folder of a training run; its newest network is loaded at the start of each game"
ITERATION_HELP = "iteration of the run whose network to use, if the run kept it (default: the newest)"
SEED_HELP = "random seed; it is combined with the seed of each game"

COLDEST = 0.01
"""Minimum temperature for sampling; below it, the agent plays the best move."""


class NetworkParameters(Protocol):
    """Common parameters of all players with a network."""

    @property
    def model(self) -> str | None: ...
    @property
    def run(self) -> str | None: ...
    @property
    def iteration(self) -> int | None: ...
    @property
    def temperature(self) -> float: ...
    @property
    def precision(self) -> Precision: ...
    @property
    def backend(self) -> Backend: ...
    @property
    def seed(self) -> int: ...


def check_source(model: str | None, run: str | None, iteration: int | None) -> None:
    """Raise `InputError` if both a model and a run are given, or if the iteration is negative or has no run."""
    if iteration is not None and run is None:
        raise InputError(f"iteration={iteration} selects a network of a training run; set run as well")
    if iteration is not None and iteration < 0:
        raise InputError(f"iteration must be at least 0, not {iteration}")
    if model is not None and run is not None:
        raise InputError(f"model={model} and run={run} both select a network; set only one")


def check_temperature(temperature: float) -> None:
    """Raise `InputError` if the temperature is out of range."""
    if not (math.isfinite(temperature) and 0 <= temperature <= 100):
        raise InputError(f"temperature={temperature} is outside the range 0–100")


class _Network:
    """An agent's network.

    A named network or a run's network is loaded immediately. If neither is given, the network is chosen by board size
    and loaded when it is first needed. `refresh` reloads a run's network if its file has changed.
    """

    def __init__(self, parameters: NetworkParameters, family: str = "") -> None:
        self._family = family
        self._source = parameters.model or parameters.run
        self._follows_run = parameters.run is not None
        if parameters.run is not None and parameters.iteration is not None:
            self._source = str(find_milestone(_existing(parameters.run), parameters.iteration))
        self._precision = parameters.precision
        self._backend = parameters.backend
        self._loaded: tuple[str, Evaluator, ModelInfo | None] | None = None
        self._found: dict[Ruleset, str] = {}
        self._changed_at = 0
        # Load now, so that a missing network is reported when the player is created.
        if self._source is not None and self._source != UNIFORM:
            self._load(self._source)

    def supports(self, ruleset: Ruleset) -> bool:
        """Return whether there is a network for the ruleset."""
        try:
            self.evaluator(ruleset)
        except RulesetError:
            return False
        return True

    def evaluator(self, ruleset: Ruleset) -> Evaluator:
        """Return the network for a ruleset. Raises `RulesetError` if the network does not support the ruleset."""
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
        """Discount used in training; None if the network is not loaded or does not specify it."""
        info = self._loaded[2] if self._loaded else None
        return info.discount if info else None

    def refresh(self) -> None:
        """Reload a run's network if training has written a newer one."""
        if self._follows_run and self._source is not None and self._file_time() != self._changed_at:
            self._load(self._source)

    def _load(self, source: str) -> None:
        if source == UNIFORM:
            self._loaded = (source, UniformEvaluator(), None)
            return
        if self._follows_run:
            _existing(source)
            self._changed_at = self._file_time()
        evaluator, info = load_model(source, precision=self._precision, backend=self._backend)
        self._loaded = (source, evaluator, info)

    def _file_time(self) -> int:
        file: Path = find_model(self._source or "", self._precision)
        return file.stat().st_mtime_ns


def _existing(run: str) -> Path:
    """Return the folder of a training run. Raises `InputError` if it does not exist."""
    folder = Path(run)
    if not folder.is_dir():
        raise InputError(f"there is no training run in {folder}; `tengen runs` lists the runs")
    return folder


def _model_for(ruleset: Ruleset, family: str) -> str:
    """Return the shipped model named after the board: `9x9`, `6x6x4` (win length 4), or `ppo-9x9` for a family.

    If no model has that size, return the model with the nearest board size that supports the ruleset. The names of
    AlphaZero models have no family prefix. For any rule but freestyle, they start with the rule: `renju-9x9`.
    """
    rule = "" if ruleset.rule is Rule.FREESTYLE else f"{ruleset.rule}-"
    prefix = f"{family}-" if family else ""
    boards = re.compile(rf"{prefix}(?:(?:{'|'.join(Rule)})-)?(\d+)x(\d+)(x\d+)?")
    found = [match for name in model_names() if (match := boards.fullmatch(name))]

    def distance(board: re.Match[str]) -> int:
        return abs(int(board[1]) * int(board[2]) - ruleset.area)

    tail = "" if ruleset.win_length == 5 else f"x{ruleset.win_length}"
    own = f"{prefix}{rule}{ruleset.width}x{ruleset.height}{tail}"
    names = [board[0] for board in sorted(found, key=distance)]  # nearest first, because loading a network takes time
    if own in names:
        return own
    for name in names:
        if load_model(name)[1].supports(ruleset):
            return name
    kind = f"{family} " if family else ""
    raise RulesetError(f"no {kind}network is shipped for {ruleset} (shipped: {', '.join(sorted(names)) or 'none'})")


class NetworkAgent(Agent):
    """Common base class for players with a network."""

    def __init__(self, parameters: NetworkParameters, family: str = "") -> None:
        """Find the network. `family` is the prefix of the shipped models to choose from if no model is set."""
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
