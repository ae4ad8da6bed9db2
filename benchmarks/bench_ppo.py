"""Our PPO against sb3-contrib's MaskablePPO, with the same game, network, settings and number of training moves.

The game is four in a row on 5×5, as black against naive level 0. Both use one hidden layer of 128 units each for policy
and value, Adam with learning rate 1e-3, four epochs in minibatches of 256, clip range 0.2, γ 0.99, λ 0.95 and an
entropy weight of 0.01. The score is the mean over 200 games, playing the move with the highest policy, after training
on the same number of the learner's moves. Speed is the learner's moves per second of CPU time, including training, on
one thread.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.env_util import make_vec_env

from tengen.core.contracts import Ruleset
from tengen.envs import GomokuEnv
from tengen.learning.algorithms import ppo
from tengen.learning.experience.episodes import Colours, EpisodePlayer, PlayConfig, masked_log_policy, sample_policy
from tengen.nets.architectures import Net, NetConfig, NetKind, NetOutput, build_net

RULES = Ruleset.parse("5x5:4")
OPPONENT = "naive:level=0"
MOVES = 40_000
HIDDEN = 128
GAMES = 200
SEED = 1


def run() -> dict[str, float]:
    torch.set_num_threads(1)
    our_score, our_speed = _ours()
    their_score, their_speed = _theirs()
    return {
        "moves": MOVES,
        "ppo_score": our_score,
        "maskable_ppo_score": their_score,
        "ppo_moves_per_second": our_speed,
        "ppo_to_maskable_ppo_speed_ratio": our_speed / their_speed,
    }


def _play_config(games: int) -> PlayConfig:
    return PlayConfig(games=games, opponents=(OPPONENT,), colours=Colours.BLACK, symmetric=False)


def _ours() -> tuple[float, float]:
    config = ppo.LearnerConfig(learning_rate=1e-3, final_learning_rate=1e-3, discount=0.99, epochs=4, batch=256)
    net = build_net(NetConfig(kind=NetKind.DENSE_VALUE, planes="board", channels=HIDDEN), RULES, seed=SEED)
    learner = ppo.Learner(net, config)
    player = EpisodePlayer(RULES, "board", _play_config(128))
    rng = np.random.default_rng(SEED)
    choose = sample_policy(torch.Generator().manual_seed(SEED))
    moves, started = 0, time.process_time()
    while moves < MOVES:
        episodes = player.play(net, None, choose, rng)
        learner.update(ppo.make_rollout(episodes, config), 0.0, rng)
        moves += len(episodes)
    return _score(net), moves / (time.process_time() - started)


def _score(net: Net) -> float:
    def best(output: NetOutput, legal: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        log_policy, actions = masked_log_policy(output.policy_logits, legal).max(dim=1)
        return actions, log_policy

    return (
        EpisodePlayer(RULES, "board", _play_config(GAMES))
        .play(net, None, best, np.random.default_rng(SEED))
        .scores[OPPONENT]
    )


def _theirs() -> tuple[float, float]:
    def make() -> GomokuEnv:
        return GomokuEnv(RULES, opponent=OPPONENT, observation="board", dtype="float32")

    settings: dict[str, Any] = {
        "n_steps": 128,
        "batch_size": 256,
        "n_epochs": 4,
        "learning_rate": 1e-3,
        "ent_coef": 0.01,
        "seed": SEED,
        "policy_kwargs": {"net_arch": [HIDDEN], "activation_fn": torch.nn.ReLU},
    }
    model = MaskablePPO("MlpPolicy", make_vec_env(make, 8, seed=SEED), **settings)
    started = time.process_time()
    model.learn(total_timesteps=MOVES)
    speed = model.num_timesteps / (time.process_time() - started)
    env, points = make(), 0.0
    for game in range(GAMES):
        observation, _ = env.reset(seed=game)
        reward, over = 0.0, False
        while not over:
            action, _ = model.predict(observation, action_masks=env.action_masks(), deterministic=True)
            observation, value, over, _, _ = env.step(np.int64(action))
            reward = float(value)
        points += (1 + reward) / 2
    return points / GAMES, speed
