"""`GomokuVectorEnv`: thousands of boards stepped by one native call.

Boards, opponents, observations and masks are in native memory. A step plays one action and the opponent's reply on each
board, and updates only the changed cells of planes and masks. The class has the interface of `gymnasium.vector` with
autoreset mode SAME_STEP. Opponents other than the simple players choose their replies in Python, one board at a time.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from tengen._native import ByteVectorEnv, FloatVectorEnv, Outcome, Side, is_incremental
from tengen.core.contracts import Limits, Ruleset
from tengen.core.native_enums import outcome_from_native
from tengen.core.planes import layouts, native_layout
from tengen.core.position import Position
from tengen.envs.copies import ArrayCopies
from tengen.envs.drawing import draw_board
from tengen.envs.opponents import OpponentSetting, draw_seed, make_opponent, policy_kind
from tengen.envs.spaces import (
    INVALID_MOVES,
    PAPER_LAYOUT,
    SIDES,
    BoardSpaces,
    Planes,
    check_choice,
    check_opening_moves,
)
from tengen.errors import IllegalMoveError, InputError

LAYOUTS = tuple(layout for layout in layouts() if is_incremental(native_layout(layout)))
"""The layouts of `tengen.core.planes` that native code updates incrementally."""

_OUTCOMES = np.array([str(outcome_from_native(outcome)) for outcome in Outcome], dtype=object)
"""Names of the outcomes, indexed by native number."""
_RENDER_MODES = ("ansi", "rgb_array")

Actions = npt.NDArray[np.int64]
Rewards = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class VectorEnvState:
    """The saved games of a `GomokuVectorEnv`, for `set_state`. The state of an opponent `Agent` is not included."""

    games: tuple[tuple[list[int], list[int], int, int], ...]
    """For each board: moves, random generator, colour to act, number of actions."""
    rng_state: dict[str, Any]
    ruleset: str


class GomokuVectorEnv(VectorEnv[Planes, Actions, npt.NDArray[Any]]):
    """`num_envs` parallel games, each against the same kind of opponent or with the caller playing both colours.

    Rewards (+1, -1, 0) are the agent's or, without an opponent, those of the colour that has just moved. When a game
    ends, the next one starts in the same step (SAME_STEP): the returned observation, mask and colour belong to the new
    game, and `infos["final_obs"]` and `infos["final_info"]` describe the end of the old one.

    `infos` has `action_mask` (int8 [num_envs, actions]) and `colour` (int8 [num_envs], the colour that acts next, 0 for
    black and 1 for white). `final_info` has `action_mask` (all zero), `colour`, `outcome`, `episode_return` (the
    agent's result; black's without an opponent) and `episode_length` (number of the caller's actions).

    Args:
        num_envs: Number of boards.
        ruleset: The ruleset, as a `Ruleset` or its text form.
        opponent: `random`, `naive:level=0` … `naive:level=4`, `chains` and `rule-based` reply in native code. Any other
            agent specification, an `Agent` or a function from a position to a move is called for one board at a time.
            With "self" or None, the caller plays both colours, one action per step, and observations are from the
            perspective of the side to move.
        side: The agent's colour: "black", "white", or "random" (drawn for each game).
        observation: One of `LAYOUTS`.
        channels: Order of the planes: "first" for [num_envs, C, height, width], "last" for [num_envs, height, width,
            C]. The native order is "first".
        dtype: uint8 (the default; int8 for the layout "board") or float32.
        resign_action: Add action width·height, which resigns the game.
        invalid_move: "lose" that game, or "raise" an `IllegalMoveError` before any board is changed.
        opening_moves: Number of random moves played before the agent's first move.
        opponent_limits: Search limits for an opponent `Agent` (default: one second per move).
        threads: Number of native threads; it does not affect the games.
        copy: Return copies of observations, masks and colours. Otherwise they are views of native memory that the next
            step or reset overwrites; the views keep that memory alive.
        render_mode: "ansi" or "rgb_array"; `render` then returns one text or image per board.

    Environments can be copied (`copy.deepcopy`) and pickled in the middle of their games. A copy shares an opponent
    that was passed as an object.
    """

    single_observation_space: spaces.Box
    single_action_space: spaces.Discrete

    def __init__(
        self,
        num_envs: int = 1,
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
        threads: int = 1,
        copy: bool = True,
        render_mode: str | None = None,
    ) -> None:
        super().__init__()
        self._settings = {
            "num_envs": num_envs,
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
            "threads": threads,
            "copy": copy,
            "render_mode": render_mode,
        }
        for name, value in (("num_envs", num_envs), ("threads", threads)):
            if value < 1:
                raise InputError(f"{name} must be at least 1, not {value}")
        self._spaces = BoardSpaces.make(ruleset, observation, channels, dtype, resign_action)
        check_choice(observation, LAYOUTS, "observation of a vector environment")
        self.num_envs = num_envs
        self.metadata = {
            "render_modes": list(_RENDER_MODES),
            "autoreset_mode": AutoresetMode.SAME_STEP,
        }
        self.render_mode = None if render_mode is None else check_choice(render_mode, _RENDER_MODES, "render_mode")
        self.single_observation_space = self._spaces.observation_space()
        self.single_action_space = self._spaces.action_space()
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._raises = check_choice(invalid_move, INVALID_MOVES, "invalid_move") == "raise"
        self._copy = copy
        self._seeded = False
        policy = policy_kind(opponent)
        limits = opponent_limits or Limits(time_ms=1000)
        self._opponent = None if policy is not None else make_opponent(opponent, self.ruleset, limits)
        self._rng = np.random.default_rng(0)  # for the opponent
        kind = FloatVectorEnv if self._spaces.dtype == np.float32 else ByteVectorEnv
        self._native: ByteVectorEnv | FloatVectorEnv = kind(
            Position.start(self.ruleset).native,
            boards=num_envs,
            opponent=policy,
            caller_replies=self._opponent is not None,
            side=Side[check_choice(side, SIDES, "side").upper()],
            layout=native_layout(observation),
            resign_action=resign_action,
            opening_moves=check_opening_moves(opening_moves, self.ruleset),
            threads=threads,
        )
        self._plane_copies, self._mask_copies = ArrayCopies(), ArrayCopies()
        # These arrays are views into native memory and keep it alive.
        self._planes = self._ordered(self._native.planes)
        self._final_planes = self._ordered(self._native.final_planes)
        self._masks, self._colours = self._native.masks, self._native.colours
        self._rewards, self._terminations = self._native.rewards, self._native.terminations
        self._final_colours, self._outcomes = self._native.final_colours, self._native.outcomes
        self._episode_returns, self._episode_lengths = self._native.episode_returns, self._native.episode_lengths
        self._owed = self._native.owed
        self._every_board = np.ones(num_envs, dtype=np.bool_)
        self._no_actions = np.broadcast_to(np.int8(0), self._masks.shape)

    # -- Gymnasium API ---------------------------------------------------------------------------------------------

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Planes, dict[str, Any]]:
        """Start a new game on every board, or only on those in `options["reset_mask"]` (bool [num_envs]).

        Args:
            seed: Board i is seeded with `seed + i`, or with entry i of a list (None keeps that board's generator). The
                games of a board depend only on its seed and on the actions.
            options: `reset_mask` only.
        """
        boards = np.flatnonzero(self._checked_reset_mask(options))
        seeds = self._board_seeds(seed)
        for board in boards.tolist():
            if (board_seed := seeds[board]) is not None:
                self._native.seed(board, board_seed & 0xFFFF_FFFF_FFFF_FFFF)
            self._native.reset_board(board)
        if self._opponent is not None:
            self._opponent.new_game(self.ruleset, self._rng)
            self._reply()
        return self._observation_and_info()

    def step(self, actions: npt.ArrayLike) -> tuple[Planes, Rewards, Flags, Flags, dict[str, Any]]:
        """Play one action and, if there is an opponent, its reply on each board.

        Returns:
            Observations [num_envs, C, height, width] (see `channels`); rewards, terminations and truncations
            [num_envs]; infos. Games are never truncated.
        """
        chosen = self._checked_actions(actions)
        if self._raises and (board := self._native.find_invalid(chosen)) >= 0:
            raise IllegalMoveError(f"board {board} cannot play action {chosen[board]}\n{self.position(board)}")
        self._native.step(chosen)
        if self._opponent is not None:
            self._reply()
        observations, infos = self._observation_and_info()
        terminations = self._terminations.copy()
        if terminations.any():
            self._add_finals(infos, terminations)
        return observations, self._rewards.copy(), terminations, np.zeros(self.num_envs, dtype=np.bool_), infos

    def render(self) -> tuple[Any, ...] | None:
        """Render each board as text ("ansi") or as an image ("rgb_array")."""
        if self.render_mode is None:
            return None
        draw = str if self.render_mode == "ansi" else draw_board
        return tuple(draw(self.position(board)) for board in range(self.num_envs))

    def close_extras(self, **kwargs: Any) -> None:
        """Close the opponent. An `Agent` passed as an object stays open."""
        if self._opponent is not None:
            self._opponent.close()

    # -- extensions ------------------------------------------------------------------------------------------------

    @property
    def ruleset(self) -> Ruleset:
        """The ruleset for all games."""
        return self._spaces.ruleset

    def action_masks(self) -> Flags:
        """Return the legal actions as bool [num_envs, actions], for sb3-contrib."""
        return self._observed(self._masks, self._mask_copies).view(np.bool_)

    def sample_actions(self) -> Actions:
        """Sample a random legal point for each board [num_envs], never a resignation; seeded by `reset`."""
        actions = np.empty(self.num_envs, dtype=np.int64)
        self._native.sample_actions(draw_seed(self.np_random), actions)
        return actions

    def position(self, board: int) -> Position:
        """Return the current position of one board."""
        if not 0 <= board < self.num_envs:
            raise InputError(f"board {board} does not exist (boards are numbered 0–{self.num_envs - 1})")
        return Position.from_moves(self.ruleset, self._native.moves(board))

    def get_state(self) -> VectorEnvState:
        """Save all games and random generators for `set_state`."""
        games = tuple(self._native.save(board) for board in range(self.num_envs))
        return VectorEnvState(games, dict(self.np_random.bit_generator.state), str(self.ruleset))

    def set_state(self, state: VectorEnvState) -> tuple[Planes, dict[str, Any]]:
        """Restore saved games, including the random generators; return observations and infos as `reset` does."""
        if len(state.games) != self.num_envs:
            raise InputError(f"the state has {len(state.games)} boards, but the environment has {self.num_envs}")
        if state.ruleset != str(self.ruleset):
            raise InputError(f"the state is for {state.ruleset}, but the environment plays {self.ruleset}")
        for board, game in enumerate(state.games):
            try:
                self._native.restore(board, game)
            except (ValueError, TypeError) as error:
                raise InputError(f"the state is damaged: {error}") from None
        self.np_random.bit_generator.state = state.rng_state
        self._seeded = True
        return self._observation_and_info()

    def __getstate__(self) -> dict[str, Any]:
        return {
            "settings": self._settings,
            "spec": self.spec,
            "spaces": (self.single_action_space, self.action_space),
            "rng": (self._np_random, self._np_random_seed, self._rng),
            "games": self.get_state() if self._seeded else None,
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(**state["settings"])  # type: ignore[misc]
        self.spec = state["spec"]
        self.single_action_space, self.action_space = state["spaces"]
        self._np_random, self._np_random_seed, self._rng = state["rng"]
        if state["games"] is not None:
            if self._opponent is not None:
                self._opponent.new_game(self.ruleset, np.random.default_rng(0))
            self.set_state(state["games"])

    def __deepcopy__(self, memo: dict[int, Any]) -> GomokuVectorEnv:
        opponent = self._settings["opponent"]
        memo[id(opponent)] = opponent  # searches cannot be copied, and they depend on the position alone
        clone: GomokuVectorEnv = type(self).__new__(type(self))
        clone.__setstate__(copy.deepcopy(self.__getstate__(), memo))
        return clone

    # -- internals -------------------------------------------------------------------------------------------------

    def _board_seeds(self, seed: int | Sequence[int | None] | None) -> Sequence[int | None]:
        """Return one seed per board; a board whose seed is None continues with its current generator.

        A single integer also seeds the environment's own generator.
        """
        if isinstance(seed, (int, np.integer)):
            super().reset(seed=int(seed))
            seeds: Sequence[int | None] = range(int(seed), int(seed) + self.num_envs)
        elif seed is not None:
            if len(seed) != self.num_envs:
                raise InputError(f"got {len(seed)} seeds for {self.num_envs} boards: pass one seed per board")
            super().reset(seed=next((board_seed for board_seed in seed if board_seed is not None), None))
            seeds = seed
        elif self._seeded:
            seeds = [None] * self.num_envs
        else:
            seeds = [draw_seed(self.np_random) for _ in range(self.num_envs)]
        if any(board_seed is not None for board_seed in seeds):
            self._rng = np.random.default_rng([abs(each) for each in seeds if each is not None])
        self._seeded = True
        return seeds

    def _checked_reset_mask(self, options: dict[str, Any] | None) -> Flags:
        chosen = dict(options or {})
        mask = chosen.pop("reset_mask", None)
        if chosen:
            raise InputError(f"unknown reset options {', '.join(chosen)} (known: reset_mask)")
        if mask is None:
            return self._every_board
        if not isinstance(mask, np.ndarray) or mask.shape != (self.num_envs,) or mask.dtype != np.bool_:
            raise InputError(f"reset_mask must be a bool array of shape ({self.num_envs},), not {mask!r}")
        return mask

    def _checked_actions(self, actions: npt.ArrayLike) -> Actions:
        array = np.asarray(actions)
        if array.shape != (self.num_envs,) or array.dtype.kind not in "iu":
            raise InputError(
                f"actions must be integers of shape ({self.num_envs},), not {array.dtype} of shape {array.shape}"
            )
        return np.ascontiguousarray(array, dtype=np.int64)

    def _ordered(self, planes: npt.NDArray[Any]) -> Planes:
        """Return native planes [num_envs, C, height, width] as a view with the configured dtype and channel order."""
        seen: Planes = planes.view(self._spaces.dtype)
        return np.moveaxis(seen, 1, -1) if self._spaces.channels_last else seen

    def _reply(self) -> None:
        """Play the opponent's moves on the boards that wait for one, including the first moves of new games."""
        assert self._opponent is not None
        replies = np.zeros(self.num_envs, dtype=np.int64)
        while len(boards := np.flatnonzero(self._owed)):
            for board in boards.tolist():
                replies[board] = self._opponent.choose(self.position(board).native, self._rng)
            self._native.reply(replies)

    def _observed(self, view: npt.NDArray[Any], copies: ArrayCopies) -> npt.NDArray[Any]:
        return copies.make(view) if self._copy else view

    def _observation_and_info(self) -> tuple[Planes, dict[str, Any]]:
        infos = {
            "action_mask": self._observed(self._masks, self._mask_copies),
            "_action_mask": self._every_board,
            "colour": self._colours.copy() if self._copy else self._colours,
            "_colour": self._every_board,
        }
        return self._observed(self._planes, self._plane_copies), infos

    def _add_finals(self, infos: dict[str, Any], finished: Flags) -> None:
        """Add the final observations and infos that Gymnasium's SAME_STEP mode requires."""
        boards = np.flatnonzero(finished)
        final_obs = np.empty(self.num_envs, dtype=object)  # every entry is None
        for board, planes in zip(boards.tolist(), self._final_planes[boards], strict=True):
            final_obs[board] = planes
        outcome = np.empty(self.num_envs, dtype=object)
        outcome[boards] = _OUTCOMES[self._outcomes[boards]]
        finals = {
            "action_mask": self._no_actions,
            "colour": self._final_colours * finished,
            "outcome": outcome,
            "episode_return": self._episode_returns * finished,
            "episode_length": self._episode_lengths * finished,
        }
        infos["final_obs"], infos["_final_obs"] = final_obs, finished
        infos["final_info"] = finals | {f"_{name}": finished for name in finals}
        infos["_final_info"] = finished
