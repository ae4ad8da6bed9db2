"""AlphaZero: a network learns from its own tree search (Silver et al. 2017; zero9 and alphagomoku8 for Gomoku).

An iteration plays games with the newest network (`tengen.search.puct_self_play`, a batch of trees in native code), adds
their positions to the replay window, and takes training steps on batches from the window. Self-play for the next
iteration runs in separate threads during training. The result of an iteration depends only on the seed, the iteration
number and the initial weights, for any number of threads, unless the run has a time limit (`minutes`).
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn
from torch.nn import functional

from tengen.core.planes import FloatPlanes
from tengen.core.symmetry import symmetries
from tengen.errors import InputError
from tengen.learning.checks import check_at_least, check_decay, check_share
from tengen.learning.experience.game_source import Arrays, GameSource, Generation, LocalSelfPlay, SelfPlaySpec
from tengen.learning.experience.replay import NO_MOVE, Replay, Samples, WindowConfig, transform_samples
from tengen.learning.experience.self_play import Games, random_planes, save_games
from tengen.learning.experience.warm_start import WarmStartConfig, read_samples
from tengen.learning.learner import AveragedLearner, StepPrecision, forward, restore_weights, to_planes, weights_of
from tengen.learning.run.folder import Checkpoint, Run, iteration_rng
from tengen.learning.run.loop import Loop, NetLoopConfig, cosine_schedule, initial_net, rounded
from tengen.learning.run.progress import Progress
from tengen.learning.run.reading import REPLAY_FOLDER
from tengen.nets.architectures import Net, NetOutput
from tengen.nets.devices import Device, torch_device
from tengen.nets.export import export_onnx, quantise
from tengen.nets.models import Backend, Precision
from tengen.search.puct_config import PuctConfig
from tengen.search.puct_self_play import Openings

# Values of `purpose` for `iteration_rng`.
_CALIBRATION, _LEARNING = 1, 2  # `game_source` uses 0 and 3
_CALIBRATION_POSITIONS = 256
"""Number of positions used to calibrate int8 networks."""
_VALIDATION = 2048
"""Maximum number of new positions on which the network is validated before it trains on them."""


# -- configuration ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class SelfPlayConfig:
    """Self-play settings."""

    games: int = 128
    """Games per iteration."""
    actors: int = 2
    """Number of threads; each plays an equal share of the games."""
    parallel: int = 128
    """Number of concurrent games across all threads."""
    overlaps: bool = True
    """Play the next iteration's games during training, with the weights from before this iteration's steps."""
    precision: Precision = Precision.FP32
    """Number format of the network in self-play."""
    backend: Backend = Backend.ONNXRUNTIME
    """Library that runs the network in self-play: onnxruntime, or openvino, which runs fp32 networks in bf16."""
    device: Device = Device.AUTO
    """Device that runs the network in self-play; on a cluster, auto means cpu."""
    gpus: float = 1.0
    """Share of a GPU that each cluster worker reserves if the device is cuda."""
    first_simulations: int = 0
    """Initial number of simulations per move, which grows linearly to `search.simulations`; 0 for a constant number."""

    def __post_init__(self) -> None:
        if not 1 <= self.actors <= min(self.games, self.parallel):
            raise InputError(
                f"actors={self.actors} must be at least 1 and at most games={self.games} and parallel={self.parallel}"
            )
        check_at_least(self, 0, "first_simulations", "gpus")
        if self.backend is Backend.TORCH:
            raise InputError("backend=torch cannot run self-play; use onnxruntime or openvino")
        if self.backend is Backend.OPENVINO and (
            self.precision is not Precision.FP32 or self.device not in (Device.AUTO, Device.CPU)
        ):
            raise InputError(
                f"backend=openvino supports only precision=fp32 on the CPU, not precision={self.precision} on"
                f" device={self.device}; use backend=onnxruntime"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class LearnerConfig:
    """Settings for the training steps."""

    batch: int = 256
    """Batch size: positions per step."""
    reuse: float = 4.0
    """Average number of times each new position is used."""
    epochs: float = 0.0
    """Passes over the whole window per iteration, instead of `reuse`; 0 uses `reuse`."""
    learning_rate: float = 2e-3
    """Initial learning rate."""
    final_learning_rate: float = 1e-4
    """Final learning rate, reached by a cosine schedule."""
    weight_decay: float = 1e-4
    """Decoupled weight decay of AdamW; the papers add an L2 penalty to the loss."""
    l2_penalty: float = 0.0
    """Factor of ‖θ‖² in the loss. If it is above 0, Adam with this penalty replaces AdamW."""
    fresh_optimizer: bool = False
    """Reset the optimiser's moments before each iteration, as in the code of zero9."""
    clip: float = 1.0
    """Maximum gradient norm; 0 for no limit."""
    average: float = 0.99
    """Decay per step of the averaged weights, which are used to play; 0 uses the newest weights."""
    search_share: float = 0.5
    """Share of the search value Σ π(a)Q(a) in the value target; the rest is the result of the game."""
    value_weight: float = 1.0
    """Weight of the value loss; the policy loss has weight 1."""
    soft_policy_weight: float = 2.0
    """Weight of the soft-policy loss, if the network has a soft-policy head."""
    reply_weight: float = 0.15
    """Weight of the reply loss, if the network predicts the opponent's reply."""
    threads: int = 1
    """Number of threads for training steps."""
    device: Device = Device.AUTO
    """Device for training steps."""
    precision: StepPrecision = StepPrecision.FP32
    """Number format for training steps; bf16 is nearly twice as fast for convolutions on CPUs that support it."""

    def __post_init__(self) -> None:
        check_at_least(self, 1, "batch", "threads")
        check_at_least(self, 0, "reuse", "epochs", "learning_rate", "final_learning_rate", "clip")
        check_at_least(self, 0, "weight_decay", "l2_penalty")
        check_at_least(self, 0, "value_weight", "soft_policy_weight", "reply_weight")
        check_decay(self, "average")
        check_share(self, "search_share")


@dataclass(frozen=True, slots=True, kw_only=True)
class Config(NetLoopConfig):
    """Complete configuration of a run; together with the seed, it determines the run."""

    warm_start: WarmStartConfig = field(default_factory=WarmStartConfig)
    """Training on engine games before self-play."""
    search: PuctConfig = field(default_factory=PuctConfig)
    """Search used in self-play."""
    openings: Openings = field(default_factory=lambda: Openings(fraction=0.0))
    """Openings for self-play games."""
    self_play: SelfPlayConfig = field(default_factory=SelfPlayConfig)
    """Self-play games."""
    learner: LearnerConfig = field(default_factory=LearnerConfig)
    """Settings for the training steps."""
    window: WindowConfig = field(default_factory=WindowConfig)
    """Replay window."""
    learners: int = 1
    """Number of cluster processes that share each training step; each has `learner.threads` threads."""

    def __post_init__(self) -> None:
        NetLoopConfig.__post_init__(self)
        if not 1 <= self.learners <= self.learner.batch:
            raise InputError(
                f"learners={self.learners} must be at least 1 and at most learner.batch={self.learner.batch}"
            )


# -- losses -----------------------------------------------------------------------------------------------------------

_SOFT_POWER = 0.25


@dataclass(frozen=True, slots=True)
class BatchShare:
    """Loss divisors for processes that share a batch. They make the mean loss over the processes the batch mean."""

    positions: float
    replies: float

    @classmethod
    def of(cls, batch: Samples, processes: int) -> BatchShare:
        """Return the divisors for each process that shares a batch."""
        return cls(len(batch) / processes, max(1, int((batch.reply != NO_MOVE).sum())) / processes)


def compute_losses(
    output: NetOutput, batch: Samples, config: LearnerConfig, share: BatchShare | None = None
) -> dict[str, Tensor]:
    """Return the unweighted mean losses of a batch: `policy`, `value`, and those of the other heads.

    With `share`, `batch` is this process's part of a larger batch.
    """
    policy = _to_tensor(batch.policy.astype(np.float32), output)
    losses = {
        "policy": _cross_entropy(output.policy_logits, policy),
        "value": _value_loss(output, batch, config.search_share),
    }
    if output.soft_policy_logits is not None:
        soft = policy.pow(_SOFT_POWER)
        losses["soft_policy"] = _cross_entropy(output.soft_policy_logits, soft / soft.sum(dim=1, keepdim=True))
    if output.reply_logits is not None:
        reply = _to_tensor(batch.reply.astype(np.int64), output)
        losses["reply"] = functional.cross_entropy(output.reply_logits, reply, ignore_index=NO_MOVE, reduction="sum")
        losses["reply"] = losses["reply"] / max(1, int((reply != NO_MOVE).sum()))
    if share is not None:
        replies = max(1, int((batch.reply != NO_MOVE).sum()))
        factors = {"reply": replies / share.replies}
        losses = {name: factors.get(name, len(batch) / share.positions) * loss for name, loss in losses.items()}
    return losses


def weigh_losses(losses: Mapping[str, Tensor], config: LearnerConfig) -> Tensor:
    """Return the weighted total loss."""
    weights = {
        "policy": 1.0,
        "value": config.value_weight,
        "soft_policy": config.soft_policy_weight,
        "reply": config.reply_weight,
    }
    return torch.stack([weights[name] * loss for name, loss in losses.items()]).sum()


def _cross_entropy(logits: Tensor, target: Tensor) -> Tensor:
    """Return -Σ target · log softmax(logits), both [B, n], averaged over the batch."""
    return -(target * torch.log_softmax(logits, dim=1)).sum(dim=1).mean()


def _value_loss(output: NetOutput, batch: Samples, search_share: float) -> Tensor:
    """Return (v - z)², as in the papers; a win/draw/loss head uses cross-entropy for the result."""
    search, result = _to_tensor(batch.value_to_move, output), _to_tensor(batch.result, output)
    if output.value_logits is None:
        target = search_share * search + (1 - search_share) * result
        return (output.value_to_move - target).square().mean()
    # A discounted result counts partly as a draw.
    chances = torch.stack((result.clamp(min=0), 1 - result.abs(), (-result).clamp(min=0)), dim=1)
    from_result = _cross_entropy(output.value_logits, chances)
    from_search = (output.value_to_move - search).square().mean()
    return (1 - search_share) * from_result + search_share * from_search


def _to_tensor(array: npt.NDArray[Any], output: NetOutput) -> Tensor:
    """Return an array as a tensor on the network's device."""
    return torch.from_numpy(array).to(output.policy_logits.device)


# -- learner ----------------------------------------------------------------------------------------------------------


def _optimizer(net: Net, config: LearnerConfig) -> torch.optim.Optimizer:
    if config.l2_penalty:  # its gradient is 2 · factor · θ
        return torch.optim.Adam(net.parameters(), lr=config.learning_rate, weight_decay=2 * config.l2_penalty)
    return torch.optim.AdamW(net.parameters(), lr=config.learning_rate, weight_decay=config.weight_decay)


class Learner(AveragedLearner[Net]):
    """The network in training."""

    def __init__(
        self, net: Net, config: LearnerConfig, *, device: torch.device | None = None, parallel: nn.Module | None = None
    ) -> None:
        """Train `net`, which is on `device` (default: CPU). `parallel` wraps it if several processes share a step."""
        super().__init__(net, _optimizer(net, config), decay=config.average, clip=config.clip)
        self._config = config
        self._device = device or torch.device("cpu")
        self._forward_net = parallel or net

    def begin_iteration(self) -> None:
        """Reset the optimizer's moments if `fresh_optimizer` is set."""
        if self._config.fresh_optimizer:
            self._optimizer = _optimizer(self.net, self._config)

    def train(self, batches: Iterable[tuple[Samples, float]]) -> Iterator[dict[str, float]]:
        """Take a step on each batch with its learning rate; yield the losses."""
        for batch, learning_rate in batches:
            yield self.step(batch, learning_rate)

    def step(self, batch: Samples, learning_rate: float, share: BatchShare | None = None) -> dict[str, float]:
        """Take one training step; return the losses. `share` is passed to `compute_losses`."""
        output = forward(self._forward_net, to_planes(batch.planes).to(self._device), self._config.precision)
        losses = compute_losses(output, batch, self._config, share)
        self.optimize(weigh_losses(losses, self._config), learning_rate)
        return {name: float(loss.detach()) for name, loss in losses.items()}

    def validate(self, samples: Samples) -> dict[str, float]:
        """Return the losses of the averaged network on samples without training on them."""
        with torch.inference_mode():
            return {
                name: float(loss)
                for name, loss in compute_losses(
                    self.average(to_planes(samples.planes).to(self._device)), samples, self._config
                ).items()
            }

    def snapshot(self) -> Net:
        """Return a copy of the averaged network on the CPU."""
        return copy.deepcopy(self.average).cpu()

    def learning_rate(self, fraction: float) -> float:
        """Return the learning rate at the given fraction of the run."""
        return cosine_schedule(self._config.learning_rate, self._config.final_learning_rate, fraction)


# -- the run ----------------------------------------------------------------------------------------------------------


class Trainer(Protocol):
    """Interface for taking training steps, in one process or several."""

    def train(self, batches: Iterable[tuple[Samples, float]]) -> Iterator[dict[str, float]]:
        """Take a step on each batch with its learning rate; yield the losses and finally update the learner."""
        ...


class Place(Protocol):
    """Machine or cluster that runs the training."""

    @property
    def device(self) -> Device | None:
        """Device that overrides the devices in the configuration; None keeps them."""
        ...

    def self_play(
        self, spec: SelfPlaySpec, config: SelfPlayConfig, arrays: Mapping[str, npt.NDArray[Any]]
    ) -> GameSource:
        """Return the source of self-play games; `arrays` is its state from the checkpoint."""
        ...

    def trainer(self, learner: Learner, config: Config) -> AbstractContextManager[Trainer]:
        """Return the trainer that takes the training steps."""
        ...


@dataclass(frozen=True, slots=True)
class LocalPlace:
    """Runs self-play and training in this process."""

    device: Device | None = None

    def self_play(
        self, spec: SelfPlaySpec, config: SelfPlayConfig, arrays: Mapping[str, npt.NDArray[Any]]
    ) -> GameSource:
        """Return a source that plays in threads of this process."""
        return LocalSelfPlay(spec, arrays)

    def trainer(self, learner: Learner, config: Config) -> AbstractContextManager[Trainer]:
        """Return the learner itself."""
        if config.learners > 1:
            raise InputError(f"learners = {config.learners} needs a cluster: use --on ray")
        return nullcontext(learner)


def train(run: Run, progress: Progress, place: Place | None = None) -> None:
    """Train a run until it is finished, starting from the newest checkpoint if there is one."""
    place = place or LocalPlace()
    config = run.config(Config)
    if place.device is not None:
        config = replace(
            config,
            learner=replace(config.learner, device=place.device),
            self_play=replace(config.self_play, device=place.device),
        )
    with Loop(run, config, progress) as loop:
        _Training(loop, config, place).run()


class _Training:
    """Training loop of a run, with its learner, replay window and current self-play network."""

    def __init__(self, loop: Loop, config: Config, place: Place) -> None:
        self._loop = loop
        self._config = config
        self._place = place
        self._folder = loop.run.folder
        self._seed = loop.run.header.seed
        self._replay = Replay(loop.run.folder / REPLAY_FOLDER, config.ruleset, config.net.planes, config.window)
        device = torch_device(config.learner.device)
        self._learner = Learner(initial_net(config, loop.run, loop.progress).to(device), config.learner, device=device)
        self._actor_net = self._learner.snapshot()
        """Network used in the current self-play."""
        self._actor_version = 0
        """Number of iterations for which `_actor_net` was trained."""
        self._actor_fraction = 0.0
        """Fraction of the run completed when the current self-play started."""
        self._arrays: Arrays = {}
        """Unfinished games from the checkpoint."""
        self._is_published = False
        """Whether the source is already playing the next iteration's games."""
        loop.resume(self._restore, "steps", "self_play_fraction")

    def run(self) -> None:
        """Iterate until the run is done."""
        config = self._config
        torch.set_num_threads(config.learner.threads)
        spec = SelfPlaySpec(
            ruleset=config.ruleset,
            layout=config.net.planes,
            openings=config.openings,
            games=config.self_play.games,
            actors=config.self_play.actors,
            parallel=config.self_play.parallel,
            seed=self._seed,
            device=config.self_play.device,
            backend=config.self_play.backend,
        )
        # Start the learners first, because self-play workers take all remaining CPUs.
        with (
            self._place.trainer(self._learner, config) as trainer,
            self._place.self_play(spec, config.self_play, self._arrays) as source,
        ):
            if self._loop.iteration == 0 and config.warm_start.games:
                self._warm_start(trainer)
            if not self._loop.is_done and not self._is_published:
                self._publish(source, self._loop.iteration + 1)
            self._loop.measure_start(self._publish_player)  # meanwhile, the first games are being played
            while not self._loop.is_done:
                if not self._is_published:
                    self._publish(source, self._loop.iteration + 1)
                self._iterate(source, trainer)

    def _iterate(self, source: GameSource, trainer: Trainer) -> None:
        """Run one iteration."""
        loop, iteration = self._loop, self._loop.iteration + 1
        place = f"in iteration {iteration}"
        config = self._config
        simulations = self._simulations()

        # 1. Collect the games.
        games = source.collect()
        self._is_published = source.is_continuous
        loop.guards.check_samples(len(games.samples), place)
        loop.guards.check_policy(games.policy_entropy, games.openings_of_100, place)
        validation = self._learner.validate(games.samples[:_VALIDATION])
        self._replay.add(iteration, games.samples)
        save_games(self._folder, iteration, games.moves, games.outcomes, config.ruleset, _comments(games))
        loop.games += len(games.moves)
        loop.positions += len(games.samples)

        # 2. Start the games for the next iteration.
        overlaps = config.self_play.overlaps and not source.is_continuous
        if overlaps:
            self._take_actor_net(iteration - 1)
            if self._actor_fraction < 1.0:
                self._publish(source, iteration + 1)

        # 3. Train.
        rng = iteration_rng(self._seed, iteration, _LEARNING)
        learning_rate = self._learner.learning_rate(loop.fraction(iteration - 1))
        sums: dict[str, float] = {}
        steps = self._steps(len(games.samples))
        self._learner.begin_iteration()
        batches = ((self._replay.sample(config.learner.batch, rng), learning_rate) for _ in range(steps))
        for losses in trainer.train(batches):
            loop.guards.check_losses(losses, place)
            for name, loss in losses.items():
                sums[name] = sums.get(name, 0.0) + loss / steps

        # 4. Publish the network, measure its strength, then write the metrics and a checkpoint.
        if not overlaps:
            self._take_actor_net(iteration)
        if source.is_continuous:
            self._publish(source, iteration + 1)
        self._publish_player()
        shown = [f"policy {sums['policy']:.3f}, value {sums['value']:.3f}"]
        metrics = {"simulations": simulations, **self._metrics(games, sums, validation, learning_rate)}
        if cluster := source.metrics():
            metrics["cluster"] = cluster
            shown += [source.describe(), f"staleness {metrics['self_play']['staleness']:.1f}"]
        loop.end_iteration(
            metrics,
            ", ".join(shown),
            tensors={**self._learner.tensors(), "actor": weights_of(self._actor_net)},
            counters={
                "steps": self._learner.steps,
                "self_play_fraction": self._actor_fraction,
                "self_play_version": self._actor_version,
            },
            arrays=source.arrays(),
            checksums=self._replay.checksums(),
        )
        self._replay.remove_outdated()

    def _publish_player(self) -> None:
        """Write the current network as the run's player."""
        discount = self._config.search.discount
        self._loop.publish(self._learner.snapshot(), discount if discount < 1 else None)

    # -- games -----------------------------------------------------------------------------------------------------

    def _take_actor_net(self, version: int) -> None:
        """Switch self-play to the current weights, which were trained for `version` iterations."""
        self._actor_net = self._learner.snapshot()
        self._actor_version = version
        self._actor_fraction = self._loop.fraction(self._loop.iteration + 1)

    def _publish(self, source: GameSource, iteration: int) -> None:
        """Start the self-play games for an iteration."""
        config = self._config
        model = export_onnx(self._actor_net, config.ruleset)
        if config.self_play.precision is Precision.INT8:
            model = quantise(model, self._calibration(iteration_rng(self._seed, iteration, _CALIBRATION)))
        search = replace(config.search, simulations=self._simulations())
        source.publish(Generation(self._actor_version, model, search))
        self._is_published = True

    def _calibration(self, rng: np.random.Generator) -> FloatPlanes:
        """Return planes of self-play positions, or of random positions while the window is empty."""
        if len(self._replay):
            return self._replay.sample(_CALIBRATION_POSITIONS, rng).planes.astype(np.float32)
        return random_planes(self._config.ruleset, self._config.net.planes, _CALIBRATION_POSITIONS, rng)

    def _simulations(self) -> int:
        """Return the number of simulations per move in the current self-play."""
        first, last = self._config.self_play.first_simulations, self._config.search.simulations
        if not first:
            return last
        return round(first + (last - first) * min(1.0, self._actor_fraction))

    # -- learning --------------------------------------------------------------------------------------------------

    def _warm_start(self, trainer: Trainer) -> None:
        """Train on engine games. A run that is killed before its first checkpoint repeats the warm start."""
        config, learner = self._config.warm_start, self._config.learner
        first_rate = learner.learning_rate if config.learning_rate is None else config.learning_rate
        samples = read_samples(Path(config.games), self._config.ruleset, self._config.net.planes)
        rng = iteration_rng(self._seed, 0, _LEARNING)
        steps = max(1, round(config.epochs * len(samples) / learner.batch))
        turns = len(symmetries(self._config.ruleset))
        losses: dict[str, float] = {}

        def draw(step: int) -> tuple[Samples, float]:
            chosen = samples[rng.integers(len(samples), size=learner.batch)]
            batch = transform_samples(chosen, rng.integers(turns, size=learner.batch), self._config.ruleset)
            return batch, cosine_schedule(first_rate, learner.final_learning_rate, step / steps)

        for step, losses in enumerate(trainer.train(map(draw, range(steps))), start=1):
            self._loop.guards.check_losses(losses, "in the warm start")
            self._loop.progress.update(0.0, None, f"warm start {step} of {steps}, policy {losses['policy']:.3f}")
        self._actor_net = self._learner.snapshot()
        self._loop.progress.say(
            f"warm start: {len(samples):,} positions from {config.games}, policy {losses['policy']:.3f}"
        )

    def _steps(self, new_positions: int) -> int:
        learner = self._config.learner
        positions = learner.epochs * len(self._replay) if learner.epochs else learner.reuse * new_positions
        return max(1, round(positions / learner.batch))

    # -- metrics and checkpoints -----------------------------------------------------------------------------------

    def _metrics(
        self, games: Games, losses: Mapping[str, float], validation: Mapping[str, float], learning_rate: float
    ) -> dict[str, Any]:
        staleness = [self._loop.iteration - version for version in games.versions]
        return {
            "steps": self._learner.steps,
            "window": len(self._replay),
            "evaluations": games.evaluations,
            "learning_rate": learning_rate,
            "losses": rounded(losses),
            "losses_before": rounded(validation),
            "self_play": {
                "plies": round(games.mean_plies, 2),
                "black_score": round(games.black_score, 4),
                "draws": round(games.draw_rate, 4),
                "policy_entropy": round(games.policy_entropy, 4),
                "openings_of_100": round(games.openings_of_100, 1),
                "staleness": round(float(np.mean(staleness)), 3),
                "staleness_max": max(staleness),
            },
        }

    def _restore(self, checkpoint: Checkpoint) -> None:
        self._replay.load(checkpoint.iteration, checkpoint.counters["positions"], checkpoint.checksums)
        self._learner.restore(checkpoint.tensors, checkpoint.counters["steps"])
        restore_weights(self._actor_net, checkpoint.tensors, "actor")
        counters = checkpoint.counters
        self._actor_fraction = counters["self_play_fraction"]
        self._actor_version = counters.get("self_play_version", checkpoint.iteration)  # older checkpoints lack it
        self._arrays = checkpoint.arrays


def _comments(games: Games) -> list[str]:
    """Return the shard and weights version of each game, or an empty list if no game was played on another machine."""
    if not any(games.shards):
        return []
    return [f"shard {shard}, weights {version}" for shard, version in zip(games.shards, games.versions, strict=True)]
