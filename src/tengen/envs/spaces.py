"""Observations, actions and action masks, shared by all environments.

Action y·width + x plays a point. With `resign_action`, there is one more action, width·height, which resigns the game.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from tengen._native import Board, PlaneLayout, write_observation
from tengen._native import Colour as NativeColour
from tengen.core.contracts import Opening, Ruleset
from tengen.core.planes import check_layout, native_layout, plane_count
from tengen.errors import IllegalMoveError, InputError, RulesetError

PAPER_LAYOUT = "black-white-occupied"
"""The three planes from Zou (2017), the paper that the environment follows."""

SIDES = ("black", "white", "random")
INVALID_MOVES = ("raise", "lose")
CHANNELS = ("first", "last")

Planes = npt.NDArray[Any]
"""Observation [C, height, width] or, with channels last, [height, width, C], of uint8, int8 or float32."""
Mask = npt.NDArray[np.int8]
"""Action mask [actions]: 1 where the action is legal."""


@dataclass(frozen=True, slots=True)
class BoardSpaces:
    """Observations and actions for one ruleset and one plane layout."""

    ruleset: Ruleset
    layout: str
    dtype: np.dtype[Any]
    resign_action: bool
    channels_last: bool
    native_layout: PlaneLayout
    shape: tuple[int, int, int]
    action_count: int
    """Number of actions: the points of the board, plus one with `resign_action`."""

    @classmethod
    def make(
        cls, ruleset: Ruleset | str, layout: str, channels: str, dtype: npt.DTypeLike | None, resign_action: bool
    ) -> BoardSpaces:
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
        last = check_choice(channels, CHANNELS, "channels") == "last"
        count, height, width = plane_count(layout), rules.height, rules.width
        shape = (height, width, count) if last else (count, height, width)
        actions = rules.area + (1 if resign_action else 0)
        return cls(rules, layout, chosen, resign_action, last, native_layout(layout), shape, actions)

    def observation_space(self) -> spaces.Box:
        """Return the space of the observations that `observe` returns."""
        low = -1 if self.layout == "board" else 0
        return spaces.Box(low=low, high=1, shape=self.shape, dtype=self.dtype.type)

    def action_space(self) -> spaces.Discrete:
        """Return the action space."""
        return spaces.Discrete(self.action_count)

    def observe(self, board: Board, viewer: NativeColour) -> tuple[Planes, Mask]:
        """Return the planes for `viewer` and the mask of the side to move, as new arrays.

        The mask is all zero when the game is over.
        """
        planes = np.empty(self.shape, self.dtype)
        mask = np.empty(self.action_count, np.int8)
        write_observation(board, self.native_layout, viewer, self.channels_last, planes, mask)
        return planes, mask

    def no_actions(self) -> Mask:
        """Return an all-zero mask."""
        return np.zeros(self.action_count, np.int8)

    def is_resignation(self, action: int) -> bool:
        """Return whether the action resigns the game."""
        return self.resign_action and action == self.ruleset.area

    def contains(self, action: Any) -> bool:
        """Return whether the action is in the action space. This is much faster than `Discrete.contains`."""
        try:
            return 0 <= operator.index(action) < self.action_count
        except TypeError:
            return False

    def action_number(self, action: Any) -> int:
        """Return the action as an int. Raises `IllegalMoveError` if it is not an integer."""
        try:
            return operator.index(action)
        except TypeError:
            raise IllegalMoveError(f"action {action!r} is not an integer (game: {self.ruleset})") from None


def check_choice(value: str, known: tuple[str, ...], what: str) -> str:
    """Return `value` if it is one of the known values. Raises `InputError` otherwise."""
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
