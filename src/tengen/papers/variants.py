"""Training with single settings changed, to measure the effect of each."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tengen.errors import InputError
from tengen.learning.checks import check_at_least
from tengen.papers.experiment import Experiment, Figure, Findings, Lab
from tengen.papers.plots import draw_lines
from tengen.papers.training import Training


@dataclass(frozen=True, slots=True, kw_only=True)
class Variants(Experiment):
    """Training runs of one preset in several variants, all measured in the same way."""

    algorithm: str
    preset: str
    settings: tuple[str, ...] = ()
    """Settings that override the preset in all variants."""
    variants: Mapping[str, tuple[str, ...]]
    """Variants by name: the settings that only this variant has."""
    seeds: int = 1
    """Number of runs per variant, with the seeds 1, 2, …"""
    final: tuple[str, ...] = ()
    """Metrics whose last value is a figure."""
    best: tuple[str, ...] = ()
    """Metrics whose highest value is a figure."""
    curve: str = ""
    """Metric that is plotted against the number of games."""

    def __post_init__(self) -> None:
        check_at_least(self, 1, "seeds")
        if len(self.variants) < 2:
            raise InputError(f"{self.name}: a comparison needs at least two variants")
        if any("/" in name for name in self.variants):
            raise InputError(f"{self.name}: variant names must not contain a slash")

    def run(self, lab: Lab) -> Findings:
        """Train the missing runs."""
        findings = Findings(data={"curves": {}, "cpu_minutes": {}})
        for variant in self.variants:
            training = self.training(lab, variant)
            found = training.run(lab)
            prefix = f"{training.name}/"
            findings.figures |= {
                self.key(variant, name.removeprefix(prefix)): figure for name, figure in found.figures.items()
            }
            findings.data["curves"][variant] = found.data["curves"]
            findings.data["cpu_minutes"][variant] = found.data["cpu_minutes"]
            findings.figures[self.key(variant, "cpu_minutes")] = Figure.of_seeds(found.data["cpu_minutes"])
        return findings

    def training(self, lab: Lab, variant: str) -> Training:
        """Return the training experiment for a variant."""
        return Training(
            name=f"{self.name}-{re.sub(r'[^a-z0-9]+', '-', variant.lower()).strip('-')}",
            about=variant,
            algorithm=self.algorithm,
            preset=self.preset,
            settings=(*self.settings, *self.variants[variant]),
            seeds=self.seeds,
            final=self.final,
            best=self.best,
            curve=self.curve,
        )

    def draw(self, lab: Lab, data: Mapping[str, Any]) -> None:
        """Draw the curves of all runs."""
        lines = {
            f"{variant}, seed {seed}" if self.seeds > 1 else variant: points
            for variant, curves in data["curves"].items()
            for seed, points in curves.items()
        }
        if lines:
            draw_lines(lines, lab.out / "plots" / self.name, "games", self.curve.replace("_", " "), self.about)
