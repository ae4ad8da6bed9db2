"""sb3-contrib's MaskablePPO trains on the environment without wrappers."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from sb3_contrib import MaskablePPO

from tengen.envs import GomokuEnv


def test_maskable_ppo_trains() -> None:
    torch.set_num_threads(1)
    # With the default invalid_move="raise", any masked action fails this test.
    env = GomokuEnv("5x5:4:freestyle", opponent="naive:level=0", side="random")
    settings: dict[str, Any] = {
        "n_steps": 64,
        "batch_size": 32,
        "n_epochs": 2,
        "seed": 1,
        "policy_kwargs": {"net_arch": [32]},
    }
    model = MaskablePPO("MlpPolicy", env, **settings)
    before = [weights.clone() for weights in model.policy.parameters()]
    model.learn(total_timesteps=320)
    assert model.num_timesteps == 320
    assert any(not torch.equal(a, b) for a, b in zip(before, model.policy.parameters(), strict=True))

    observation, _ = env.reset(seed=1)
    terminated = False
    while not terminated:
        masks = env.action_masks()
        action, _ = model.predict(observation, action_masks=masks, deterministic=True)
        assert masks[action]
        observation, _, terminated, _, _ = env.step(np.int64(action))
