"""The comparison that "AlphaGomoku" proposed: every algorithm on the same machine for the same CPU time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tengen.errors import InputError
from tengen.learning.algorithms.registry import algorithm_names
from tengen.learning.checks import check_at_least, check_positive
from tengen.learning.config import preset_names
from tengen.learning.run.reading import RunReader, strength_curve
from tengen.papers.experiment import Experiment, Figure, Findings, Lab
from tengen.papers.plots import draw_lines
from tengen.papers.training import Training


@dataclass(frozen=True, slots=True, kw_only=True)
class Race(Experiment):
    """Trains several algorithms with their presets for one board, and rates them on the same ladder during training."""

    board: str
    """Name of the preset used for every algorithm."""
    algorithms: tuple[str, ...]
    cpu_minutes: float = 10.0
    """CPU time of all threads per run, including measurements."""
    points: int = 8
    """Number of measurements per run."""
    seeds: int = 3
    settings: tuple[str, ...] = ()
    """Settings that override those of all presets, such as `strength.games=4`."""

    def __post_init__(self) -> None:
        check_positive(self, "cpu_minutes")
        check_at_least(self, 1, "points", "seeds")
        for algorithm in self.algorithms:
            if algorithm not in algorithm_names() or self.board not in preset_names(algorithm):
                raise InputError(f"{self.name}: {algorithm} has no preset {self.board}")

    def run(self, lab: Lab) -> Findings:
        """Train the missing runs."""
        findings = Findings(data={"curves": {}})
        for algorithm in self.algorithms:
            training = self._training(algorithm)
            trained = training.run(lab)
            if algorithm == "alphazero":
                findings.figures[self.key(algorithm, "policy elo")] = trained.figures[
                    training.key("strength.policy.elo")
                ]
            curves = [self._curve(lab, training, seed) for seed in range(1, self.seeds + 1)]
            findings.data["curves"][algorithm] = curves
            findings.figures[self.key(algorithm, "elo")] = Figure.of_seeds([curve[-1][1] for curve in curves])
        return findings

    def draw(self, lab: Lab, data: Mapping[str, Any]) -> None:
        """Plot rating against CPU minutes, one line per run."""
        lines = {
            f"{algorithm}, seed {seed}": curve
            for algorithm, curves in data["curves"].items()
            for seed, curve in enumerate(curves, 1)
        }
        path = lab.out / "plots" / self.name
        draw_lines(lines, path, "CPU minutes of training", "Elo above the anchor, 95 % interval", self.about)

    def _training(self, algorithm: str) -> Training:
        own = [f"cpu_minutes={self.cpu_minutes}", "minutes=0", f"strength.points={self.points}"]
        if algorithm == "alphazero":
            own.append("strength.policy=true")  # the others play without a search anyway
        return Training(
            name=f"{self.name}-{algorithm}",
            algorithm=algorithm,
            preset=self.board,
            seeds=self.seeds,
            settings=(*own, *self.settings),
            final=("strength.policy.elo",) if algorithm == "alphazero" else (),
        )

    def _curve(self, lab: Lab, training: Training, seed: int) -> list[tuple[float, float, float]]:
        metrics = RunReader.open(lab.run_folder(training.name, seed)).metrics()
        return [
            (round(point.cpu_seconds / 60, 3), round(point.elo, 1), round(point.error, 1))
            for point in strength_curve(metrics)
        ]


KINDS: Mapping[str, type[Experiment]] = {"race": Race}
