"""Speed of critics: evaluating moves, and playing training games.

The paper's player takes 16 ms per move on 20×20. Ours has the same layers (402-64-1) and evaluates the positions of a
game of random candidate moves, up to 120 stones. Times are processor times and include the Python code. Weights are
random, since they do not affect speed. Training games are played on one thread with the layers of the presets.
"""

from __future__ import annotations

import statistics
import time

import numpy as np

from tengen.core.contracts import Ruleset
from tengen.core.position import Position
from tengen.search.critic import Activation, Critic, CriticConfig, CriticInput
from tengen.search.critic_games import play_games

PAPER_MS = 16.0
ROUNDS = 5
STONES = 120

FUDAN = CriticConfig(input=CriticInput.STONES, hidden=64, activation=Activation.SIGMOID, radius=1)


def run() -> dict[str, float]:
    twenty = Ruleset.parse("20x20:5:freestyle")
    times = _move_times(_random_critic(FUDAN, twenty), twenty)
    figures = {
        "fudan_20x20_ms_per_move": statistics.mean(times),
        "fudan_20x20_ms_of_slowest_move": max(times),
        "paper_to_fudan_20x20_ratio": PAPER_MS / statistics.mean(times),
    }
    for name, config, rules in (
        ("fudan_20x20", FUDAN, "20x20"),
        ("points_9x9", CriticConfig(), "9x9"),
        ("points_15x15", CriticConfig(), "15x15"),
    ):
        figures[f"{name}_positions_per_cpu_second"] = _learning_speed(config, Ruleset.parse(rules))
    return figures


def _random_critic(config: CriticConfig, ruleset: Ruleset) -> Critic:
    rng = np.random.default_rng(1)
    weights = {name: rng.normal(0, 0.1, shape).astype(np.float32) for name, shape in config.shapes().items()}
    return Critic(config, ruleset, weights)


def _move_times(critic: Critic, ruleset: Ruleset) -> list[float]:
    """Return the milliseconds of processor time for each position of a game; the minimum of several tries."""
    rng = np.random.default_rng(1)
    position = Position.start(ruleset)
    times = []
    while position.stones < STONES:
        judgement = critic.judge(position)
        tries = []
        for _ in range(ROUNDS):
            started = time.process_time()
            critic.judge(position)
            tries.append(1000 * (time.process_time() - started))
        times.append(min(tries))
        # Winning moves have the value 1.
        position = position.play(int(rng.choice(judgement.points[judgement.chances < 1])))
    return times


def _learning_speed(config: CriticConfig, ruleset: Ruleset) -> float:
    """Return the positions per second that are played, evaluated and recorded; the median of several rounds."""
    critic = _random_critic(config, ruleset)
    speeds = []
    for seed in range(ROUNDS):
        started = time.process_time()
        games = play_games(critic, ruleset, games=32, seed=seed, epsilon=0.1, random_stones=6)
        speeds.append(len(games) / (time.process_time() - started))
    return statistics.median(speeds)
