"""What every algorithm does around its learning: time, the network for others to see, strength, metrics, checkpoints.

An algorithm does the work of an iteration and hands the rest over:

    with Loop(run, config, progress) as loop:
        checkpoint = loop.resume()
        while not loop.is_done:
            …
            loop.publish(net)
            loop.end_iteration(metrics, "what the progress line says", tensors=…)
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy.typing as npt
import torch

from tengen.agents.registry import make_agent
from tengen.core.contracts import Ruleset
from tengen.core.planes import check_layout
from tengen.learning.checks import check_at_least
from tengen.learning.files import write_file
from tengen.learning.guards import GuardConfig, Guards
from tengen.learning.plots import draw_run
from tengen.learning.progress import Progress
from tengen.learning.run import Checkpoint, Run
from tengen.learning.strength import Ladder, StrengthConfig
from tengen.learning.weights import transfer_from
from tengen.nets.architectures import Net, NetConfig, build_net, net_bytes
from tengen.nets.export import export_onnx
from tengen.nets.models import WEIGHTS_FILE

if TYPE_CHECKING:
    from tengen.learning.run import Tensors


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopConfig:
    """What the configurations of all algorithms have in common."""

    ruleset: Ruleset
    """What is played."""
    iterations: int = 100
    """Iterations of the run; with `minutes`, whichever comes first."""
    minutes: float = 0.0
    """Minutes of the run, which schedules then follow; 0 leaves it to `iterations`, and the run is repeatable."""
    cpu_minutes: float = 0.0
    """The same in CPU time of all threads together, for machines that have other work as well; 0 for none."""
    strength: StrengthConfig = field(default_factory=StrengthConfig)
    """The curve of strength."""
    guards: GuardConfig = field(default_factory=GuardConfig)
    """What stops a run that goes wrong."""

    def __post_init__(self) -> None:
        check_at_least(self, 1, "iterations")
        check_at_least(self, 0, "minutes", "cpu_minutes")


@dataclass(frozen=True, slots=True, kw_only=True)
class NetLoopConfig(LoopConfig):
    """What the configurations of algorithms that train a network have in common."""

    init_from: str = ""
    """A run, a shipped model or a weights file whose network it begins with, as far as shapes agree."""
    net: NetConfig = field(default_factory=NetConfig)
    """The network."""

    def __post_init__(self) -> None:
        LoopConfig.__post_init__(self)  # super() has no class to look from in a dataclass with slots
        check_layout(self.net.planes, self.ruleset)


_COUNTERS = ("games", "positions", "seconds", "cpu_seconds")
"""What the loop itself goes on from."""


class Loop:
    """A run while it goes on in this process. A context manager that holds the run's lock; its end draws the curves."""

    def __init__(self, run: Run, config: LoopConfig, progress: Progress) -> None:
        self.run = run
        self.progress = progress
        self.iteration = 0
        """The last one that is done."""
        self.games = 0
        """Finished so far."""
        self.positions = 0
        """Learned from so far, each counted once."""
        self.guards = Guards(config.guards, run.folder)
        """What the algorithm shows its numbers to."""
        self._config = config
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
                draw_run(self.run.metrics(), self.run.folder, name)

    def resume(self, *counters: str, check: Callable[[Checkpoint], None] | None = None) -> Checkpoint | None:
        """The newest whole checkpoint, from which time and counts go on; what was written after it is taken away.

        A whole one has the algorithm's own `counters` and passes its `check`, as `Run.load_checkpoint` says.
        """
        checkpoint = self.run.load_checkpoint(self.progress.say, (*_COUNTERS, *counters), check)
        self.run.rewind(checkpoint.iteration if checkpoint else 0)
        if checkpoint is not None:
            self.iteration = checkpoint.iteration
            self.games, self.positions = checkpoint.counters["games"], checkpoint.counters["positions"]
            self._seconds_before = checkpoint.counters["seconds"]
            self._cpu_seconds_before = checkpoint.counters["cpu_seconds"]
            self.guards.broken = dict(checkpoint.counters.get("guards", {}))
            self._points_done = checkpoint.counters.get("strength_points", 0)
            self._is_over = self.fraction() >= 1.0
            self.progress.say(f"going on after iteration {self.iteration}, {self.games} games")
        return checkpoint

    # -- time ------------------------------------------------------------------------------------------------------

    @property
    def seconds(self) -> float:
        """The run has taken so far."""
        return self._seconds_before + time.monotonic() - self._started

    @property
    def cpu_seconds(self) -> float:
        """All threads of the run have taken so far."""
        return self._cpu_seconds_before + time.process_time() - self._cpu_started

    def fraction(self, iteration: int | None = None) -> float:
        """What part of the run is done after an iteration, the last one: by count, or by a clock if that is further."""
        config = self._config
        by_count = (self.iteration if iteration is None else iteration) / config.iterations
        by_clock = self.seconds / (60 * config.minutes) if config.minutes else 0.0
        by_cpu = self.cpu_seconds / (60 * config.cpu_minutes) if config.cpu_minutes else 0.0
        return max(by_count, by_clock, by_cpu)

    @property
    def is_done(self) -> bool:
        """Whether all iterations were done or the time was over when the last of them ended; one is always done."""
        return self._is_over

    # -- the end of an iteration -----------------------------------------------------------------------------------

    def publish(self, net: Net, discount: float | None = None) -> None:
        """Write the network that plays for this run from now on, and the discount that its values have learned."""
        folder, ruleset = self.run.folder, self._config.ruleset
        write_file(folder / WEIGHTS_FILE, net_bytes(net, ruleset))
        write_file(folder / "model.onnx", export_onnx(net, ruleset, name=folder.name, discount=discount))

    def end_iteration(
        self,
        metrics: Mapping[str, Any],
        shown: str,
        *,
        tensors: Mapping[str, Tensors],
        counters: Mapping[str, Any] | None = None,
        arrays: Mapping[str, npt.NDArray[Any]] | None = None,
    ) -> None:
        """Measure strength when it is due, log, show, and write the checkpoint; then the iteration counts as done.

        `metrics` has `losses` by name; what was published plays for strength. `counters` are the algorithm's own.
        """
        self.iteration += 1
        counts = {"games": self.games, "positions": self.positions}
        line: dict[str, Any] = {
            "seconds": round(self.seconds, 2),
            "cpu_seconds": round(self.cpu_seconds, 2),
            **counts,
            **metrics,
        }
        self._is_over = self.fraction() >= 1.0
        if self._is_strength_due():
            line["strength"] = self._measure()
            self._is_over = self.fraction() >= 1.0  # measuring takes time as well, and the last one is measured now
        self.run.log(self.iteration, line)
        done, seconds = self.fraction(), self.seconds
        left = seconds * (1 / done - 1) if done else None
        speeds = f"{self.games / seconds:.1f} games/s, {self.positions / seconds:.0f} positions/s"
        self.progress.update(done, left, f"iteration {self.iteration}, {self.games} games, {speeds}, {shown}")
        clock = {"seconds": self.seconds, "cpu_seconds": self.cpu_seconds}
        kept = {
            **counts,
            **clock,
            "guards": self.guards.broken,
            "strength_points": self._points_done,
            **(counters or {}),
        }
        self.run.save_checkpoint(Checkpoint(self.iteration, tensors, kept, arrays or {}))

    def _is_strength_due(self) -> bool:
        config = self._config.strength
        if config.points:
            before, self._points_done = self._points_done, int(self.fraction() * config.points)
            return self._points_done > before or self.is_done
        return config.every > 0 and (self.iteration % config.every == 0 or self.is_done)

    def _measure(self) -> dict[str, Any]:
        with make_agent(self._player) as agent:
            strength = self._ladder.measure(agent, self.iteration)
        table = strength.to_json()
        scores = ", ".join(f"{name} {100 * score:.0f} %" for name, score in table["scores"].items())
        self.progress.say(
            f"iteration {self.iteration}, {self.seconds / 60:.1f} min: {strength.elo:+.0f} ±{strength.error:.0f} Elo"
            f" above {self._config.strength.anchor}; {scores}"
        )
        return table


def first_net(config: NetLoopConfig, run: Run, progress: Progress, checkpoint: Checkpoint | None) -> Net:
    """The network that a run begins with: fresh weights, and over them, before any checkpoint, those of `init_from`.

    Convolutions keep the channels of a point side by side, which is faster on processors.
    """
    net = build_net(config.net, config.ruleset, seed=run.header.seed)
    if checkpoint is None and config.init_from:
        progress.say(transfer_from(config.init_from, net))
    return net.to(memory_format=torch.channels_last)  # type: ignore[call-overload, no-any-return]


def falling(first: float, final: float, fraction: float) -> float:
    """A cosine from the first value to the final one over the run."""
    return final + (first - final) * 0.5 * (1 + math.cos(math.pi * min(fraction, 1.0)))


def rounded(losses: Mapping[str, float]) -> dict[str, float]:
    """Losses as metrics show them."""
    return {name: round(loss, 5) for name, loss in losses.items()}
