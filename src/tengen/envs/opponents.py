"""The opponent inside an environment: a native policy, an `Agent`, or a function.

Native policies are given by name (`random`, `naive:level=3`, `chains`, `rule-based`). Any other player is created by
the caller and passed as an object.
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
"""A function that chooses a move for the side to move."""


class Opponent(Protocol):
    """Player that replies to the agent. It draws all randomness from the environment's generator."""

    def new_game(self, ruleset: Ruleset, rng: np.random.Generator) -> None:
        """Start a new game."""
        ...

    def choose(self, position: Position, rng: np.random.Generator) -> Move:
        """Choose a move for the side to move; the game must not be over."""
        ...


def policy_kind(text: str) -> PolicyKind:
    """Look up a native policy by name."""
    kind = POLICIES.get(text.strip().replace(" ", ""))
    if kind is None:
        raise AgentNameError(
            f"unknown opponent {text!r} (known: {', '.join(POLICIES)}; "
            "pass any other player as an Agent: opponent=make_agent(…))"
        )
    return kind


def make_opponent(opponent: str | Agent | OpponentFunction | None, ruleset: Ruleset, limits: Limits) -> Opponent | None:
    """Create the opponent from an environment's `opponent` argument; None if the caller plays both colours."""
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
    raise InputError(f"opponent {opponent!r} must be a name, an Agent, a function of a position or None")


def draw_seed(rng: np.random.Generator) -> int:
    """Draw a seed for another generator."""
    return int(rng.integers(2**63))


class _PolicyOpponent:
    def __init__(self, kind: PolicyKind) -> None:
        self._policy = Policy(kind)

    def new_game(self, ruleset: Ruleset, rng: np.random.Generator) -> None:
        pass

    def choose(self, position: Position, rng: np.random.Generator) -> Move:
        # Reseed for each move, so that the environment's generator is the only state to save.
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
        raise AgentError(f"opponent {name} chose the illegal move {move!r}\n{position}")
    return move
