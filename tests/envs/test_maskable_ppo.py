"""sb3-contrib's MaskablePPO trains on one board without wrappers, and on many boards through the adapter."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.vec_env import VecMonitor

from tengen.envs import GomokuEnv
from tengen.envs.stable_baselines import GomokuVecEnv
from tengen.errors import InputError

SETTINGS: dict[str, Any] = {
    "batch_size": 32,
    "n_epochs": 2,
    "seed": 1,
    "policy_kwargs": {"net_arch": [32]},
}


def train(env: Any, n_steps: int) -> MaskablePPO:
    """Train for 320 steps and check that the weights change."""
    torch.set_num_threads(1)
    model = MaskablePPO("MlpPolicy", env, n_steps=n_steps, **SETTINGS)
    before = [weights.clone() for weights in model.policy.parameters()]
    model.learn(total_timesteps=320)
    assert model.num_timesteps == 320
    assert any(not torch.equal(a, b) for a, b in zip(before, model.policy.parameters(), strict=True))
    return model


def test_maskable_ppo_trains() -> None:
    # With invalid_move="raise", any masked action fails this test.
    env = GomokuEnv("5x5:4:freestyle", opponent="naive:level=0", side="random", invalid_move="raise")
    model = train(env, n_steps=64)
    observation, _ = env.reset(seed=1)
    terminated = False
    while not terminated:
        masks = env.action_masks()
        action, _ = model.predict(observation, action_masks=masks, deterministic=True)
        assert masks[action]
        observation, _, terminated, _, _ = env.step(np.int64(action))


def test_maskable_ppo_trains_on_many_boards() -> None:
    env = GomokuVecEnv(8, "5x5:4:freestyle", opponent="naive:level=0", side="random", invalid_move="raise")
    model = train(env, n_steps=8)
    assert model.ep_info_buffer is not None
    assert len(model.ep_info_buffer) > 10  # the lengths and returns that MaskablePPO logs
    assert all(1 <= episode["l"] <= 13 and episode["r"] in (-1.0, 0.0, 1.0) for episode in model.ep_info_buffer)


def test_adapter_follows_the_vec_env_api() -> None:
    env = GomokuVecEnv(
        3, "3x3:3:freestyle", opponent=lambda position: position.legal_points()[0], render_mode="rgb_array"
    )
    env.seed(5)
    assert env.reset().shape == (3, 3, 3, 3)
    assert env.get_attr("num_envs") == [3, 3, 3]
    assert [position.stones for position in env.env_method("position", indices=[0, 2])] == [0, 0]
    np.testing.assert_array_equal(np.stack(env.env_method("action_masks")), env.action_masks())
    images = env.get_images()
    assert images[0] is not None
    assert images[0].shape == (96, 96, 3)
    for actions in ([8, 4, 4], [7, 1, 8]):
        _, rewards, dones, infos = env.step(np.array(actions))
        assert rewards.dtype == np.float32
        assert not dones.any()
        assert infos == [{}, {}, {}]
    observations, rewards, dones, infos = env.step(np.array([5, 8, 8]))
    assert rewards.tolist() == [-1.0, 0.0, -1.0]  # the third action is illegal
    assert dones.tolist() == [True, False, True]
    assert infos[1] == {}
    assert infos[0]["terminal_observation"][2].sum() == 6
    assert isinstance(observations, np.ndarray)
    assert observations[0].sum() == 0
    assert (infos[0]["outcome"], infos[0]["episode"]["l"], infos[0]["TimeLimit.truncated"]) == ("white", 3, False)
    with pytest.raises(InputError, match="boards have no method 'reset'"):
        env.env_method("reset")
    with pytest.raises(InputError, match="cannot set 'threads'"):
        env.set_attr("threads", 2)
    env.close()


def test_adapter_games_depend_on_the_seed() -> None:
    def game(seed: int) -> list[float]:
        env = GomokuVecEnv(2, "9x9", side="white")
        env.seed(seed)
        return np.concatenate([env.reset().ravel(), env.reset().ravel()]).tolist()

    assert game(1) == game(1)
    assert game(1) != game(2)


def test_adapter_works_under_a_wrapper() -> None:
    env = VecMonitor(GomokuVecEnv(2, "3x3:3:freestyle"))
    env.reset()
    *_, infos = env.step(np.array([0, 1]))
    assert len(infos) == 2
