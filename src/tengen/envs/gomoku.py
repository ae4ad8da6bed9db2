"""`tengen/Gomoku-v1`: Gomoku for one agent, as a Gymnasium environment.

It follows the environment in Zou, *Using DRL to train a Gomoku agent* (2017): the opponent moves inside `step`, the
reward is +1 for a win, -1 for a loss and 0 otherwise, and an invalid move raises an error or loses the game. All
Tengen rulesets and all layouts in `tengen.core.planes` are supported.

Version history:

* v1: an invalid move loses the game by default, so `check_env` passes with the defaults; an opponent can be any agent
  specification; a seed gives different random moves than in v0. For migration, see docs/reference/environments.md.
* v0: first version.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

import gymnasium as gym
import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from tengen._native import Board, play_if_legal
from tengen.core.contracts import Colour, Limits, Outcome, Ruleset
from tengen.core.native_enums import colour_to_native, outcome_from_native
from tengen.core.position import Position
from tengen.envs.opponents import OpponentSetting, make_opponent
from tengen.envs.rendering import IMAGES_PER_SECOND, RENDER_MODES, Renderer
from tengen.envs.spaces import (
    INVALID_MOVES,
    PAPER_LAYOUT,
    SIDES,
    BoardSpaces,
    Planes,
    check_choice,
    check_opening_moves,
)
from tengen.errors import GameOverError, InputError

COLOUR_NUMBERS = {Colour.BLACK: 0, Colour.WHITE: 1}

OUTCOMES = tuple(outcome_from_native(number) for number in range(len(Outcome)))
"""The outcomes, indexed by native number."""


@dataclass(frozen=True, slots=True)
class EnvState:
    """The saved state of a `GomokuEnv`, for `set_state`. The internal state of an opponent `Agent` is not included."""

    position: Position
    colour: Colour
    outcome: Outcome
    rng_state: dict[str, Any]


class GomokuEnv(gym.Env[Planes, np.int64]):
    """A Gymnasium environment that plays Gomoku against an opponent or against itself.

    With an opponent, observations and rewards are always from the agent's point of view. Without one (`opponent=None`),
    each step plays for the side to move: the observation is from its point of view, and the reward is for the colour
    that has just moved.

    Args:
        ruleset: The ruleset, as a `Ruleset` or its text form.
        opponent: An agent specification (`naive:level=1`, `alphabeta:depth=2`, `alphazero:model=9x9`, …), an `Agent`, a
            function from a position to a move, or "self" or None to play both colours yourself.
        side: The agent's colour: "black", "white", or "random" (drawn at each reset). Ignored without an opponent.
        observation: A layout from `tengen.core.planes`; the default is the paper's planes: black, white, occupied.
        channels: Order of the planes: "first" for [C, height, width], "last" for [height, width, C].
        dtype: uint8 (the default; int8 for the layout "board") or float32.
        resign_action: Add action width·height, which resigns the game.
        invalid_move: "lose" the game, as in the paper, or "raise" an `IllegalMoveError` and change nothing.
        opening_moves: Number of random moves played before the agent's first move.
        opponent_limits: Search limits for an opponent `Agent` (default: one second per move).
        render_mode: "ansi", "rgb_array" or "human".

    `info` always has `action_mask` (int8 [actions], for `action_space.sample(mask)`) and `colour` (the colour that acts
    next, 0 for black and 1 for white). At the end of a game it also has `outcome`.

    Environments can be copied (`copy.deepcopy`) and pickled in the middle of a game. A copy shares an opponent that was
    passed as an object and creates a new one from a specification.
    """

    metadata = {"render_modes": list(RENDER_MODES), "render_fps": IMAGES_PER_SECOND}  # noqa: RUF012  (as in Gymnasium)
    observation_space: spaces.Box
    action_space: spaces.Discrete

    def __init__(
        self,
        ruleset: Ruleset | str = "15x15:5:freestyle",
        *,
        opponent: OpponentSetting = "random",
        side: str = "black",
        observation: str = PAPER_LAYOUT,
        channels: str = "first",
        dtype: npt.DTypeLike | None = None,
        resign_action: bool = False,
        invalid_move: str = "lose",
        opening_moves: int = 0,
        opponent_limits: Limits | None = None,
        render_mode: str | None = None,
    ) -> None:
        self._settings = {
            "ruleset": ruleset,
            "opponent": opponent,
            "side": side,
            "observation": observation,
            "channels": channels,
            "dtype": dtype,
            "resign_action": resign_action,
            "invalid_move": invalid_move,
            "opening_moves": opening_moves,
            "opponent_limits": opponent_limits,
            "render_mode": render_mode,
        }
        self._spaces = BoardSpaces.make(ruleset, observation, channels, dtype, resign_action)
        self._opponent = make_opponent(opponent, self.ruleset, opponent_limits or Limits(time_ms=1000))
        self._side = check_choice(side, SIDES, "side")
        self._invalid_loses = check_choice(invalid_move, INVALID_MOVES, "invalid_move") == "lose"
        self._opening_moves = check_opening_moves(opening_moves, self.ruleset)
        self._renderer = Renderer(render_mode)
        self.render_mode = render_mode
        self.observation_space = self._spaces.observation_space()
        self.action_space = self._spaces.action_space()
        self._board: Board = Position.start(self.ruleset).native
        self._position: Position | None = None  # created from the board on demand
        self._colour = Colour.BLACK
        self._outcome: Outcome | None = None  # None before the first reset

    # -- Gymnasium API ---------------------------------------------------------------------------------------------

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Planes, dict[str, Any]]:
        """Start a new game.

        Args:
            seed: Seed for the random generator of the environment and its opponent.
            options: `position`, a `Position` to start from instead of the empty board, and `side`, the agent's colour
                in this game.
        """
        super().reset(seed=seed)
        chosen = dict(options or {})
        start = chosen.pop("position", None)
        side = check_choice(chosen.pop("side", self._side), SIDES, "side")
        if chosen:
            raise InputError(f"unknown reset options {', '.join(chosen)} (known: position, side)")
        self._set_position(self._random_opening() if start is None else self._checked_start(start))
        self._outcome = Outcome.ONGOING
        if self._opponent is None:
            self._colour = self.position.to_move
        else:
            self._colour = self._draw_side(side)
            self._opponent.new_game(self.ruleset, self.np_random)
            if self.position.to_move is not self._colour:
                self._play(self._opponent.choose(self._board, self.np_random))
                if self._outcome is not Outcome.ONGOING:
                    raise InputError(f"the opponent's first move ends the game\n{self.position}")
        return self._observation_and_info()

    def step(self, action: np.int64 | int) -> tuple[Planes, float, bool, bool, dict[str, Any]]:
        """Play the agent's action and the opponent's reply."""
        if self._outcome is not Outcome.ONGOING:
            problem = "no game has started" if self._outcome is None else "the game is over"
            raise GameOverError(f"call reset(): {problem}")
        number = self._spaces.action_number(action)
        actor = self._colour
        if self._spaces.is_resignation(number):
            self._outcome = Outcome.win_for(actor.opponent)
        elif not self._play(number):
            if not self._invalid_loses:
                self.position.play(number)  # raises an error that says why the move is illegal
            self._outcome = Outcome.win_for(actor.opponent)
        elif self._opponent is None:
            self._colour = actor.opponent
        elif self._outcome is Outcome.ONGOING:
            self._play(self._opponent.choose(self._board, self.np_random))
        observation, info = self._observation_and_info()
        return observation, self._result_for(actor), self._outcome is not Outcome.ONGOING, False, info

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """Return the legal actions as bool [actions], for `MaskablePPO` from sb3-contrib."""
        if self._outcome is not Outcome.ONGOING:
            return self._spaces.no_actions().view(np.bool_)
        return self._spaces.observe(self._board, self._board.to_move)[1].view(np.bool_)

    def render(self) -> Any:
        """Return the board as text ("ansi") or as an image uint8 [H, W, 3] ("rgb_array"), or show it ("human")."""
        return self._renderer.render(self.position)

    def close(self) -> None:
        """Close the window and the opponent, if any. An `Agent` passed as an object stays open."""
        self._renderer.close()
        if self._opponent is not None:
            self._opponent.close()

    # -- extensions ------------------------------------------------------------------------------------------------

    @property
    def ruleset(self) -> Ruleset:
        """The ruleset for all games."""
        return self._spaces.ruleset

    @property
    def position(self) -> Position:
        """The current position."""
        if self._position is None:
            self._position = Position(self.ruleset, self._board.copy())
        return self._position

    @property
    def colour(self) -> Colour:
        """The colour that acts next: the agent's colour, or, without an opponent, the side to move."""
        return self._colour

    def get_state(self) -> EnvState:
        """Save the current state for `set_state`."""
        if self._outcome is None:
            raise GameOverError("call reset(): no game has started")
        return EnvState(self.position, self._colour, self._outcome, dict(self.np_random.bit_generator.state))

    def set_state(self, state: EnvState) -> tuple[Planes, dict[str, Any]]:
        """Restore a saved state, including the random generator; return observation and info as `reset` does."""
        if state.position.ruleset != self.ruleset:
            raise InputError(f"the state belongs to a game of {state.position.ruleset}, not {self.ruleset}")
        self._set_position(state.position)
        self._colour, self._outcome = state.colour, state.outcome
        self.np_random.bit_generator.state = state.rng_state
        return self._observation_and_info()

    def __getstate__(self) -> dict[str, Any]:
        return {
            "settings": self._settings,
            "spec": self.spec,
            "spaces": (self.observation_space, self.action_space),
            "rng": (self._np_random, self._np_random_seed),
            "game": None if self._outcome is None else self.get_state(),
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(**state["settings"])  # type: ignore[misc]
        self.spec = state["spec"]
        self.observation_space, self.action_space = state["spaces"]
        self._np_random, self._np_random_seed = state["rng"]
        if state["game"] is not None:
            if self._opponent is not None:
                self._opponent.new_game(self.ruleset, np.random.default_rng(0))
            self.set_state(state["game"])

    def __deepcopy__(self, memo: dict[int, Any]) -> GomokuEnv:
        opponent = self._settings["opponent"]
        memo[id(opponent)] = opponent  # searches cannot be copied, and they depend on the position alone
        clone: GomokuEnv = type(self).__new__(type(self))
        clone.__setstate__(copy.deepcopy(self.__getstate__(), memo))
        return clone

    # -- internals -------------------------------------------------------------------------------------------------

    def _random_opening(self) -> Position:
        position = Position.start(self.ruleset)
        for _ in range(self._opening_moves):
            position = position.play(int(self.np_random.choice(np.flatnonzero(position.legal_mask()))))
        return position

    def _checked_start(self, start: Any) -> Position:
        if not isinstance(start, Position) or start.ruleset != self.ruleset or start.is_over:
            raise InputError(f"the position option must be an unfinished Position for {self.ruleset}, not {start!r}")
        return start

    def _draw_side(self, side: str) -> Colour:
        if side == "random":
            return (Colour.BLACK, Colour.WHITE)[self.np_random.integers(2)]
        return Colour(side)

    def _set_position(self, position: Position) -> None:
        self._board, self._position = position.native.copy(), position

    def _play(self, point: int) -> bool:
        """Play a point for the side to move; if the move is illegal, return False and change nothing."""
        outcome = play_if_legal(self._board, point)
        if outcome < 0:
            return False
        self._position, self._outcome = None, OUTCOMES[outcome]
        return True

    def _result_for(self, colour: Colour) -> float:
        winner = self._outcome.winner if self._outcome is not None else None
        return 0.0 if winner is None else 1.0 if winner is colour else -1.0

    def _observation_and_info(self) -> tuple[Planes, dict[str, Any]]:
        """Return the current observation and info; draw the board in render mode "human"."""
        planes, mask = self._spaces.observe(self._board, colour_to_native(self._colour))
        info: dict[str, Any] = {"action_mask": mask, "colour": COLOUR_NUMBERS[self._colour]}
        if self._outcome is not Outcome.ONGOING:
            mask.fill(0)  # after a resignation or an invalid move there are still legal points
            info["outcome"] = str(self._outcome)
        if self.render_mode == "human":
            self._renderer.watch(self.position)
        return planes, info
