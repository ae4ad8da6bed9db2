"""Measurements from "Convolutional and recurrent neural network for Gomoku" (stanford15), with our networks.

    python -m tengen.papers.stanford15 cnn=cnn-15x15 mdrnn=mdrnn-15x15 --data runs/data/freestyle15

measures each network in four parts, which `--only` selects:

- accuracy: the share of moves in a data set's test games that the network predicts;
- policy, search: matches against the paper's opponent, alpha-beta to three plies, from balanced openings with both
  colours, with the policy alone and with a tree search;
- sizes: the same weights on boards of other sizes, the paper's scalability test.

Results are added to one file as soon as a part is done, so long measurements can be split. A network is a shipped
model, a run folder or a file. Existing results for a different network with the same name are discarded.
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
from tengen.arena.pairs import play_pairs, play_pairs_elsewhere
from tengen.arena.pictures import new_figure, save_figure
from tengen.cluster.pool import open_pools
from tengen.core.contracts import Evaluator, Ruleset
from tengen.core.files import write_text
from tengen.core.shipped import shipped_folder
from tengen.core.worker_pool import MakePool
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
"""Results for one network."""


class Part(StrEnum):
    """A part that can be measured on its own."""

    ACCURACY = "accuracy"
    POLICY = "policy"
    SEARCH = "search"
    SIZES = "sizes"


@dataclass(frozen=True)
class Plan:
    """Settings for the measurements."""

    games: int = 200
    """Games against the paper's opponent, half with each colour."""
    simulations: int = 100
    """Simulations per move for the tree search."""
    games_a_size: int = 100
    """Games per board size and opponent in the scalability test."""
    sizes: tuple[int, ...] = SIZES
    moves: int = 50_000
    """Maximum number of test moves."""
    seed: int = 1
    parts: tuple[Part, ...] = tuple(Part)

    def __post_init__(self) -> None:
        if min(self.games, self.simulations, self.games_a_size, self.moves) < 1:
            raise InputError("games, simulations and moves must be at least 1; select parts with --only")


@dataclass(frozen=True)
class HeldOut:
    """The test games of a data set."""

    name: str
    data: Dataset
    averages: bool = False
    """Whether to average the network's policy over all symmetries."""

    def measure(self, evaluator: Evaluator, moves: int, seed: int) -> Row:
        """Return the accuracy and the settings it depends on."""
        if self.averages:
            evaluator = AveragedEvaluator(evaluator, self.data.ruleset)
        description = self.data.description
        keeps_duplicates = description.get("keeps_duplicates", not description["duplicates_removed"])
        numbers = np.random.default_rng(seed).permutation(self.data.find(Split.TEST))[:moves]
        return {
            **measure_accuracy(evaluator, self.data, np.sort(numbers)).to_json(),
            "opening_moves": self.data.opening_moves,
            "duplicates": "kept" if keeps_duplicates else "removed",
            "averaged": self.averages,
        }


def measure(
    model: tuple[Evaluator, ModelInfo],
    plan: Plan,
    games: HeldOut | None,
    row: Row,
    save: Callable[[], None],
    make_pool: MakePool | None = None,
) -> None:
    """Measure a network as planned and add the results to `row`; call `save` after each result.

    With `make_pool`, the matches are played by a worker pool instead of this process.
    """
    evaluator, info = model

    def play(player: str, opponent: str, ruleset: Ruleset, count: int) -> dict[str, Any]:
        return _play((player, opponent), ruleset, count, plan.seed, make_pool)

    policy = f'policy:model="{info.name}",average=true'
    if Part.ACCURACY in plan.parts and games is not None:
        name = f"{games.name}, averaged" if games.averages else games.name
        row.setdefault("accuracy", {})[name] = games.measure(evaluator, plan.moves, plan.seed)
        save()
    if Part.POLICY in plan.parts:
        row["policy"] = play(policy, OPPONENT, info.ruleset, plan.games)
        save()
    if Part.SEARCH in plan.parts:
        search = f'alphazero:model="{info.name}",simulations={plan.simulations}'
        row[f"search_{plan.simulations}"] = play(search, OPPONENT, info.ruleset, plan.games)
        save()
    if Part.SIZES in plan.parts and info.has_any_size:
        for opponent in SMALL_OPPONENTS:
            for size in plan.sizes:
                ruleset = Ruleset(size, size, info.ruleset.win_length, info.ruleset.rule)
                found = play(policy, opponent, ruleset, plan.games_a_size)
                scores = row.setdefault("sizes", {}).setdefault(opponent, {})
                scores[str(size)] = found
                row["sizes"][opponent] = dict(sorted(scores.items(), key=lambda item: int(item[0])))
                save()


def _play(
    players: tuple[str, str], ruleset: Ruleset, games: int, seed: int, make_pool: MakePool | None
) -> dict[str, Any]:
    openings = _openings(ruleset, (games + 1) // 2, seed)
    if make_pool is not None:
        black, white = play_pairs_elsewhere(ruleset, players, openings, seed, make_pool)
    else:
        with make_agent(players[0]) as own, make_agent(players[1]) as other:
            black, white = play_pairs(ruleset, (own, other), openings, seed)
    return {
        "score": round((black + white).score, 4),
        "black": [black.wins, black.draws, black.losses],
        "white": [white.wins, white.draws, white.losses],
    }


def _openings(ruleset: Ruleset, count: int, seed: int) -> list[Any]:
    """Return shipped balanced openings, with symmetric copies if needed; for other boards, random openings."""
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
    """Format the results as Markdown tables."""
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
    """Plot the score by board size, one panel per opponent."""
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
    """Command-line entry point: measure, write the results, tables and plot, and print the tables."""
    parser = argparse.ArgumentParser(prog="python -m tengen.papers.stanford15", description=__doc__.partition("\n")[0])
    parser.add_argument("networks", nargs="+", metavar="NAME=NETWORK")
    parser.add_argument(
        "--only", nargs="+", type=Part, choices=list(Part), default=list(Part), help="parts to measure (default: all)"
    )
    parser.add_argument("--data", type=Path, help="data set built by `tengen data build` (required for accuracy)")
    parser.add_argument("--average", action="store_true", help="average over symmetries when measuring accuracy")
    for name, help_text in (
        ("games", "games against the paper's opponent"),
        ("simulations", "simulations per move for the tree search"),
        ("games-a-size", "games per board size and opponent"),
        ("moves", "maximum number of test moves"),
        ("seed", "random seed"),
    ):
        parser.add_argument(f"--{name}", type=int, default=getattr(Plan, name.replace("-", "_")), help=help_text)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, help="board sizes for the `sizes` part")
    parser.add_argument("--out", type=Path, default=Path("papers/stanford15/results"), help="output folder")
    parser.add_argument(
        "--on",
        default="local",
        metavar="PLACE",
        help="where matches are played: local or ray[=ADDRESS] (default: local)",
    )
    options = parser.parse_args(arguments)
    try:
        plan = Plan(
            games=options.games,
            simulations=options.simulations,
            games_a_size=options.games_a_size,
            sizes=tuple(options.sizes),
            moves=options.moves,
            seed=options.seed,
            parts=tuple(options.only),
        )
        with open_pools(options.on) as make_pool:
            rows = _measure_all(options, plan, make_pool)
    except TengenError as error:
        print(f"stanford15: {error}", file=sys.stderr)
        return 2
    print(format_tables(rows), end="")
    return 0


def _measure_all(options: argparse.Namespace, plan: Plan, make_pool: MakePool | None) -> dict[str, Row]:
    """Measure all networks on the command line; return all rows of the results file."""
    models = {name: load_model(network) for name, network in map(_parse_network, options.networks)}
    games = None
    if options.data is not None:
        games = HeldOut(options.data.name, Dataset.open(options.data), options.average)
        for _, info in models.values():
            info.check_supports(games.data.ruleset)
    elif plan.parts == (Part.ACCURACY,):
        raise InputError("measuring accuracy needs a data set: pass --data, or select other parts with --only")
    rows = _read_results(options.out / RESULTS_FILE)

    def save() -> None:
        write_text(options.out / RESULTS_FILE, json.dumps(rows, indent=1) + "\n")

    for name, model in models.items():
        about = {"network": Path(model[1].name).name, "ruleset": str(model[1].ruleset), "sha256": model[1].sha256}
        if rows.get(name, {}).get("sha256") != about["sha256"]:
            rows[name] = {}
        rows[name] |= about
        measure(model, plan, games, rows[name], save, make_pool)
    write_text(options.out / "table.md", format_tables(rows))
    if any("sizes" in row for row in rows.values()):
        draw_sizes(rows, options.out / "scalability")
    return rows


def _read_results(path: Path) -> dict[str, Row]:
    if not path.exists():
        return {}
    try:
        rows = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"cannot read the results in {path}: {error}") from None
    if not isinstance(rows, dict):
        raise InputError(f"{path} is not a results file written by this program")
    return rows


def _parse_network(text: str) -> tuple[str, str]:
    name, equals, network = text.partition("=")
    if not (name and equals and network):
        raise InputError(f"{text!r} does not have the form NAME=NETWORK")
    return name, network
