"""Training runs as experiments: one preset with several seeds, optionally starting from networks of earlier runs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from tengen.cluster.training import open_place
from tengen.core.tables import to_table
from tengen.errors import InputError
from tengen.learning.algorithms import alphazero
from tengen.learning.algorithms.registry import find_algorithm
from tengen.learning.checks import check_at_least
from tengen.learning.config import load_config
from tengen.learning.run.folder import Run
from tengen.learning.run.progress import Progress
from tengen.learning.run.reading import CONFIG_FILE, Metrics
from tengen.learning.training import execute, start_run
from tengen.papers.experiment import Experiment, Figure, Findings, Lab
from tengen.papers.plots import draw_lines

_REACHES = re.compile(r"([a-z0-9_.]+)>(-?[0-9.]+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Training(Experiment):
    """Runs of one preset."""

    algorithm: str
    preset: str
    settings: tuple[str, ...] = ()
    """Settings that override the preset, such as `iterations=10`."""
    seeds: int = 1
    """Number of runs, with the seeds 1, 2, …"""
    after: str = ""
    """Training experiment from whose network, of the same seed, each run starts."""
    shipped: str = ""
    """Shipped model that replaces the runs, unless everything is trained from scratch."""
    reaches: tuple[str, ...] = ()
    """Thresholds such as `running_reward>4`; the figure is the number of games until the threshold is passed."""
    final: tuple[str, ...] = ()
    """Metrics, such as `running_reward` or `play.illegal`, whose last value is a figure."""
    best: tuple[str, ...] = ()
    """Metrics whose highest value is a figure."""
    curve: str = ""
    """Metric that is plotted against the number of games."""

    def __post_init__(self) -> None:
        check_at_least(self, 1, "seeds")
        for text in self.reaches:
            if not _REACHES.fullmatch(text):
                raise InputError(f"{text!r} in reaches does not have the form metric>number")

    def run(self, lab: Lab) -> Findings:
        """Train all runs that are not finished."""
        if self.shipped and not lab.trains_shipped:
            return Findings(data={"shipped": self.shipped})
        runs = [self._train(lab, seed) for seed in range(1, self.seeds + 1)]
        metrics = [run.metrics() for run in runs]
        figures = {
            self.key(text): Figure.of_seeds([_games_to(lines, text) for lines in metrics]) for text in self.reaches
        }
        for name in self.final:
            figures[self.key(name)] = Figure.of_seeds([_value(lines[-1], name) for lines in metrics])
        for name in self.best:
            values = ([_value(line, name) for line in lines] for lines in metrics)
            best = [max((one for one in given if one is not None), default=None) for given in values]
            figures[self.key(f"best {name}")] = Figure.of_seeds(best)
        figures[self.key("games")] = Figure.of_seeds([lines[-1]["games"] for lines in metrics])
        minutes = [round(lines[-1]["cpu_seconds"] / 60, 2) for lines in metrics]
        curves = {str(seed): _curve(lines, self.curve) for seed, lines in enumerate(metrics, 1)} if self.curve else {}
        return Findings(figures, {"cpu_minutes": minutes, "curves": curves})

    def draw(self, lab: Lab, data: Mapping[str, Any]) -> None:
        """Draw the curve of every seed."""
        if data.get("curves"):
            lines = {f"seed {seed}": points for seed, points in data["curves"].items()}
            draw_lines(lines, lab.out / "plots" / self.name, "games", self.curve.replace("_", " "), self.about)

    def _train(self, lab: Lab, seed: int) -> Run:
        folder = lab.run_folder(self.name, seed)
        settings = list(self.settings)
        if self.after:
            settings.append(f'init_from="{lab.network(self.after, seed)}"')
        if (folder / CONFIG_FILE).exists():
            run = Run.open(folder)
            kind = find_algorithm(self.algorithm).Config
            config = load_config(kind, self.algorithm, self.preset, settings)
            if _without_source(to_table(run.config(kind))) != _without_source(to_table(config)):
                raise InputError(f"{folder} is a run with other settings: choose another folder with --out")
        else:
            run = start_run(folder, self.algorithm, self.preset, settings, seed)
        if not run.is_finished():
            with Progress(lab.console, f"{self.name}, seed {seed}") as progress:
                if self.algorithm == "alphazero":
                    with self.open_place(lab, run, progress) as place:
                        alphazero.train(run, progress, place)
                else:
                    execute(run, progress)
        return run

    @contextmanager
    def open_place(self, lab: Lab, run: Run, progress: Progress) -> Iterator[alphazero.Place]:
        """Yield the place where an AlphaZero run is trained."""
        with open_place(lab.on, warn=progress.say) as place:
            yield place


def _without_source(table: Mapping[str, Any]) -> dict[str, Any]:
    """Return the part of a configuration that affects training.

    `init_from` is omitted because its path depends on the output folder, and `strength` because measurements do not
    affect training.
    """
    return {key: value for key, value in table.items() if key not in ("init_from", "strength")}


def _value(line: Mapping[str, Any], name: str) -> float | None:
    value: Any = line
    for part in name.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    return float(value) if isinstance(value, (int, float)) else None


def _games_to(lines: Metrics, text: str) -> int | None:
    found = _REACHES.fullmatch(text)
    assert found is not None
    name, threshold = found[1], float(found[2])
    for line in lines:
        value = _value(line, name)
        if value is not None and value > threshold:
            return int(line["games"])
    return None


def _curve(lines: Metrics, name: str) -> list[tuple[int, float]]:
    points = ((line["games"], _value(line, name)) for line in lines)
    return [(games, value) for games, value in points if value is not None]
