"""Training speed of the algorithms without a tree search: games per second on 9×9, including training.

`pg9` is the paper's network against naive level 3, with a hundred games per update; the paper reports about 8 games per
second. `pg9_self_play` plays against a frozen copy instead. `one_by_one` plays one game after another in the Gymnasium
environment, as the paper did. `ppo` is the preset `9x9`: the games and training steps of an iteration. All networks are
untrained, so games against level 3 are short and self-play games are long. Figures are medians over a few updates, by
CPU time on one thread, which other programs affect little.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

import numpy as np
import torch

from tengen.envs import GomokuEnv
from tengen.learning.algorithms import policy_gradient, ppo
from tengen.learning.config import load_config
from tengen.learning.experience.episodes import EpisodePlayer, greedy_policy, sample_policy
from tengen.nets.architectures import build_net

PAPER_GAMES_PER_SECOND = 8.0
UPDATES = 20
SEED = 1


def run() -> dict[str, float]:
    torch.set_num_threads(1)
    pg9 = _games_per_second(_pg9_update("pg9-level-3"), 100, UPDATES)
    one_by_one = _games_per_second(_one_game(), 1, 50)
    figures = {
        "pg9_games_per_second": pg9,
        "pg9_self_play_games_per_second": _games_per_second(_pg9_update("pg9"), 100, UPDATES),
        "pg9_to_one_by_one_ratio": pg9 / one_by_one,
        "pg9_to_paper_ratio": pg9 / PAPER_GAMES_PER_SECOND,
    }
    config = load_config(ppo.Config, "ppo", "9x9")
    return figures | {"ppo_games_per_second": _games_per_second(_ppo_iteration(config), config.play.games, 3)}


def _games_per_second(update: Callable[[], None], games: int, updates: int) -> float:
    seconds = []
    for _ in range(updates):
        started = time.process_time()
        update()
        seconds.append(time.process_time() - started)
    return games / statistics.median(seconds)


def _pg9_update(preset: str) -> Callable[[], None]:
    config = load_config(policy_gradient.Config, "pg", preset)
    learner = policy_gradient.Learner(build_net(config.net, config.ruleset, seed=SEED), config.learner)
    player = EpisodePlayer(config.ruleset, config.net.planes, config.play)
    rng = np.random.default_rng(SEED)
    choose = greedy_policy(torch.Generator().manual_seed(SEED))

    def update() -> None:
        learner.update(player.play(learner.net, None, choose, rng), 0.0)

    return update


def _one_game() -> Callable[[], None]:
    """Play one game in the Gymnasium environment and compute its gradient, without batching."""
    config = load_config(policy_gradient.Config, "pg", "pg9-level-3")
    net = build_net(config.net, config.ruleset, seed=SEED)
    env = GomokuEnv(config.ruleset, opponent=config.play.opponents[0], observation="board", dtype="float32")
    env.reset(seed=SEED)
    choose = greedy_policy(torch.Generator().manual_seed(SEED))

    def play() -> None:
        observation, info = env.reset()
        seen, legal, actions, reward, over = [], [], [], 0.0, False
        while not over:
            planes, mask = torch.from_numpy(observation)[None], torch.from_numpy(info["action_mask"])[None].bool()
            with torch.inference_mode():
                action, _ = choose(net(planes), mask)
            seen.append(planes)
            legal.append(mask)
            actions.append(action)
            observation, value, over, _, info = env.step(np.int64(action.item()))
            reward = float(value)
        losses = policy_gradient.compute_losses(
            net(torch.cat(seen)),
            torch.cat(legal),
            torch.cat(actions),
            torch.full((len(actions),), reward),
            torch.zeros(len(actions)),
        )
        losses["policy"].backward()  # type: ignore[no-untyped-call]

    return play


def _ppo_iteration(config: ppo.Config) -> Callable[[], None]:
    learner = ppo.Learner(build_net(config.net, config.ruleset, seed=SEED), config.learner)
    player = EpisodePlayer(config.ruleset, config.net.planes, config.play)
    rng = np.random.default_rng(SEED)
    choose = sample_policy(torch.Generator().manual_seed(SEED))

    def iterate() -> None:
        episodes = player.play(learner.net, learner.net, choose, rng)
        learner.update(ppo.make_rollout(episodes, config.learner), 0.0, rng)

    return iterate
