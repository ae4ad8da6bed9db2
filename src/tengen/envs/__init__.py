"""Reinforcement-learning environments that play Gomoku, for Gymnasium (single or vectorised) and PettingZoo.

Importing this package registers `tengen/Gomoku-v1` with Gymnasium, for `gymnasium.make` and `gymnasium.make_vec` (which
returns the native `GomokuVectorEnv`). The PettingZoo environment `tengen.envs.gomoku_aec` is imported separately
because it needs pettingzoo. The manual is docs/reference/environments.md.

>>> import gymnasium, tengen.envs
>>> env = gymnasium.make("tengen/Gomoku-v1", ruleset="9x9:5:freestyle", opponent="naive:level=1")
>>> observation, info = env.reset(seed=1)
>>> observation.shape, info["action_mask"].shape
((3, 9, 9), (81,))
"""

from __future__ import annotations

from tengen.core.extras import needs_extra

with needs_extra("tengen.envs", "envs"):
    import gymnasium

    from tengen.envs.gomoku import GomokuEnv
    from tengen.envs.vector import GomokuVectorEnv

__all__ = ["ENV_ID", "GomokuEnv", "GomokuVectorEnv"]

ENV_ID = "tengen/Gomoku-v1"

if ENV_ID not in gymnasium.registry:
    gymnasium.register(
        ENV_ID,
        entry_point="tengen.envs.gomoku:GomokuEnv",
        vector_entry_point="tengen.envs.vector:GomokuVectorEnv",
    )
