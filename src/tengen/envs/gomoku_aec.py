"""Gomoku for two agents, as a PettingZoo AEC environment.

The agents `player_0` (black) and `player_1` (white) alternate. An observation is `{"observation": planes [height,
width, C], "action_mask": int8 [actions]}`: the planes are from the agent's point of view, and the mask is all zero for
the agent that is not to move. The winner's reward is +1, the loser's -1. With `env`, an illegal move ends the game with
-1 for the agent that made it.

>>> from tengen.envs import gomoku_aec
>>> game = gomoku_aec.env(ruleset="9x9:5:freestyle")
>>> game.reset(seed=1)
>>> game.agent_selection, game.last()[0]["action_mask"].sum()
('player_0', np.int64(81))

Version history:

* v1: agents are called `player_0` and `player_1`, and the planes come last in an observation (`channels="first"` puts
  them first, as before). For migration, see docs/reference/environments.md.
* v0: first version.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from gymnasium.utils import seeding

from tengen._native import Board, play_if_legal
from tengen.core.contracts import Colour, Ruleset
from tengen.core.extras import needs_extra
from tengen.core.native_enums import colour_to_native
from tengen.core.position import Position
from tengen.envs.gomoku import OUTCOMES
from tengen.envs.rendering import IMAGES_PER_SECOND, RENDER_MODES, Renderer
from tengen.envs.spaces import BoardSpaces, check_opening_moves
from tengen.errors import GameOverError, InputError

with needs_extra("tengen.envs.gomoku_aec", "envs"):
    from pettingzoo import AECEnv, ParallelEnv
    from pettingzoo.utils.conversions import turn_based_aec_to_parallel
    from pettingzoo.utils.env_logger import EnvLogger

AGENTS = {Colour.BLACK: "player_0", Colour.WHITE: "player_1"}
"""The agents' names. Black plays first."""

_COLOURS = {agent: colour for colour, agent in AGENTS.items()}
_NATIVE_COLOURS = {agent: colour_to_native(colour) for agent, colour in _COLOURS.items()}
_OTHERS = {AGENTS[colour]: AGENTS[colour.opponent] for colour in AGENTS}

LAYOUT = "own-other-last-colour"
"""Default planes: own stones, the opponent's stones, the last move, all ones if black is to move."""


def env(**settings: Any) -> CheckedEnv:
    """Return the environment with checks, as PettingZoo's classic games do. `raw_env` documents the settings."""
    return CheckedEnv(**settings)


def parallel_env(**settings: Any) -> ParallelEnv[str, Any, Any]:
    """Return the environment behind PettingZoo's parallel API, for trainers that support only this API.

    Gomoku is played in turns, so a parallel step is one move. The other agent's mask is all zero, and its action is
    ignored. `max_cycles` counts these steps.
    """
    game = CheckedEnv(**settings)
    game.moves_per_cycle = 1
    parallel: ParallelEnv[str, Any, Any] = turn_based_aec_to_parallel(game)
    return parallel


@dataclass(frozen=True, slots=True)
class AECState:
    """The saved state of a game, for `set_state`."""

    position: Position
    moves: int
    agents: tuple[str, ...]
    selection: str
    rewards: dict[str, float]
    cumulative_rewards: dict[str, float]
    terminations: dict[str, bool]
    truncations: dict[str, bool]
    rng_state: dict[str, Any]


class raw_env(AECEnv):  # type: ignore[misc]  # noqa: N801  (the name PettingZoo expects; AECEnv is untyped)
    """The environment without checks; an illegal move raises an `IllegalMoveError` and changes nothing.

    Args:
        ruleset: The ruleset, as a `Ruleset` or its text form.
        observation: A layout from `tengen.core.planes`.
        channels: Order of the planes: "last" for [height, width, C], as in PettingZoo's games, "first" for [C, height,
            width], as torch expects.
        dtype: uint8 (the default; int8 for the layout "board") or float32.
        resign_action: Add action width·height, which resigns the game.
        opening_moves: Number of random moves played at the start of each game.
        max_cycles: Truncate the game after this many moves by each agent.
        render_mode: "ansi", "rgb_array" or "human".

    Environments can be copied (`copy.deepcopy`) and pickled in the middle of a game.
    """

    metadata: ClassVar[dict[str, Any]] = {
        "render_modes": list(RENDER_MODES),
        "name": "gomoku_v1",
        "is_parallelizable": False,
        "render_fps": IMAGES_PER_SECOND,
    }

    def __init__(
        self,
        ruleset: Ruleset | str = "15x15:5:freestyle",
        *,
        observation: str = LAYOUT,
        channels: str = "last",
        dtype: npt.DTypeLike | None = None,
        resign_action: bool = False,
        opening_moves: int = 0,
        max_cycles: int | None = None,
        render_mode: str | None = None,
    ) -> None:
        super().__init__()
        self._settings = {
            "ruleset": ruleset,
            "observation": observation,
            "channels": channels,
            "dtype": dtype,
            "resign_action": resign_action,
            "opening_moves": opening_moves,
            "max_cycles": max_cycles,
            "render_mode": render_mode,
        }
        self._spaces = BoardSpaces.make(ruleset, observation, channels, dtype, resign_action)
        self._opening_moves = check_opening_moves(opening_moves, self._spaces.ruleset)
        if max_cycles is not None and max_cycles < 1:
            raise InputError(f"max_cycles must be at least 1, not {max_cycles}")
        self._max_cycles = max_cycles
        self.moves_per_cycle = 2
        self._renderer = Renderer(render_mode)
        self.render_mode = render_mode
        self.possible_agents = list(AGENTS.values())
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
        self._board: Board = Position.start(self._spaces.ruleset).native
        self._position: Position | None = None  # created from the board on demand
        self._moves = 0
        self._rng, _ = seeding.np_random()

    @property
    def position(self) -> Position:
        """The current position."""
        if self._position is None:
            self._position = Position(self._spaces.ruleset, self._board.copy())
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
        position = Position.start(self._spaces.ruleset)
        for _ in range(self._opening_moves):
            position = position.play(int(self._rng.choice(np.flatnonzero(position.legal_mask()))))
        self._set_position(position)
        self._moves = 0
        self.agents = self.possible_agents[:]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self.agent_selection = AGENTS[position.to_move]
        self._skip_agent_selection = None
        self._watch()

    def observe(self, agent: str) -> dict[str, npt.NDArray[Any]]:
        """Return the agent's observation and action mask."""
        viewer = _NATIVE_COLOURS[agent]
        planes, mask = self._spaces.observe(self._board, viewer)
        if viewer is not self._board.to_move or self._is_over():
            mask.fill(0)
        return {"observation": planes, "action_mask": mask}

    def step(self, action: Any) -> None:
        """Play the selected agent's action; it must be None for an agent that is terminated or truncated."""
        if not self.agents:
            raise GameOverError("call reset(): no game is in progress")
        mover = self.agent_selection
        if self.terminations[mover] or self.truncations[mover]:
            self._was_dead_step(action)
            return
        number = self._spaces.action_number(action)
        if self._spaces.is_resignation(number):
            self._end(winner=_COLOURS[mover].opponent)
        else:
            outcome = play_if_legal(self._board, number)
            if outcome < 0:
                self._refuse(number)
                return
            self._position = None
            if outcome:
                self._end(winner=OUTCOMES[outcome].winner)
        self._moves += 1
        if self._max_cycles is not None and self._moves >= self.moves_per_cycle * self._max_cycles:
            self._truncate(mover)
        self._cumulative_rewards[mover] = 0.0
        self.agent_selection = _OTHERS[mover]
        self._accumulate_rewards()
        self._watch()

    def state(self) -> npt.NDArray[np.uint8]:
        """Return the stones [height, width]: 0 empty, 1 black, 2 white."""
        return self._board.cells()

    def render(self) -> Any:
        """Return the board as text ("ansi") or as an image uint8 [H, W, 3] ("rgb_array"), or show it ("human")."""
        return self._renderer.render(self.position)

    def close(self) -> None:
        """Close the window, if any."""
        self._renderer.close()

    def __str__(self) -> str:
        return str(self.metadata["name"])

    def get_state(self) -> AECState:
        """Save the current state for `set_state`."""
        if not hasattr(self, "rewards"):
            raise GameOverError("call reset(): no game has started")
        return AECState(
            position=self.position,
            moves=self._moves,
            agents=tuple(self.agents),
            selection=self.agent_selection,
            rewards=dict(self.rewards),
            cumulative_rewards=dict(self._cumulative_rewards),
            terminations=dict(self.terminations),
            truncations=dict(self.truncations),
            rng_state=dict(self._rng.bit_generator.state),
        )

    def set_state(self, state: AECState) -> None:
        """Restore a saved state, including the random generator."""
        if state.position.ruleset != self._spaces.ruleset:
            raise InputError(f"the state belongs to a game of {state.position.ruleset}, not {self._spaces.ruleset}")
        self._set_position(state.position)
        self._moves = state.moves
        self.agents = list(state.agents)
        self.agent_selection = state.selection
        self._skip_agent_selection = None
        self.rewards = dict(state.rewards)
        self._cumulative_rewards = dict(state.cumulative_rewards)
        self.terminations = dict(state.terminations)
        self.truncations = dict(state.truncations)
        self.infos = {agent: {} for agent in self.agents}
        self._rng.bit_generator.state = state.rng_state
        self._watch()

    def __getstate__(self) -> dict[str, Any]:
        return {
            "settings": self._settings,
            "moves_per_cycle": self.moves_per_cycle,
            "action_spaces": self.action_spaces,
            "rng": self._rng,
            "game": self.get_state() if hasattr(self, "rewards") else None,
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(**state["settings"])  # type: ignore[misc]
        self.moves_per_cycle = state["moves_per_cycle"]
        self.action_spaces = state["action_spaces"]
        self._rng = state["rng"]
        if state["game"] is not None:
            self.set_state(state["game"])

    def _set_position(self, position: Position) -> None:
        self._board, self._position = position.native.copy(), position

    def _is_over(self) -> bool:
        return any(self.terminations.values()) or any(self.truncations.values())

    def _watch(self) -> None:
        if self.render_mode == "human":
            self._renderer.watch(self.position)

    def _refuse(self, action: int) -> None:
        """Handle an illegal action of the selected agent."""
        self.position.play(action)  # raises an error that says why the move is illegal

    def _truncate(self, mover: str) -> None:
        if not self.terminations[mover]:
            self.truncations = dict.fromkeys(self.agents, True)

    def _end(self, winner: Colour | None) -> None:
        self.terminations = dict.fromkeys(self.agents, True)
        if winner is not None:
            self.rewards = {AGENTS[winner]: 1.0, AGENTS[winner.opponent]: -1.0}


class CheckedEnv(raw_env):
    """The environment with the checks of PettingZoo's wrappers, built in because the wrappers are several times slower.

    An illegal move ends the game, with -1 for the agent that made it and 0 for the other (`TerminateIllegalWrapper`).
    An action outside the action space raises an assertion error (`AssertOutOfBoundsWrapper`). Calls before `reset`
    raise errors, and steps after the end of the game are ignored with a warning (`OrderEnforcingWrapper`).
    """

    def __getattr__(self, name: str) -> Any:
        if name in _SET_BY_RESET:
            raise AttributeError(f"{name} cannot be accessed before reset")
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def step(self, action: Any) -> None:
        """Play the selected agent's action; it must be None for an agent that is terminated or truncated."""
        if not self._has_game():
            EnvLogger.error_step_before_reset()
        if not self.agents:
            EnvLogger.warn_step_after_terminated_truncated()
            return
        agent = self.agent_selection
        if action is not None or not (self.terminations[agent] or self.truncations[agent]):
            assert self._spaces.contains(action), "action is not in action space"
        super().step(action)

    def observe(self, agent: str) -> dict[str, npt.NDArray[Any]]:
        """Return the agent's observation and action mask."""
        if not self._has_game():
            EnvLogger.error_observe_before_reset()
        return super().observe(agent)

    def state(self) -> npt.NDArray[np.uint8]:
        """Return the stones [height, width]: 0 empty, 1 black, 2 white."""
        if not self._has_game():
            EnvLogger.error_state_before_reset()
        return super().state()

    def render(self) -> Any:
        """Return the board as text ("ansi") or as an image uint8 [H, W, 3] ("rgb_array"), or show it ("human")."""
        if not self._has_game():
            EnvLogger.error_render_before_reset()
        return super().render()

    def agent_iter(self, max_iter: int = 2**63) -> Any:
        """Yield the selected agent until the game has ended for both agents."""
        if not self._has_game():
            EnvLogger.error_agent_iter_before_reset()
        return super().agent_iter(max_iter)

    def _refuse(self, action: int) -> None:
        EnvLogger.warn_on_illegal_move()
        mover = self.agent_selection
        self.terminations = dict.fromkeys(self.agents, True)
        self.truncations = dict.fromkeys(self.agents, True)
        self._cumulative_rewards[mover] = 0.0
        self.rewards = {mover: -1.0, _OTHERS[mover]: 0.0}
        self._accumulate_rewards()
        self._watch()

    def _has_game(self) -> bool:
        return "rewards" in self.__dict__


_SET_BY_RESET = frozenset({"rewards", "terminations", "truncations", "infos", "agent_selection"})
