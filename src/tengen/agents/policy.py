"""Players that play what a network likes best, without search: `policy`, and those of the learners.

They differ in the networks they find when none is named: those shipped of their own kind. The network of `dqn` gives
advantages as its policy, so that its best move is the one of the highest Q.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

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
from tengen.agents.searching import seed_at
from tengen.core.contracts import Analysis, AnalysisLine, Decision, Limits
from tengen.core.geometry import Point
from tengen.core.planes import encode
from tengen.core.position import Position
from tengen.errors import InputError
from tengen.nets.evaluators import AveragedEvaluator
from tengen.nets.models import Backend, Precision


@dataclass(frozen=True)
class PolicyParameters:
    """What `policy` may be told."""

    model: str | None = parameter(None, help=MODEL_HELP)
    run: str | None = parameter(None, help=RUN_HELP)
    temperature: float = parameter(0.0, help="moves are drawn from the policy to the power of 1/this; 0 plays the best")
    average: bool = parameter(False, help="average over all symmetries of the board")
    precision: Precision = parameter(Precision.FP32, help="numbers the network computes with: fp32 or int8")
    backend: Backend = parameter(Backend.ONNXRUNTIME, help="what computes the network: onnxruntime or torch")
    seed: int = parameter(0, help=SEED_HELP)

    def __post_init__(self) -> None:
        check_source(self.model, self.run)
        check_temperature(self.temperature)


class PolicyAgent(NetworkAgent):
    """Plays from the network's policy alone, without looking ahead."""

    def __init__(self, parameters: PolicyParameters, family: str = "") -> None:
        super().__init__(parameters, family)
        self._average = parameters.average

    def choose(self, position: Position, limits: Limits) -> Decision:
        policy, value = self._evaluate(position)
        width = position.ruleset.width
        if self._temperature >= COLDEST:
            heated = (policy / policy.max()) ** (1 / self._temperature)
            rng = np.random.default_rng(seed_at(position, self._seed, self._game_seed))
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
    AgentKind("policy", "The move a network likes best, without search.", PolicyParameters, PolicyAgent),
    _learner("pg", "The policy of a network that learned by policy gradient."),
    _learner("ppo", "The policy of a network that learned by proximal policy optimization."),
    _learner("supervised", "The policy of a network that learned the moves of recorded games."),
    _learner("cnn", "The same of a convolutional network."),
    _learner("mdrnn", "The same of a multi-dimensional recurrent network."),
    _learner("dqn", "The move of the highest Q of a network that learned by deep Q-learning."),
    _learner("evolution", "The policy of a network whose weights evolved by games."),
)
