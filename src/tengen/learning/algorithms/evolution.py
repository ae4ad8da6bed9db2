"""Evolution: weights are drawn at random, games say which draws were good, and the next ones are drawn nearer to those.

Schaul and Schmidhuber 2008 ("A scalable neural network architecture for board games") evolved the recurrent network
that stanford15 took up; its 140 weights are few enough for that. The strategy here is SNES, separable natural evolution
strategies (Schaul, Glasmachers and Schmidhuber 2011, "High dimensions and heavy tails for natural evolution
strategies"): a normal distribution over weights, each with a mean and a standard deviation of its own, climbs the
natural gradient of the expected rank. Nothing is derived through the network, so it may simply play its best move, and
nothing but results counts.

All candidates of a generation play the same games: the same openings, opponents and random numbers. The mean of the
distribution is the network of the run. An iteration is a few generations; everything it does follows from the seed, its
number and the distribution it began with.
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
from tengen.learning.episodes import SELF, Episodes, PlayConfig, Pool, PoolConfig, Table, sample_policy
from tengen.learning.loop import Loop, NetLoopConfig, first_net, rounded
from tengen.learning.progress import Progress
from tengen.learning.run import Run, iteration_rng
from tengen.learning.self_play import SAVED_GAMES, save_games
from tengen.nets.architectures import Net, NetConfig, NetKind, NetOutput

Floats = npt.NDArray[np.float64]

# The purposes of random choices in an iteration.
_EVOLVING, _SHOWING = 0, 1


# -- configuration ----------------------------------------------------------------------------------------------------


class Moves(StrEnum):
    """How the network chooses its moves while it is judged."""

    BEST = "best"
    """The likeliest one."""
    DRAWN = "drawn"
    """Drawn from its policy."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LearnerConfig:
    """How the distribution over weights learns from points."""

    population: int = 0
    """Candidates of a generation; 0 for the usual 4 + 3 ln(weights)."""
    antithetic: bool = True
    """Candidates come in pairs on opposite sides of the mean, which takes out some of the chance."""
    deviation: float = 0.3
    """Standard deviation of every weight at the beginning."""
    mean_rate: float = 1.0
    """Step size of the means, in standard deviations."""
    deviation_rate: float = 0.0
    """Step size of the logarithms of the deviations; 0 for the usual (3 + ln(weights)) / (5 √weights)."""
    threads: int = 1
    """Threads of the network."""

    def __post_init__(self) -> None:
        if self.population and (self.population < 4 or (self.antithetic and self.population % 2)):
            raise InputError(f"a population of {self.population}: four or more, in pairs if antithetic, or 0")
        check_positive(self, "deviation", "mean_rate")
        check_at_least(self, 0, "deviation_rate")
        check_at_least(self, 1, "threads")


@dataclass(frozen=True, slots=True, kw_only=True)
class Config(NetLoopConfig):
    """Everything that decides what a run does, beside its seed."""

    generations: int = 5
    """Generations of an iteration; in each, every candidate plays `play.games` games."""
    moves: Moves = Moves.BEST
    """How the network chooses its moves while it is judged."""
    net: NetConfig = field(default_factory=lambda: NetConfig(kind=NetKind.MDRNN, planes="own-other", channels=10))
    """The network."""
    play: PlayConfig = field(default_factory=lambda: PlayConfig(games=64, opponents=("naive:level=1",)))
    """The games of a candidate."""
    pool: PoolConfig = field(default_factory=PoolConfig)
    """The opponent `past`."""
    learner: LearnerConfig = field(default_factory=LearnerConfig)
    """The evolution strategy."""

    def __post_init__(self) -> None:
        NetLoopConfig.__post_init__(self)
        check_at_least(self, 1, "generations")
        if SELF in self.play.opponents:
            raise InputError("games of a candidate against itself say nothing about it: name past or simple players")


# -- strategy ---------------------------------------------------------------------------------------------------------


def rank_utilities(fitness: Floats) -> Floats:
    """What candidates [P] count for: the best ones most, the worse half alike, all together 0 (Schaul et al. 2011).

    Candidates of the same fitness share alike; games give few distinct numbers of points.
    """
    count = len(fitness)
    raw = np.maximum(0.0, math.log(count / 2 + 1) - np.log(np.arange(1, count + 1)))
    utilities = np.empty(count)
    utilities[np.argsort(-fitness, kind="stable")] = raw / raw.sum() - 1 / count
    _, groups = np.unique(fitness, return_inverse=True)
    shared: Floats = (np.bincount(groups, utilities) / np.bincount(groups))[groups]
    return shared


class Strategy:
    """SNES: draw noise, judge the candidates made of it, learn from their fitness."""

    def __init__(self, mean: Floats, config: LearnerConfig) -> None:
        weights = len(mean)
        self.mean = mean
        self.deviation = np.full(weights, config.deviation)
        self.population = config.population or 2 * round(2 + 1.5 * math.log(weights))
        self._config = config
        self._deviation_rate = config.deviation_rate or (3 + math.log(weights)) / (5 * math.sqrt(weights))

    def draw(self, rng: np.random.Generator) -> Floats:
        """Noise [population, weights] of a generation."""
        if not self._config.antithetic:
            return rng.standard_normal((self.population, len(self.mean)))
        half = rng.standard_normal((self.population // 2, len(self.mean)))
        return np.concatenate((half, -half))

    def candidates(self, noise: Floats) -> Floats:
        """The weights [population, weights] that some noise stands for."""
        return self.mean + self.deviation * noise

    def learn(self, noise: Floats, fitness: Floats) -> None:
        """Move towards the noise of the fitter ones, and widen or narrow each weight's deviation as they did."""
        utilities = rank_utilities(fitness)
        self.mean = self.mean + self._config.mean_rate * self.deviation * (utilities @ noise)
        self.deviation = self.deviation * np.exp(self._deviation_rate / 2 * (utilities @ (noise**2 - 1)))

    def tensors(self) -> dict[str, Tensor]:
        """All state for a checkpoint."""
        return {"mean": torch.from_numpy(self.mean), "deviation": torch.from_numpy(self.deviation)}

    def restore(self, tensors: Mapping[str, Tensor]) -> None:
        """Go back to what `tensors` returned."""
        self.mean, self.deviation = tensors["mean"].numpy(), tensors["deviation"].numpy()


# -- candidates -------------------------------------------------------------------------------------------------------


def read_weights(net: Net) -> Floats:
    """All weights of a network in one row."""
    return np.concatenate([weights.detach().numpy().ravel() for weights in net.parameters()]).astype(np.float64)


def write_weights(net: Net, row: Floats) -> None:
    """Give a network the weights that `read_weights` returned, or others."""
    parts = torch.split(torch.from_numpy(row), [weights.numel() for weights in net.parameters()])
    with torch.no_grad():
        for weights, part in zip(net.parameters(), parts, strict=True):
            weights.copy_(part.view(weights.shape))


def choose_best(output: NetOutput, legal: Tensor) -> tuple[Tensor, Tensor]:
    """The likeliest legal moves, which are certain."""
    actions = output.policy_logits.masked_fill(~legal, -torch.inf).argmax(dim=1)
    return actions, torch.zeros(len(actions))


class Judge:
    """Plays the games that say how good weights are."""

    def __init__(self, net: Net, config: Config) -> None:
        self.net = net
        """Has the weights that were judged last."""
        self.table = Table(config.ruleset, config.net.planes, config.play)
        self._moves = config.moves

    def judge(self, weights: Floats, past: Net, seed: int) -> Episodes:
        """The games of some weights [n]; the same seed gives the same openings and random numbers."""
        write_weights(self.net, weights)
        drawn = self._moves is Moves.DRAWN
        choose = sample_policy(torch.Generator().manual_seed(seed)) if drawn else choose_best
        return self.table.play(self.net, past, choose, np.random.default_rng(seed))


def points(episodes: Episodes) -> float:
    """A game, on average: 1 for a win, ½ for a draw."""
    return float(1 + episodes.rewards.mean()) / 2


# -- the run ----------------------------------------------------------------------------------------------------------


def train(run: Run, progress: Progress) -> None:
    """Do what is left of a run, from its newest checkpoint on."""
    config = run.config(Config)
    torch.set_num_threads(config.learner.threads)
    with Loop(run, config, progress) as loop:
        checkpoint = loop.resume()
        net = first_net(config, run, progress, checkpoint)
        pool = Pool(net, config.pool)
        strategy = Strategy(read_weights(net), config.learner)
        if checkpoint is not None:
            pool.restore(checkpoint.tensors)
            strategy.restore(checkpoint.tensors["strategy"])
        judge = Judge(net, config)
        while not loop.is_done:
            iteration = loop.iteration + 1

            # 1. Generations.
            rng = iteration_rng(run.header.seed, iteration, _EVOLVING)
            fitness = np.empty((config.generations, strategy.population))
            for generation in fitness:
                noise, past, seed = strategy.draw(rng), pool.draw(rng), int(rng.integers(1 << 63))
                for candidate, weights in enumerate(strategy.candidates(noise)):
                    episodes = judge.judge(weights, past, seed)
                    generation[candidate] = points(episodes)
                    loop.positions += len(episodes)
                strategy.learn(noise, generation)
            loop.games += fitness.size * config.play.games

            # 2. What others see of it: the mean.
            rng = iteration_rng(run.header.seed, iteration, _SHOWING)
            episodes = judge.judge(strategy.mean, pool.draw(rng), int(rng.integers(1 << 63)))
            save_games(run.folder, iteration, *judge.table.games(SAVED_GAMES), config.ruleset)
            pool.add_if_due(net, iteration)
            losses = {"population": 1 - float(fitness.mean()), "network": 1 - points(episodes)}
            deviation = float(np.exp(np.log(strategy.deviation).mean()))
            if not math.isfinite(deviation):
                raise RunError(f"deviations became {deviation} in iteration {iteration}: lower learner.deviation_rate")
            loop.publish(net)
            loop.end_iteration(
                {
                    "losses": rounded(losses),
                    "deviation": round(deviation, 6),
                    "best": round(float(fitness.max()), 5),
                    "play": {"plies": round(episodes.plies, 2), "scores": rounded(episodes.scores)},
                },
                f"points {100 * points(episodes):.0f} %, of candidates {100 * fitness.mean():.0f} %",
                tensors={"strategy": strategy.tensors(), **pool.tensors()},
            )
