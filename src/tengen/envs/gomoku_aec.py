"""Gomoku for two agents, as a PettingZoo AEC environment.

Agents `black` and `white` alternate. An observation is `{"observation": planes [C, height, width], "action_mask":
int8 [actions]}`: the planes are from the agent's point of view, and the mask is all zero for the agent that is not to
move. The winner's reward is +1, the loser's -1. `env` adds the wrappers of PettingZoo's classic games: an illegal move
ends the game with -1 for the agent that made it.

>>> from tengen.envs import gomoku_aec
>>> game = gomoku_aec.env(ruleset="9x9:5:freestyle")
>>> game.reset(seed=1)
>>> game.agent_selection, game.last()[0]["action_mask"].sum()
('black', np.int64(81))
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from gymnasium.utils import EzPickle, seeding

from tengen.core.contracts import Colour, Ruleset
from tengen.core.position import Position
from tengen.envs.rendering import IMAGES_PER_SECOND, RENDER_MODES, Renderer
from tengen.envs.spaces import BoardSpaces, check_opening_moves
from tengen.errors import GameOverError, InputError, MissingExtraError

try:
    from pettingzoo import AECEnv
    from pettingzoo.utils import wrappers
except ModuleNotFoundError as error:
    if error.name != "pettingzoo":
        raise
    raise MissingExtraError(
        "tengen.envs.gomoku_aec needs pettingzoo: pip install -e '.[envs]' in Tengen's folder"
    ) from error

LAYOUT = "own-other-last-colour"
"""Default planes: own stones, the opponent's stones, the last move, all ones if black is to move."""


def env(**settings: Any) -> Any:
    """Return the environment with PettingZoo's usual wrappers; `raw_env` documents the settings."""
    game: Any = raw_env(**settings)
    game = wrappers.TerminateIllegalWrapper(game, illegal_reward=-1)
    game = wrappers.AssertOutOfBoundsWrapper(game)
    return wrappers.OrderEnforcingWrapper(game)


class raw_env(AECEnv, EzPickle):  # type: ignore[misc]  # noqa: N801  (the name PettingZoo expects; AECEnv is untyped)
    """The environment without wrappers; an illegal move raises an `IllegalMoveError` and changes nothing.

    Args:
        ruleset: The ruleset, as a `Ruleset` or its text form.
        observation: A layout from `tengen.core.planes`.
        dtype: uint8 (the default; int8 for the layout "board") or float32.
        resign_action: Add action width·height, which resigns the game.
        opening_moves: Number of random moves played at the start of each game.
        max_cycles: Truncate the game after this many moves by each agent.
        render_mode: "ansi", "rgb_array" or "human".
    """

    metadata: ClassVar[dict[str, Any]] = {
        "render_modes": list(RENDER_MODES),
        "name": "gomoku_v0",
        "is_parallelizable": False,
        "render_fps": IMAGES_PER_SECOND,
    }

    def __init__(
        self,
        ruleset: Ruleset | str = "15x15:5:freestyle",
        *,
        observation: str = LAYOUT,
        dtype: npt.DTypeLike | None = None,
        resign_action: bool = False,
        opening_moves: int = 0,
        max_cycles: int | None = None,
        render_mode: str | None = None,
    ) -> None:
        EzPickle.__init__(
            self,
            ruleset,
            observation=observation,
            dtype=dtype,
            resign_action=resign_action,
            opening_moves=opening_moves,
            max_cycles=max_cycles,
            render_mode=render_mode,
        )
        super().__init__()
        self._spaces = BoardSpaces.make(ruleset, observation, dtype, resign_action)
        self._opening_moves = check_opening_moves(opening_moves, self._spaces.ruleset)
        if max_cycles is not None and max_cycles < 1:
            raise InputError(f"max_cycles must be at least 1, not {max_cycles}")
        self._max_cycles = max_cycles
        self._renderer = Renderer(render_mode)
        self.render_mode = render_mode
        self.possible_agents = [str(colour) for colour in Colour]
        self.agents: list[str] = []
        self.action_spaces = {agent: self._spaces.action_space() for agent in self.possible_agents}
        self.observation_spaces = {
            agent: spaces.Dict(
                {
                    "observation": self._spaces.observation_space(),
                    "action_mask": spaces.Box(0, 1, (self._spaces.action_count,), np.int8),
                }
            )
            for agent in self.possible_agents
        }
        self._position = Position.start(self._spaces.ruleset)
        self._moves = 0
        self._rng, _ = seeding.np_random()

    @property
    def position(self) -> Position:
        """The current position."""
        return self._position

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """Return the space of the observations that `observe` returns."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """Return the action space: the point indices y·width + x and, with `resign_action`, resignation."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Start a new game. `seed` seeds the random openings; `options` is ignored."""
        if seed is not None:
            self._rng, _ = seeding.np_random(seed)
        self._position = Position.start(self._spaces.ruleset)
        for _ in range(self._opening_moves):
            self._position = self._position.play(int(self._rng.choice(np.flatnonzero(self._position.legal_mask()))))
        self._moves = 0
        self.agents = self.possible_agents[:]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self.agent_selection = str(self._position.to_move)
        self._renderer.watch(self._position)

    def observe(self, agent: str) -> dict[str, npt.NDArray[Any]]:
        """Return the agent's observation and action mask."""
        colour = Colour(agent)
        over = any(self.terminations.values()) or any(self.truncations.values())
        if colour is self._position.to_move and not over:
            mask = self._spaces.action_mask(self._position)
        else:
            mask = np.zeros(self._spaces.action_count, dtype=np.int8)
        return {"observation": self._spaces.observe(self._position, colour), "action_mask": mask}

    def step(self, action: Any) -> None:
        """Play the selected agent's action; it must be None for an agent that is terminated or truncated."""
        if not self.agents:
            raise GameOverError("call reset: no game is in progress")
        mover = self.agent_selection
        if self.terminations[mover] or self.truncations[mover]:
            self._was_dead_step(action)
            return
        number = self._spaces.check_action(action, self._position)
        if self._spaces.is_resignation(number):
            self._end(winner=Colour(mover).opponent)
        else:
            self._position = self._position.play(number)
            if self._position.is_over:
                self._end(winner=self._position.outcome.winner)
        self._moves += 1
        if self._max_cycles is not None and self._moves >= 2 * self._max_cycles and not self.terminations[mover]:
            self.truncations = dict.fromkeys(self.agents, True)
        self._cumulative_rewards[mover] = 0.0
        self.agent_selection = str(Colour(mover).opponent)
        self._accumulate_rewards()
        self._renderer.watch(self._position)

    def state(self) -> npt.NDArray[np.uint8]:
        """Return the stones [height, width]: 0 empty, 1 black, 2 white."""
        return self._position.cells()

    def render(self) -> Any:
        """Return the board as text ("ansi") or as an image uint8 [H, W, 3] ("rgb_array"), or show it ("human")."""
        return self._renderer.render(self._position)

    def close(self) -> None:
        """Close the window, if there is one."""
        self._renderer.close()

    def __str__(self) -> str:
        return str(self.metadata["name"])

    def _end(self, winner: Colour | None) -> None:
        self.terminations = dict.fromkeys(self.agents, True)
        if winner is not None:
            self.rewards = {str(winner): 1.0, str(winner.opponent): -1.0}
