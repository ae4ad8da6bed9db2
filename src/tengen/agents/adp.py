"""The player `adp`: looks one move ahead with a critic trained by adaptive dynamic programming (docs/how/adp.md)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tengen.agents.registry import AgentKind, parameter
from tengen.core.contracts import Agent, Analysis, AnalysisLine, Decision, Limits, Report, Ruleset, Search
from tengen.core.geometry import Point
from tengen.core.position import Position
from tengen.core.stop_signal import StopSignal
from tengen.errors import AgentError, GameOverError, InputError, RulesetError
from tengen.search.critic import Critic, find_critic, load_critic

_DEFAULT_MODEL = "adp"


@dataclass(frozen=True)
class AdpParameters:
    """Parameters of `adp`."""

    model: str | None = parameter(None, help=f"a shipped critic or a .safetensors file (default: {_DEFAULT_MODEL})")
    run: str | None = parameter(
        None, help="folder of a training run; its newest critic is loaded at the start of each game"
    )

    def __post_init__(self) -> None:
        if self.model is not None and self.run is not None:
            raise InputError(f"model={self.model} and run={self.run} both select a critic; set only one")


class AdpAgent(Agent):
    """Plays the move to which the critic assigns the highest winning probability; deterministic."""

    def __init__(self, parameters: AdpParameters) -> None:
        self._source = parameters.run or parameters.model or _DEFAULT_MODEL
        self._follows_run = parameters.run is not None
        self._loaded_at = 0
        self._critic = self._load()

    def supports(self, ruleset: Ruleset) -> bool:
        return self._critic.supports(ruleset)

    def check_supports(self, ruleset: Ruleset) -> None:
        try:
            self._critic.check_supports(ruleset)
        except RulesetError as error:
            raise AgentError(f"{self.name} does not play {ruleset}: {error}") from None

    def new_game(self, ruleset: Ruleset, seed: int = 0) -> None:
        if self._follows_run and self._file_time() != self._loaded_at:
            self._critic = self._load()

    def start(self, position: Position, limits: Limits, lines: int = 1) -> Search:
        """Create a search that reports one snapshot. The search takes microseconds and ignores the limits."""

        def run(stop: StopSignal, report: Report) -> Decision:
            analysis = self._judge(position, lines)
            report(analysis)
            return analysis.decide()

        return Search(run)

    def _judge(self, position: Position, lines: int) -> Analysis:
        if position.is_over:
            raise GameOverError(f"{self.name} cannot move: the game is over\n{position}")
        judgement = self._critic.judge(position)
        shown = []
        for place in np.argsort(-judgement.chances, kind="stable")[: max(1, lines)]:
            move = Point.from_index(int(judgement.points[place]), position.ruleset.width)
            value = 2 * float(judgement.chances[place]) - 1
            shown.append(AnalysisLine(move=move, value_to_move=value, line=(move,), depth=1))
        return Analysis(lines=tuple(shown), depth=1, nodes=len(judgement.points))

    def _load(self) -> Critic:
        self._loaded_at = self._file_time()
        return load_critic(self._source)

    def _file_time(self) -> int:
        try:
            return find_critic(self._source).stat().st_mtime_ns
        except OSError:
            return 0  # load_critic reports the error


KINDS = (
    AgentKind(
        name="adp",
        summary="Looks one move ahead with a critic on shape counts, trained by temporal-difference learning.",
        parameters=AdpParameters,
        make=AdpAgent,
    ),
)
