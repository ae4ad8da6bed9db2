"""What "Convolutional and recurrent neural network for Gomoku" (stanford15) measured, with networks of ours.

    python -m tengen.papers.stanford15 cnn=cnn-15x15 mdrnn=mdrnn-15x15 --data runs/data/freestyle15

measures each network in four parts, of which `--only` chooses some:

- accuracy: how often it finds the moves of a data set's test games;
- policy, search: matches against the paper's opponent, alpha-beta of three plies, from balanced openings with both
  colours, by its policy alone and as the prior of a tree search;
- sizes: the same weights on boards of other sizes, which is the paper's test of scalability.

All go into one file of results, each part as soon as it is there, beside what was measured before: what takes long can
be done in pieces. A network is a shipped model, the folder of a run or a file; figures of another network that had its
name are forgotten.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import numpy as np

from tengen.agents.registry import make_agent
from tengen.arena.openings import load_openings, random_openings, transform_opening
from tengen.arena.pairs import play_pairs
from tengen.arena.pictures import new_figure, save_figure
from tengen.core.contracts import Evaluator, Ruleset
from tengen.core.files import replace_file
from tengen.core.shipped import shipped_folder
from tengen.datasets.dataset import Dataset, Split
from tengen.errors import InputError, TengenError
from tengen.learning.accuracy import measure_accuracy
from tengen.nets.evaluators import AveragedEvaluator
from tengen.nets.models import ModelInfo, load_model

OPPONENT = "alphabeta:preset=stanford15"
SMALL_OPPONENTS = ("naive:level=3", "chains")
SIZES = (9, 11, 13, 15, 19)
PAPER = {"cnn": "accuracy 40 %, won 0 of 1,000", "mdrnn": "accuracy 50 %, won 3 %"}
RESULTS_FILE = "stanford15.json"

Row = dict[str, Any]
"""What is known of one network."""


class Part(StrEnum):
    """What can be measured by itself."""

    ACCURACY = "accuracy"
    POLICY = "policy"
    SEARCH = "search"
    SIZES = "sizes"


@dataclass(frozen=True)
class Plan:
    """How much is measured."""

    games: int = 200
    """Against the paper's opponent, half of them with each colour."""
    simulations: int = 100
    """Of the tree search."""
    games_a_size: int = 100
    """On each board of the test of scalability, against each opponent."""
    sizes: tuple[int, ...] = SIZES
    moves: int = 50_000
    """Of the test games, at most."""
    seed: int = 1
    parts: tuple[Part, ...] = tuple(Part)

    def __post_init__(self) -> None:
        if min(self.games, self.simulations, self.games_a_size, self.moves) < 1:
            raise InputError("games, simulations and moves must be at least 1: leave out parts by --only")


@dataclass(frozen=True)
class HeldOut:
    """A data set whose test games have the moves to find."""

    name: str
    data: Dataset
    averages: bool = False
    """The network's policies are averaged over all symmetries."""

    def measure(self, evaluator: Evaluator, moves: int, seed: int) -> Row:
        """Shares of moves found, with what they depend on."""
        if self.averages:
            evaluator = AveragedEvaluator(evaluator, self.data.ruleset)
        told = self.data.description
        numbers = np.random.default_rng(seed).permutation(self.data.find(Split.TEST))[:moves]
        return {
            **measure_accuracy(evaluator, self.data, np.sort(numbers)).to_json(),
            "opening_moves": self.data.opening_moves,
            "duplicates": "kept" if told.get("keeps_duplicates", not told["duplicates_removed"]) else "removed",
            "averaged": self.averages,
        }


def measure(
    model: tuple[Evaluator, ModelInfo], plan: Plan, games: HeldOut | None, row: Row, save: Callable[[], None]
) -> None:
    """Add what the plan asks about a network to its row; `save` is called whenever something was added."""
    evaluator, info = model
    policy = f'policy:model="{info.name}",average=true'
    if Part.ACCURACY in plan.parts and games is not None:
        name = f"{games.name}, averaged" if games.averages else games.name
        row.setdefault("accuracy", {})[name] = games.measure(evaluator, plan.moves, plan.seed)
        save()
    if Part.POLICY in plan.parts:
        row["policy"] = _play(policy, OPPONENT, info.ruleset, plan.games, plan.seed)
        save()
    if Part.SEARCH in plan.parts:
        search = f'alphazero:model="{info.name}",simulations={plan.simulations}'
        row[f"search_{plan.simulations}"] = _play(search, OPPONENT, info.ruleset, plan.games, plan.seed)
        save()
    if Part.SIZES in plan.parts and info.has_any_size:
        for opponent in SMALL_OPPONENTS:
            for size in plan.sizes:
                ruleset = Ruleset(size, size, info.ruleset.win_length, info.ruleset.rule)
                found = _play(policy, opponent, ruleset, plan.games_a_size, plan.seed)
                scores = row.setdefault("sizes", {}).setdefault(opponent, {})
                scores[str(size)] = found
                row["sizes"][opponent] = dict(sorted(scores.items(), key=lambda item: int(item[0])))
                save()


def _play(player: str, opponent: str, ruleset: Ruleset, games: int, seed: int) -> dict[str, Any]:
    with make_agent(player) as own, make_agent(opponent) as other:
        black, white = play_pairs(ruleset, (own, other), _openings(ruleset, (games + 1) // 2, seed), seed)
    return {
        "score": round((black + white).score, 4),
        "black": [black.wins, black.draws, black.losses],
        "white": [white.wins, white.draws, white.losses],
    }


def _openings(ruleset: Ruleset, count: int, seed: int) -> list[Any]:
    """The shipped balanced ones, turned when there are too few; random ones for boards that have none."""
    path = shipped_folder("data") / "openings" / f"{ruleset.rule}{ruleset.width}.txt"
    if not path.exists():
        return list(random_openings(ruleset, count, seed))
    shipped = load_openings(path, ruleset)
    return [
        transform_opening(ruleset, opening, number // len(shipped) % 8)
        for number, opening in enumerate(islice(cycle(shipped), count))
    ]


# -- tables and pictures ----------------------------------------------------------------------------------------------


def format_tables(rows: Mapping[str, Row]) -> str:
    """The tables for people."""
    sections = [_format_strength(rows), *(_format_sizes(rows, opponent) for opponent in SMALL_OPPONENTS)]
    return "\n".join(section for section in (*sections, _format_accuracy(rows)) if section)


def _format_strength(rows: Mapping[str, Row]) -> str:
    lines = [
        f"| network | the paper's | player | score against `{OPPONENT}` | as black | as white |",
        "|---|---|---|--:|---|---|",
    ]
    for name, row in rows.items():
        for key in (key for key in row if key == "policy" or key.startswith("search_")):
            paper = PAPER.get(name.partition("-")[0], "") if key == "policy" else ""
            results = " | ".join("+{} ={} −{}".format(*row[key][colour]) for colour in ("black", "white"))
            label = "policy alone" if key == "policy" else f"{key.removeprefix('search_')} simulations"
            lines.append(f"| {name} | {paper} | {label} | {_percent(row[key]['score'])} | {results} |")
    return "\n".join(lines) + "\n" if len(lines) > 2 else ""


def _format_sizes(rows: Mapping[str, Row], opponent: str) -> str:
    measured = {name: row["sizes"][opponent] for name, row in rows.items() if opponent in row.get("sizes", {})}
    if not measured:
        return ""
    sizes = sorted({size for results in measured.values() for size in results}, key=int)
    lines = [f"| policy against `{opponent}` | " + " | ".join(f"{size}×{size}" for size in sizes) + " |"]
    lines.append("|---|" + "--:|" * len(sizes))
    for name, results in measured.items():
        scores = (_percent(results[size]["score"]) if size in results else "" for size in sizes)
        lines.append(f"| {name} | " + " | ".join(scores) + " |")
    return "\n".join(lines) + "\n"


def _format_accuracy(rows: Mapping[str, Row]) -> str:
    keys = ("top1", "top5", "top1_without_openings", "top5_without_openings")
    lines = [
        "| network | test games of | duplicates | moves | of openings | top 1 | top 5 | without openings | top 5 |",
        "|---|---|---|--:|--:|--:|--:|--:|--:|",
    ]
    for name, row in rows.items():
        for games, found in row.get("accuracy", {}).items():
            counts = f"{found['samples']:,} | {found['opening_samples']:,}"
            shares = " | ".join(_percent(found[key]) for key in keys)
            lines.append(f"| {name} | {games} | {found['duplicates']} | {counts} | {shares} |")
    return "\n".join(lines) + "\n" if len(lines) > 2 else ""


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def draw_sizes(rows: Mapping[str, Row], path: Path) -> None:
    """The score on each board size, one picture beside the other for the opponents."""
    figure = new_figure(9, 3.5)
    for axes, opponent in zip(figure.subplots(1, len(SMALL_OPPONENTS)), SMALL_OPPONENTS, strict=True):
        for name, row in rows.items():
            results = row.get("sizes", {}).get(opponent, {})
            scores = [100 * result["score"] for result in results.values()]
            axes.plot([int(size) for size in results], scores, "o-", label=name, linewidth=1)
        axes.set_xlabel("board size")
        axes.set_ylabel(f"% against {opponent}")
        axes.set_ylim(0, 102)
        axes.legend(fontsize="small", frameon=False)
        axes.grid(alpha=0.3)
        axes.spines[["top", "right"]].set_visible(False)
    save_figure(figure, path)


# -- the command line -------------------------------------------------------------------------------------------------


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, write results, tables and the picture, print the tables."""
    parser = argparse.ArgumentParser(prog="python -m tengen.papers.stanford15", description=__doc__.partition("\n")[0])
    parser.add_argument("networks", nargs="+", metavar="NAME=NETWORK")
    parser.add_argument("--only", nargs="+", type=Part, choices=list(Part), default=list(Part), help="parts to measure")
    parser.add_argument("--data", type=Path, help="a data set of `tengen data build`, for the accuracy")
    parser.add_argument("--average", action="store_true", help="average over symmetries when measuring the accuracy")
    for name, help_text in (
        ("games", "against the paper's opponent"),
        ("simulations", "of the tree search"),
        ("games-a-size", "on each board size against each opponent"),
        ("moves", "of the data set, at most"),
        ("seed", "another one gives other games"),
    ):
        parser.add_argument(f"--{name}", type=int, default=getattr(Plan, name.replace("-", "_")), help=help_text)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--out", type=Path, default=Path("papers/stanford15/results"))
    told = parser.parse_args(arguments)
    try:
        parts = tuple(told.only)
        plan = Plan(told.games, told.simulations, told.games_a_size, tuple(told.sizes), told.moves, told.seed, parts)
        rows = _measure_all(told, plan)
    except TengenError as error:
        print(f"stanford15: {error}", file=sys.stderr)
        return 2
    print(format_tables(rows), end="")
    return 0


def _measure_all(told: argparse.Namespace, plan: Plan) -> dict[str, Row]:
    """What the command line asks for; returns all rows of the file of results."""
    models = {name: load_model(network) for name, network in map(_parse_network, told.networks)}
    games = None
    if told.data is not None:
        games = HeldOut(told.data.name, Dataset.open(told.data), told.average)
        for _, info in models.values():
            info.check_supports(games.data.ruleset)
    elif plan.parts == (Part.ACCURACY,):
        raise InputError("the accuracy is measured on a data set: name one by --data")
    rows = _read_results(told.out / RESULTS_FILE)

    def save() -> None:
        _write(told.out / RESULTS_FILE, json.dumps(rows, indent=1) + "\n")

    for name, model in models.items():
        about = {"network": Path(model[1].name).name, "ruleset": str(model[1].ruleset), "sha256": model[1].sha256}
        if rows.get(name, {}).get("sha256") != about["sha256"]:
            rows[name] = {}
        rows[name] |= about
        measure(model, plan, games, rows[name], save)
    _write(told.out / "table.md", format_tables(rows))
    if any("sizes" in row for row in rows.values()):
        draw_sizes(rows, told.out / "scalability")
    return rows


def _read_results(path: Path) -> dict[str, Row]:
    if not path.exists():
        return {}
    try:
        rows = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"cannot read the results in {path}: {error}") from None
    if not isinstance(rows, dict):
        raise InputError(f"{path} holds no results of this program")
    return rows


def _write(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, text.encode("utf-8"))
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror or error}") from None


def _parse_network(text: str) -> tuple[str, str]:
    name, equals, network = text.partition("=")
    if not (name and equals and network):
        raise InputError(f"{text!r} is not NAME=NETWORK")
    return name, network
