"""Adaptive dynamic programming: a critic learns by temporal differences who will win (Zhao, Zhang & Dai 2012; fudan).

The player looks one move ahead: it judges the position after each candidate move (an *afterstate*) and takes the best,
sometimes a random one. An iteration plays games that way (`tengen.search.critic_games`, native code), computes from
the positions that followed what each should have been worth, and moves the critic there. Everything an iteration does
follows from the seed, its number and the weights it began with, unless a clock decides (`minutes`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn
from torch.nn import functional

from tengen.core.contracts import Outcome, Ruleset
from tengen.errors import InputError
from tengen.learning.checks import check_at_least
from tengen.learning.files import write_file
from tengen.learning.loop import Loop, LoopConfig
from tengen.learning.progress import Progress
from tengen.learning.run import Checkpoint, Run, iteration_rng
from tengen.learning.weights import AveragedLearner
from tengen.search.critic import CRITIC_FILE, Activation, Critic, CriticConfig, CriticInput, FloatArray, load_critic
from tengen.search.critic_games import CriticGames, check_policy_name, play_games

# The purposes of random choices in an iteration.
_GAMES, _LEARNING = 0, 1


# -- configuration ----------------------------------------------------------------------------------------------------


class Loss(StrEnum):
    """How far a chance is from its target."""

    SQUARED = "squared"
    """½ (target - chance)², as in the paper."""
    CROSS_ENTROPY = "cross-entropy"


class Optimizer(StrEnum):
    """How a gradient becomes a step."""

    SGD = "sgd"
    ADAM = "adam"


@dataclass(frozen=True, slots=True, kw_only=True)
class SelfPlayConfig:
    """How the games of an iteration are played."""

    games: int = 256
    """Games an iteration."""
    actors: int = 1
    """Threads that play, each its share of the games."""
    random_stones: int = 6
    """A game begins with at least one and at most so many random stones, the first anywhere, the others near."""
    epsilon: float = 0.1
    """The chance of a random candidate instead of the best move, at the beginning."""
    final_epsilon: float = 0.02
    """The same at the end; in between it falls in a straight line."""
    opponents: tuple[str, ...] = ()
    """Simple players that are played against, such as chains."""
    opponents_share: float = 0.0
    """Part of the games against them, each the same number."""
    pool: int = 0
    """Earlier critics that are kept and played against; 0 for none."""
    pool_share: float = 0.0
    """Part of the games against them."""
    pool_every: int = 20
    """Iterations between critics that are kept."""

    def __post_init__(self) -> None:
        for name in self.opponents:
            check_policy_name(name)
        if self.games < 1 or self.actors < 1 or self.pool < 0 or self.pool_every < 1:
            raise InputError(
                f"{self.games} games of {self.actors} actors, {self.pool} critics of each {self.pool_every}"
            )
        for name in ("epsilon", "final_epsilon", "opponents_share", "pool_share"):
            if not 0 <= getattr(self, name) <= 1:
                raise InputError(f"{name} {getattr(self, name)} is outside 0–1")
        if self.opponents_share + self.pool_share > 1:
            raise InputError(f"shares {self.opponents_share} and {self.pool_share} are more than all games")


@dataclass(frozen=True, slots=True, kw_only=True)
class LearnerConfig:
    """How the critic learns from games."""

    trace: float = 0.7
    """λ of TD(λ): 0 takes the value of the next position for the truth, 1 the result of the game."""
    steps: int = 0
    """How many positions ahead the truth may lie; 0 for as far as the game goes. With `trace` 1, n-step returns."""
    cuts: bool = True
    """Where a move was played that the critic would not have chosen, the value of its own choice counts instead."""
    loss: Loss = Loss.CROSS_ENTROPY
    """Distance of a chance from its target."""
    optimizer: Optimizer = Optimizer.ADAM
    """How a gradient becomes a step."""
    learning_rate: float = 2e-3
    """Step size at the beginning."""
    final_learning_rate: float = 1e-4
    """Step size at the end; in between it falls in a straight line."""
    weight_decay: float = 0.0
    """How much weights shrink each step, times the step size."""
    batch: int = 512
    """Positions of a step."""
    epochs: int = 1
    """Times an iteration's positions are gone through."""
    average: float = 0.0
    """Decay a step of the running average of weights, which is what plays; 0 plays the newest weights."""
    threads: int = 1
    """Threads of a learning step."""

    def __post_init__(self) -> None:
        if not 0 <= self.trace <= 1 or self.steps < 0:
            raise InputError(f"no return with trace {self.trace} over {self.steps} steps")
        if self.batch < 1 or self.epochs < 1 or not 0 <= self.average < 1:
            raise InputError(f"no learning by batches of {self.batch}, {self.epochs} epochs, average {self.average}")
        check_at_least(self, 0, "learning_rate", "final_learning_rate", "weight_decay")
        check_at_least(self, 1, "threads")


@dataclass(frozen=True, slots=True, kw_only=True)
class Config(LoopConfig):
    """Everything that decides what a run does, beside its seed."""

    init_from: str = ""
    """A run, a shipped critic or a file to begin with; it must have the same form."""
    critic: CriticConfig = field(default_factory=CriticConfig)
    """The critic."""
    self_play: SelfPlayConfig = field(default_factory=SelfPlayConfig)
    """The games."""
    learner: LearnerConfig = field(default_factory=LearnerConfig)
    """The learning steps."""

    def __post_init__(self) -> None:
        LoopConfig.__post_init__(self)  # super() has no class to look from in a dataclass with slots
        if self.critic.input is CriticInput.POINTS and self.ruleset.win_length not in (4, 5):
            raise InputError(f"critics over points play win lengths 4 and 5, not {self.ruleset}")
        if not 0 <= self.self_play.random_stones <= 2 * self.ruleset.win_length - 2:
            raise InputError(f"{self.self_play.random_stones} random stones may win {self.ruleset}")


# -- targets ----------------------------------------------------------------------------------------------------------


def lambda_returns(
    values: FloatArray, best_values: FloatArray, is_last: npt.NDArray[np.bool_], config: LearnerConfig
) -> FloatArray:
    """What each position should be worth, [positions, views]: truncated TD(λ) over games that follow one another.

    Gₜ = (1 - λ) vₜ₊₁ + λ Gₜ₊₁, where v is a finished game's result; with `cuts`, Gₜ is the best value that follows when
    another move was played. After n `steps` the return is the value itself. A last position keeps its result.
    """
    returns = values.copy()
    explored = (best_values != values) if config.cuts else np.zeros_like(values, np.bool_)
    trace = np.float32(config.trace)
    steps = config.steps or len(values)
    for _ in range(steps):
        following = np.where(explored, best_values, (1 - trace) * values + trace * returns)
        updated = np.concatenate((following[1:], values[-1:]))
        updated[is_last] = values[is_last]
        if np.array_equal(updated, returns):
            break
        returns = updated
    return returns


@dataclass(frozen=True, slots=True)
class Samples:
    """Positions to learn from: the sparse inputs of one view each, and the chance that its colour should have."""

    starts: npt.NDArray[np.int64]
    """[N]: where the inputs of each position begin among `indices`."""
    ends: npt.NDArray[np.int64]
    """[N]: and where they end."""
    indices: npt.NDArray[np.int32]
    """The inputs that are not 0, of all positions."""
    amounts: FloatArray
    """Theirs."""
    targets: FloatArray
    """[N]."""

    def __len__(self) -> int:
        return len(self.targets)

    def batch(self, rows: npt.NDArray[np.int64]) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Indices [n], offsets [B] of each row among them, amounts [n] and targets [B]."""
        starts, lengths = self.starts[rows], self.ends[rows] - self.starts[rows]
        offsets = np.cumsum(lengths) - lengths
        places = np.repeat(starts - offsets, lengths) + np.arange(int(lengths.sum()))
        arrays = self.indices[places].astype(np.int64), offsets, self.amounts[places], self.targets[rows]
        indices, starts_of_rows, amounts, targets = (torch.from_numpy(array) for array in arrays)
        return indices, starts_of_rows, amounts, targets


def make_samples(games: CriticGames, config: LearnerConfig) -> Samples:
    """Every position of the games that was not their end, with its target for each view."""
    returns = lambda_returns(games.black_values, games.black_best_values, games.is_last, config)
    targets = np.where(games.is_black_view, returns, 1 - returns)
    learned = np.repeat(~games.is_last, targets.shape[1])
    return Samples(
        starts=games.row_starts[:-1][learned],
        ends=games.row_starts[1:][learned],
        indices=games.indices,
        amounts=games.amounts,
        targets=targets.ravel()[learned],
    )


# -- the critic in training -------------------------------------------------------------------------------------------


class CriticNet(nn.Module):
    """The critic as torch sees it; its parameters have the names and shapes of `CriticConfig.shapes`."""

    def __init__(self, config: CriticConfig, seed: int) -> None:
        super().__init__()
        self.config = config
        generator = torch.Generator().manual_seed(seed)
        shapes = config.shapes()
        # Nearly nothing at first: a shape that is rarely seen should not be mistaken for one that matters.
        self.weights = nn.Parameter(0.01 * torch.randn(shapes["weights"], generator=generator))
        self.biases = nn.Parameter(0.5 * torch.rand(shapes["biases"], generator=generator))
        scale = config.hidden**-0.5
        self.output_weights = nn.Parameter(scale * torch.randn(shapes["output_weights"], generator=generator))
        self.output_bias = nn.Parameter(torch.zeros(shapes["output_bias"]))

    def forward(self, indices: Tensor, offsets: Tensor, amounts: Tensor) -> Tensor:
        """Sparse rows as `Samples.batch` gives them → logits [B]."""
        sums = functional.embedding_bag(indices, self.weights, offsets, mode="sum", per_sample_weights=amounts)
        activate = torch.relu if self.config.activation is Activation.RELU else torch.sigmoid
        return activate(sums + self.biases) @ self.output_weights + self.output_bias

    def critic(self, ruleset: Ruleset) -> Critic:
        """The same, ready to play."""
        return Critic(self.config, ruleset, {name: tensor.detach().numpy() for name, tensor in self.named_parameters()})


def compute_loss(logits: Tensor, targets: Tensor, loss: Loss) -> Tensor:
    """The mean distance of the chances from their targets."""
    if loss is Loss.SQUARED:
        return 0.5 * (targets - torch.sigmoid(logits)).square().mean()
    return functional.binary_cross_entropy_with_logits(logits, targets)


class Learner(AveragedLearner[CriticNet]):
    """The critic in training."""

    def __init__(self, net: CriticNet, config: LearnerConfig) -> None:
        kind = torch.optim.AdamW if config.optimizer is Optimizer.ADAM else torch.optim.SGD
        optimizer = kind(net.parameters(), lr=config.learning_rate, weight_decay=config.weight_decay)
        super().__init__(net, optimizer, decay=config.average)
        self._config = config

    def learn(self, samples: Samples, rows: npt.NDArray[np.int64], fraction: float) -> float:
        """One step on those rows at that fraction of the run; returns the loss."""
        *inputs, targets = samples.batch(rows)
        loss = compute_loss(self.net(*inputs), targets, self._config.loss)
        self.descend(loss, self.learning_rate(fraction))
        return float(loss.detach())

    def learning_rate(self, fraction: float) -> float:
        """The step size at a fraction of the run."""
        return _between(self._config.learning_rate, self._config.final_learning_rate, fraction)


def _between(first: float, final: float, fraction: float) -> float:
    return first + (final - first) * min(fraction, 1.0)


# -- games ------------------------------------------------------------------------------------------------------------


class Pool:
    """Earlier critics to play against, the oldest first."""

    def __init__(self, config: SelfPlayConfig, kind: CriticConfig, ruleset: Ruleset) -> None:
        self.critics: list[Critic] = []
        self._config = config
        self._kind = kind
        self._ruleset = ruleset

    def add_if_due(self, critic: Critic, iteration: int) -> None:
        """Keep the critic of every so many iterations, and of those the newest."""
        if self._config.pool and iteration % self._config.pool_every == 0:
            self.critics = [*self.critics, critic][-self._config.pool :]

    def tensors(self) -> dict[str, dict[str, Tensor]]:
        """All state for a checkpoint."""
        kept = {
            f"{place}.{name}": torch.from_numpy(array)
            for place, critic in enumerate(self.critics)
            for name, array in critic.weights.items()
        }
        return {"pool": kept} if kept else {}

    def restore(self, tensors: Mapping[str, Mapping[str, Tensor]]) -> None:
        """Go back to the state that `tensors` returned."""
        kept = tensors.get("pool", {})
        names = tuple(self._kind.shapes())
        self.critics = [
            Critic(self._kind, self._ruleset, {name: kept[f"{place}.{name}"].numpy() for name in names})
            for place in range(len(kept) // len(names))
        ]


@dataclass(frozen=True, slots=True)
class _Task:
    """Games of one thread against one opponent."""

    opponent: Critic | str | None
    games: int
    seed: int


def plan_games(config: SelfPlayConfig, pool: Pool, rng: np.random.Generator) -> list[_Task]:
    """The games of an iteration, by opponent; one earlier critic is drawn for all games against the pool."""
    wanted: list[tuple[Critic | str | None, float]] = [
        (name, config.opponents_share / len(config.opponents)) for name in config.opponents
    ]
    if pool.critics and config.pool_share:
        wanted.append((pool.critics[int(rng.integers(len(pool.critics)))], config.pool_share))
    counts = [(opponent, round(share * config.games)) for opponent, share in wanted]
    counts.append((None, config.games - sum(games for _, games in counts)))
    tasks = []
    for opponent, games in counts:
        for actor in range(config.actors):
            part = (actor + 1) * games // config.actors - actor * games // config.actors
            seed = int(rng.integers(1 << 63))
            if part:
                tasks.append(_Task(opponent, part, seed))
    return tasks


# -- the run ----------------------------------------------------------------------------------------------------------


def train(run: Run, progress: Progress) -> None:
    """Do what is left of a run, from its newest checkpoint on."""
    config = run.config(Config)
    torch.set_num_threads(config.learner.threads)
    with Loop(run, config, progress) as loop, ThreadPoolExecutor(config.self_play.actors) as actors:
        checkpoint = loop.resume("steps")
        learner = Learner(_first_net(config, run, progress, checkpoint), config.learner)
        pool = Pool(config.self_play, config.critic, config.ruleset)
        if checkpoint is not None:
            learner.restore(checkpoint.tensors, checkpoint.counters["steps"])
            pool.restore(checkpoint.tensors)
        while not loop.is_done:
            iteration = loop.iteration + 1
            place, fraction = f"in iteration {iteration}", loop.fraction()

            # 1. Games.
            critic = learner.average.critic(config.ruleset)
            epsilon = _between(config.self_play.epsilon, config.self_play.final_epsilon, fraction)
            tasks = plan_games(config.self_play, pool, iteration_rng(run.header.seed, iteration, _GAMES))
            parts = list(actors.map(partial(_play, critic, config, epsilon), tasks))
            games = CriticGames.concatenate(parts)
            samples = make_samples(games, config.learner)
            loop.guards.check_samples(len(samples), place)
            loop.games += len(games.moves)
            loop.positions += len(games)

            # 2. Learning.
            rng = iteration_rng(run.header.seed, iteration, _LEARNING)
            loss = float(np.mean([learner.learn(samples, rows, fraction) for rows in _batches(samples, config, rng)]))
            loop.guards.check_losses({"value": loss}, place)

            # 3. What others see of it.
            critic = learner.average.critic(config.ruleset)
            pool.add_if_due(critic, iteration)
            write_file(run.folder / CRITIC_FILE, critic.to_bytes())
            loop.end_iteration(
                {
                    "steps": learner.steps,
                    "losses": {"value": round(loss, 5)},
                    "epsilon": round(epsilon, 4),
                    "learning_rate": learner.learning_rate(fraction),
                    "self_play": _summary(parts[-1]),
                },
                f"value {loss:.4f}",
                tensors={**learner.tensors(), **pool.tensors()},
                counters={"steps": learner.steps},
            )


def _first_net(config: Config, run: Run, progress: Progress, checkpoint: Checkpoint | None) -> CriticNet:
    net = CriticNet(config.critic, run.header.seed)
    if checkpoint is None and config.init_from:
        source = load_critic(config.init_from)
        if source.config.shapes() != config.critic.shapes():
            raise InputError(f"{config.init_from} is a critic of another form: {source.config}")
        net.load_state_dict({name: torch.from_numpy(array) for name, array in source.weights.items()})
        progress.say(f"beginning with the weights of {config.init_from}")
    return net


def _play(critic: Critic, config: Config, epsilon: float, task: _Task) -> CriticGames:
    return play_games(
        critic,
        config.ruleset,
        games=task.games,
        seed=task.seed,
        epsilon=epsilon,
        random_stones=config.self_play.random_stones,
        opponent=task.opponent,
    )


def _batches(samples: Samples, config: Config, rng: np.random.Generator) -> Iterator[npt.NDArray[np.int64]]:
    """The rows of each step, all of them once an epoch in another order."""
    for _ in range(config.learner.epochs):
        order = rng.permutation(len(samples))
        for first in range(0, len(order), config.learner.batch):
            yield order[first : first + config.learner.batch]


def _summary(games: CriticGames) -> dict[str, float]:
    """What the games against itself were like."""
    points = {Outcome.BLACK: 1.0, Outcome.WHITE: 0.0, Outcome.DRAW: 0.5}
    return {
        "plies": round(float(np.mean([len(moves) for moves in games.moves])), 2),
        "black_score": round(float(np.mean([points[outcome] for outcome in games.outcomes])), 4),
        "draws": round(float(np.mean([outcome is Outcome.DRAW for outcome in games.outcomes])), 4),
        "value_spread": round(float(games.black_values.std()), 4),
    }
