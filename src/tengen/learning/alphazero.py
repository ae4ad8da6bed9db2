"""AlphaZero: a network learns what its own search finds (Silver et al. 2017; zero9 and alphagomoku8 for Gomoku).

An iteration plays a number of games with the newest network (`tengen.search.puct.SelfPlay`, a batch of trees in native
code), adds their positions to the replay window, and makes learning steps on batches of it. Self-play of the next
iteration goes on in its own threads while the learner works. Everything an iteration does follows from the seed, its
number and the weights it began with, on any number of threads, unless a clock decides (`minutes`).
"""

from __future__ import annotations

import copy
import math
import threading
import time
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from tengen.agents.registry import make_agent
from tengen.core.contracts import Ruleset
from tengen.core.planes import check_layout
from tengen.core.symmetry import symmetries
from tengen.errors import InputError
from tengen.learning.files import write_file
from tengen.learning.guards import GuardConfig, Guards
from tengen.learning.plots import draw_run
from tengen.learning.progress import Progress
from tengen.learning.replay import NO_MOVE, Replay, Samples, WindowConfig, turn
from tengen.learning.run import Checkpoint, Run, iteration_rng
from tengen.learning.self_play import Games, OpeningConfig, SelfPlayTask, State, play_games, save_games
from tengen.learning.strength import Ladder, Strength, StrengthConfig
from tengen.learning.warm_start import WarmStartConfig, read_samples
from tengen.nets.architectures import Net, NetConfig, NetOutput, build_net, load_net, net_bytes, transfer_weights
from tengen.nets.export import export_onnx, quantise
from tengen.nets.models import WEIGHTS_FILE, Precision
from tengen.search.puct import PuctConfig

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
    """Of AdamW; the papers' L2 penalty."""
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """Everything that decides what a run does, beside its seed."""

    ruleset: Ruleset
    """What is played."""
    iterations: int = 100
    """Iterations of the run; with `minutes`, whichever comes first."""
    minutes: float = 0.0
    """Minutes of the run, which schedules then follow; 0 leaves it to `iterations`, and the run is repeatable."""
    cpu_minutes: float = 0.0
    """The same in CPU time of all threads together, for machines that have other work as well; 0 for none."""
    init_from: str = ""
    """A run, a shipped model or a weights file whose network it begins with, as far as shapes agree."""
    warm_start: WarmStartConfig = field(default_factory=WarmStartConfig)
    """Games of the engine to learn from first."""
    net: NetConfig = field(default_factory=NetConfig)
    """The network."""
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
    strength: StrengthConfig = field(default_factory=StrengthConfig)
    """The curve of strength."""
    guards: GuardConfig = field(default_factory=GuardConfig)
    """What stops a run that goes wrong."""

    def __post_init__(self) -> None:
        if self.iterations < 1 or self.minutes < 0 or self.cpu_minutes < 0:
            raise InputError(f"a run of {self.iterations} iterations, {self.minutes} or {self.cpu_minutes} CPU minutes")
        check_layout(self.net.planes, self.ruleset)


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


class Learner:
    """The network in training, its optimizer, and the running average of its weights."""

    def __init__(self, net: Net, config: LearnerConfig) -> None:
        self.net = net.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
        self.average: Net = copy.deepcopy(net)
        self._config = config
        self._optimizer = torch.optim.AdamW(net.parameters(), lr=config.learning_rate, weight_decay=config.weight_decay)
        self.steps = 0

    def learn(self, batch: Samples, fraction: float) -> dict[str, float]:
        """One step at that fraction of the run; returns the losses."""
        config = self._config
        for group in self._optimizer.param_groups:
            group["lr"] = self.learning_rate(fraction)
        losses = compute_losses(self.net(_to_planes(batch)), batch, config)
        self._optimizer.zero_grad(set_to_none=True)
        weigh_losses(losses, config).backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(self.net.parameters(), config.clip)
        self._optimizer.step()
        self.steps += 1
        # Early on the average is of all steps so far: the first weights are no better than noise.
        decay = min(config.average, self.steps / (self.steps + 10))
        with torch.no_grad():
            for ours, newest in zip(self.average.parameters(), self.net.parameters(), strict=True):
                ours.lerp_(newest, 1 - decay)
        return {name: float(loss.detach()) for name, loss in losses.items()}

    def try_on(self, samples: Samples) -> dict[str, float]:
        """The losses of the averaged network on positions, without learning from them."""
        with torch.inference_mode():
            return {
                name: float(loss)
                for name, loss in compute_losses(self.average(_to_planes(samples)), samples, self._config).items()
            }

    def learning_rate(self, fraction: float) -> float:
        """The step size at a fraction of the run: a cosine from the first to the final one."""
        first, final = self._config.learning_rate, self._config.final_learning_rate
        return final + (first - final) * 0.5 * (1 + math.cos(math.pi * min(fraction, 1.0)))

    def tensors(self) -> dict[str, dict[str, Tensor]]:
        """All state for a checkpoint."""
        optimizer = {
            f"{number}.{name}": torch.as_tensor(value).contiguous()
            for number, state in self._optimizer.state_dict()["state"].items()
            for name, value in state.items()
        }
        return {"weights": _weights(self.net), "average": _weights(self.average), "optimizer": optimizer}

    def restore(self, tensors: Mapping[str, Mapping[str, Tensor]], steps: int) -> None:
        """Go back to the state that `tensors` returned."""
        self.net.load_state_dict(dict(tensors["weights"]))
        self.average.load_state_dict(dict(tensors["average"]))
        state: dict[int, dict[str, Tensor]] = {}
        for key, tensor in tensors["optimizer"].items():
            number, _, name = key.partition(".")
            state.setdefault(int(number), {})[name] = tensor
        self._optimizer.load_state_dict({**self._optimizer.state_dict(), "state": state})
        self.steps = steps


def _to_planes(batch: Samples) -> Tensor:
    return torch.from_numpy(batch.planes.astype(np.float32)).contiguous(memory_format=torch.channels_last)


def _weights(net: Net) -> dict[str, Tensor]:
    return {name: tensor.detach().contiguous().clone() for name, tensor in net.state_dict().items()}


# -- the run ----------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Counters:
    """What a run has done so far, and what the self-play under way was begun with."""

    seconds: float = 0.0
    cpu_seconds: float = 0.0
    games: int = 0
    positions: int = 0
    steps: int = 0
    self_play_fraction: float = 0.0
    """Of the run, when the self-play of the next iteration was begun."""


def train(run: Run, progress: Progress) -> None:
    """Do what is left of a run, from its newest checkpoint on."""
    config = run.config(Config)
    with run.lock():
        _Training(run, config, progress).go()


class _Training:
    """A run while it goes on in this process."""

    def __init__(self, run: Run, config: Config, progress: Progress) -> None:
        self._run = run
        self._config = config
        self._progress = progress
        self._seed = run.header.seed
        checkpoint = run.load_checkpoint()
        net = build_net(config.net, config.ruleset, seed=self._seed)
        if checkpoint is None and config.init_from:
            self._transfer(net)
        self._learner = Learner(net, config.learner)
        self._actor_net = copy.deepcopy(self._learner.average)
        """What plays the self-play under way."""
        self._states: list[State] = [{}] * config.self_play.actors
        """The games with which it began, of each actor."""
        self._replay = Replay(run.folder / "replay", config.ruleset, config.window)
        self._guards = Guards(config.guards)
        self._counters = _Counters()
        self._iteration = 0
        self._stop = threading.Event()
        self._started = time.monotonic()
        self._cpu_started = time.process_time()
        self._restore(checkpoint)

    def go(self) -> None:
        """Iterate to the end."""
        torch.set_num_threads(self._config.learner.threads)
        with (
            Ladder(self._config.ruleset, self._config.strength, self._seed) as ladder,
            ThreadPoolExecutor(self._config.self_play.actors, thread_name_prefix="self-play") as actors,
        ):
            try:
                if self._iteration == 0 and self._config.warm_start.games:
                    self._start_warm()
                playing: list[Future[Games]] | None = None
                while not self._is_done():
                    playing = self._iterate(actors, ladder, playing or self._begin_games(actors))
            finally:
                self._stop.set()
        draw_run(self._run.metrics(), self._run.folder, f"{self._run.folder.name}, {self._config.ruleset}")

    def _iterate(
        self, actors: ThreadPoolExecutor, ladder: Ladder, playing: list[Future[Games]]
    ) -> list[Future[Games]] | None:
        """One iteration; returns the self-play that goes on for the next one, if it overlaps."""
        iteration = self._iteration + 1
        place = f"in iteration {iteration}"
        config = self._config

        # 1. Games.
        games = Games.concatenate([future.result() for future in playing])
        self._guards.check_samples(len(games.samples), place)
        self._guards.check_policy(games.policy_entropy, games.openings_of_100, place)
        validation = self._learner.try_on(games.samples[:_VALIDATION])
        self._replay.add(iteration, games.samples)
        save_games(games, self._run.folder / "games" / f"{iteration:06}.sgf", config.ruleset, self._run.folder.name)
        self._states = games.states
        self._counters.games += len(games.moves)
        self._counters.positions += len(games.samples)

        # 2. The next games, while we learn.
        following: list[Future[Games]] | None = None
        if config.self_play.overlaps:
            self._actor_net = copy.deepcopy(self._learner.average)
            self._counters.self_play_fraction = self._fraction(iteration)
            following = self._begin_games(actors, iteration + 1)

        # 3. Learning.
        rng = iteration_rng(self._seed, iteration, _LEARNING)
        fraction = self._fraction(iteration - 1)
        sums: dict[str, float] = {}
        steps = self._steps(len(games.samples))
        for _ in range(steps):
            losses = self._learner.learn(self._replay.sample(config.learner.batch, rng), fraction)
            self._guards.check_losses(losses, place)
            for name, loss in losses.items():
                sums[name] = sums.get(name, 0.0) + loss / steps
        self._counters.steps = self._learner.steps

        # 4. What others see of it: the network, its strength, the metrics.
        self._iteration = iteration
        if not config.self_play.overlaps:
            self._actor_net = copy.deepcopy(self._learner.average)
            self._counters.self_play_fraction = self._fraction(iteration)
        self._publish()
        strength = self._measure(ladder) if self._is_strength_due() else None
        self._log(games, sums, validation, strength, fraction)

        # 5. From here on the iteration is done, whatever happens.
        self._save()
        return following

    # -- games -----------------------------------------------------------------------------------------------------

    def _begin_games(self, actors: ThreadPoolExecutor, iteration: int | None = None) -> list[Future[Games]]:
        """Let every actor play its share of an iteration's games."""
        config, number = self._config, iteration or self._iteration + 1
        model = export_onnx(self._actor_net, config.ruleset)
        if config.self_play.precision is Precision.INT8 and len(self._replay):
            rng = iteration_rng(self._seed, number, _CALIBRATION)
            model = quantise(model, self._replay.sample(_CALIBRATION_POSITIONS, rng).planes.astype(np.float32))
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

    def _simulations(self) -> int:
        first, last = self._config.self_play.first_simulations, self._config.search.simulations
        if not first:
            return last
        return round(first + (last - first) * min(1.0, self._counters.self_play_fraction))

    # -- learning --------------------------------------------------------------------------------------------------

    def _transfer(self, net: Net) -> None:
        """Begin with what fits of another network."""
        source = _find_weights(self._config.init_from)
        left = transfer_weights(load_net(source)[0], net)
        kept = f"all but {', '.join(left)}" if left else "all weights"
        self._progress.say(f"beginning with {kept} of {source}")

    def _start_warm(self) -> None:
        """Learn from games of the engine; done again when killed before the first iteration has ended."""
        config, batch = self._config.warm_start, self._config.learner.batch
        samples = read_samples(Path(config.games), self._config.ruleset, self._config.net.planes)
        rng = iteration_rng(self._seed, 0, _LEARNING)
        steps = max(1, round(config.epochs * len(samples) / batch))
        turns = len(symmetries(self._config.ruleset))
        losses: dict[str, float] = {}
        for step in range(steps):
            chosen = turn(
                samples[rng.integers(len(samples), size=batch)],
                rng.integers(turns, size=batch),
                self._config.ruleset,
            )
            losses = self._learner.learn(chosen, step / steps)
            self._guards.check_losses(losses, "in the warm start")
            self._progress.update(0.0, None, f"warm start {step + 1} of {steps}, policy {losses['policy']:.3f}")
        self._actor_net = copy.deepcopy(self._learner.average)
        self._progress.say(f"warm start: {len(samples):,} positions of {config.games}, policy {losses['policy']:.3f}")

    def _steps(self, new_positions: int) -> int:
        learner = self._config.learner
        positions = learner.epochs * len(self._replay) if learner.epochs else learner.reuse * new_positions
        return max(1, round(positions / learner.batch))

    # -- time ------------------------------------------------------------------------------------------------------

    def _seconds(self) -> float:
        return self._counters.seconds + time.monotonic() - self._started

    def _cpu_seconds(self) -> float:
        return self._counters.cpu_seconds + time.process_time() - self._cpu_started

    def _fraction(self, iteration: int) -> float:
        """What part of the run is done after an iteration: by count, or by a clock if that is further."""
        config = self._config
        by_count = iteration / config.iterations
        by_clock = self._seconds() / (60 * config.minutes) if config.minutes else 0.0
        by_cpu = self._cpu_seconds() / (60 * config.cpu_minutes) if config.cpu_minutes else 0.0
        return max(by_count, by_clock, by_cpu)

    def _is_done(self) -> bool:
        return self._iteration > 0 and self._fraction(self._iteration) >= 1.0

    # -- what others see -------------------------------------------------------------------------------------------

    def _publish(self) -> None:
        folder, ruleset = self._run.folder, self._config.ruleset
        write_file(folder / WEIGHTS_FILE, net_bytes(self._learner.average, ruleset))
        write_file(folder / "model.onnx", export_onnx(self._learner.average, ruleset, name=folder.name))

    def _is_strength_due(self) -> bool:
        every = self._config.strength.every
        return every > 0 and (self._iteration % every == 0 or self._is_done())

    def _measure(self, ladder: Ladder) -> Strength:
        with make_agent(f'alphazero:run="{self._run.folder}"') as agent:
            return ladder.measure(agent, self._iteration)

    def _log(
        self,
        games: Games,
        losses: Mapping[str, float],
        validation: Mapping[str, float],
        strength: Strength | None,
        fraction: float,
    ) -> None:
        counters, seconds = self._counters, self._seconds()
        metrics: dict[str, Any] = {
            "seconds": round(seconds, 2),
            "cpu_seconds": round(self._cpu_seconds(), 2),
            "games": counters.games,
            "positions": counters.positions,
            "steps": counters.steps,
            "window": len(self._replay),
            "simulations": self._simulations(),
            "evaluations": games.evaluations,
            "learning_rate": self._learner.learning_rate(fraction),
            "losses": _rounded(losses),
            "losses_before": _rounded(validation),
            "self_play": {
                "plies": round(games.mean_plies, 2),
                "black_score": round(games.black_score, 4),
                "draws": round(games.draw_rate, 4),
                "policy_entropy": round(games.policy_entropy, 4),
                "openings_of_100": round(games.openings_of_100, 1),
            },
        }
        if strength is not None:
            metrics["strength"] = strength.to_json()
            scores = ", ".join(f"{name} {100 * score:.0f} %" for name, score in metrics["strength"]["scores"].items())
            self._progress.say(
                f"iteration {self._iteration}, {seconds / 60:.1f} min: {strength.elo:+.0f} ±{strength.error:.0f} Elo"
                f" above {self._config.strength.anchor}; {scores}"
            )
        self._run.log(self._iteration, metrics)
        done = self._fraction(self._iteration)
        left = seconds * (1 / done - 1) if done else None
        speeds = f"{counters.games / seconds:.1f} games/s, {counters.positions / seconds:.0f} positions/s"
        parts = ", ".join(f"{name} {loss:.3f}" for name, loss in losses.items() if name in ("policy", "value"))
        self._progress.update(done, left, f"iteration {self._iteration}, {counters.games} games, {speeds}, {parts}")

    # -- checkpoints -----------------------------------------------------------------------------------------------

    def _save(self) -> None:
        counters = {
            **{name: getattr(self._counters, name) for name in _Counters.__slots__},
            "seconds": self._seconds(),
            "cpu_seconds": self._cpu_seconds(),
        }
        tensors = {**self._learner.tensors(), "actor": _weights(self._actor_net)}
        arrays = {f"{actor}.{name}": array for actor, state in enumerate(self._states) for name, array in state.items()}
        self._run.save_checkpoint(Checkpoint(self._iteration, tensors, counters, arrays))
        self._replay.remove_outdated()

    def _restore(self, checkpoint: Checkpoint | None) -> None:
        self._run.rewind(checkpoint.iteration if checkpoint else 0)
        if checkpoint is None:
            return
        self._iteration = checkpoint.iteration
        self._counters = _Counters(**checkpoint.counters)
        self._learner.restore(checkpoint.tensors, self._counters.steps)
        self._actor_net.load_state_dict(dict(checkpoint.tensors["actor"]))
        for actor in range(len(self._states)):
            own = f"{actor}."
            arrays = checkpoint.arrays.items()
            self._states[actor] = {name.removeprefix(own): array for name, array in arrays if name.startswith(own)}
        self._replay.load(self._counters.positions)
        self._progress.say(f"going on after iteration {self._iteration}, {self._counters.games} games")


def _rounded(losses: Mapping[str, float]) -> dict[str, float]:
    return {name: round(loss, 5) for name, loss in losses.items()}


def _share(total: int, part: int, parts: int) -> int:
    """What one of several equal parts gets of a number that need not be divisible."""
    return (part + 1) * total // parts - part * total // parts


def _find_weights(text: str) -> Path:
    """The weights of a run, a shipped model or a file."""
    from tengen.nets.models import find_model

    path = Path(text)
    return path if path.suffix == ".safetensors" else find_model(text).with_name(WEIGHTS_FILE)
