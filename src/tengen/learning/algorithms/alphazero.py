"""AlphaZero: a network learns from its own tree search (Silver et al. 2017; zero9 and alphagomoku8 for Gomoku).

An iteration plays games with the newest network (`tengen.search.puct_self_play`, a batch of trees in native code), adds
their positions to the replay window, and takes training steps on batches of it. Self-play of the next iteration runs in
its own threads while the learner works. An iteration depends only on the seed, its number and its initial weights, with
any number of threads, unless the run has a time limit (`minutes`).
"""

from __future__ import annotations

import copy
import threading
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from tengen.core.planes import FloatPlanes
from tengen.core.symmetry import symmetries
from tengen.errors import InputError
from tengen.learning.checks import check_at_least, check_decay, check_share
from tengen.learning.experience.replay import NO_MOVE, Replay, Samples, WindowConfig, transform_samples
from tengen.learning.experience.self_play import Games, SelfPlayTask, State, play_games, random_planes, save_games
from tengen.learning.experience.warm_start import WarmStartConfig, read_samples
from tengen.learning.learner import AveragedLearner, StepPrecision, forward, to_planes, weights_of
from tengen.learning.run.folder import Checkpoint, Run, iteration_rng
from tengen.learning.run.loop import Loop, NetLoopConfig, cosine_schedule, initial_net, rounded
from tengen.learning.run.progress import Progress
from tengen.learning.run.reading import REPLAY_FOLDER
from tengen.nets.architectures import Net, NetOutput
from tengen.nets.export import export_onnx, quantise
from tengen.nets.models import Precision
from tengen.search.puct_config import PuctConfig
from tengen.search.puct_self_play import Openings

# Purposes of the random generators of an iteration.
_FIRST_GAMES, _CALIBRATION, _LEARNING = 0, 1, 2
_CALIBRATION_POSITIONS = 256
"""Number of positions on which int8 networks are calibrated."""
_VALIDATION = 2048
"""Maximum number of new positions on which the network is validated before it trains on them."""


# -- configuration ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class SelfPlayConfig:
    """Self-play of an iteration."""

    games: int = 128
    """Games per iteration."""
    actors: int = 2
    """Number of threads; each plays an equal share of the games."""
    parallel: int = 128
    """Games played at the same time by all threads together."""
    overlaps: bool = True
    """Play the games of the next iteration while the learner works, with the weights before this iteration's steps."""
    precision: Precision = Precision.FP32
    """Number format of the network in self-play."""
    first_simulations: int = 0
    """Simulations per move at the start, growing linearly to `search.simulations`; 0 for a constant number."""

    def __post_init__(self) -> None:
        if not 1 <= self.actors <= min(self.games, self.parallel):
            raise InputError(
                f"actors {self.actors} must be at least 1 and at most games {self.games} and parallel {self.parallel}"
            )
        check_at_least(self, 0, "first_simulations")


@dataclass(frozen=True, slots=True, kw_only=True)
class LearnerConfig:
    """Training steps."""

    batch: int = 256
    """Batch size: positions per step."""
    reuse: float = 4.0
    """Number of times each new position is used on average."""
    epochs: float = 0.0
    """Passes over the whole window per iteration, in place of `reuse`; 0 uses `reuse`."""
    learning_rate: float = 2e-3
    """Initial learning rate."""
    final_learning_rate: float = 1e-4
    """Final learning rate, reached by a cosine schedule."""
    weight_decay: float = 1e-4
    """Decoupled weight decay of AdamW; the papers add an L2 penalty to the loss."""
    clip: float = 1.0
    """Maximum gradient norm."""
    average: float = 0.99
    """Decay per step of the averaged weights, which play; 0 plays the newest weights."""
    search_share: float = 0.5
    """Value target: 0 is the result of the game, 1 the value of the search Σ π(a)Q(a), in between a mixture."""
    value_weight: float = 1.0
    """Weight of the value loss; the policy loss has weight 1."""
    soft_policy_weight: float = 2.0
    """Weight of the soft-policy loss, if the network has that head."""
    reply_weight: float = 0.15
    """Weight of the loss of the opponent's reply, if the network has that head."""
    threads: int = 1
    """Threads of a training step."""
    precision: StepPrecision = StepPrecision.FP32
    """Number format of a training step; bf16 is nearly twice as fast for convolutions on CPUs that support it."""

    def __post_init__(self) -> None:
        check_at_least(self, 1, "batch", "threads")
        check_at_least(self, 0, "reuse", "epochs", "learning_rate", "final_learning_rate", "weight_decay", "clip")
        check_at_least(self, 0, "value_weight", "soft_policy_weight", "reply_weight")
        check_decay(self, "average")
        check_share(self, "search_share")


@dataclass(frozen=True, slots=True, kw_only=True)
class Config(NetLoopConfig):
    """Complete configuration of a run; with the seed it determines the run."""

    warm_start: WarmStartConfig = field(default_factory=WarmStartConfig)
    """Training on engine games before self-play."""
    search: PuctConfig = field(default_factory=PuctConfig)
    """Search of self-play."""
    openings: Openings = field(default_factory=lambda: Openings(fraction=0.0))
    """Openings of self-play games."""
    self_play: SelfPlayConfig = field(default_factory=SelfPlayConfig)
    """Self-play games."""
    learner: LearnerConfig = field(default_factory=LearnerConfig)
    """Training steps."""
    window: WindowConfig = field(default_factory=WindowConfig)
    """Replay window."""


# -- losses -----------------------------------------------------------------------------------------------------------

_SOFT_POWER = 0.25


def compute_losses(output: NetOutput, batch: Samples, config: LearnerConfig) -> dict[str, Tensor]:
    """Return the unweighted mean losses of a batch: `policy`, `value`, and those of further heads."""
    policy = torch.from_numpy(batch.policy.astype(np.float32))
    losses = {
        "policy": _cross_entropy(output.policy_logits, policy),
        "value": _value_loss(output, batch, config.search_share),
    }
    if output.soft_policy_logits is not None:
        soft = policy.pow(_SOFT_POWER)
        losses["soft_policy"] = _cross_entropy(output.soft_policy_logits, soft / soft.sum(dim=1, keepdim=True))
    if output.reply_logits is not None:
        reply = torch.from_numpy(batch.reply.astype(np.int64))
        losses["reply"] = functional.cross_entropy(output.reply_logits, reply, ignore_index=NO_MOVE, reduction="sum")
        losses["reply"] = losses["reply"] / max(1, int((reply != NO_MOVE).sum()))
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
    """Return (v - z)², as in the papers; for a win/draw/loss head, the part of the result is a cross-entropy."""
    search, result = torch.from_numpy(batch.value_to_move), torch.from_numpy(batch.result)
    if output.value_logits is None:
        target = search_share * search + (1 - search_share) * result
        return (output.value_to_move - target).square().mean()
    # A discounted result counts partly as a draw.
    chances = torch.stack((result.clamp(min=0), 1 - result.abs(), (-result).clamp(min=0)), dim=1)
    from_result = _cross_entropy(output.value_logits, chances)
    from_search = (output.value_to_move - search).square().mean()
    return (1 - search_share) * from_result + search_share * from_search


# -- learner ----------------------------------------------------------------------------------------------------------


class Learner(AveragedLearner[Net]):
    """The network in training."""

    def __init__(self, net: Net, config: LearnerConfig) -> None:
        optimizer = torch.optim.AdamW(net.parameters(), lr=config.learning_rate, weight_decay=config.weight_decay)
        super().__init__(net, optimizer, decay=config.average, clip=config.clip)
        self._config = config

    def step(self, batch: Samples, learning_rate: float) -> dict[str, float]:
        """Take one training step; return the losses."""
        output = forward(self.net, to_planes(batch.planes), self._config.precision)
        losses = compute_losses(output, batch, self._config)
        self.optimize(weigh_losses(losses, self._config), learning_rate)
        return {name: float(loss.detach()) for name, loss in losses.items()}

    def validate(self, samples: Samples) -> dict[str, float]:
        """Return the losses of the averaged network on samples without training on them."""
        with torch.inference_mode():
            return {
                name: float(loss)
                for name, loss in compute_losses(self.average(to_planes(samples.planes)), samples, self._config).items()
            }

    def learning_rate(self, fraction: float) -> float:
        """Return the learning rate at a fraction of the run."""
        return cosine_schedule(self._config.learning_rate, self._config.final_learning_rate, fraction)


# -- the run ----------------------------------------------------------------------------------------------------------


def train(run: Run, progress: Progress) -> None:
    """Train a run to its end, from its newest checkpoint if there is one."""
    config = run.config(Config)
    with Loop(run, config, progress) as loop:
        _Training(loop, config).run()


class _Training:
    """A run in this process."""

    def __init__(self, loop: Loop, config: Config) -> None:
        self._loop = loop
        self._config = config
        self._folder = loop.run.folder
        self._seed = loop.run.header.seed
        self._replay = Replay(loop.run.folder / REPLAY_FOLDER, config.ruleset, config.window)
        checkpoint = loop.resume(
            "steps",
            "self_play_fraction",
            check=lambda found: self._replay.load(found.iteration, found.counters["positions"]),
        )
        self._learner = Learner(initial_net(config, loop.run, loop.progress, checkpoint), config.learner)
        self._actor_net = copy.deepcopy(self._learner.average)
        """Network of the current self-play."""
        self._actor_fraction = 0.0
        """Fraction of the run that was done when the current self-play started."""
        self._states: list[State] = [{}] * config.self_play.actors
        """Unfinished games at the start of the current self-play, per actor."""
        self._stop = threading.Event()
        if checkpoint is not None:
            self._restore(checkpoint)

    def run(self) -> None:
        """Iterate until the run is done."""
        torch.set_num_threads(self._config.learner.threads)
        with ThreadPoolExecutor(self._config.self_play.actors, thread_name_prefix="self-play") as actors:
            try:
                if self._loop.iteration == 0 and self._config.warm_start.games:
                    self._warm_start()
                playing: list[Future[Games]] | None = None
                while not self._loop.is_done:
                    playing = self._iterate(actors, playing or self._start_self_play(actors))
            finally:
                self._stop.set()

    def _iterate(self, actors: ThreadPoolExecutor, playing: list[Future[Games]]) -> list[Future[Games]] | None:
        """Do one iteration; return the pending self-play of the next one, or None if none was started."""
        loop, iteration = self._loop, self._loop.iteration + 1
        place = f"in iteration {iteration}"
        config = self._config
        simulations = self._simulations()

        # 1. Collect the games.
        games = Games.concatenate([future.result() for future in playing])
        loop.guards.check_samples(len(games.samples), place)
        loop.guards.check_policy(games.policy_entropy, games.openings_of_100, place)
        validation = self._learner.validate(games.samples[:_VALIDATION])
        self._replay.add(iteration, games.samples)
        save_games(self._folder, iteration, games.moves, games.outcomes, config.ruleset)
        self._states = games.states
        loop.games += len(games.moves)
        loop.positions += len(games.samples)

        # 2. Start the games of the next iteration.
        following: list[Future[Games]] | None = None
        if config.self_play.overlaps:
            self._actor_net = copy.deepcopy(self._learner.average)
            self._actor_fraction = loop.fraction(iteration)
            if self._actor_fraction < 1.0:
                following = self._start_self_play(actors, iteration + 1)

        # 3. Train.
        rng = iteration_rng(self._seed, iteration, _LEARNING)
        learning_rate = self._learner.learning_rate(loop.fraction(iteration - 1))
        sums: dict[str, float] = {}
        steps = self._steps(len(games.samples))
        for _ in range(steps):
            losses = self._learner.step(self._replay.sample(config.learner.batch, rng), learning_rate)
            loop.guards.check_losses(losses, place)
            for name, loss in losses.items():
                sums[name] = sums.get(name, 0.0) + loss / steps

        # 4. Publish the network, measure its strength, write metrics and checkpoint.
        if not config.self_play.overlaps:
            self._actor_net = copy.deepcopy(self._learner.average)
            self._actor_fraction = loop.fraction(iteration)
        discount = config.search.discount
        loop.publish(self._learner.average, discount if discount < 1 else None)
        loop.end_iteration(
            {"simulations": simulations, **self._metrics(games, sums, validation, learning_rate)},
            f"policy {sums['policy']:.3f}, value {sums['value']:.3f}",
            tensors={**self._learner.tensors(), "actor": weights_of(self._actor_net)},
            counters={"steps": self._learner.steps, "self_play_fraction": self._actor_fraction},
            arrays={
                f"{actor}.{name}": array for actor, state in enumerate(self._states) for name, array in state.items()
            },
        )
        self._replay.remove_outdated()
        return following

    # -- games -----------------------------------------------------------------------------------------------------

    def _start_self_play(self, actors: ThreadPoolExecutor, iteration: int | None = None) -> list[Future[Games]]:
        """Let every actor play its share of an iteration's games in the background."""
        config, number = self._config, iteration or self._loop.iteration + 1
        model = export_onnx(self._actor_net, config.ruleset)
        if config.self_play.precision is Precision.INT8:
            model = quantise(model, self._calibration(iteration_rng(self._seed, number, _CALIBRATION)))
        search = replace(config.search, simulations=self._simulations())
        tasks = [
            SelfPlayTask(
                ruleset=config.ruleset,
                layout=config.net.planes,
                search=search,
                openings=config.openings,
                games=_share(config.self_play.games, actor, config.self_play.actors),
                parallel=_share(config.self_play.parallel, actor, config.self_play.actors),
                seed=int(iteration_rng(self._seed, actor, _FIRST_GAMES).integers(1 << 63)),
                state=self._states[actor],
            )
            for actor in range(config.self_play.actors)
        ]
        return [actors.submit(play_games, model, task, self._stop) for task in tasks]

    def _calibration(self, rng: np.random.Generator) -> FloatPlanes:
        """Return positions from self-play, or random ones before there are any."""
        if len(self._replay):
            return self._replay.sample(_CALIBRATION_POSITIONS, rng).planes.astype(np.float32)
        return random_planes(self._config.ruleset, self._config.net.planes, _CALIBRATION_POSITIONS, rng)

    def _simulations(self) -> int:
        """Return the simulations per move of the current self-play."""
        first, last = self._config.self_play.first_simulations, self._config.search.simulations
        if not first:
            return last
        return round(first + (last - first) * min(1.0, self._actor_fraction))

    # -- learning --------------------------------------------------------------------------------------------------

    def _warm_start(self) -> None:
        """Train on engine games; repeated if the run is killed before its first checkpoint."""
        config, learner = self._config.warm_start, self._config.learner
        first_rate = learner.learning_rate if config.learning_rate is None else config.learning_rate
        samples = read_samples(Path(config.games), self._config.ruleset, self._config.net.planes)
        rng = iteration_rng(self._seed, 0, _LEARNING)
        steps = max(1, round(config.epochs * len(samples) / learner.batch))
        turns = len(symmetries(self._config.ruleset))
        losses: dict[str, float] = {}
        for step in range(steps):
            chosen = transform_samples(
                samples[rng.integers(len(samples), size=learner.batch)],
                rng.integers(turns, size=learner.batch),
                self._config.ruleset,
            )
            learning_rate = cosine_schedule(first_rate, learner.final_learning_rate, step / steps)
            losses = self._learner.step(chosen, learning_rate)
            self._loop.guards.check_losses(losses, "in the warm start")
            self._loop.progress.update(0.0, None, f"warm start {step + 1} of {steps}, policy {losses['policy']:.3f}")
        self._actor_net = copy.deepcopy(self._learner.average)
        self._loop.progress.say(
            f"warm start: {len(samples):,} positions of {config.games}, policy {losses['policy']:.3f}"
        )

    def _steps(self, new_positions: int) -> int:
        learner = self._config.learner
        positions = learner.epochs * len(self._replay) if learner.epochs else learner.reuse * new_positions
        return max(1, round(positions / learner.batch))

    # -- metrics and checkpoints -----------------------------------------------------------------------------------

    def _metrics(
        self, games: Games, losses: Mapping[str, float], validation: Mapping[str, float], learning_rate: float
    ) -> dict[str, Any]:
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
            },
        }

    def _restore(self, checkpoint: Checkpoint) -> None:
        self._learner.restore(checkpoint.tensors, checkpoint.counters["steps"])
        self._actor_net.load_state_dict(dict(checkpoint.tensors["actor"]))
        self._actor_fraction = checkpoint.counters["self_play_fraction"]
        for actor in range(len(self._states)):
            own = f"{actor}."
            arrays = checkpoint.arrays.items()
            self._states[actor] = {name.removeprefix(own): array for name, array in arrays if name.startswith(own)}


def _share(total: int, part: int, parts: int) -> int:
    """Return the size of one of several equal parts of `total`, which need not be divisible."""
    return (part + 1) * total // parts - part * total // parts
