"""Experiments of "Convolutional and recurrent neural network for Gomoku" (stanford15): accuracy and board sizes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tengen.agents.registry import make_agent
from tengen.arena.openings import random_openings
from tengen.arena.pairs import play_pairs
from tengen.core.contracts import Evaluator, Ruleset
from tengen.datasets.dataset import Dataset, Split
from tengen.learning.accuracy import measure_accuracy
from tengen.learning.checks import check_at_least
from tengen.nets.evaluators import AveragedEvaluator
from tengen.nets.models import load_model
from tengen.papers.experiment import Experiment, Figure, Findings, Lab, MissingDataError
from tengen.papers.plots import draw_lines
from tengen.papers.training import Training


@dataclass(frozen=True, slots=True, kw_only=True)
class Supervised(Training):
    """Training on recorded games that may not be redistributed."""

    algorithm: str = "supervised"
    data: str
    """Folder of the data set."""
    command: str
    """Command that builds the data set, for the error message if it is missing."""

    def run(self, lab: Lab) -> Findings:
        """Train the run."""
        _check_data(self.data, self.command)
        return Training.run(self, lab)


@dataclass(frozen=True, slots=True, kw_only=True)
class Accuracy(Experiment):
    """Share of the moves in a data set's test games that networks predict."""

    networks: Mapping[str, str]
    """Name in the table → training or shipped model."""
    data: str
    """Folder of the data set; most game collections may not be redistributed."""
    command: str
    """Command that builds the data set, for the error message if it is missing."""
    moves: int = 50_000
    """Maximum number of test moves."""
    averages: bool = False
    """Average the policy over all symmetries."""

    def __post_init__(self) -> None:
        check_at_least(self, 1, "moves")

    def run(self, lab: Lab) -> Findings:
        """Predict the moves with every network."""
        _check_data(self.data, self.command)
        data = Dataset.open(Path(self.data))
        numbers = np.sort(np.random.default_rng(1).permutation(data.find(Split.TEST))[: self.moves])
        findings = Findings()
        for name, network in self.networks.items():
            single, info = load_model(_network(lab, network))
            info.check_supports(data.ruleset)
            evaluator: Evaluator = AveragedEvaluator(single, data.ruleset) if self.averages else single
            found = measure_accuracy(evaluator, data, numbers).to_json()
            findings.data[name] = {**found, "opening_moves": data.opening_moves}
            for key in ("top1", "top5", "top1_without_openings"):
                count = found["samples"] - (found["opening_samples"] if key.endswith("openings") else 0)
                findings.figures[self.key(name, key)] = Figure.share(found[key] * count, count)
        return findings


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes(Experiment):
    """The scalability test: the same weights on boards of several sizes, by policy alone."""

    networks: Mapping[str, str]
    """Name in the table → training or shipped model."""
    opponents: tuple[str, ...]
    sizes: tuple[int, ...] = (9, 11, 13, 15, 19)
    games: int = 100
    """Games per size and opponent, half with each colour, from random openings."""

    def __post_init__(self) -> None:
        check_at_least(self, 2, "games")

    def run(self, lab: Lab) -> Findings:
        """Play all games."""
        findings = Findings(data={"scores": {}})
        for name, network in self.networks.items():
            source = _network(lab, network)
            player = f'policy:run="{source}"' if isinstance(source, Path) else f"policy:model={source}"
            for opponent in self.opponents:
                points = []
                for size in self.sizes:
                    ruleset = Ruleset(size, size)
                    openings = list(random_openings(ruleset, (self.games + 1) // 2, 1))
                    with make_agent(f"{player},average=true") as own, make_agent(opponent) as other:
                        black, white = play_pairs(ruleset, (own, other), openings, 1)
                    total = black + white
                    findings.figures[self.key(name, opponent, str(size))] = Figure.share(total.points, total.games)
                    points.append((size, round(total.score, 4)))
                findings.data["scores"][f"{name} against {opponent}"] = points
        return findings

    def draw(self, lab: Lab, data: Mapping[str, Any]) -> None:
        """Draw the score by board size."""
        draw_lines(data["scores"], lab.out / "plots" / self.name, "board size", "score", self.about, style="o-")


def _check_data(data: str, command: str) -> None:
    if not Path(data).is_dir():
        raise MissingDataError(f"there is no data set {data}; build it with `{command}`")


def _network(lab: Lab, text: str) -> Path | str:
    """Return the run of a training if there is one; other names are shipped models."""
    folder = lab.run_folder(text)
    return folder if (folder / "model.onnx").exists() else lab.shipped.get(text, text)


KINDS: Mapping[str, type[Experiment]] = {"accuracy": Accuracy, "sizes": Sizes, "supervised": Supervised}
