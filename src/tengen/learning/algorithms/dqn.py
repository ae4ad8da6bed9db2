"""Deep Q-learning (Mnih et al. 2015): a network learns the value of every move from a replay buffer.

Double (van Hasselt et al. 2016): the network in training chooses the best next move; the target network, a slow average
of it, evaluates that move. Dueling (Wang et al. 2016, equation 8): Q(s, a) = V(s) + A(s, a) - max A(s, ·) over legal
moves, so V is the value of the best move, and the best move has the largest advantage. The advantages therefore serve
as policy logits. Targets look `steps` rows ahead and negate the values of the opponent's rows (negamax). The moves of
simple players are training data too, since Q-learning is off-policy.

An iteration plays games with some random moves, adds their rows to the window, and takes training steps on batches from
the window. Its result depends only on the seed, the iteration number and the initial state.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from tengen.errors import InputError
from tengen.learning.checks import check_at_least, check_decay, check_positive, check_share
from tengen.learning.experience.episodes import Choose, EpisodePlayer, Episodes, PlayConfig, Pool, PoolConfig
from tengen.learning.experience.replay import Rows, Shards
from tengen.learning.experience.self_play import SAVED_GAMES, save_games
from tengen.learning.learner import optimizer_tensors, restore_optimizer, restore_weights, to_planes, weights_of
from tengen.learning.run import Checkpoint, Run, iteration_rng
from tengen.learning.run.loop import Loop, NetLoopConfig, cosine_schedule, initial_net, rounded
from tengen.learning.run.progress import Progress
from tengen.learning.run.reading import REPLAY_FOLDER
from tengen.nets.architectures import Net, NetOutput

# Values of `purpose` for `iteration_rng`.
_PLAYING, _LEARNING = 0, 1


# -- configuration ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class LearnerConfig:
    """Settings for training steps and exploration."""

    learning_rate: float = 1e-3
    """Initial learning rate."""
    final_learning_rate: float = 1e-4
    """Final learning rate, reached by a cosine schedule."""
    discount: float = 0.99
    """Discount γ per row, that is, per recorded position of a game."""
    steps: int = 3
    """Number of rows a target looks ahead."""
    batch: int = 256
    """Batch size: rows per step."""
    reuse: float = 4.0
    """Average number of times each new row is used."""
    window: int = 100_000
    """Size of the replay window in rows."""
    average: float = 0.995
    """Decay per step of the target network's averaged weights."""
    watches: bool = True
    """Also train on simple players' moves, which may be better than the network's moves."""
    exploration: float = 0.3
    """Initial share of random moves."""
    final_exploration: float = 0.02
    """Final share of random moves, reached by a cosine schedule."""
    clip: float = 1.0
    """Maximum gradient norm."""
    threads: int = 1
    """Number of threads for self-play and training."""

    def __post_init__(self) -> None:
        check_at_least(self, 0, "learning_rate", "final_learning_rate", "reuse")
        check_at_least(self, 1, "steps", "batch", "threads")
        if self.window < self.batch:
            raise InputError(f"window={self.window} is smaller than batch={self.batch}")
        check_positive(self, "clip")
        check_decay(self, "average")
        check_share(self, "discount", "exploration", "final_exploration")


@dataclass(frozen=True, slots=True, kw_only=True)
class Config(NetLoopConfig):
    """Complete configuration of a run; together with the seed, it determines the run."""

    play: PlayConfig = field(default_factory=PlayConfig)
    """Games played in each iteration."""
    pool: PoolConfig = field(default_factory=PoolConfig)
    """Earlier networks, which play as the opponent `past`."""
    learner: LearnerConfig = field(default_factory=LearnerConfig)
    """Settings for the training steps."""


# -- values and losses ------------------------------------------------------------------------------------------------


def q_values(output: NetOutput, legal: Tensor) -> Tensor:
    """Return Q [B, area] for the player to move; -inf for illegal moves."""
    advantages = output.policy_logits.masked_fill(~legal, -torch.inf)
    return output.value_to_move[:, None] + advantages - advantages.amax(dim=1, keepdim=True)


def double_values(online: NetOutput, target: NetOutput, legal: Tensor) -> Tensor:
    """Return the value [B] that `target` assigns to the best move according to `online`."""
    best = q_values(online, legal).argmax(dim=1, keepdim=True)
    return q_values(target, legal).gather(1, best).squeeze(1)


def q_loss(output: NetOutput, legal: Tensor, actions: Tensor, targets: Tensor) -> Tensor:
    """Return the mean Huber loss between Q(s, a) and its target."""
    chosen = q_values(output, legal).gather(1, actions[:, None]).squeeze(1)
    return torch.nn.functional.smooth_l1_loss(chosen, targets)


@dataclass(frozen=True, slots=True, kw_only=True)
class Transitions(Rows):
    """N rows of the replay window. A target is `reward + bootstrap · Q(s′)`, where s′ is `ahead` rows later."""

    planes: npt.NDArray[np.int8]
    """[N, C, H, W]: input planes."""
    legal: npt.NDArray[np.bool_]
    """[N, area]: legal moves."""
    actions: npt.NDArray[np.int64]
    """[N]: moves that were played."""
    reward: npt.NDArray[np.float32]
    """[N]: discounted result if the game ends within `steps` rows, else 0."""
    bootstrap: npt.NDArray[np.float32]
    """[N]: factor for the later value, with its discount and sign; 0 if the game ends first."""
    ahead: npt.NDArray[np.int64]
    """[N]: number of rows to the later row."""

    def check(self, planes: tuple[int, int, int]) -> None:
        area = planes[1] * planes[2]
        self.check_array("planes", np.int8, *planes)
        self.check_array("legal", np.bool_, area)
        self.check_array("actions", np.int64, within=(0, area - 1))
        self.check_array("reward", np.float32, within=(-1, 1))
        self.check_array("bootstrap", np.float32, within=(-1, 1))
        self.check_array("ahead", np.int64, within=(0, area))
        if (np.arange(len(self)) + self.ahead >= len(self)).any():
            raise ValueError("ahead points to a row outside the shard")


def make_transitions(episodes: Episodes, steps: int, discount: float) -> Transitions:
    """Return the rows of finished games with the components of their targets."""
    sign = episodes.next_sign.numpy()
    ends = np.flatnonzero(sign == 0)
    rows = np.arange(len(sign))
    to_end = ends[np.searchsorted(ends, rows)] - rows
    reaches_end = to_end < steps
    # All signs in a game are equal, because the player to move either stays the same or changes with every row.
    turned = np.where(sign < 0, (-1.0) ** steps, 1.0)
    return Transitions(
        planes=episodes.planes.numpy().astype(np.int8),
        legal=episodes.legal.numpy(),
        actions=episodes.actions.numpy(),
        reward=np.where(reaches_end, episodes.results.numpy() * discount**to_end, 0.0).astype(np.float32),
        bootstrap=np.where(reaches_end, 0.0, turned * discount**steps).astype(np.float32),
        ahead=np.where(reaches_end, 0, steps),
    )


# -- learner ----------------------------------------------------------------------------------------------------------


class Learner:
    """The network in training, the target network and the optimiser."""

    def __init__(self, net: Net, config: LearnerConfig) -> None:
        self.net = net
        self.target: Net = copy.deepcopy(net)
        self._config = config
        self.optimizer = torch.optim.Adam(net.parameters(), lr=config.learning_rate)

    def step(self, rows: Transitions, following: Transitions, fraction: float) -> float:
        """Take one training step; return the loss. `following` are the rows from which the targets bootstrap."""
        config = self._config
        for group in self.optimizer.param_groups:
            group["lr"] = cosine_schedule(config.learning_rate, config.final_learning_rate, fraction)
        targets = torch.from_numpy(rows.reward.copy())
        open_rows = np.flatnonzero(rows.bootstrap)
        if len(open_rows):
            planes, legal = _to_tensors(following[open_rows])
            with torch.inference_mode():
                values = double_values(self.net(planes), self.target(planes), legal)
            targets[open_rows] += torch.from_numpy(rows.bootstrap[open_rows]) * values
        planes, legal = _to_tensors(rows)
        loss = q_loss(self.net(planes), legal, torch.from_numpy(rows.actions), targets)
        self.optimizer.zero_grad(set_to_none=True)
        torch.autograd.backward(loss)
        torch.nn.utils.clip_grad_norm_(self.net.parameters(), config.clip)
        self.optimizer.step()
        with torch.no_grad():
            for slow, newest in zip(self.target.parameters(), self.net.parameters(), strict=True):
                slow.lerp_(newest, 1 - config.average)
        return float(loss.detach())


def explore(share: float, generator: torch.Generator) -> Choose:
    """Return a function that chooses the move with the highest Q, or a random legal move with probability `share`."""

    def choose(output: NetOutput, legal: Tensor) -> tuple[Tensor, Tensor]:
        best = q_values(output, legal).argmax(dim=1)
        anything = torch.rand(legal.shape, generator=generator).masked_fill(~legal, -1.0).argmax(dim=1)
        actions = torch.where(torch.rand(len(best), generator=generator) < share, anything, best)
        return actions, torch.zeros(len(best))

    return choose


def _to_tensors(rows: Transitions) -> tuple[Tensor, Tensor]:
    return to_planes(rows.planes), torch.from_numpy(rows.legal)


# -- the run ----------------------------------------------------------------------------------------------------------


def train(run: Run, progress: Progress) -> None:
    """Train a run until it is finished, starting from the newest checkpoint if there is one."""
    config = run.config(Config)
    torch.set_num_threads(config.learner.threads)
    with Loop(run, config, progress) as loop:
        shards = Shards(
            run.folder / REPLAY_FOLDER,
            Transitions,
            lambda total: min(total, config.learner.window),
            config.ruleset,
            config.net.planes,
        )
        learner = Learner(initial_net(config, run, progress), config.learner)
        pool = Pool(learner.net, config.pool)

        def restore(checkpoint: Checkpoint) -> None:
            shards.load(checkpoint.iteration, checkpoint.counters["positions"], checkpoint.checksums)
            restore_weights(learner.net, checkpoint.tensors, "weights")
            restore_weights(learner.target, checkpoint.tensors, "target")
            restore_optimizer(learner.optimizer, checkpoint.tensors)
            pool.restore(checkpoint.tensors)

        loop.resume(restore)
        player = EpisodePlayer(config.ruleset, config.net.planes, config.play)
        loop.measure_start(lambda: loop.publish(learner.net))
        while not loop.is_done:
            iteration = loop.iteration + 1
            place, fraction = f"in iteration {iteration}", loop.fraction()

            # 1. Play, and add the rows to the window.
            rng = iteration_rng(run.header.seed, iteration, _PLAYING)
            share = cosine_schedule(config.learner.exploration, config.learner.final_exploration, fraction)
            choose = explore(share, torch.Generator().manual_seed(int(rng.integers(1 << 63))))
            episodes = player.play(learner.net, pool.draw(rng), choose, rng, watches=config.learner.watches)
            save_games(run.folder, iteration, *player.games(SAVED_GAMES), config.ruleset)
            shards.add(iteration, make_transitions(episodes, config.learner.steps, config.learner.discount))
            loop.games += config.play.games
            loop.positions += len(episodes)

            # 2. Train.
            rng = iteration_rng(run.header.seed, iteration, _LEARNING)
            steps = max(1, round(config.learner.reuse * len(episodes) / config.learner.batch))
            losses = [_step(shards, learner, config.learner.batch, fraction, rng) for _ in range(steps)]
            mean = {"q": float(np.mean(losses))}
            loop.guards.check_losses(mean, place)
            pool.add_if_due(learner.net, iteration)

            # 3. Publish the network, then write the metrics and a checkpoint.
            loop.publish(learner.net)
            loop.end_iteration(
                {
                    "losses": rounded(mean),
                    "exploration": round(share, 4),
                    "window": len(shards),
                    "play": {"plies": round(episodes.plies, 2), "scores": rounded(episodes.scores)},
                },
                f"loss {mean['q']:.4f}, random moves {100 * share:.0f} %",
                tensors={
                    "weights": weights_of(learner.net),
                    "target": weights_of(learner.target),
                    "optimizer": optimizer_tensors(learner.optimizer),
                    **pool.tensors(),
                },
                checksums=shards.checksums(),
            )
            shards.remove_outdated()


def _step(
    shards: Shards[Transitions], learner: Learner, batch: int, fraction: float, rng: np.random.Generator
) -> float:
    """Take one training step on rows sampled uniformly from the window."""
    window = shards.window
    assert window is not None
    rows = rng.integers(len(window), size=batch)
    return learner.step(window[rows], window[rows + window.ahead[rows]], fraction)
