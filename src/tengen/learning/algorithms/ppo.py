"""Proximal policy optimization (Schulman et al. 2017): policy gradient in steps that stay near the policy that played.

An iteration plays a batch of games to their ends, against the network itself, a pool of earlier ones and simple
players, then goes through their rows a few times in small batches. Only legal moves are chosen and learned from, which
is a valid gradient (Huang and Ontañón 2022). In self-play the loser learns as much as the winner: advantages are those
of the player to move and change their sign from row to row. Everything an iteration does follows from the seed, its
number and the weights it began with.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor

from tengen.errors import InputError
from tengen.learning.checks import check_at_least, check_positive, check_share
from tengen.learning.episodes import (
    Episodes,
    PlayConfig,
    Pool,
    PoolConfig,
    Table,
    entropy,
    generalised_advantages,
    masked_log_policy,
    sample_policy,
)
from tengen.learning.loop import Loop, NetLoopConfig, falling, first_net, rounded
from tengen.learning.progress import Progress
from tengen.learning.run import Run, iteration_rng
from tengen.learning.self_play import SAVED_GAMES, save_games
from tengen.learning.weights import optimizer_tensors, restore_optimizer, weights_of
from tengen.nets.architectures import Net, NetOutput

# The purposes of random choices in an iteration.
_PLAYING, _LEARNING = 0, 1


# -- configuration ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class LearnerConfig:
    """How the network learns from games."""

    learning_rate: float = 1e-3
    """Step size at the beginning."""
    final_learning_rate: float = 1e-4
    """Step size at the end; in between it falls like a cosine."""
    discount: float = 1.0
    """γ: what is one row further away counts so much less."""
    gae_decay: float = 0.95
    """λ of the generalised advantages: 1 trusts results, 0 the value network."""
    clip_range: float = 0.2
    """How far the probability of a move may go from the one it was played with, as a share of it."""
    epochs: int = 2
    """Times an iteration's rows are gone through."""
    batch: int = 512
    """Rows of a step."""
    value_weight: float = 0.5
    """Weight of the value's loss."""
    entropy_weight: float = 0.01
    """Weight of the policy's entropy at the beginning; it falls to 0."""
    clip: float = 0.5
    """Largest norm of a gradient."""
    threads: int = 1
    """Threads of playing and learning."""

    def __post_init__(self) -> None:
        if self.epochs < 1 or self.batch < 2 or not self.clip_range > 0:
            raise InputError(f"{self.epochs} epochs in batches of {self.batch}, clip_range {self.clip_range}")
        check_at_least(self, 0, "learning_rate", "final_learning_rate", "value_weight", "entropy_weight")
        check_at_least(self, 1, "threads")
        check_positive(self, "clip")
        check_share(self, "discount", "gae_decay")


@dataclass(frozen=True, slots=True, kw_only=True)
class Config(NetLoopConfig):
    """Everything that decides what a run does, beside its seed."""

    play: PlayConfig = field(default_factory=PlayConfig)
    """The games of an iteration."""
    pool: PoolConfig = field(default_factory=PoolConfig)
    """The opponent `past`."""
    learner: LearnerConfig = field(default_factory=LearnerConfig)
    """The learning steps."""


# -- losses -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Batch:
    """Rows [N] of a step."""

    planes: Tensor
    legal: Tensor
    actions: Tensor
    log_probs: Tensor
    """With which the actions were played."""
    advantages: Tensor
    targets: Tensor
    """What the value should have been."""

    def __getitem__(self, rows: Tensor) -> Batch:
        return Batch(*(getattr(self, name)[rows] for name in Batch.__slots__))


def compute_losses(output: NetOutput, batch: Batch, clip_range: float) -> dict[str, Tensor]:
    """The mean losses, unweighted: `policy`, `value`, `entropy`, which is to grow, `kl` from the policy that played.

    The policy's is -min(ratio · A, clipped ratio · A): no reason to go further once the ratio has left its range.
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
    """The one number that is made smaller, at that fraction of the run."""
    entropy_weight = config.entropy_weight * max(0.0, 1.0 - fraction)
    return losses["policy"] + config.value_weight * losses["value"] - entropy_weight * losses["entropy"]


def make_batch(episodes: Episodes, config: LearnerConfig) -> Batch:
    """All rows, with advantages of mean 0 and variance 1."""
    advantages, targets = generalised_advantages(
        episodes.values, episodes.results, episodes.next_sign, config.discount, config.gae_decay
    )
    normal = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
    return Batch(episodes.planes, episodes.legal, episodes.actions, episodes.log_probs, normal, targets)


# -- learner ----------------------------------------------------------------------------------------------------------


class Learner:
    """The network in training and its optimizer."""

    def __init__(self, net: Net, config: LearnerConfig) -> None:
        self.net = net
        self._config = config
        self.optimizer = torch.optim.Adam(net.parameters(), lr=config.learning_rate, eps=1e-5)

    def learn(self, batch: Batch, fraction: float, rng: np.random.Generator) -> dict[str, float]:
        """All epochs over the rows of an iteration; returns the mean losses."""
        config = self._config
        for group in self.optimizer.param_groups:
            group["lr"] = falling(config.learning_rate, config.final_learning_rate, fraction)
        steps: list[dict[str, Tensor]] = []
        for _ in range(config.epochs):
            order = torch.from_numpy(rng.permutation(len(batch.actions)))
            for rows in torch.split(order, config.batch):
                chosen = batch[rows]
                losses = compute_losses(self.net(chosen.planes), chosen, config.clip_range)
                self.optimizer.zero_grad(set_to_none=True)
                weigh_losses(losses, config, fraction).backward()  # type: ignore[no-untyped-call]
                torch.nn.utils.clip_grad_norm_(self.net.parameters(), config.clip)
                self.optimizer.step()
                steps.append({name: loss.detach() for name, loss in losses.items()})
        return {name: float(torch.stack([step[name] for step in steps]).mean()) for name in steps[0]}


# -- the run ----------------------------------------------------------------------------------------------------------


def train(run: Run, progress: Progress) -> None:
    """Do what is left of a run, from its newest checkpoint on."""
    config = run.config(Config)
    torch.set_num_threads(config.learner.threads)
    with Loop(run, config, progress) as loop:
        checkpoint = loop.resume()
        learner = Learner(first_net(config, run, progress, checkpoint), config.learner)
        pool = Pool(learner.net, config.pool)
        if checkpoint is not None:
            learner.net.load_state_dict(dict(checkpoint.tensors["weights"]))
            restore_optimizer(learner.optimizer, checkpoint.tensors["optimizer"])
            pool.restore(checkpoint.tensors)
        table = Table(config.ruleset, config.net.planes, config.play)
        while not loop.is_done:
            iteration = loop.iteration + 1
            place, fraction = f"in iteration {iteration}", loop.fraction()

            # 1. Games.
            rng = iteration_rng(run.header.seed, iteration, _PLAYING)
            choose = sample_policy(torch.Generator().manual_seed(int(rng.integers(1 << 63))))
            episodes = table.play(learner.net, pool.draw(rng), choose, rng)
            save_games(run.folder, iteration, *table.games(SAVED_GAMES), config.ruleset)
            loop.games += config.play.games
            loop.positions += len(episodes)

            # 2. Learning.
            batch = make_batch(episodes, config.learner)
            losses = learner.learn(batch, fraction, iteration_rng(run.header.seed, iteration, _LEARNING))
            loop.guards.check_losses(losses, place)
            loop.guards.check_entropy(losses["entropy"], place)
            pool.add_if_due(learner.net, iteration)

            # 3. What others see of it.
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
