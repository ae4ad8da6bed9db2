"""AlphaZero: a network learns what its own search finds (Silver et al. 2017; zero9 and alphagomoku8 for Gomoku).

An iteration plays a number of games with the newest network (`tengen.search.puct_self_play`, a batch of trees in native
code), adds their positions to the replay window, and makes learning steps on batches of it. Self-play of the next
iteration goes on in its own threads while the learner works. Everything an iteration does follows from the seed, its
number and the weights it began with, on any number of threads, unless a clock decides (`minutes`).
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
from tengen.learning.episodes import to_planes
from tengen.learning.loop import Loop, NetLoopConfig, falling, first_net, rounded
from tengen.learning.progress import Progress
from tengen.learning.replay import NO_MOVE, Replay, Samples, WindowConfig, turn
from tengen.learning.run import Checkpoint, Run, iteration_rng
from tengen.learning.self_play import Games, OpeningConfig, SelfPlayTask, State, play_games, random_planes, save_games
from tengen.learning.warm_start import WarmStartConfig, read_samples
from tengen.learning.weights import AveragedLearner, StepPrecision, answer, weights_of
from tengen.nets.architectures import Net, NetOutput
from tengen.nets.export import export_onnx, quantise
from tengen.nets.models import Precision
from tengen.search.puct_config import PuctConfig

NAME = "alphazero"

# The purposes of random choices in an iteration.
_FIRST_GAMES, _CALIBRATION, _LEARNING = 0, 1, 2
_CALIBRATION_POSITIONS = 256
"""Positions that int8 self-play is calibrated on."""
_VALIDATION = 2048
"""New positions on which the network is tried before it learns from them."""


# -- configuration ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class SelfPlayConfig:
    """How the games of an iteration are played."""

    games: int = 128
    """Games an iteration."""
    actors: int = 2
    """Threads that play, each its share of the games."""
    parallel: int = 128
    """Games that are played at the same time, by all threads together."""
    overlaps: bool = True
    """Play the next iteration while the learner works, with the weights from before it."""
    precision: Precision = Precision.FP32
    """Numbers the network computes with while playing."""
    first_simulations: int = 0
    """Simulations a move at the beginning, growing to `search.simulations` at the end; 0 for the same always."""

    def __post_init__(self) -> None:
        if not 1 <= self.actors <= min(self.games, self.parallel):
            raise InputError(f"{self.actors} actors for {self.games} games, {self.parallel} at a time")
        check_at_least(self, 0, "first_simulations")


@dataclass(frozen=True, slots=True, kw_only=True)
class LearnerConfig:
    """How the network learns from positions."""

    batch: int = 256
    """Positions of a step."""
    reuse: float = 4.0
    """Positions learned from for each new one, counted with repetition."""
    epochs: float = 0.0
    """Times the whole window is gone through each iteration, instead of `reuse`; 0 goes by `reuse`."""
    learning_rate: float = 2e-3
    """Step size at the beginning."""
    final_learning_rate: float = 1e-4
    """Step size at the end; in between it falls like a cosine."""
    weight_decay: float = 1e-4
    """Of AdamW, which shrinks the weights beside the gradient; the papers have an L2 penalty in the loss."""
    clip: float = 1.0
    """Largest norm of a gradient."""
    average: float = 0.99
    """Decay a step of the running average of weights, which is what plays; 0 plays the newest weights."""
    search_share: float = 0.5
    """What the value learns: 0 the game's result, 1 the search's value Σ π(a)Q(a), between them a blend."""
    value_weight: float = 1.0
    """Weight of the value's loss; the policy's is 1."""
    soft_policy_weight: float = 2.0
    """Weight of the softened policy, if the network has that head."""
    reply_weight: float = 0.15
    """Weight of the opponent's reply, if the network has that head."""
    threads: int = 1
    """Threads of a learning step."""
    precision: StepPrecision = StepPrecision.FP32
    """bf16 is nearly twice as fast for convolutions, on processors that have it."""

    def __post_init__(self) -> None:
        check_at_least(self, 1, "batch", "threads")
        check_at_least(self, 0, "reuse", "epochs", "learning_rate", "final_learning_rate", "weight_decay", "clip")
        check_at_least(self, 0, "value_weight", "soft_policy_weight", "reply_weight")
        check_decay(self, "average")
        check_share(self, "search_share")


@dataclass(frozen=True, slots=True, kw_only=True)
class Config(NetLoopConfig):
    """Everything that decides what a run does, beside its seed."""

    warm_start: WarmStartConfig = field(default_factory=WarmStartConfig)
    """Games of the engine to learn from first."""
    search: PuctConfig = field(default_factory=PuctConfig)
    """The search of self-play."""
    openings: OpeningConfig = field(default_factory=OpeningConfig)
    """How games begin."""
    self_play: SelfPlayConfig = field(default_factory=SelfPlayConfig)
    """The games."""
    learner: LearnerConfig = field(default_factory=LearnerConfig)
    """The learning steps."""
    window: WindowConfig = field(default_factory=WindowConfig)
    """The positions learned from."""


# -- losses -----------------------------------------------------------------------------------------------------------

_SOFT_POWER = 0.25


def compute_losses(output: NetOutput, batch: Samples, config: LearnerConfig) -> dict[str, Tensor]:
    """The mean losses of a batch, unweighted: `policy`, `value`, and those of further heads."""
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
    """The one number that is made smaller."""
    weights = {
        "policy": 1.0,
        "value": config.value_weight,
        "soft_policy": config.soft_policy_weight,
        "reply": config.reply_weight,
    }
    return torch.stack([weights[name] * loss for name, loss in losses.items()]).sum()


def _cross_entropy(logits: Tensor, target: Tensor) -> Tensor:
    """-Σ target · log softmax(logits), both [B, n], as a mean over the batch."""
    return -(target * torch.log_softmax(logits, dim=1)).sum(dim=1).mean()


def _value_loss(output: NetOutput, batch: Samples, search_share: float) -> Tensor:
    """(v - z)² as in the papers; with win, draw and loss apart, the result's part is their cross-entropy."""
    search, result = torch.from_numpy(batch.value_search), torch.from_numpy(batch.result)
    if output.value_logits is None:
        target = search_share * search + (1 - search_share) * result
        return (output.value_to_move - target).square().mean()
    # A result that is discounted for its distance counts partly as a draw.
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

    def learn(self, batch: Samples, learning_rate: float) -> dict[str, float]:
        """One step of that size; returns the losses."""
        output = answer(self.net, to_planes(batch.planes), self._config.precision)
        losses = compute_losses(output, batch, self._config)
        self.descend(weigh_losses(losses, self._config), learning_rate)
        return {name: float(loss.detach()) for name, loss in losses.items()}

    def try_on(self, samples: Samples) -> dict[str, float]:
        """The losses of the averaged network on positions, without learning from them."""
        with torch.inference_mode():
            return {
                name: float(loss)
                for name, loss in compute_losses(self.average(to_planes(samples.planes)), samples, self._config).items()
            }

    def learning_rate(self, fraction: float) -> float:
        """The step size at a fraction of the run: a cosine from the first to the final one."""
        return falling(self._config.learning_rate, self._config.final_learning_rate, fraction)


# -- the run ----------------------------------------------------------------------------------------------------------


def train(run: Run, progress: Progress) -> None:
    """Do what is left of a run, from its newest checkpoint on."""
    config = run.config(Config)
    with Loop(run, config, progress) as loop:
        _Training(loop, config).go()


class _Training:
    """A run while it goes on in this process."""

    def __init__(self, loop: Loop, config: Config) -> None:
        self._loop = loop
        self._config = config
        self._run = loop.run
        self._seed = loop.run.header.seed
        self._replay = Replay(loop.run.folder / "replay", config.ruleset, config.window)
        checkpoint = loop.resume(
            "steps",
            "self_play_fraction",
            check=lambda found: self._replay.load(found.iteration, found.counters["positions"]),
        )
        self._learner = Learner(first_net(config, loop.run, loop.progress, checkpoint), config.learner)
        self._actor_net = copy.deepcopy(self._learner.average)
        """What plays the self-play under way."""
        self._actor_fraction = 0.0
        """Of the run, when that self-play was begun."""
        self._states: list[State] = [{}] * config.self_play.actors
        """The games with which it began, of each actor."""
        self._stop = threading.Event()
        if checkpoint is not None:
            self._restore(checkpoint)

    def go(self) -> None:
        """Iterate to the end."""
        torch.set_num_threads(self._config.learner.threads)
        with ThreadPoolExecutor(self._config.self_play.actors, thread_name_prefix="self-play") as actors:
            try:
                if self._loop.iteration == 0 and self._config.warm_start.games:
                    self._start_warm()
                playing: list[Future[Games]] | None = None
                while not self._loop.is_done:
                    playing = self._iterate(actors, playing or self._begin_games(actors))
            finally:
                self._stop.set()

    def _iterate(self, actors: ThreadPoolExecutor, playing: list[Future[Games]]) -> list[Future[Games]] | None:
        """One iteration; returns the self-play that goes on for the next one, if it overlaps and there is one."""
        loop, iteration = self._loop, self._loop.iteration + 1
        place = f"in iteration {iteration}"
        config = self._config
        simulations = self._simulations()

        # 1. Games.
        games = Games.concatenate([future.result() for future in playing])
        loop.guards.check_samples(len(games.samples), place)
        loop.guards.check_policy(games.policy_entropy, games.openings_of_100, place)
        validation = self._learner.try_on(games.samples[:_VALIDATION])
        self._replay.add(iteration, games.samples)
        save_games(self._run.folder, iteration, games.moves, games.outcomes, config.ruleset)
        self._states = games.states
        loop.games += len(games.moves)
        loop.positions += len(games.samples)

        # 2. The next games, while we learn.
        following: list[Future[Games]] | None = None
        if config.self_play.overlaps:
            self._actor_net = copy.deepcopy(self._learner.average)
            self._actor_fraction = loop.fraction(iteration)
            if self._actor_fraction < 1.0:
                following = self._begin_games(actors, iteration + 1)

        # 3. Learning.
        rng = iteration_rng(self._seed, iteration, _LEARNING)
        learning_rate = self._learner.learning_rate(loop.fraction(iteration - 1))
        sums: dict[str, float] = {}
        steps = self._steps(len(games.samples))
        for _ in range(steps):
            losses = self._learner.learn(self._replay.sample(config.learner.batch, rng), learning_rate)
            loop.guards.check_losses(losses, place)
            for name, loss in losses.items():
                sums[name] = sums.get(name, 0.0) + loss / steps

        # 4. What others see of it: the network, its strength, the metrics. From here on the iteration is done.
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

    def _begin_games(self, actors: ThreadPoolExecutor, iteration: int | None = None) -> list[Future[Games]]:
        """Let every actor play its share of an iteration's games."""
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
        """Positions as they come up in self-play; random ones before there are any."""
        if len(self._replay):
            return self._replay.sample(_CALIBRATION_POSITIONS, rng).planes.astype(np.float32)
        return random_planes(self._config.ruleset, self._config.net.planes, _CALIBRATION_POSITIONS, rng)

    def _simulations(self) -> int:
        """Those of a move in the self-play under way."""
        first, last = self._config.self_play.first_simulations, self._config.search.simulations
        if not first:
            return last
        return round(first + (last - first) * min(1.0, self._actor_fraction))

    # -- learning --------------------------------------------------------------------------------------------------

    def _start_warm(self) -> None:
        """Learn from games of the engine; done again when killed before the first iteration has ended."""
        config, learner = self._config.warm_start, self._config.learner
        first_rate = learner.learning_rate if config.learning_rate is None else config.learning_rate
        samples = read_samples(Path(config.games), self._config.ruleset, self._config.net.planes)
        rng = iteration_rng(self._seed, 0, _LEARNING)
        steps = max(1, round(config.epochs * len(samples) / learner.batch))
        turns = len(symmetries(self._config.ruleset))
        losses: dict[str, float] = {}
        for step in range(steps):
            chosen = turn(
                samples[rng.integers(len(samples), size=learner.batch)],
                rng.integers(turns, size=learner.batch),
                self._config.ruleset,
            )
            losses = self._learner.learn(chosen, falling(first_rate, learner.final_learning_rate, step / steps))
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

    # -- what others see -------------------------------------------------------------------------------------------

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
    """What one of several equal parts gets of a number that need not be divisible."""
    return (part + 1) * total // parts - part * total // parts
