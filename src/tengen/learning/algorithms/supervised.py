"""Supervised learning: a network learns the moves of recorded games (stanford15, and better forms of its networks).

An iteration makes a number of steps on batches of a data set (`tengen data build`), turned, mirrored and shifted at
random, then tries the network on moves of games kept apart. The last one measures it on the test games and draws what
it has learned. Games of which the result is known teach the value too, if the network has one.
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
from tengen.learning.files import write_file
from tengen.learning.loop import Loop, NetLoopConfig, falling, first_net, rounded
from tengen.learning.progress import Progress
from tengen.learning.run import Run, iteration_rng
from tengen.learning.weights import AveragedLearner, StepPrecision, answer
from tengen.nets.architectures import Net, NetOutput
from tengen.nets.evaluators import TorchEvaluator

NAME = "supervised"

# The purposes of random choices in an iteration.
_LEARNING, _VALIDATION = 0, 1


@dataclass(frozen=True, slots=True, kw_only=True)
class LearnerConfig:
    """How the network learns from moves."""

    batch: int = 256
    """Samples of a step."""
    steps: int = 200
    """Steps of an iteration."""
    learning_rate: float = 2e-3
    """Step size at the beginning."""
    final_learning_rate: float = 5e-5
    """Step size at the end; in between it falls like a cosine."""
    decay: float = 0.0
    """If not 0, the step size is multiplied by this after each pass over the data instead, as in the paper."""
    weight_decay: float = 1e-4
    """Of AdamW: decoupled from the gradient, where the paper adds an L2 penalty to the loss."""
    clip: float = 1.0
    """Largest norm of a gradient."""
    average: float = 0.995
    """Decay a step of the running average of weights, which is what plays; 0 plays the newest weights."""
    value_weight: float = 0.5
    """Weight of the value's loss, if the network has one; the policy's is 1."""
    threads: int = 1
    """Threads of a learning step."""
    precision: StepPrecision = StepPrecision.FP32
    """bf16 is nearly twice as fast for convolutions, on processors that have it."""

    def __post_init__(self) -> None:
        check_at_least(self, 1, "batch", "steps", "threads")
        check_at_least(self, 0, "learning_rate", "final_learning_rate", "weight_decay", "clip", "value_weight")
        check_share(self, "decay")
        check_decay(self, "average")


@dataclass(frozen=True, slots=True, kw_only=True)
class Config(NetLoopConfig):
    """Everything that decides what a run does, beside its seed."""

    data: str = ""
    """The folder of a data set."""
    openings: bool = True
    """Learn the moves of openings too."""
    augmentation: Augmentation = field(default_factory=Augmentation)
    """How samples are varied."""
    learner: LearnerConfig = field(default_factory=LearnerConfig)
    """The learning steps."""
    validation: int = 2048
    """Moves on which each iteration is tried."""
    test: int = 50_000
    """Moves of the test games on which the network is measured at the end, at most."""

    def __post_init__(self) -> None:
        NetLoopConfig.__post_init__(self)
        if not self.data:
            raise InputError("a data set is needed: --set data=FOLDER, which `tengen data build` makes")
        check_at_least(self, 1, "validation", "test")


def compute_losses(output: NetOutput, batch: Batch) -> dict[str, Tensor]:
    """The mean losses of a batch, unweighted: `policy` over empty points, and `value` where results are known."""
    empty = torch.from_numpy(batch.empty)
    logits = output.policy_logits.masked_fill(~empty, -math.inf)
    losses = {"policy": functional.cross_entropy(logits, torch.from_numpy(batch.moves))}
    known = np.isfinite(batch.results)
    if output.value_logits is not None and known.any():
        # Win, draw, loss are the classes 0, 1, 2.
        classes = torch.from_numpy(1 - batch.results[known].astype(np.int64))
        losses["value"] = functional.cross_entropy(output.value_logits[torch.from_numpy(known)], classes)
    return losses


class Learner(AveragedLearner[Net]):
    """The network in training."""

    def __init__(self, net: Net, config: LearnerConfig) -> None:
        optimizer = torch.optim.AdamW(net.parameters(), lr=config.learning_rate, weight_decay=config.weight_decay)
        super().__init__(net, optimizer, decay=config.average, clip=config.clip)
        self._value_weight = config.value_weight
        self._precision = config.precision

    def learn(self, batch: Batch, learning_rate: float) -> dict[str, float]:
        """One step; returns the losses."""
        planes = torch.from_numpy(batch.planes).contiguous(memory_format=torch.channels_last)
        losses = compute_losses(answer(self.net, planes, self._precision), batch)
        total = losses["policy"]
        if "value" in losses:
            total = total + self._value_weight * losses["value"]
        self.descend(total, learning_rate)
        return {name: float(loss.detach()) for name, loss in losses.items()}


def train(run: Run, progress: Progress) -> None:
    """Do what is left of a run, from its newest checkpoint on."""
    config = run.config(Config)
    dataset = Dataset.open(Path(config.data))
    if dataset.ruleset != config.ruleset:
        raise InputError(f"{config.data} holds games of {dataset.ruleset}, not {config.ruleset}")
    openings = None if config.openings else False
    training = dataset.find(Split.TRAINING, openings=openings)
    validation = dataset.find(Split.VALIDATION)
    if not len(training) or not len(validation):
        raise InputError(f"{config.data} has {len(training)} moves to learn and {len(validation)} to try them on")
    torch.set_num_threads(config.learner.threads)
    with Loop(run, config, progress) as loop:
        checkpoint = loop.resume("steps")
        learner = Learner(first_net(config, run, progress, checkpoint), config.learner)
        if checkpoint is not None:
            learner.restore(checkpoint.tensors, checkpoint.counters["steps"])
        chosen = iteration_rng(run.header.seed, 0, _VALIDATION).permutation(validation)[: config.validation]
        loop.games = int((dataset.splits == list(Split).index(Split.TRAINING)).sum())
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


def _iterate(
    loop: Loop,
    config: Config,
    dataset: Dataset,
    training: np.ndarray[tuple[int], np.dtype[np.int64]],
    learner: Learner,
) -> tuple[dict[str, float], float]:
    """The steps of one iteration; returns mean losses and the last step size."""
    iteration = loop.iteration + 1
    rng = iteration_rng(loop.run.header.seed, iteration, _LEARNING)
    torch.manual_seed(int(rng.integers(1 << 62)))  # dropout
    settings = config.learner
    sums: dict[str, float] = {}
    rate = settings.learning_rate
    for _ in range(settings.steps):
        if settings.decay:
            rate = settings.learning_rate * settings.decay ** (loop.positions // len(training))
        else:
            rate = falling(settings.learning_rate, settings.final_learning_rate, loop.fraction(loop.iteration))
        numbers = training[rng.integers(len(training), size=settings.batch)]
        losses = learner.learn(dataset.batch(numbers, config.net.planes, config.augmentation, rng), rate)
        loop.guards.check_losses(losses, f"in iteration {iteration}")
        for name, loss in losses.items():
            sums[name] = sums.get(name, 0.0) + loss / settings.steps
        loop.positions += settings.batch
    return sums, rate


def _measure_test(run: Run, config: Config, dataset: Dataset, net: Net, progress: Progress) -> None:
    """Write what the finished network does on the test games, and its pictures."""
    numbers = dataset.find(Split.TEST)
    if not len(numbers):
        return
    evaluator = TorchEvaluator(net)
    chosen = np.sort(iteration_rng(run.header.seed, 0, _VALIDATION).permutation(numbers)[: config.test])
    accuracy = measure_accuracy(evaluator, dataset, chosen)
    write_file(run.folder / TEST_FILE, (json.dumps(_describe(accuracy), indent=1) + "\n").encode("ascii"))
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
