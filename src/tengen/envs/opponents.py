"""The opponent inside an environment: a native policy, an `Agent`, or a function.

An opponent can be any agent specification that `tengen.make_agent` accepts. The simple players are native policies,
which choose a move without search and without calling Python. `self` means that there is no opponent: the caller plays
both colours.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np

from tengen._native import Board, Policy, PolicyKind
from tengen.agents.registry import check_plays, make_agent
from tengen.core.contracts import Agent, Limits, Ruleset
from tengen.core.game_batch import POLICIES
from tengen.core.geometry import Point
from tengen.core.position import Move, Position
from tengen.errors import AgentError, InputError, RulesetError

OpponentFunction = Callable[[Position], Move]
"""A function that chooses a move for the side to move."""

OpponentSetting = str | Agent | OpponentFunction | None
"""The `opponent` argument of an environment."""

SELF = "self"
"""The text for "no opponent": the caller plays both colours."""


class Opponent(Protocol):
    """Player that replies to the agent. It draws all randomness from the environment's generator."""

    def new_game(self, ruleset: Ruleset, rng: np.random.Generator) -> None:
        """Start a new game."""
        ...

    def choose(self, board: Board, rng: np.random.Generator) -> int:
        """Return a legal point for the side to move; the game must not be over."""
        ...

    def close(self) -> None:
        """Free the opponent's resources."""
        ...


def policy_kind(opponent: OpponentSetting) -> PolicyKind | None:
    """Return the native policy that an agent specification names; None for any other opponent."""
    return POLICIES.get(opponent.strip().replace(" ", "")) if isinstance(opponent, str) else None


def plays_itself(opponent: OpponentSetting) -> bool:
    """Return whether the caller plays both colours."""
    return opponent is None or (isinstance(opponent, str) and opponent.strip() == SELF)


def make_opponent(opponent: OpponentSetting, ruleset: Ruleset, limits: Limits) -> Opponent | None:
    """Create the opponent from an environment's `opponent` argument; None if the caller plays both colours."""
    if plays_itself(opponent):
        return None
    kind = policy_kind(opponent)
    if kind is not None:
        return _PolicyOpponent(kind)
    if isinstance(opponent, str):
        agent = make_agent(opponent)
        check_plays(agent, ruleset)
        return _AgentOpponent(agent, ruleset, limits, owned=True)
    if isinstance(opponent, Agent):
        if not opponent.supports(ruleset):
            raise RulesetError(f"opponent {opponent.name} does not play {ruleset}")
        return _AgentOpponent(opponent, ruleset, limits, owned=False)
    if callable(opponent):
        return _FunctionOpponent(opponent, ruleset)
    raise InputError(
        f"opponent {opponent!r} must be an agent specification, {SELF!r}, an Agent, a function that takes a position,"
        " or None"
    )


def draw_seed(rng: np.random.Generator) -> int:
    """Draw a seed for another generator."""
    return int(rng.integers(2**63))


class _PolicyOpponent:
    def __init__(self, kind: PolicyKind) -> None:
        self._policy = Policy(kind)

    def new_game(self, ruleset: Ruleset, rng: np.random.Generator) -> None:
        pass

    def choose(self, board: Board, rng: np.random.Generator) -> int:
        # Reseed for each move, so that the environment's generator is the only state to save.
        self._policy.reseed(rng.bit_generator.random_raw())
        return self._policy.choose(board)

    def close(self) -> None:
        pass


class _AgentOpponent:
    def __init__(self, agent: Agent, ruleset: Ruleset, limits: Limits, *, owned: bool) -> None:
        self._agent = agent
        self._ruleset = ruleset
        self._limits = limits
        self._owned = owned

    def new_game(self, ruleset: Ruleset, rng: np.random.Generator) -> None:
        self._agent.new_game(ruleset, draw_seed(rng))

    def choose(self, board: Board, rng: np.random.Generator) -> int:
        position = Position(self._ruleset, board.copy())
        move = self._agent.choose(position, self._limits).move
        return _legal(position, move, self._agent.name)

    def close(self) -> None:
        if self._owned:
            self._agent.close()


class _FunctionOpponent:
    def __init__(self, function: OpponentFunction, ruleset: Ruleset) -> None:
        self._function = function
        self._ruleset = ruleset

    def new_game(self, ruleset: Ruleset, rng: np.random.Generator) -> None:
        pass

    def choose(self, board: Board, rng: np.random.Generator) -> int:
        position = Position(self._ruleset, board.copy())
        return _legal(position, self._function(position), getattr(self._function, "__name__", "function"))

    def close(self) -> None:
        pass


def _legal(position: Position, move: Move, name: str) -> int:
    if not isinstance(move, (str, int, np.integer, Point)) or not position.is_legal(move):
        raise AgentError(f"opponent {name} chose the illegal move {move!r}\n{position}")
    return int(move) if isinstance(move, (int, np.integer)) else Point(move).index(position.ruleset.width)
