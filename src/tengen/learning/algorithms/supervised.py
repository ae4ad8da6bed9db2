"""Supervised learning: a network learns the moves of recorded games, as in stanford15.

An iteration takes training steps on batches from a data set (`tengen data build`) with random symmetries and shifts,
then validates the network on held-out games. At the end of the run, it measures the network on the test games and
draws plots. Games with a known result also train the value head, if the network has one.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from tengen.datasets.dataset import Augmentation, Batch, Dataset, Split
from tengen.errors import InputError
from tengen.learning.accuracy import TEST_FILE, Accuracy, measure_accuracy
from tengen.learning.algorithms.supervised_pictures import draw_supervised
from tengen.learning.checks import check_at_least, check_decay, check_share
from tengen.learning.learner import AveragedLearner, StepPrecision, forward, to_planes
from tengen.learning.run.folder import Run, iteration_rng, write_run_file
from tengen.learning.run.loop import Loop, NetLoopConfig, cosine_schedule, initial_net, rounded
from tengen.learning.run.progress import Progress
from tengen.nets.architectures import Net, NetOutput
from tengen.nets.evaluators import TorchEvaluator

# Values of `purpose` for `iteration_rng`.
_LEARNING, _VALIDATION = 0, 1


@dataclass(frozen=True, slots=True, kw_only=True)
class LearnerConfig:
    """Settings for the training steps."""

    batch: int = 256
    """Batch size: samples per step."""
    steps: int = 200
    """Steps per iteration."""
    learning_rate: float = 2e-3
    """Initial learning rate."""
    final_learning_rate: float = 5e-5
    """Final learning rate, reached by a cosine schedule."""
    decay: float = 0.0
    """Learning-rate factor per epoch, as in the paper; 0 uses the cosine schedule instead."""
    weight_decay: float = 1e-4
    """Decoupled weight decay of AdamW; the paper adds an L2 penalty to the loss."""
    clip: float = 1.0
    """Maximum gradient norm; 0 for no limit."""
    average: float = 0.995
    """Decay per step of the averaged weights, which are used to play; 0 uses the newest weights."""
    value_weight: float = 0.5
    """Weight of the value loss, if the network has a value head; the policy loss has weight 1."""
    threads: int = 1
    """Number of threads for training steps."""
    precision: StepPrecision = StepPrecision.FP32
    """Number format for training steps; bf16 is nearly twice as fast for convolutions on CPUs that support it."""

    def __post_init__(self) -> None:
        check_at_least(self, 1, "batch", "steps", "threads")
        check_at_least(self, 0, "learning_rate", "final_learning_rate", "weight_decay", "clip", "value_weight")
        check_share(self, "decay")
        check_decay(self, "average")


@dataclass(frozen=True, slots=True, kw_only=True)
class Config(NetLoopConfig):
    """Complete configuration of a run; together with the seed, it determines the run."""

    data: str = ""
    """Folder of the data set; required."""
    openings: bool = True
    """Also train on opening moves."""
    augmentation: Augmentation = field(default_factory=Augmentation)
    """Data augmentation."""
    initial_deviation: float = 0.0
    """Standard deviation of all initial weights, with mean 0, as in stanford15; 0 keeps the network's default
    initialisation."""
    learner: LearnerConfig = field(default_factory=LearnerConfig)
    """Settings for the training steps."""
    validation: int = 2048
    """Maximum number of validation moves per iteration."""
    test: int = 50_000
    """Maximum number of test moves at the end of the run."""

    def __post_init__(self) -> None:
        NetLoopConfig.__post_init__(self)
        if not self.data:
            raise InputError("data is not set: build a data set with `tengen data build` and pass --set data=FOLDER")
        check_at_least(self, 1, "validation", "test")
        check_at_least(self, 0, "initial_deviation")
        if self.initial_deviation and self.init_from:
            raise InputError("initial_deviation would replace the weights of init_from: remove one of the two settings")


def compute_losses(output: NetOutput, batch: Batch) -> dict[str, Tensor]:
    """Return the unweighted mean losses: `policy` over empty points, and `value` over games with a known result."""
    empty = torch.from_numpy(batch.empty)
    logits = output.policy_logits.masked_fill(~empty, -math.inf)
    losses = {"policy": functional.cross_entropy(logits, torch.from_numpy(batch.moves))}
    known = np.isfinite(batch.results)
    if output.value_logits is not None and known.any():
        # Win, draw and loss are classes 0, 1 and 2.
        classes = torch.from_numpy(1 - batch.results[known].astype(np.int64))
        losses["value"] = functional.cross_entropy(output.value_logits[torch.from_numpy(known)], classes)
    return losses


class Learner(AveragedLearner[Net]):
    """The network in training."""

    def __init__(self, net: Net, config: LearnerConfig) -> None:
        optimizer = torch.optim.AdamW(
            net.parameters(), lr=config.learning_rate, weight_decay=config.weight_decay, fused=True
        )
        super().__init__(net, optimizer, decay=config.average, clip=config.clip)
        self._value_weight = config.value_weight
        self._precision = config.precision

    def step(self, batch: Batch, learning_rate: float) -> dict[str, float]:
        """Take one training step; return the losses."""
        losses = compute_losses(forward(self.net, to_planes(batch.planes), self._precision), batch)
        total = losses["policy"]
        if "value" in losses:
            total = total + self._value_weight * losses["value"]
        self.optimize(total, learning_rate)
        return {name: float(loss.detach()) for name, loss in losses.items()}


def train(run: Run, progress: Progress) -> None:
    """Train a run until it is finished, starting from the newest checkpoint if there is one."""
    config = run.config(Config)
    dataset = Dataset.open(Path(config.data))
    if dataset.ruleset != config.ruleset:
        raise InputError(f"{config.data} contains games with ruleset {dataset.ruleset}, not {config.ruleset}")
    openings = None if config.openings else False
    training = dataset.find(Split.TRAINING, openings=openings)
    validation = dataset.find(Split.VALIDATION)
    if not len(training) or not len(validation):
        raise InputError(
            f"{config.data} has {len(training)} training moves and {len(validation)} validation moves,"
            " but both are required: build the data set from more games"
        )
    torch.set_num_threads(config.learner.threads)
    with Loop(run, config, progress) as loop:
        learner = Learner(_initial_net(config, run, progress), config.learner)
        loop.resume(lambda checkpoint: learner.restore(checkpoint.tensors, checkpoint.counters["steps"]), "steps")
        chosen = iteration_rng(run.header.seed, 0, _VALIDATION).permutation(validation)[: config.validation]
        loop.games = int((dataset.splits == list(Split).index(Split.TRAINING)).sum())
        loop.measure_start(lambda: loop.publish(learner.average))
        while not loop.is_done:
            losses, rate = _iterate(loop, config, dataset, training, learner)
            accuracy = measure_accuracy(TorchEvaluator(learner.average), dataset, chosen)
            loop.publish(learner.average)
            loop.end_iteration(
                {"learning_rate": rate, "losses": rounded(losses), "accuracy": accuracy.to_json()},
                f"policy {losses['policy']:.3f}, top 1 {100 * accuracy.share(accuracy.first):.1f} %",
                tensors=learner.tensors(),
                counters={"steps": learner.steps},
            )
        _measure_test(run, config, dataset, learner.average, progress)


def _initial_net(config: Config, run: Run, progress: Progress) -> Net:
    net = initial_net(config, run, progress)
    if config.initial_deviation:
        rng = iteration_rng(run.header.seed, 0, _LEARNING)
        with torch.no_grad():
            for weight in net.parameters():
                drawn = rng.normal(scale=config.initial_deviation, size=tuple(weight.shape))
                weight.copy_(torch.from_numpy(drawn))
    return net


def _iterate(
    loop: Loop,
    config: Config,
    dataset: Dataset,
    training: np.ndarray[tuple[int], np.dtype[np.int64]],
    learner: Learner,
) -> tuple[dict[str, float], float]:
    """Take the training steps of one iteration; return the mean losses and the last learning rate."""
    iteration = loop.iteration + 1
    rng = iteration_rng(loop.run.header.seed, iteration, _LEARNING)
    torch.manual_seed(int(rng.integers(1 << 62)))  # for dropout
    settings = config.learner
    sums: dict[str, float] = {}
    rate = settings.learning_rate
    for _ in range(settings.steps):
        if settings.decay:
            rate = settings.learning_rate * settings.decay ** (loop.positions // len(training))
        else:
            rate = cosine_schedule(settings.learning_rate, settings.final_learning_rate, loop.fraction(loop.iteration))
        numbers = training[rng.integers(len(training), size=settings.batch)]
        losses = learner.step(dataset.batch(numbers, config.net.planes, config.augmentation, rng), rate)
        loop.guards.check_losses(losses, f"in iteration {iteration}")
        for name, loss in losses.items():
            sums[name] = sums.get(name, 0.0) + loss / settings.steps
        loop.positions += settings.batch
    return sums, rate


def _measure_test(run: Run, config: Config, dataset: Dataset, net: Net, progress: Progress) -> None:
    """Measure the finished network on the test games; write the accuracy and the plots."""
    numbers = dataset.find(Split.TEST)
    if not len(numbers):
        return
    evaluator = TorchEvaluator(net)
    chosen = np.sort(iteration_rng(run.header.seed, 0, _VALIDATION).permutation(numbers)[: config.test])
    accuracy = measure_accuracy(evaluator, dataset, chosen)
    write_run_file(run.folder / TEST_FILE, (json.dumps(_describe(accuracy), indent=1) + "\n").encode("ascii"))
    title = f"{run.folder.name}, {config.ruleset}"
    draw_supervised(run.folder, title, net, evaluator, dataset, chosen, accuracy)
    shown = {
        name: " and ".join(
            f"{100 * accuracy.share(counts, openings=openings):.1f} %" for counts in (accuracy.first, accuracy.top)
        )
        for name, openings in (("all", None), ("without openings", False))
    }
    progress.say(f"test games, top 1 and top 5: {shown['all']}, without openings {shown['without openings']}")


def _describe(accuracy: Accuracy) -> dict[str, object]:
    by_ply = {name: getattr(accuracy, name).tolist() for name in ("samples", "first", "top")}
    return {**accuracy.to_json(), "by_stones": by_ply}
