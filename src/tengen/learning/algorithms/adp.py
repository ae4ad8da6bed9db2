"""Adaptive dynamic programming: a critic learns by temporal differences (Zhao, Zhang & Dai 2012: `fudan`).

The player looks one move ahead: it evaluates the position after each candidate move (an *afterstate*) and plays the
best move, or sometimes a random one. An iteration plays games in this way (`tengen.search.critic_games`, native code),
computes TD(λ) targets for their positions, and trains the critic on them. Its result depends only on the seed, the
iteration number and the initial weights, unless the run has a time limit (`minutes`).
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
from tengen.errors import InputError, RunError
from tengen.learning.checks import check_at_least, check_decay, check_share
from tengen.learning.learner import AveragedLearner
from tengen.learning.run.folder import Checkpoint, Run, iteration_rng, write_run_file
from tengen.learning.run.loop import Loop, LoopConfig, linear_schedule
from tengen.learning.run.progress import Progress
from tengen.search.critic import CRITIC_FILE, Activation, Critic, CriticConfig, CriticInput, FloatArray, load_critic
from tengen.search.critic_games import CriticGames, check_policy_name, play_games

# Values of `purpose` for `iteration_rng`.
_GAMES, _LEARNING = 0, 1


# -- configuration ----------------------------------------------------------------------------------------------------


class Loss(StrEnum):
    """Loss function for a predicted winning chance and its target."""

    SQUARED = "squared"
    """½ (target - chance)², as in the paper."""
    CROSS_ENTROPY = "cross-entropy"


class Optimizer(StrEnum):
    """Optimiser used to train the critic."""

    SGD = "sgd"
    ADAM = "adam"


@dataclass(frozen=True, slots=True, kw_only=True)
class CriticPlayConfig:
    """Settings for the games played in an iteration."""

    games: int = 256
    """Games per iteration."""
    actors: int = 1
    """Number of threads; each plays an equal share of the games."""
    random_stones: int = 6
    """Maximum number of random stones at the start of a game. A game has at least one unless this is 0.
    The first stone is placed anywhere, the others near it."""
    epsilon: float = 0.1
    """Initial probability of playing a random candidate move instead of the best one."""
    final_epsilon: float = 0.02
    """Final probability of a random move, reached by a linear schedule."""
    opponents: tuple[str, ...] = ()
    """Simple players used as opponents, such as `chains`."""
    opponents_share: float = 0.0
    """Share of games played against simple players, divided equally among them."""
    pool: int = 0
    """Maximum number of earlier critics in the pool of opponents; 0 for no pool."""
    pool_share: float = 0.0
    """Share of games played against critics from the pool."""
    pool_every: int = 20
    """Number of iterations after which the current critic joins the pool."""

    def __post_init__(self) -> None:
        for name in self.opponents:
            check_policy_name(name)
        check_at_least(self, 1, "games", "actors", "pool_every")
        check_at_least(self, 0, "pool")
        check_share(self, "epsilon", "final_epsilon", "opponents_share", "pool_share")
        if self.opponents_share + self.pool_share > 1:
            raise InputError(
                f"the sum of opponents_share={self.opponents_share} and pool_share={self.pool_share} is above 1"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class LearnerConfig:
    """Settings for the TD targets and training steps."""

    trace: float = 0.7
    """λ of TD(λ): with 0 the target is the value of the next position, with 1 the result of the game."""
    steps: int = 0
    """Maximum number of positions a target looks ahead; 0 for no limit. If `trace` is 1, targets are n-step returns."""
    cuts: bool = True
    """If an exploratory move was played, use the value of the best move as the target instead."""
    loss: Loss = Loss.CROSS_ENTROPY
    """Loss function for the winning chance."""
    optimizer: Optimizer = Optimizer.ADAM
    """Optimiser for the critic."""
    learning_rate: float = 2e-3
    """Initial learning rate."""
    final_learning_rate: float = 1e-4
    """Final learning rate, reached by a linear schedule."""
    weight_decay: float = 0.0
    """Weight decay per step, multiplied by the learning rate."""
    batch: int = 512
    """Batch size: positions per step."""
    epochs: int = 1
    """Passes over the positions from an iteration."""
    average: float = 0.0
    """Decay per step of the averaged weights, which are used to play; 0 uses the newest weights."""
    threads: int = 1
    """Number of threads for training steps."""

    def __post_init__(self) -> None:
        check_share(self, "trace")
        check_at_least(self, 0, "steps", "learning_rate", "final_learning_rate", "weight_decay")
        check_at_least(self, 1, "batch", "epochs", "threads")
        check_decay(self, "average")


@dataclass(frozen=True, slots=True, kw_only=True)
class Config(LoopConfig):
    """Complete configuration of a run; together with the seed, it determines the run."""

    init_from: str = ""
    """Run, shipped critic or file to start from; its weights must have the same shapes."""
    critic: CriticConfig = field(default_factory=CriticConfig)
    """Inputs and size of the critic."""
    self_play: CriticPlayConfig = field(default_factory=CriticPlayConfig)
    """Games played in each iteration."""
    learner: LearnerConfig = field(default_factory=LearnerConfig)
    """Settings for the training steps."""

    def __post_init__(self) -> None:
        LoopConfig.__post_init__(self)  # super() without arguments fails in a dataclass with slots
        if self.critic.input is CriticInput.POINTS and self.ruleset.win_length not in (4, 5):
            raise InputError(
                f"critic.input = points requires a win length of 4 or 5, but the ruleset is {self.ruleset}"
            )
        most = 2 * self.ruleset.win_length - 2
        if not 0 <= self.self_play.random_stones <= most:
            raise InputError(
                f"random_stones={self.self_play.random_stones} is outside the range 0–{most}:"
                " more random stones could end the game"
            )


# -- targets ----------------------------------------------------------------------------------------------------------


def lambda_returns(
    values: FloatArray, best_values: FloatArray, is_last: npt.NDArray[np.bool_], config: LearnerConfig
) -> FloatArray:
    """Return the truncated TD(λ) targets [positions, views] for consecutive games.

    Gₜ = (1 - λ) vₜ₊₁ + λ Gₜ₊₁, where v of the last position is the result of the game. With `cuts`, Gₜ is the value of
    the best move if a different move was played. After `steps` positions, the recursion stops and uses the value v.
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
class CriticSamples:
    """Training positions, each with the sparse inputs of one view and its target winning chance."""

    starts: npt.NDArray[np.int64]
    """[N]: start of each position's inputs in `indices`."""
    ends: npt.NDArray[np.int64]
    """[N]: end of each position's inputs in `indices`."""
    indices: npt.NDArray[np.int32]
    """Indices of the non-zero inputs for all positions."""
    amounts: FloatArray
    """Value of each of these inputs."""
    targets: FloatArray
    """[N]: winning chances between 0 and 1."""

    def __len__(self) -> int:
        return len(self.targets)

    def batch(self, rows: npt.NDArray[np.int64]) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Return the indices [n], the offset of each row in them [B], the amounts [n] and the targets [B]."""
        starts, lengths = self.starts[rows], self.ends[rows] - self.starts[rows]
        offsets = np.cumsum(lengths) - lengths
        places = np.repeat(starts - offsets, lengths) + np.arange(int(lengths.sum()))
        arrays = self.indices[places].astype(np.int64), offsets, self.amounts[places], self.targets[rows]
        indices, starts_of_rows, amounts, targets = (torch.from_numpy(array) for array in arrays)
        return indices, starts_of_rows, amounts, targets


def make_samples(games: CriticGames, config: LearnerConfig) -> CriticSamples:
    """Return all positions except the last of each game, with a target for each view."""
    returns = lambda_returns(games.black_values, games.black_best_values, games.is_last, config)
    targets = np.where(games.is_black_view, returns, 1 - returns)
    learned = np.repeat(~games.is_last, targets.shape[1])
    return CriticSamples(
        starts=games.row_starts[:-1][learned],
        ends=games.row_starts[1:][learned],
        indices=games.indices,
        amounts=games.amounts,
        targets=targets.ravel()[learned],
    )


# -- the critic in training -------------------------------------------------------------------------------------------


class CriticNet(nn.Module):
    """Critic as a torch module. Its parameters have the names and shapes of `CriticConfig.shapes`."""

    def __init__(self, config: CriticConfig, seed: int) -> None:
        super().__init__()
        self.config = config
        generator = torch.Generator().manual_seed(seed)
        shapes = config.shapes()
        # Start near zero, so that rare shapes, which are seldom trained, have little effect.
        self.weights = nn.Parameter(0.01 * torch.randn(shapes["weights"], generator=generator))
        self.biases = nn.Parameter(0.5 * torch.rand(shapes["biases"], generator=generator))
        scale = config.hidden**-0.5
        self.output_weights = nn.Parameter(scale * torch.randn(shapes["output_weights"], generator=generator))
        self.output_bias = nn.Parameter(torch.zeros(shapes["output_bias"]))

    def forward(self, indices: Tensor, offsets: Tensor, amounts: Tensor) -> Tensor:
        """Compute logits [B] from sparse rows as returned by `CriticSamples.batch`."""
        sums = functional.embedding_bag(indices, self.weights, offsets, mode="sum", per_sample_weights=amounts)
        activate = torch.relu if self.config.activation is Activation.RELU else torch.sigmoid
        return activate(sums + self.biases) @ self.output_weights + self.output_bias

    def critic(self, ruleset: Ruleset) -> Critic:
        """Return a critic for play with the same weights."""
        return Critic(self.config, ruleset, {name: tensor.detach().numpy() for name, tensor in self.named_parameters()})


def compute_loss(logits: Tensor, targets: Tensor, loss: Loss) -> Tensor:
    """Return the mean loss of the predicted winning chances."""
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

    def step(self, samples: CriticSamples, rows: npt.NDArray[np.int64], fraction: float) -> float:
        """Take one training step on `rows` at the given fraction of the run; return the loss."""
        *inputs, targets = samples.batch(rows)
        loss = compute_loss(self.net(*inputs), targets, self._config.loss)
        self.optimize(loss, self.learning_rate(fraction))
        return float(loss.detach())

    def learning_rate(self, fraction: float) -> float:
        """Return the learning rate at the given fraction of the run."""
        return linear_schedule(self._config.learning_rate, self._config.final_learning_rate, fraction)


# -- games ------------------------------------------------------------------------------------------------------------


class CriticPool:
    """Earlier critics as opponents, oldest first."""

    def __init__(self, config: CriticPlayConfig, kind: CriticConfig, ruleset: Ruleset) -> None:
        self.critics: list[Critic] = []
        self._config = config
        self._kind = kind
        self._ruleset = ruleset

    def add_if_due(self, critic: Critic, iteration: int) -> None:
        """Add a critic if one is due after this iteration; drop the oldest if there are too many."""
        if self._config.pool and iteration % self._config.pool_every == 0:
            self.critics = [*self.critics, critic][-self._config.pool :]

    def tensors(self) -> dict[str, dict[str, Tensor]]:
        """Return the complete state for a checkpoint."""
        kept = {
            f"{place}.{name}": torch.from_numpy(array)
            for place, critic in enumerate(self.critics)
            for name, array in critic.weights.items()
        }
        return {"pool": kept} if kept else {}

    def restore(self, tensors: Mapping[str, Mapping[str, Tensor]]) -> None:
        """Restore the state saved by `tensors`. Raises `RunError` if a critic does not match."""
        kept = tensors.get("pool", {})
        names = tuple(self._kind.shapes())
        wanted = {f"{place}.{name}" for place in range(len(kept) // len(names)) for name in names}
        if kept.keys() != wanted:
            raise RunError(f"pool.safetensors does not contain all the weights for {len(kept) // len(names)} critics")
        self.critics = [
            Critic(self._kind, self._ruleset, {name: kept[f"{place}.{name}"].numpy() for name in names})
            for place in range(len(kept) // len(names))
        ]


@dataclass(frozen=True, slots=True)
class _Task:
    """Games played by one thread against one opponent, which is None for self-play."""

    opponent: Critic | str | None
    games: int
    seed: int


def plan_games(config: CriticPlayConfig, pool: CriticPool, rng: np.random.Generator) -> list[_Task]:
    """Return the tasks for an iteration; one earlier critic is drawn for all games against the pool."""
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
    """Train a run until it is finished, starting from the newest checkpoint if there is one."""
    config = run.config(Config)
    torch.set_num_threads(config.learner.threads)
    with Loop(run, config, progress) as loop, ThreadPoolExecutor(config.self_play.actors) as actors:
        learner = Learner(_initial_net(config, run, progress), config.learner)
        pool = CriticPool(config.self_play, config.critic, config.ruleset)

        def restore(checkpoint: Checkpoint) -> None:
            learner.restore(checkpoint.tensors, checkpoint.counters["steps"])
            pool.restore(checkpoint.tensors)

        loop.resume(restore, "steps")

        def publish() -> None:
            write_run_file(run.folder / CRITIC_FILE, learner.average.critic(config.ruleset).to_bytes())

        loop.measure_start(publish)
        while not loop.is_done:
            iteration = loop.iteration + 1
            place, fraction = f"in iteration {iteration}", loop.fraction()

            # 1. Play.
            critic = learner.average.critic(config.ruleset)
            epsilon = linear_schedule(config.self_play.epsilon, config.self_play.final_epsilon, fraction)
            tasks = plan_games(config.self_play, pool, iteration_rng(run.header.seed, iteration, _GAMES))
            parts = list(actors.map(partial(_play, critic, config, epsilon), tasks))
            games = CriticGames.concatenate(parts)
            samples = make_samples(games, config.learner)
            loop.guards.check_samples(len(samples), place)
            loop.games += len(games.moves)
            loop.positions += len(games)

            # 2. Train.
            rng = iteration_rng(run.header.seed, iteration, _LEARNING)
            loss = float(np.mean([learner.step(samples, rows, fraction) for rows in _batches(samples, config, rng)]))
            loop.guards.check_losses({"value": loss}, place)

            # 3. Publish the critic, then write the metrics and a checkpoint.
            pool.add_if_due(learner.average.critic(config.ruleset), iteration)
            publish()
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


def _initial_net(config: Config, run: Run, progress: Progress) -> CriticNet:
    net = CriticNet(config.critic, run.header.seed)
    if config.init_from and not run.checkpoint_folders():
        source = load_critic(config.init_from)
        if source.config.shapes() != config.critic.shapes():
            raise InputError(
                f"{config.init_from} has a critic with different shapes: {source.config}; set critic.* to match"
            )
        net.load_state_dict({name: torch.from_numpy(array) for name, array in source.weights.items()})
        progress.say(f"starting with the weights of {config.init_from}")
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


def _batches(samples: CriticSamples, config: Config, rng: np.random.Generator) -> Iterator[npt.NDArray[np.int64]]:
    """Yield the rows for each step; each epoch covers all rows in a new random order."""
    for _ in range(config.learner.epochs):
        order = rng.permutation(len(samples))
        for first in range(0, len(order), config.learner.batch):
            yield order[first : first + config.learner.batch]


def _summary(games: CriticGames) -> dict[str, float]:
    """Return statistics of the self-play games for the metrics."""
    points = {Outcome.BLACK: 1.0, Outcome.WHITE: 0.0, Outcome.DRAW: 0.5}
    return {
        "plies": round(float(np.mean([len(moves) for moves in games.moves])), 2),
        "black_score": round(float(np.mean([points[outcome] for outcome in games.outcomes])), 4),
        "draws": round(float(np.mean([outcome is Outcome.DRAW for outcome in games.outcomes])), 4),
        "value_spread": round(float(games.black_values.std()), 4),
    }
