"""Observations, actions and action masks, shared by all environments.

Action y·width + x plays a point. With `resign_action`, there is one more action, width·height, which resigns the game.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from tengen.core.contracts import Colour, Opening, Ruleset
from tengen.core.planes import check_layout, encode, plane_count
from tengen.core.position import Position
from tengen.errors import IllegalMoveError, InputError, RulesetError

PAPER_LAYOUT = "black-white-occupied"
"""The three planes from Zou (2017), the paper that the environment follows."""

SIDES = ("black", "white", "random")
INVALID_MOVES = ("raise", "lose")

Planes = npt.NDArray[Any]
"""Observation [C, height, width] of uint8, int8 or float32."""
Mask = npt.NDArray[np.int8]
"""Action mask [actions]: 1 where the action is legal."""


@dataclass(frozen=True, slots=True)
class BoardSpaces:
    """Observations and actions for one ruleset and one plane layout."""

    ruleset: Ruleset
    layout: str
    dtype: np.dtype[Any]
    resign_action: bool

    @classmethod
    def make(cls, ruleset: Ruleset | str, layout: str, dtype: npt.DTypeLike | None, resign_action: bool) -> BoardSpaces:
        """Validate the arguments. The default dtype is uint8, or int8 for layouts with negative values."""
        rules = Ruleset.parse(ruleset) if isinstance(ruleset, str) else ruleset
        if rules.opening is not Opening.FREE:
            raise RulesetError(f"environments do not support the opening procedure {rules.opening} of {rules}")
        check_layout(layout, rules)
        signed = layout == "board"
        chosen = np.dtype(dtype if dtype is not None else (np.int8 if signed else np.uint8))
        allowed = ("int8", "float32") if signed else ("uint8", "int8", "float32")
        if chosen.name not in allowed:
            raise InputError(f"planes {layout!r} cannot have dtype {chosen.name} (allowed: {', '.join(allowed)})")
        return cls(rules, layout, chosen, resign_action)

    @property
    def action_count(self) -> int:
        """Number of actions: the points of the board, plus one with `resign_action`."""
        return self.ruleset.area + (1 if self.resign_action else 0)

    def observation_space(self) -> spaces.Box:
        """Return the space of the observations that `observe` returns."""
        shape = (plane_count(self.layout), self.ruleset.height, self.ruleset.width)
        low = -1 if self.layout == "board" else 0
        return spaces.Box(low=low, high=1, shape=shape, dtype=self.dtype.type)

    def action_space(self) -> spaces.Discrete:
        """Return the action space."""
        return spaces.Discrete(self.action_count)

    def observe(self, position: Position, viewer: Colour) -> Planes:
        """Return the planes [C, height, width] for `viewer`, as a new array."""
        return encode(position, self.layout, viewer).astype(self.dtype, copy=False)

    def action_mask(self, position: Position) -> Mask:
        """Return the mask of legal points and resignation; all zero when the game is over."""
        mask = np.zeros(self.action_count, dtype=np.int8)
        mask[: self.ruleset.area] = position.legal_mask()
        if self.resign_action and not position.is_over:
            mask[-1] = 1
        return mask

    def is_resignation(self, action: int) -> bool:
        """Whether the action resigns the game."""
        return self.resign_action and action == self.ruleset.area

    def check_action(self, action: Any, position: Position) -> int:
        """Return the action as an int. Raises `IllegalMoveError` if it is not an integer."""
        if isinstance(action, (int, np.integer)) or (isinstance(action, np.ndarray) and action.shape == ()):
            try:
                return action.__index__()
            except TypeError:
                pass
        raise IllegalMoveError(f"action {action!r} is not an integer\n{position}")


def check_choice(value: str, known: tuple[str, ...], what: str) -> str:
    """Return `value` if it is known. Raises `InputError` otherwise."""
    if value not in known:
        raise InputError(f"unknown {what} {value!r} (known: {', '.join(known)})")
    return value


def check_opening_moves(count: int, ruleset: Ruleset) -> int:
    """Return `count`. Raises `InputError` if `count` random moves and one reply could already end the game."""
    most = 2 * ruleset.win_length - 3
    if not 0 <= count <= most:
        raise InputError(
            f"opening_moves={count} is outside the range 0–{most}: more moves could end a game of {ruleset}"
        )
    return count
