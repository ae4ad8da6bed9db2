"""The training loop that all algorithms share: time limits, published network, strength, metrics, checkpoints.

An algorithm does the work of an iteration and leaves the rest to the loop:

    with Loop(run, config, progress) as loop:
        loop.resume(restore)
        while not loop.is_done:
            …
            loop.publish(net)
            loop.end_iteration(metrics, "text of the progress line", tensors=…)
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from shutil import copyfile
from typing import TYPE_CHECKING, Any

import numpy.typing as npt
import torch

from tengen.agents.registry import make_agent
from tengen.core.contracts import Ruleset
from tengen.core.files import replace_folder
from tengen.core.planes import check_layout
from tengen.errors import InputError, MissingExtraError
from tengen.learning.checks import check_at_least
from tengen.learning.learner import transfer_from
from tengen.learning.run.folder import Checkpoint, Run, write_run_file, writing_run
from tengen.learning.run.guards import GuardConfig, Guards
from tengen.learning.run.plots import draw_run
from tengen.learning.run.progress import Progress
from tengen.learning.run.reading import Budget, LeftOut, opponent_label
from tengen.learning.run.strength import Ladder, StrengthConfig
from tengen.nets.architectures import Net, NetConfig, build_net, save_net
from tengen.nets.export import export_onnx
from tengen.nets.models import NETWORK_FILE, WEIGHTS_FILE, milestone_folder

if TYPE_CHECKING:
    from tengen.learning.run.folder import Tensors


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopConfig:
    """Settings that all algorithms share."""

    ruleset: Ruleset
    """Ruleset to train for."""
    iterations: int = 100
    """Maximum number of iterations; with time limits, whichever limit is reached first ends the run."""
    minutes: float = 0.0
    """Wall-clock limit in minutes, which also drives the schedules; 0 for no limit. Only runs without a time limit are
    reproducible."""
    cpu_minutes: float = 0.0
    """CPU time limit in minutes, summed over all threads, for shared machines; 0 for no limit."""
    strength: StrengthConfig = field(default_factory=StrengthConfig)
    """Strength measurements."""
    guards: GuardConfig = field(default_factory=GuardConfig)
    """Checks that stop a failing run."""

    def __post_init__(self) -> None:
        check_at_least(self, 1, "iterations")
        check_at_least(self, 0, "minutes", "cpu_minutes")


@dataclass(frozen=True, slots=True, kw_only=True)
class NetLoopConfig(LoopConfig):
    """Settings that all algorithms with a network share."""

    init_from: str = ""
    """Run, shipped model or weights file to start from; weights whose shapes match are copied."""
    net: NetConfig = field(default_factory=NetConfig)
    """Network architecture."""
    milestones: tuple[int, ...] = ()
    """Iterations whose networks are kept in `milestones/`, such as [5, 10]; 0 is the untrained network."""
    milestone_every: int = 0
    """Interval in iterations at which a network is kept in `milestones/`; 0 keeps only those listed in `milestones`."""

    def __post_init__(self) -> None:
        LoopConfig.__post_init__(self)  # super() without arguments fails in a dataclass with slots
        check_at_least(self, 0, "milestone_every")
        if any(iteration < 0 for iteration in self.milestones):
            raise InputError(f"milestones={list(self.milestones)} contains a negative iteration")
        check_layout(self.net.planes, self.ruleset)


_COUNTERS = ("games", "positions", "seconds", "cpu_seconds")
"""Checkpoint counters that the loop needs in order to resume."""


class Loop:
    """State of a run in training. A context manager that holds the run's lock and draws the plots at the end."""

    def __init__(self, run: Run, config: LoopConfig, progress: Progress) -> None:
        self.run = run
        self.progress = progress
        self.iteration = 0
        """Number of the last finished iteration."""
        self.games = 0
        """Games finished so far."""
        self.positions = 0
        """Training positions so far."""
        self.guards = Guards(config.guards, run.folder)
        self._config = config
        self._budget = Budget(config.iterations, config.minutes, config.cpu_minutes)
        self._seconds_before = self._cpu_seconds_before = 0.0
        self._points_done = 0
        self._is_over = False
        self._started, self._cpu_started = time.monotonic(), time.process_time()
        self._player = config.strength.player_text(run.header.algorithm, run.folder)
        self._ladder = Ladder(config.ruleset, config.strength, run.header.seed)
        self._closing = ExitStack()

    def __enter__(self) -> Loop:
        self._closing.enter_context(self.run.lock())
        self._closing.enter_context(self._ladder)
        return self

    def __exit__(self, kind: object, *rest: object) -> None:
        with self._closing:
            if kind is None:
                name = f"{self.run.folder.name}, {self._config.ruleset}"
                try:
                    draw_run(self.run.metrics(), self.run.folder, name)
                except MissingExtraError as error:
                    self.progress.say(f"the run has no plots: {error}")

    def resume(self, restore: Callable[[Checkpoint], None], *counters: str) -> None:
        """Restore the newest intact checkpoint, if there is one, and delete everything after it.

        `restore` restores the algorithm's state; `counters` are the checkpoint counters it needs. If `restore`
        raises `RunError` or `InputError`, the previous checkpoint is tried; see `Run.load_checkpoint`.
        """
        checkpoint = self.run.load_checkpoint(self.progress.say, (*_COUNTERS, *counters), restore)
        left_out = LeftOut()
        self.run.metrics(left_out)
        if left_out.damaged_lines:
            self.progress.say(str(left_out))
        self.run.rewind(checkpoint.iteration if checkpoint else 0)
        if checkpoint is not None:
            self.iteration = checkpoint.iteration
            self.games, self.positions = checkpoint.counters["games"], checkpoint.counters["positions"]
            self._seconds_before = checkpoint.counters["seconds"]
            self._cpu_seconds_before = checkpoint.counters["cpu_seconds"]
            self.guards.restore(checkpoint.counters.get("guards"))
            points = checkpoint.counters.get("strength_points", 0)
            self._points_done = points if isinstance(points, int) else 0
            self._is_over = bool(checkpoint.counters.get("ended")) or self.fraction() >= 1.0
            self.progress.say(f"resuming after iteration {self.iteration}, {self.games} games")

    # -- time ------------------------------------------------------------------------------------------------------

    @property
    def seconds(self) -> float:
        """Wall-clock time of the run so far."""
        return self._seconds_before + time.monotonic() - self._started

    @property
    def cpu_seconds(self) -> float:
        """CPU time of all threads so far."""
        return self._cpu_seconds_before + time.process_time() - self._cpu_started

    def fraction(self, iteration: int | None = None) -> float:
        """Return the fraction of the run that is done after an iteration (default: the last finished one)."""
        done = self.iteration if iteration is None else iteration
        return self._budget.fraction_used(done, self.seconds, self.cpu_seconds)

    @property
    def is_done(self) -> bool:
        """Whether the last iteration reached a limit or ended the run; a new run does at least one iteration."""
        return self._is_over

    # -- the start and the end of an iteration ---------------------------------------------------------------------

    def measure_start(self, publish: Callable[[], None]) -> None:
        """Measure the untrained player as iteration 0 if the run is new and `strength.at_start` is set.

        `publish` writes the untrained player.
        """
        if not self._config.strength.at_start or self.iteration or self.run.metrics():
            return
        publish()
        self._keep_milestone()
        measured = self._measure_strength()
        self.run.log(0, {"seconds": 0.0, "cpu_seconds": 0.0, "games": 0, "positions": 0, "strength": measured})

    def publish(self, net: Net, discount: float | None = None) -> None:
        """Write `net` as the run's current network; `discount` is the factor used to train its values."""
        folder, ruleset = self.run.folder, self._config.ruleset
        with writing_run(folder / WEIGHTS_FILE):
            save_net(folder / WEIGHTS_FILE, net, ruleset)
        write_run_file(folder / NETWORK_FILE, export_onnx(net, ruleset, name=folder.name, discount=discount))

    def _keep_milestone(self) -> None:
        """Copy the published network to the milestones if the configuration keeps this iteration's network."""
        config, iteration = self._config, self.iteration
        if not isinstance(config, NetLoopConfig):
            return
        every = config.milestone_every
        if iteration not in config.milestones and not (every and iteration % every == 0):
            return

        def fill(folder: Path) -> None:
            for name in (NETWORK_FILE, WEIGHTS_FILE):
                copyfile(self.run.folder / name, folder / name)

        path = milestone_folder(self.run.folder, iteration)
        with writing_run(path):
            replace_folder(path, fill)

    def end_iteration(
        self,
        metrics: Mapping[str, Any],
        shown: str,
        *,
        tensors: Mapping[str, Tensors],
        counters: Mapping[str, Any] | None = None,
        arrays: Mapping[str, npt.NDArray[Any]] | None = None,
        checksums: Mapping[str, str] | None = None,
        ends: bool = False,
    ) -> None:
        """Measure strength if it is due, log the metrics, show progress and write the checkpoint.

        `metrics` contains a table `losses`. The published network is the one measured. `counters` are specific to the
        algorithm, and `checksums` verify additional files that the checkpoint needs. `ends` ends the run before its
        limits are reached.
        """
        self.iteration += 1
        self._keep_milestone()
        counts = {"games": self.games, "positions": self.positions}
        line: dict[str, Any] = {
            "seconds": round(self.seconds, 2),
            "cpu_seconds": round(self.cpu_seconds, 2),
            **counts,
            **metrics,
        }
        self._is_over = ends or self.fraction() >= 1.0
        if self._is_strength_due():
            line["strength"] = self._measure_strength()
            self._is_over = ends or self.fraction() >= 1.0  # the measurement may have used up the remaining time
        self.run.log(self.iteration, line)
        done, seconds = self.fraction(), self.seconds
        left = seconds * (1 / done - 1) if done else None
        speeds = f"{self.games / seconds:.1f} games/s, {self.positions / seconds:.0f} positions/s"
        self.progress.update(done, left, f"iteration {self.iteration}, {self.games} games, {speeds}, {shown}")
        clock = {"seconds": self.seconds, "cpu_seconds": self.cpu_seconds}
        state = {
            **counts,
            **clock,
            "guards": self.guards.broken,
            "strength_points": self._points_done,
            "ended": int(ends),
            **(counters or {}),
        }
        self.run.save_checkpoint(Checkpoint(self.iteration, tensors, state, arrays or {}, checksums or {}))

    def _is_strength_due(self) -> bool:
        config = self._config.strength
        if config.points:
            before, self._points_done = self._points_done, int(self.fraction() * config.points)
            return self._points_done > before or self.is_done
        return config.every > 0 and (self.iteration % config.every == 0 or self.is_done)

    def _measure_strength(self) -> dict[str, Any]:
        config = self._config.strength
        with ExitStack() as closing:
            agent = closing.enter_context(make_agent(self._player))
            policy = None
            if config.policy:
                policy = closing.enter_context(make_agent(f'policy:run="{self.run.folder}"'))
            strength = self._ladder.measure(agent, self.iteration, policy)
        table = strength.to_json()
        alone = (
            ""
            if strength.policy is None
            else f" (network alone {strength.policy.elo:+.0f} ±{strength.policy.error:.0f})"
        )
        scores = ", ".join(f"{opponent_label(name)} {100 * score:.0f} %" for name, score in table["scores"].items())
        self.progress.say(
            f"iteration {self.iteration}, {self.seconds / 60:.1f} min: {strength.elo:+.0f} ±{strength.error:.0f} Elo"
            f" above {config.anchor}{alone}; {scores}"
        )
        return table


def initial_net(config: NetLoopConfig, run: Run, progress: Progress) -> Net:
    """Build a run's network, with the weights from `init_from` if the run has no checkpoint yet.

    Its convolutions use the channels-last memory format, which is faster on CPUs.
    """
    net = build_net(config.net, config.ruleset, seed=run.header.seed)
    if config.init_from and not run.checkpoint_folders():
        progress.say(transfer_from(config.init_from, net))
    return channels_last(net)


def channels_last(net: Net) -> Net:
    """Convert a network to the channels-last memory format, which is faster on CPUs, and return it."""
    return net.to(memory_format=torch.channels_last)  # type: ignore[call-overload, no-any-return]


def cosine_schedule(first: float, final: float, fraction: float) -> float:
    """Return a value that moves from `first` to `final` along a half cosine; constant after fraction 1."""
    return final + (first - final) * 0.5 * (1 + math.cos(math.pi * min(fraction, 1.0)))


def linear_schedule(first: float, final: float, fraction: float) -> float:
    """Return a value that moves linearly from `first` to `final`; constant after fraction 1."""
    return first + (final - first) * min(fraction, 1.0)


def rounded(losses: Mapping[str, float]) -> dict[str, float]:
    """Round losses for the metrics."""
    return {name: round(loss, 5) for name, loss in losses.items()}
