"""Players that follow a network's policy without search: `policy`, and one for each learning algorithm.

They differ only in their default network, which is a shipped network trained by that algorithm. The `dqn` network
outputs advantages as its policy, so its most likely move is the one with the highest Q-value.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

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
from tengen.agents.searching import seed_at
from tengen.core.contracts import Analysis, AnalysisLine, Decision, Limits, Report, Search
from tengen.core.geometry import Point
from tengen.core.planes import encode
from tengen.core.position import Position
from tengen.core.stop_signal import StopSignal
from tengen.errors import GameOverError
from tengen.nets.evaluators import AveragedEvaluator
from tengen.nets.models import Backend, Precision


@dataclass(frozen=True)
class PolicyParameters:
    """Parameters of `policy` and of the players for the learning algorithms."""

    model: str | None = parameter(None, help=MODEL_HELP)
    run: str | None = parameter(None, help=RUN_HELP)
    iteration: int | None = parameter(None, help=ITERATION_HELP)
    temperature: float = parameter(0.0, help="sampling temperature; 0 plays the most likely move")
    average: bool = parameter(False, help="average the policy over all symmetries of the board")
    precision: Precision = parameter(Precision.FP32, help="network precision: fp32 or int8")
    backend: Backend = parameter(Backend.ONNXRUNTIME, help="inference backend: onnxruntime, openvino or torch")
    seed: int = parameter(0, help=SEED_HELP)

    def __post_init__(self) -> None:
        check_source(self.model, self.run, self.iteration)
        check_temperature(self.temperature)


class PolicyAgent(NetworkAgent):
    """Plays according to the network's policy, without search."""

    def __init__(self, parameters: PolicyParameters, family: str = "") -> None:
        super().__init__(parameters, family)
        self._average = parameters.average

    def start(self, position: Position, limits: Limits, lines: int = 1) -> Search:
        """Create a search with one snapshot: the most likely moves, each with the value of the current position."""

        def run(stop: StopSignal, report: Report) -> Decision:
            policy, value = self._evaluate(position)
            points = [Point.from_index(index, position.ruleset.width) for index in range(len(policy))]
            shares = {points[i]: float(policy[i]) for i in np.flatnonzero(policy)}
            likeliest = sorted(shares, key=lambda point: -shares[point])[: max(1, lines)]
            shown = (AnalysisLine(move=p, value_to_move=value, line=(p,), prior=shares[p]) for p in likeliest)
            report(Analysis(lines=tuple(shown), nodes=1, policy=shares))
            move = points[self._pick(policy, position)]
            return Decision(move=move, value_to_move=value, line=(move,), nodes=1, policy=shares)

        return Search(run)

    def _pick(self, policy: np.ndarray[tuple[int], np.dtype[np.float64]], position: Position) -> int:
        """Return the index of the move to play, sampled at the temperature."""
        if self._temperature < COLDEST:
            return int(policy.argmax())
        heated = (policy / policy.max()) ** (1 / self._temperature)
        rng = np.random.default_rng(seed_at(position, self._seed, self._game_seed))
        return int(rng.choice(len(policy), p=heated / heated.sum()))

    def _evaluate(self, position: Position) -> tuple[np.ndarray[tuple[int], np.dtype[np.float64]], float]:
        """Return the policy [area] over legal points and the value for the side to move."""
        if position.is_over:
            raise GameOverError(f"{self.name} cannot move: the game is over\n{position}")
        ruleset = position.ruleset
        evaluator = self._network.evaluator(ruleset)
        if self._average:
            evaluator = AveragedEvaluator(evaluator, ruleset)
        log_policy, value = evaluator.evaluate(encode(position, evaluator.plane_layout)[None])
        policy = np.exp(log_policy[0].astype(np.float64))
        policy[~position.legal_mask()] = 0
        if not policy.sum() > 0:
            policy = position.legal_mask().astype(np.float64)
        return policy / policy.sum(), float(value[0])


def _learner(name: str, summary: str) -> AgentKind:
    return AgentKind(name, summary, PolicyParameters, partial(PolicyAgent, family=name))


KINDS = (
    AgentKind("policy", "Plays the move that a network prefers, without search.", PolicyParameters, PolicyAgent),
    _learner("pg", "The policy of a network trained by policy gradient."),
    _learner("ppo", "The policy of a network trained by proximal policy optimization."),
    _learner("supervised", "The policy of a network trained on the moves of recorded games."),
    _learner("cnn", "The policy of a convolutional network trained on the moves of recorded games."),
    _learner("mdrnn", "The policy of a multi-dimensional recurrent network trained on the moves of recorded games."),
    _learner("dqn", "Plays the move with the highest Q-value of a network trained by deep Q-learning."),
    _learner("evolution", "The policy of a network whose weights were evolved by playing games."),
)
