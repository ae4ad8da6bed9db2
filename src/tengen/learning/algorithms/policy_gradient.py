"""Policy gradient: moves from won games become more likely (REINFORCE, Williams 1992; pg9 for Gomoku).

The defaults follow the text of the paper: one dense network, ten batches of ten games per update, gradients weighted by
the discounted result, RMSProp, and a running reward that decides when the self-play opponent is replaced. The presets
`pg9-*` follow the author's code, which also plays greedily, standardises the returns of each batch and has no biases
(docs/how/policy-gradient.md). Settings add the extensions that the paper lists as future work: a value network as
critic (`learner.credit = "gae"`), convolutions, a model for white, stronger opponents, a pool of earlier networks.

An iteration consists of `updates` updates. Its result depends only on the seed, the iteration number and the initial
weights.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from tengen.errors import InputError
from tengen.learning.checks import check_at_least, check_decay, check_share
from tengen.learning.experience.episodes import (
    Choose,
    EpisodePlayer,
    Episodes,
    PlayConfig,
    Pool,
    PoolConfig,
    discounted_returns,
    entropy,
    generalised_advantages,
    greedy_policy,
    masked_log_policy,
    sample_policy,
    standardised_returns,
)
from tengen.learning.experience.self_play import SAVED_GAMES, save_games
from tengen.learning.learner import optimizer_tensors, restore_optimizer, restore_weights, weights_of
from tengen.learning.run import Checkpoint, Run, iteration_rng
from tengen.learning.run.guards import GuardConfig
from tengen.learning.run.loop import Loop, NetLoopConfig, channels_last, cosine_schedule, initial_net, rounded
from tengen.learning.run.progress import Progress
from tengen.nets.architectures import Net, NetConfig, NetKind, NetOutput, build_net

# Values of `purpose` for `iteration_rng`.
_PLAYING = 0
_ROWS_AT_ONCE = 1024


# -- configuration ----------------------------------------------------------------------------------------------------


class Credit(StrEnum):
    """Weight of a move's gradient."""

    RESULT = "result"
    """Result of the game, discounted by the number of moves to the end, as in pg9."""
    STANDARDISED = "standardised"
    """Discounted result, normalised to mean 0 and standard deviation 1 over each batch of `running_reward.batch`
    games, as in the code of pg9.
    """
    GAE = "gae"
    """Advantage estimated with the value network (actor-critic)."""


class Choice(StrEnum):
    """How the networks choose their moves during training."""

    SAMPLED = "sampled"
    """A move sampled from the policy."""
    GREEDY = "greedy"
    """The most likely move, with ties broken at random, as in the code of pg9."""


class Reduction(StrEnum):
    """How the gradients of the moves in an update are combined."""

    MEAN = "mean"
    SUM = "sum"


class Optimizer(StrEnum):
    """Optimiser used to train the network."""

    RMSPROP = "rmsprop"
    ADAM = "adam"


@dataclass(frozen=True, slots=True, kw_only=True)
class LearnerConfig:
    """Settings for the weight updates."""

    optimizer: Optimizer = Optimizer.RMSPROP
    """Optimiser; the paper uses RMSProp."""
    learning_rate: float = 1e-4
    """Initial learning rate."""
    final_learning_rate: float = 1e-4
    """Final learning rate, reached by a cosine schedule."""
    square_decay: float = 0.99
    """Decay of the mean squared gradient in RMSProp."""
    epsilon: float = 1e-8
    """ε that RMSProp adds to the root of the mean squared gradient."""
    reduction: Reduction = Reduction.MEAN
    """How the gradients of the moves in an update are combined; the code of pg9 adds them up."""
    masked: bool = True
    """Exclude illegal moves from the softmax in the policy loss; otherwise, the softmax includes all outputs."""
    discount: float = 0.99
    """Discount γ per move."""
    credit: Credit = Credit.RESULT
    """Weight of a move's gradient."""
    gae_decay: float = 0.95
    """λ of generalised advantage estimation: 1 relies on results, 0 on the value network."""
    value_weight: float = 0.5
    """Weight of the value loss, if there is a value network."""
    entropy_weight: float = 0.0
    """Weight of the entropy bonus, which keeps the policy from collapsing early."""
    clip: float = 0.0
    """Maximum gradient norm; 0 for no limit."""
    threads: int = 1
    """Number of threads for self-play and training."""

    def __post_init__(self) -> None:
        check_at_least(
            self, 0, "learning_rate", "final_learning_rate", "epsilon", "value_weight", "entropy_weight", "clip"
        )
        check_at_least(self, 1, "threads")
        check_decay(self, "square_decay")
        check_share(self, "discount", "gae_decay")


@dataclass(frozen=True, slots=True, kw_only=True)
class RunningRewardConfig:
    """The paper's measure of progress: an exponential moving average of the reward sum per batch.

    It starts with the sum of the first batch.
    """

    batch: int = 10
    """Games per batch; an update consists of `play.games` / `batch` batches."""
    decay: float = 0.99
    """Decay of the running reward per batch."""
    replace_at: float = 0.0
    """Running reward above which the network replaces the opponent `past` and the reward is reset; 0 for never."""
    stop_at: float = 0.0
    """Running reward above which the run ends; 0 for never."""

    def __post_init__(self) -> None:
        check_at_least(self, 1, "batch")
        check_decay(self, "decay")


@dataclass(frozen=True, slots=True, kw_only=True)
class Config(NetLoopConfig):
    """Complete configuration of a run; together with the seed, it determines the run."""

    updates: int = 20
    """Updates per iteration; each uses `play.games` games."""
    net: NetConfig = field(default_factory=lambda: NetConfig(kind=NetKind.DENSE, planes="board", channels=500))
    """Network architecture."""
    play: PlayConfig = field(default_factory=lambda: PlayConfig(games=100))
    """Games for each update."""
    choice: Choice = Choice.SAMPLED
    """How the network and the opponent `past` choose their moves."""
    pool: PoolConfig = field(default_factory=lambda: PoolConfig(size=1, every=0))
    """Earlier networks, which play as the opponent `past`."""
    past_starts_random: bool = False
    """Whether the first opponent `past` has its own random weights instead of the run's initial weights."""
    learner: LearnerConfig = field(default_factory=LearnerConfig)
    """Weight updates."""
    running_reward: RunningRewardConfig = field(default_factory=RunningRewardConfig)
    """The paper's measure of progress."""
    guards: GuardConfig = field(default_factory=lambda: GuardConfig(min_policy_entropy=1e-4))
    """Checks that stop a failing run."""

    def __post_init__(self) -> None:
        NetLoopConfig.__post_init__(self)
        check_at_least(self, 1, "updates")
        if self.play.games % self.running_reward.batch:
            raise InputError(
                f"play.games={self.play.games} is not a multiple of running_reward.batch={self.running_reward.batch}"
            )


# -- losses -----------------------------------------------------------------------------------------------------------


def compute_losses(
    output: NetOutput, legal: Tensor, actions: Tensor, advantages: Tensor, targets: Tensor, *, masked: bool = True
) -> dict[str, Tensor]:
    """Return the unweighted mean `policy` and `value` losses and `entropy` (to be maximised) of rows [N].

    Unless `masked`, the softmax includes illegal moves and resignation.
    """
    log_policy = masked_log_policy(output.policy_logits, legal) if masked else _full_log_policy(output)
    chosen = log_policy.gather(1, actions[:, None]).squeeze(1)
    return {
        "policy": -(chosen * advantages).mean(),
        "value": (output.value_to_move - targets).square().mean(),
        "entropy": entropy(log_policy).mean(),
    }


def _full_log_policy(output: NetOutput) -> Tensor:
    """Return log-probabilities [B, outputs] over all points and, if the network has it, resignation."""
    logits = output.policy_logits
    if output.resign_logit is not None:
        logits = torch.cat([logits, output.resign_logit[:, None]], dim=1)
    return torch.log_softmax(logits, dim=1)


def weigh_losses(losses: Mapping[str, Tensor], config: LearnerConfig) -> Tensor:
    """Return the weighted total loss."""
    loss = losses["policy"] - config.entropy_weight * losses["entropy"]
    return loss + config.value_weight * losses["value"] if config.credit is Credit.GAE else loss


# -- learner ----------------------------------------------------------------------------------------------------------


class Learner:
    """The network in training and its optimiser."""

    def __init__(self, net: Net, config: LearnerConfig, batch: int = 10) -> None:
        """Create the optimiser. `batch` is the number of games over which returns are standardised."""
        self.net = net
        self._config = config
        self._batch = batch
        if config.optimizer is Optimizer.RMSPROP:
            self.optimizer: torch.optim.Optimizer = torch.optim.RMSprop(
                net.parameters(), lr=config.learning_rate, alpha=config.square_decay, eps=config.epsilon
            )
        else:
            self.optimizer = torch.optim.Adam(net.parameters(), lr=config.learning_rate)

    def update(self, episodes: Episodes, fraction: float) -> dict[str, float]:
        """Update the weights once, at the given fraction of the run; return the losses."""
        config = self._config
        for group in self.optimizer.param_groups:
            group["lr"] = cosine_schedule(config.learning_rate, config.final_learning_rate, fraction)
        advantages, targets = self._credit(episodes)
        columns = (episodes.planes, episodes.legal, episodes.actions, advantages, targets)
        means: dict[str, float] = {}
        self.optimizer.zero_grad(set_to_none=True)
        # Accumulate the gradient over parts that fit into the CPU caches.
        for planes, *rest in zip(*(torch.split(column, _ROWS_AT_ONCE) for column in columns), strict=True):
            losses = compute_losses(self.net(planes), *rest, masked=config.masked)
            share = len(planes) / len(episodes)
            scale = len(planes) if config.reduction is Reduction.SUM else share
            torch.autograd.backward(scale * weigh_losses(losses, config))
            for name, loss in losses.items():
                means[name] = means.get(name, 0.0) + share * float(loss.detach())
        if config.clip:
            torch.nn.utils.clip_grad_norm_(self.net.parameters(), config.clip)
        self.optimizer.step()
        return means

    def _credit(self, episodes: Episodes) -> tuple[Tensor, Tensor]:
        """Return advantages [N] and value targets [N]."""
        config = self._config
        if config.credit is not Credit.GAE:
            returns = discounted_returns(episodes.results, episodes.next_sign, config.discount)
            if config.credit is Credit.STANDARDISED:
                return standardised_returns(returns, episodes.next_sign, self._batch), returns
            return returns, returns
        advantages, targets = generalised_advantages(
            episodes.value_to_move, episodes.results, episodes.next_sign, config.discount, config.gae_decay
        )
        return (advantages - advantages.mean()) / (advantages.std() + 1e-8), targets


class RunningReward:
    """Moving average of the reward sum per batch; from -10 to 10 with batches of ten games, as in the paper."""

    def __init__(self, config: RunningRewardConfig) -> None:
        self._config = config
        self.value = 0.0
        """The average; 0 before the first batch."""
        self.is_new = True
        """Whether the next batch is the first one, whose sum becomes the average."""

    def add(self, rewards: np.ndarray[Any, np.dtype[np.float32]]) -> bool:
        """Add the rewards from games; return whether to replace the opponent.

        If so, the running reward restarts with the next batch.
        """
        for batch in rewards.reshape(-1, self._config.batch).sum(axis=1).tolist():
            self.value = batch if self.is_new else self._config.decay * self.value + (1 - self._config.decay) * batch
            self.is_new = False
        self.is_new = 0 < self._config.replace_at < self.value
        return self.is_new

    @property
    def is_beaten(self) -> bool:
        """Whether the average is high enough to end the run."""
        return 0 < self._config.stop_at < self.value


# -- the run ----------------------------------------------------------------------------------------------------------


def train(run: Run, progress: Progress) -> None:
    """Train a run until it is finished, starting from the newest checkpoint if there is one."""
    config = run.config(Config)
    torch.set_num_threads(config.learner.threads)
    with Loop(run, config, progress) as loop:
        learner = Learner(initial_net(config, run, progress), config.learner, config.running_reward.batch)
        pool = Pool(_first_opponent(learner.net, config, run), config.pool)
        running = RunningReward(config.running_reward)
        replaced = 0

        def restore(checkpoint: Checkpoint) -> None:
            nonlocal replaced
            restore_weights(learner.net, checkpoint.tensors, "weights")
            restore_optimizer(learner.optimizer, checkpoint.tensors)
            pool.restore(checkpoint.tensors)
            running.value, replaced = checkpoint.counters["running_reward"], checkpoint.counters["replaced"]
            running.is_new = bool(checkpoint.counters.get("running_is_new", 0))

        loop.resume(restore, "running_reward", "replaced")
        player = EpisodePlayer(config.ruleset, config.net.planes, config.play)
        loop.measure_start(lambda: loop.publish(learner.net))
        while not loop.is_done:
            iteration = loop.iteration + 1
            place, fraction = f"in iteration {iteration}", loop.fraction()
            rng = iteration_rng(run.header.seed, iteration, _PLAYING)
            choose = _CHOICES[config.choice](torch.Generator().manual_seed(int(rng.integers(1 << 63))))
            history: list[Update] = []
            positions = 0
            for _ in range(config.updates):
                episodes = player.play(learner.net, pool.draw(rng), choose, rng)
                losses = learner.update(episodes, fraction)
                loop.guards.check_losses(losses, place)
                positions += len(episodes)
                if running.add(episodes.rewards):
                    pool.add(learner.net)
                    replaced += 1
                history.append(Update(losses, episodes.scores, episodes.plies, episodes.illegal, running.value))
                if running.is_beaten:
                    break
            pool.add_if_due(learner.net, iteration)
            loop.games += len(history) * config.play.games
            loop.positions += positions
            metrics = summarise(history)
            loop.guards.check_entropy(metrics["losses"]["entropy"], place)
            save_games(run.folder, iteration, *player.games(SAVED_GAMES), config.ruleset)
            loop.publish(learner.net)
            loop.end_iteration(
                {**metrics, "replaced": replaced},
                f"running reward {running.value:+.2f}, entropy {metrics['losses']['entropy']:.2f}",
                tensors={
                    "weights": weights_of(learner.net),
                    "optimizer": optimizer_tensors(learner.optimizer),
                    **pool.tensors(),
                },
                counters={
                    "running_reward": running.value,
                    "running_is_new": int(running.is_new),
                    "replaced": replaced,
                },
                ends=running.is_beaten,
            )


_CHOICES: Mapping[Choice, Callable[[torch.Generator], Choose]] = {
    Choice.SAMPLED: sample_policy,
    Choice.GREEDY: greedy_policy,
}


def _first_opponent(net: Net, config: Config, run: Run) -> Net:
    """Return the first network of the pool: the run's initial network, or one with other random weights."""
    if not config.past_starts_random:
        return net
    return channels_last(build_net(config.net, config.ruleset, seed=run.header.seed + 1_000_000))


class Update(NamedTuple):
    """Statistics of one update."""

    losses: Mapping[str, float]
    scores: Mapping[str, float]
    plies: float
    illegal: float
    running_reward: float


def summarise(updates: Sequence[Update]) -> dict[str, Any]:
    """Return the means over the updates of an iteration for the metrics."""

    def mean(tables: Sequence[Mapping[str, float]]) -> dict[str, float]:
        return rounded({name: float(np.mean([table[name] for table in tables])) for name in tables[0]})

    return {
        "losses": mean([update.losses for update in updates]),
        "play": {
            "plies": round(float(np.mean([update.plies for update in updates])), 2),
            "illegal": round(float(np.mean([update.illegal for update in updates])), 5),
            "scores": mean([update.scores for update in updates]),
        },
        "running_reward": round(updates[-1].running_reward, 4),
        "best_running_reward": round(max(update.running_reward for update in updates), 4),
    }
