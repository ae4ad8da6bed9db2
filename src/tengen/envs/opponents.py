"""Who answers the agent's moves inside an environment: a native policy, an `Agent`, or a function.

The policies are named by text (`random`, `naive:level=3`, `chains`, `rule-based`) and played by native code. Any other
player is made by its own layer and handed over as an object.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np

from tengen._native import Policy, PolicyKind
from tengen.core.contracts import Agent, Limits, Ruleset
from tengen.core.game_batch import POLICIES
from tengen.core.geometry import Point
from tengen.core.position import Move, Position
from tengen.errors import AgentError, AgentNameError, InputError, RulesetError

OpponentFunction = Callable[[Position], Move]
"""A function that picks a move for the side to move."""


class Opponent(Protocol):
    """Answers the agent. All its randomness comes from the environment's generator."""

    def new_game(self, ruleset: Ruleset, rng: np.random.Generator) -> None:
        """A new game begins."""
        ...

    def choose(self, position: Position, rng: np.random.Generator) -> Move:
        """A move for the side to move; the game is not over."""
        ...


def policy_kind(text: str) -> PolicyKind:
    """The native policy that a text names."""
    kind = POLICIES.get(text.strip().replace(" ", ""))
    if kind is None:
        raise AgentNameError(
            f"no opponent {text!r} inside the environment (known: {', '.join(POLICIES)}; "
            "any other player is passed as an Agent: opponent=make_agent(…))"
        )
    return kind


def make_opponent(opponent: str | Agent | OpponentFunction | None, ruleset: Ruleset, limits: Limits) -> Opponent | None:
    """The opponent that the argument of an environment means; None stays None (the caller plays both colours)."""
    if opponent is None:
        return None
    if isinstance(opponent, str):
        return _PolicyOpponent(policy_kind(opponent))
    if isinstance(opponent, Agent):
        if not opponent.supports(ruleset):
            raise RulesetError(f"opponent {opponent.name} does not play {ruleset}")
        return _AgentOpponent(opponent, limits)
    if callable(opponent):
        return _FunctionOpponent(opponent)
    raise InputError(f"opponent {opponent!r} is no text, no Agent, no function of a position and not None")


def draw_seed(rng: np.random.Generator) -> int:
    """A seed for somebody else's generator."""
    return int(rng.integers(2**63))


class _PolicyOpponent:
    def __init__(self, kind: PolicyKind) -> None:
        self._policy = Policy(kind)

    def new_game(self, ruleset: Ruleset, rng: np.random.Generator) -> None:
        pass

    def choose(self, position: Position, rng: np.random.Generator) -> Move:
        # Seeded for each move: the environment's generator is then the only state, and saving it saves the game.
        self._policy.reseed(draw_seed(rng))
        return self._policy.choose(position.native)


class _AgentOpponent:
    def __init__(self, agent: Agent, limits: Limits) -> None:
        self._agent = agent
        self._limits = limits

    def new_game(self, ruleset: Ruleset, rng: np.random.Generator) -> None:
        self._agent.new_game(ruleset, draw_seed(rng))

    def choose(self, position: Position, rng: np.random.Generator) -> Move:
        move = self._agent.choose(position, self._limits).move
        return _legal(position, move, self._agent.name)


class _FunctionOpponent:
    def __init__(self, function: OpponentFunction) -> None:
        self._function = function

    def new_game(self, ruleset: Ruleset, rng: np.random.Generator) -> None:
        pass

    def choose(self, position: Position, rng: np.random.Generator) -> Move:
        return _legal(position, self._function(position), getattr(self._function, "__name__", "function"))


def _legal(position: Position, move: Move, name: str) -> Move:
    if not isinstance(move, (str, int, np.integer, Point)) or not position.is_legal(move):
        raise AgentError(f"opponent {name} chose {move!r}, which is not legal here\n{position}")
    return move
