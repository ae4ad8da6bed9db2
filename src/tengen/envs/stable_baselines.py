"""`GomokuVecEnv`: the native vector environment for Stable-Baselines3 and sb3-contrib.

`MaskablePPO` uses the action masks automatically. This module needs stable-baselines3, which sb3-contrib installs.

    from sb3_contrib import MaskablePPO
    from tengen.envs.stable_baselines import GomokuVecEnv

    model = MaskablePPO("MlpPolicy", GomokuVecEnv(64, "9x9:5:freestyle", opponent="naive:level=0"), n_steps=32)
    model.learn(100_000)
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tengen.core.extras import needs_package
from tengen.envs.vector import Actions, Flags, GomokuVectorEnv
from tengen.errors import InputError

with needs_package("tengen.envs.stable_baselines", "sb3-contrib", "stable_baselines3"):
    from stable_baselines3.common.vec_env import VecEnv


class GomokuVecEnv(VecEnv):
    """A `VecEnv` that wraps a `GomokuVectorEnv` and takes the same arguments.

    When a game ends, the next one starts in the same step, as Stable-Baselines3 expects. The `info` then has
    `terminal_observation`, `TimeLimit.truncated` (always False), `outcome` and `episode` (return `r`, length `l` and
    seconds `t`), so a `VecMonitor` is not needed.
    """

    def __init__(self, num_envs: int = 1, *args: Any, **settings: Any) -> None:
        self.env = GomokuVectorEnv(num_envs, *args, **settings)
        self._started = time.monotonic()
        self._actions: Actions | None = None
        # VecEnv.__init__ asks for render_mode through get_attr, which needs self.env.
        super().__init__(num_envs, self.env.single_observation_space, self.env.single_action_space)

    def reset(self) -> npt.NDArray[Any]:
        """Start a new game on every board, using the seeds set with `seed`."""
        seeds = self._seeds if any(seed is not None for seed in self._seeds) else None
        observations, _ = self.env.reset(seed=seeds)
        self._reset_seeds()
        self._reset_options()
        return observations

    def step_async(self, actions: npt.NDArray[Any]) -> None:
        """Set the actions of the next step."""
        self._actions = actions

    def step_wait(self) -> tuple[npt.NDArray[Any], npt.NDArray[np.float32], Flags, list[dict[str, Any]]]:
        """Play the actions; return observations, rewards, dones and infos."""
        if self._actions is None:
            raise InputError("call step_async before step_wait")
        observations, rewards, dones, _, infos = self.env.step(self._actions)
        self._actions = None
        per_board: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        for board in np.flatnonzero(dones).tolist():
            per_board[board] = self._final_info(board, infos)
        return observations, rewards.astype(np.float32), dones, per_board

    def close(self) -> None:
        """Close the environment."""
        self.env.close()

    def action_masks(self) -> Flags:
        """Return the legal actions as bool [num_envs, actions]."""
        return self.env.action_masks()

    def get_attr(self, attr_name: str, indices: int | Iterable[int] | None = None) -> list[Any]:
        """Return an attribute of the vector environment once per board."""
        return [getattr(self.env, attr_name)] * len(self._boards(indices))

    def set_attr(self, attr_name: str, value: Any, indices: int | Iterable[int] | None = None) -> None:
        """Raise `InputError`, because the boards have no attributes of their own."""
        raise InputError(f"cannot set {attr_name!r}: create the environment with other settings instead")

    def env_method(
        self, method_name: str, *method_args: Any, indices: int | Iterable[int] | None = None, **method_kwargs: Any
    ) -> list[Any]:
        """Call `action_masks` or `position` for each board; other methods are not available."""
        boards = self._boards(indices)
        if method_name == "action_masks":
            masks = self.env.action_masks()
            return [masks[board] for board in boards]
        if method_name == "position":
            return [self.env.position(board) for board in boards]
        raise InputError(f"boards have no method {method_name!r} (known: action_masks, position)")

    def env_is_wrapped(self, wrapper_class: type[Any], indices: int | Iterable[int] | None = None) -> list[bool]:
        """Return, for each board, whether the wrapper is `Monitor`; `info` already contains what a monitor adds."""
        from stable_baselines3.common.monitor import Monitor

        return [wrapper_class is Monitor] * len(self._boards(indices))

    def get_images(self) -> Sequence[npt.NDArray[np.uint8] | None]:
        """Return one image per board; needs `render_mode="rgb_array"`."""
        images = self.env.render() if self.env.render_mode == "rgb_array" else None
        return [None] * self.num_envs if images is None else images

    def _boards(self, indices: int | Iterable[int] | None) -> Sequence[int]:
        return list(self._get_indices(indices))

    def _final_info(self, board: int, infos: dict[str, Any]) -> dict[str, Any]:
        finals = infos["final_info"]
        return {
            "terminal_observation": infos["final_obs"][board],
            "TimeLimit.truncated": False,
            "outcome": finals["outcome"][board],
            "episode": {
                "r": float(finals["episode_return"][board]),
                "l": int(finals["episode_length"][board]),
                "t": round(time.monotonic() - self._started, 6),
            },
        }
