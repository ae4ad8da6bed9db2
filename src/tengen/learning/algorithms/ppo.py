"""Proximal policy optimization (Schulman et al. 2017): policy gradient with steps that stay near the old policy.

An iteration plays a batch of games against the network itself, a pool of earlier networks and simple players, then
trains on their rows for a few epochs. Illegal moves are masked, which leaves the gradient valid (Huang and Ontañón
2022). In self-play, both sides are trained: advantages are from the perspective of the player to move. The result of
an iteration depends only on the seed, the iteration number and the initial weights.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor

from tengen.learning.checks import check_at_least, check_positive, check_share
from tengen.learning.experience.episodes import (
    EpisodePlayer,
    Episodes,
    PlayConfig,
    Pool,
    PoolConfig,
    entropy,
    generalised_advantages,
    masked_log_policy,
    sample_policy,
)
from tengen.learning.experience.self_play import SAVED_GAMES, save_games
from tengen.learning.learner import optimizer_tensors, restore_optimizer, restore_weights, weights_of
from tengen.learning.run import Checkpoint, Run, iteration_rng
from tengen.learning.run.loop import Loop, NetLoopConfig, cosine_schedule, initial_net, rounded
from tengen.learning.run.progress import Progress
from tengen.nets.architectures import Net, NetOutput

# Values of `purpose` for `iteration_rng`.
_PLAYING, _LEARNING = 0, 1


# -- configuration ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class LearnerConfig:
    """Settings for the training steps."""

    learning_rate: float = 1e-3
    """Initial learning rate."""
    final_learning_rate: float = 1e-4
    """Final learning rate, reached by a cosine schedule."""
    discount: float = 1.0
    """Discount γ per row, that is, per recorded position of a game."""
    gae_decay: float = 0.95
    """λ of generalised advantage estimation: 1 relies on results, 0 on the value network."""
    clip_range: float = 0.2
    """Clipping range ε of the probability ratio."""
    epochs: int = 2
    """Passes over the rows from an iteration."""
    batch: int = 512
    """Batch size: rows per step."""
    value_weight: float = 0.5
    """Weight of the value loss."""
    entropy_weight: float = 0.01
    """Initial weight of the entropy bonus; it falls linearly to 0."""
    clip: float = 0.5
    """Maximum gradient norm."""
    threads: int = 1
    """Number of threads for self-play and training."""

    def __post_init__(self) -> None:
        check_at_least(self, 0, "learning_rate", "final_learning_rate", "value_weight", "entropy_weight")
        check_at_least(self, 1, "epochs", "threads")
        check_at_least(self, 2, "batch")
        check_positive(self, "clip", "clip_range")
        check_share(self, "discount", "gae_decay")


@dataclass(frozen=True, slots=True, kw_only=True)
class Config(NetLoopConfig):
    """Complete configuration of a run; together with the seed, it determines the run."""

    play: PlayConfig = field(default_factory=PlayConfig)
    """Games played in each iteration."""
    pool: PoolConfig = field(default_factory=PoolConfig)
    """Earlier networks, which play as the opponent `past`."""
    learner: LearnerConfig = field(default_factory=LearnerConfig)
    """Settings for the training steps."""


# -- losses -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Rollout:
    """N rows with advantages and value targets."""

    planes: Tensor
    legal: Tensor
    actions: Tensor
    log_probs: Tensor
    """Log-probabilities of the actions under the policy that played."""
    advantages: Tensor
    targets: Tensor
    """Value targets."""

    def __getitem__(self, rows: Tensor) -> Rollout:
        return Rollout(*(getattr(self, name)[rows] for name in Rollout.__slots__))


def compute_losses(output: NetOutput, batch: Rollout, clip_range: float) -> dict[str, Tensor]:
    """Return the unweighted mean `policy` and `value` losses, `entropy` (to be maximised) and `kl` from the old policy.

    The policy loss is -min(ratio · A, clipped ratio · A), so the gradient is 0 if a step would move the ratio further
    out of its range.
    """
    log_policy = masked_log_policy(output.policy_logits, batch.legal)
    difference = log_policy.gather(1, batch.actions[:, None]).squeeze(1) - batch.log_probs
    ratio = difference.exp()
    clipped = ratio.clamp(1 - clip_range, 1 + clip_range)
    return {
        "policy": -torch.minimum(ratio * batch.advantages, clipped * batch.advantages).mean(),
        "value": (output.value_to_move - batch.targets).square().mean(),
        "entropy": entropy(log_policy).mean(),
        "kl": (ratio - 1 - difference).mean().detach(),
    }


def weigh_losses(losses: Mapping[str, Tensor], config: LearnerConfig, fraction: float) -> Tensor:
    """Return the weighted total loss at the given fraction of the run."""
    entropy_weight = config.entropy_weight * max(0.0, 1.0 - fraction)
    return losses["policy"] + config.value_weight * losses["value"] - entropy_weight * losses["entropy"]


def make_rollout(episodes: Episodes, config: LearnerConfig) -> Rollout:
    """Return all rows with advantages normalised to mean 0 and variance 1."""
    advantages, targets = generalised_advantages(
        episodes.value_to_move, episodes.results, episodes.next_sign, config.discount, config.gae_decay
    )
    normal = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
    return Rollout(episodes.planes, episodes.legal, episodes.actions, episodes.log_probs, normal, targets)


# -- learner ----------------------------------------------------------------------------------------------------------


class Learner:
    """The network in training and its optimiser."""

    def __init__(self, net: Net, config: LearnerConfig) -> None:
        self.net = net
        self._config = config
        self.optimizer = torch.optim.Adam(net.parameters(), lr=config.learning_rate, eps=1e-5)

    def update(self, batch: Rollout, fraction: float, rng: np.random.Generator) -> dict[str, float]:
        """Train on the rows from an iteration for all epochs; return the mean losses."""
        config = self._config
        for group in self.optimizer.param_groups:
            group["lr"] = cosine_schedule(config.learning_rate, config.final_learning_rate, fraction)
        steps: list[dict[str, Tensor]] = []
        for _ in range(config.epochs):
            order = torch.from_numpy(rng.permutation(len(batch.actions)))
            for rows in torch.split(order, config.batch):
                chosen = batch[rows]
                losses = compute_losses(self.net(chosen.planes), chosen, config.clip_range)
                self.optimizer.zero_grad(set_to_none=True)
                torch.autograd.backward(weigh_losses(losses, config, fraction))
                torch.nn.utils.clip_grad_norm_(self.net.parameters(), config.clip)
                self.optimizer.step()
                steps.append({name: loss.detach() for name, loss in losses.items()})
        return {name: float(torch.stack([step[name] for step in steps]).mean()) for name in steps[0]}


# -- the run ----------------------------------------------------------------------------------------------------------


def train(run: Run, progress: Progress) -> None:
    """Train a run until it is finished, starting from the newest checkpoint if there is one."""
    config = run.config(Config)
    torch.set_num_threads(config.learner.threads)
    with Loop(run, config, progress) as loop:
        learner = Learner(initial_net(config, run, progress), config.learner)
        pool = Pool(learner.net, config.pool)

        def restore(checkpoint: Checkpoint) -> None:
            restore_weights(learner.net, checkpoint.tensors, "weights")
            restore_optimizer(learner.optimizer, checkpoint.tensors)
            pool.restore(checkpoint.tensors)

        loop.resume(restore)
        player = EpisodePlayer(config.ruleset, config.net.planes, config.play)
        loop.measure_start(lambda: loop.publish(learner.net))
        while not loop.is_done:
            iteration = loop.iteration + 1
            place, fraction = f"in iteration {iteration}", loop.fraction()

            # 1. Play.
            rng = iteration_rng(run.header.seed, iteration, _PLAYING)
            choose = sample_policy(torch.Generator().manual_seed(int(rng.integers(1 << 63))))
            episodes = player.play(learner.net, pool.draw(rng), choose, rng)
            save_games(run.folder, iteration, *player.games(SAVED_GAMES), config.ruleset)
            loop.games += config.play.games
            loop.positions += len(episodes)

            # 2. Train.
            rollout = make_rollout(episodes, config.learner)
            losses = learner.update(rollout, fraction, iteration_rng(run.header.seed, iteration, _LEARNING))
            loop.guards.check_losses(losses, place)
            loop.guards.check_entropy(losses["entropy"], place)
            pool.add_if_due(learner.net, iteration)

            # 3. Publish the network, then write the metrics and a checkpoint.
            loop.publish(learner.net)
            loop.end_iteration(
                {
                    "losses": rounded(losses),
                    "play": {"plies": round(episodes.plies, 2), "scores": rounded(episodes.scores)},
                },
                f"value {losses['value']:.3f}, entropy {losses['entropy']:.2f}",
                tensors={
                    "weights": weights_of(learner.net),
                    "optimizer": optimizer_tensors(learner.optimizer),
                    **pool.tensors(),
                },
            )
