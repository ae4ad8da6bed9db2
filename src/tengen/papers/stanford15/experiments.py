"""Experiments of "Convolutional and recurrent neural network for Gomoku" (stanford15)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from tengen.agents.registry import make_agent
from tengen.arena.openings import random_openings
from tengen.arena.pairs import play_pairs
from tengen.core.contracts import Evaluator, Ruleset
from tengen.datasets.dataset import Dataset, Split
from tengen.errors import InputError
from tengen.learning.accuracy import measure_accuracy
from tengen.learning.checks import check_at_least
from tengen.learning.run.folder import Run
from tengen.nets.architectures import load_net
from tengen.nets.evaluators import AveragedEvaluator
from tengen.nets.models import WEIGHTS_FILE, load_model, model_names
from tengen.nets.pooled import PooledNet
from tengen.papers.experiment import Experiment, Figure, Findings, Lab, MissingDataError
from tengen.papers.games import Games
from tengen.papers.plots import draw_filters, draw_lines
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
        """Train the runs; the curves show the validation accuracy against the number of training samples."""
        _check_data(self.data, self.command)
        findings = Training.run(self, lab)
        samples = len(Dataset.open(Path(self.data)).find(Split.TRAINING))
        curves: dict[str, list[tuple[int, float]]] = {}
        passes: list[float] = []
        speeds: list[float] = []
        for seed in range(1, self.seeds + 1):
            lines = Run.open(lab.run_folder(self.name, seed)).metrics()
            curve = [(line["positions"], line["accuracy"]["top1"]) for line in lines]
            curves[str(seed)] = curve
            passes.append(round(samples_to_gain(curve) / samples, 2))
            speeds.append(round(lines[-1]["positions"] / max(lines[-1]["cpu_seconds"], 1e-9), 1))
        findings.figures[self.key("best validation top1")] = Figure.of_seeds(
            [max(accuracy for _, accuracy in curve) for curve in curves.values()]
        )
        findings.figures[self.key("passes until it stops gaining")] = Figure.of_seeds(passes)
        findings.figures[self.key("positions per CPU second")] = Figure.of_seeds(speeds)
        findings.figures[self.key("cpu_minutes")] = Figure.of_seeds(findings.data["cpu_minutes"])
        findings.data["curves"] = curves
        return findings

    def draw(self, lab: Lab, data: Mapping[str, Any]) -> None:
        """Draw nothing: `Curves` draws the curves of several training experiments together."""


def samples_to_gain(curve: Sequence[tuple[int, float]], tolerance: float = 0.005) -> int:
    """Return the number of samples after which the accuracy is within `tolerance` of its maximum."""
    best = max(accuracy for _, accuracy in curve)
    return next(samples for samples, accuracy in curve if accuracy >= best - tolerance)


@dataclass(frozen=True, slots=True, kw_only=True)
class Curves(Experiment):
    """The learning curves of several training experiments in one picture."""

    trainings: Mapping[str, str]
    """Training experiments by their name in the picture."""

    def run(self, lab: Lab) -> Findings:
        """Read the metrics of the runs with seed 1."""
        curves = {
            name: [
                (line["positions"] / 1e6, 100 * line["accuracy"]["top1"])
                for line in Run.open(_trained(lab, training)).metrics()
            ]
            for name, training in self.trainings.items()
        }
        return Findings(data={"curves": curves})

    def draw(self, lab: Lab, data: Mapping[str, Any]) -> None:
        """Plot the accuracy against the number of samples."""
        path = lab.out / "plots" / self.name
        draw_lines(data["curves"], path, "million training samples", "% of validation moves predicted", self.about)


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters(Experiment):
    """All filters of the first layer of the convolutional network (figure 5 shows a selection)."""

    training: str

    def run(self, lab: Lab) -> Findings:
        """Measure how evenly the filters are used."""
        norms = np.sort(np.square(self._filters(_trained(lab, self.training))).sum(axis=(1, 2)))[::-1]
        shares = np.cumsum(norms) / norms.sum()
        half = int(np.searchsorted(shares, 0.5)) + 1
        findings = Findings(data={"training": self.training, "norms": [round(float(norm), 5) for norm in norms]})
        findings.figures[self.key("filters")] = Figure(len(norms))
        findings.figures[self.key("filters with half of the weight")] = Figure(half)
        return findings

    def draw(self, lab: Lab, data: Mapping[str, Any]) -> None:
        """Draw all filters, strongest first."""
        filters = self._filters(_trained(lab, data["training"]))
        draw_filters(filters, lab.out / "plots" / self.name, f"{self.about}: red for own stones, strongest first")

    def _filters(self, run: Path) -> npt.NDArray[np.float32]:
        """Return the filters [K, h, w]; the network sees own stones as 1 and the opponent's as -1."""
        net, _ = load_net(run / WEIGHTS_FILE)
        if not isinstance(net, PooledNet):
            raise InputError(
                f"{self.name}: {self.training} is a network of kind {net.config.kind}, which has no filters"
            )
        return np.asarray(net.stem.weight.detach().sum(dim=1).numpy())


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainedGames(Games):
    """Games of networks whose training data may not be redistributed."""

    def run(self, lab: Lab) -> Findings:
        """Play the games. Raises `MissingDataError` unless all networks are trained."""
        for text in self.players.values():
            try:
                lab.player(text)
            except InputError as error:
                raise MissingDataError(str(error)) from None
        return Games.run(self, lab)


@dataclass(frozen=True, slots=True, kw_only=True)
class Accuracy(Experiment):
    """Share of the moves in a data set's test games that each network predicts correctly."""

    networks: Mapping[str, str]
    """Training experiments or shipped models, by their name in the table."""
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
    """The scalability test: the same weights play on boards of several sizes, without a search."""

    networks: Mapping[str, str]
    """Training experiments or shipped models, by their name in the table."""
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
        """Plot the score against the board size."""
        draw_lines(data["scores"], lab.out / "plots" / self.name, "board size", "score", self.about, style="o-")


def _check_data(data: str, command: str) -> None:
    if not Path(data).is_dir():
        raise MissingDataError(f"there is no data set {data}; build it with `{command}`")


def _trained(lab: Lab, training: str) -> Path:
    folder = lab.run_folder(training)
    if not (folder / "model.onnx").exists():
        raise MissingDataError(f"{training} has not been trained yet: {folder} does not exist")
    return folder


def _network(lab: Lab, text: str) -> Path | str:
    """Return the run of a training experiment if there is one; other names are shipped models."""
    folder = lab.run_folder(text)
    if (folder / "model.onnx").exists():
        return folder
    if text in model_names():
        return text
    return _trained(lab, text)


KINDS: Mapping[str, type[Experiment]] = {
    "accuracy": Accuracy,
    "curves": Curves,
    "filters": Filters,
    "sizes": Sizes,
    "supervised": Supervised,
    "trained-games": TrainedGames,
}
