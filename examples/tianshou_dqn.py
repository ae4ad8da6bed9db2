"""Train tianshou's DQN against a random player on Tengen's PettingZoo environment.

This needs tianshou 2: `pip install 'tengen[envs]' tianshou`. Black learns four in a row on 6x6.
"""

from __future__ import annotations

import argparse
import logging

import numpy as np
import torch
from tianshou.algorithm import DQN
from tianshou.algorithm.modelfree.dqn import DiscreteQLearningPolicy
from tianshou.algorithm.multiagent.marl import MultiAgentOffPolicyAlgorithm
from tianshou.algorithm.optim import AdamOptimizerFactory
from tianshou.algorithm.random import MARLRandomDiscreteMaskedOffPolicyAlgorithm
from tianshou.data import Collector, VectorReplayBuffer
from tianshou.env import DummyVectorEnv, PettingZooEnv
from tianshou.trainer import OffPolicyTrainerParams
from tianshou.utils.net.common import Net

from tengen.envs import gomoku_aec

BOARDS = 8


def main(steps: int, test_games: int) -> None:
    """Train for `steps` moves and print the score of black before and after."""
    logging.getLogger("tianshou").setLevel(logging.ERROR)  # it warns about the returns of two agents
    np.random.seed(1)  # noqa: NPY002  (tianshou draws from it)
    torch.manual_seed(1)
    game = make_game()
    spaces = game.observation_space["observation"], game.action_space
    black = DQN(
        policy=DiscreteQLearningPolicy(
            model=Net(state_shape=spaces[0].shape, action_shape=spaces[1].n, hidden_sizes=[128, 128]),
            action_space=spaces[1],
            eps_training=0.1,
        ),
        optim=AdamOptimizerFactory(lr=1e-3),
        n_step_return_horizon=3,
        target_update_freq=200,
    )
    white = MARLRandomDiscreteMaskedOffPolicyAlgorithm(spaces[1])
    players = MultiAgentOffPolicyAlgorithm(algorithms=[black, white], env=game)

    training = Collector(players, DummyVectorEnv([make_game] * BOARDS), VectorReplayBuffer(20_000, BOARDS))
    testing = Collector(players, DummyVectorEnv([make_game] * BOARDS))
    print(f"before: black wins {black_wins(testing, test_games):.0%} of {test_games} games")
    training.reset()
    players.run_training(
        OffPolicyTrainerParams(
            training_collector=training,
            max_epochs=1,
            epoch_num_steps=steps,
            collection_step_num_env_steps=64,
            update_step_num_gradient_steps_per_sample=0.25,
            batch_size=64,
            multi_agent_return_reduction=lambda returns: returns[:, 0],
            verbose=False,
            show_progress=False,
        )
    )
    print(f"after {steps:,} moves: black wins {black_wins(testing, test_games):.0%} of {test_games} games")


def make_game() -> PettingZooEnv:
    """Create one board; tianshou follows its action mask."""
    return PettingZooEnv(gomoku_aec.env(ruleset="6x6:4"))


def black_wins(collector: Collector, games: int) -> float:
    """Return the share of games that black wins."""
    collector.reset()
    returns = collector.collect(n_episode=games).returns
    return float(np.mean(returns[:, 0] > 0))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=4000, help="number of training moves (default: 4000)")
    parser.add_argument("--test-games", type=int, default=200, help="test games before and after (default: 200)")
    arguments = parser.parse_args()
    main(arguments.steps, arguments.test_games)
