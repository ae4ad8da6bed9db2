"""Evolution strategies: sample weights, evaluate them in games, and move the distribution towards the best.

Schaul and Schmidhuber 2008 ("A scalable neural network architecture for board games") evolved the recurrent network
that stanford15 uses, which has only 140 weights. The strategy here is SNES, separable natural evolution
strategies (Schaul, Glasmachers and Schmidhuber 2011, "High dimensions and heavy tails for natural evolution
strategies"): a normal distribution with a mean and standard deviation per weight follows the natural gradient of the
expected rank. No gradients of the network are needed, so it can always play its best move, and only results count.

All candidates in a generation play the same games: the same openings, opponents and random numbers. The mean of the
distribution is the run's network. An iteration is a few generations. Its result depends only on the seed, the iteration
number and the distribution at its start.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from tengen.errors import InputError, RunError
from tengen.learning.checks import check_at_least, check_positive
from tengen.learning.experience.episodes import (
    SELF,
    EpisodePlayer,
    Episodes,
    PlayConfig,
    Pool,
    PoolConfig,
    sample_policy,
)
from tengen.learning.experience.self_play import SAVED_GAMES, save_games
from tengen.learning.run import Checkpoint, Run, iteration_rng
from tengen.learning.run.loop import Loop, NetLoopConfig, initial_net, rounded
from tengen.learning.run.progress import Progress
from tengen.nets.architectures import Net, NetConfig, NetKind, NetOutput

Floats = npt.NDArray[np.float64]

# Values of `purpose` for `iteration_rng`.
_EVOLVING, _SHOWING = 0, 1


# -- configuration ----------------------------------------------------------------------------------------------------


class Moves(StrEnum):
    """How candidates choose their moves."""

    BEST = "best"
    """The most likely move."""
    DRAWN = "drawn"
    """A move sampled from the policy."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LearnerConfig:
    """Settings for the evolution strategy."""

    population: int = 0
    """Candidates per generation; 0 for 4 + 3 ln(weights)."""
    antithetic: bool = True
    """Sample candidates in pairs on opposite sides of the mean, which reduces variance."""
    deviation: float = 0.3
    """Initial standard deviation of every weight."""
    mean_rate: float = 1.0
    """Learning rate for the means, in standard deviations."""
    deviation_rate: float = 0.0
    """Learning rate for the logarithms of the deviations; 0 for (3 + ln(weights)) / (5 √weights)."""
    threads: int = 1
    """Number of threads for the forward pass."""

    def __post_init__(self) -> None:
        if self.population and (self.population < 4 or (self.antithetic and self.population % 2)):
            raise InputError(
                f"population={self.population} must be 0 or at least 4, and an even number when antithetic is set"
            )
        check_positive(self, "deviation", "mean_rate")
        check_at_least(self, 0, "deviation_rate")
        check_at_least(self, 1, "threads")


@dataclass(frozen=True, slots=True, kw_only=True)
class Config(NetLoopConfig):
    """Complete configuration of a run; together with the seed, it determines the run."""

    generations: int = 5
    """Generations per iteration; in each, every candidate plays `play.games` games."""
    moves: Moves = Moves.BEST
    """How candidates choose their moves."""
    net: NetConfig = field(default_factory=lambda: NetConfig(kind=NetKind.MDRNN, planes="own-other", channels=10))
    """Network architecture."""
    play: PlayConfig = field(default_factory=lambda: PlayConfig(games=64, opponents=("naive:level=1",)))
    """Games that each candidate plays."""
    pool: PoolConfig = field(default_factory=PoolConfig)
    """Earlier networks, which play as the opponent `past`."""
    learner: LearnerConfig = field(default_factory=LearnerConfig)
    """Evolution strategy."""

    def __post_init__(self) -> None:
        NetLoopConfig.__post_init__(self)
        check_at_least(self, 1, "generations")
        if SELF in self.play.opponents:
            raise InputError("remove self from play.opponents: self-play cannot measure a candidate's strength")


# -- strategy ---------------------------------------------------------------------------------------------------------


def rank_utilities(fitness: Floats) -> Floats:
    """Return the rank-based utilities of candidates [P] (Schaul et al. 2011).

    They sum to 0, and all candidates in the worse half have the same utility. Candidates with equal fitness get the
    mean of their utilities; ties are common, because games have few distinct scores.
    """
    count = len(fitness)
    raw = np.maximum(0.0, math.log(count / 2 + 1) - np.log(np.arange(1, count + 1)))
    utilities = np.empty(count)
    utilities[np.argsort(-fitness, kind="stable")] = raw / raw.sum() - 1 / count
    _, groups = np.unique(fitness, return_inverse=True)
    shared: Floats = (np.bincount(groups, utilities) / np.bincount(groups))[groups]
    return shared


class Strategy:
    """SNES: the distribution of the weights, and its update from the fitness of candidates."""

    def __init__(self, mean: Floats, config: LearnerConfig) -> None:
        weights = len(mean)
        self.mean = mean
        self.deviation = np.full(weights, config.deviation)
        self.population = config.population or 2 * round(2 + 1.5 * math.log(weights))
        self._config = config
        self._deviation_rate = config.deviation_rate or (3 + math.log(weights)) / (5 * math.sqrt(weights))

    def draw(self, rng: np.random.Generator) -> Floats:
        """Draw the noise [population, weights] for a generation."""
        if not self._config.antithetic:
            return rng.standard_normal((self.population, len(self.mean)))
        half = rng.standard_normal((self.population // 2, len(self.mean)))
        return np.concatenate((half, -half))

    def candidates(self, noise: Floats) -> Floats:
        """Return the weights [population, weights] of the candidates for the given noise."""
        return self.mean + self.deviation * noise

    def update(self, noise: Floats, fitness: Floats) -> None:
        """Move the mean towards the fitter candidates, and adapt each weight's deviation to their spread."""
        utilities = rank_utilities(fitness)
        self.mean = self.mean + self._config.mean_rate * self.deviation * (utilities @ noise)
        self.deviation = self.deviation * np.exp(self._deviation_rate / 2 * (utilities @ (noise**2 - 1)))

    def tensors(self) -> dict[str, Tensor]:
        """Return the complete state for a checkpoint."""
        return {"mean": torch.from_numpy(self.mean), "deviation": torch.from_numpy(self.deviation)}

    def restore(self, tensors: Mapping[str, Tensor]) -> None:
        """Restore the state saved by `tensors`. Raises `RunError` if it does not match."""
        for name in ("mean", "deviation"):
            found = tensors.get(name)
            if found is None or found.shape != self.mean.shape or found.dtype != torch.float64:
                raise RunError(f"{name} in strategy.safetensors must hold {len(self.mean)} float64 numbers")
        self.mean, self.deviation = tensors["mean"].numpy(), tensors["deviation"].numpy()


# -- candidates -------------------------------------------------------------------------------------------------------


def read_weights(net: Net) -> Floats:
    """Return all weights of a network as one vector."""
    return np.concatenate([weights.detach().numpy().ravel() for weights in net.parameters()]).astype(np.float64)


def write_weights(net: Net, row: Floats) -> None:
    """Set all weights of a network from a vector, as returned by `read_weights`."""
    parts = torch.split(torch.from_numpy(row), [weights.numel() for weights in net.parameters()])
    with torch.no_grad():
        for weights, part in zip(net.parameters(), parts, strict=True):
            weights.copy_(part.view(weights.shape))


def choose_best(output: NetOutput, legal: Tensor) -> tuple[Tensor, Tensor]:
    """Return the most likely legal moves, with log-probability 0."""
    actions = output.policy_logits.masked_fill(~legal, -torch.inf).argmax(dim=1)
    return actions, torch.zeros(len(actions))


class Evaluation:
    """Plays games with given weights to measure their fitness."""

    def __init__(self, net: Net, config: Config) -> None:
        self.net = net
        """Network with the weights that were evaluated last."""
        self.player = EpisodePlayer(config.ruleset, config.net.planes, config.play)
        self._moves = config.moves

    def play(self, weights: Floats, past: Net, seed: int) -> Episodes:
        """Play games with a weight vector; the same seed produces the same openings and random numbers."""
        write_weights(self.net, weights)
        drawn = self._moves is Moves.DRAWN
        choose = sample_policy(torch.Generator().manual_seed(seed)) if drawn else choose_best
        return self.player.play(self.net, past, choose, np.random.default_rng(seed))


def points(episodes: Episodes) -> float:
    """Return the mean points per game: 1 for a win, ½ for a draw, 0 for a loss."""
    return float(1 + episodes.rewards.mean()) / 2


# -- the run ----------------------------------------------------------------------------------------------------------


def train(run: Run, progress: Progress) -> None:
    """Train a run until it is finished, starting from the newest checkpoint if there is one."""
    config = run.config(Config)
    torch.set_num_threads(config.learner.threads)
    with Loop(run, config, progress) as loop:
        net = initial_net(config, run, progress)
        pool = Pool(net, config.pool)
        strategy = Strategy(read_weights(net), config.learner)

        def restore(checkpoint: Checkpoint) -> None:
            pool.restore(checkpoint.tensors)
            strategy.restore(checkpoint.tensors.get("strategy", {}))

        loop.resume(restore)
        evaluation = Evaluation(net, config)
        loop.measure_start(lambda: loop.publish(net))
        while not loop.is_done:
            iteration = loop.iteration + 1

            # 1. Evolve.
            rng = iteration_rng(run.header.seed, iteration, _EVOLVING)
            fitness = np.empty((config.generations, strategy.population))
            for generation in fitness:
                noise, past, seed = strategy.draw(rng), pool.draw(rng), int(rng.integers(1 << 63))
                for candidate, weights in enumerate(strategy.candidates(noise)):
                    episodes = evaluation.play(weights, past, seed)
                    generation[candidate] = points(episodes)
                    loop.positions += len(episodes)
                strategy.update(noise, generation)
            loop.games += fitness.size * config.play.games

            # 2. Evaluate and publish the mean, then write the metrics and a checkpoint.
            rng = iteration_rng(run.header.seed, iteration, _SHOWING)
            episodes = evaluation.play(strategy.mean, pool.draw(rng), int(rng.integers(1 << 63)))
            save_games(run.folder, iteration, *evaluation.player.games(SAVED_GAMES), config.ruleset)
            pool.add_if_due(net, iteration)
            losses = {"population": 1 - float(fitness.mean()), "network": 1 - points(episodes)}
            deviation = float(np.exp(np.log(strategy.deviation).mean()))
            if not math.isfinite(deviation):
                raise RunError(
                    f"the mean deviation became {deviation} in iteration {iteration}: lower learner.deviation_rate"
                )
            loop.publish(net)
            loop.end_iteration(
                {
                    "losses": rounded(losses),
                    "deviation": round(deviation, 6),
                    "best": round(float(fitness.max()), 5),
                    "play": {"plies": round(episodes.plies, 2), "scores": rounded(episodes.scores)},
                },
                f"points {100 * points(episodes):.0f} %, candidates {100 * fitness.mean():.0f} %",
                tensors={"strategy": strategy.tensors(), **pool.tensors()},
            )
