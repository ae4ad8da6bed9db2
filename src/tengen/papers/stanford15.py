"""What "Convolutional and recurrent neural network for Gomoku" (stanford15) measured, with networks of ours.

    python -m tengen.papers.stanford15 cnn=cnn-15x15 mdrnn=mdrnn-15x15

plays each network against the paper's opponent, alpha-beta of three plies, from balanced openings with both colours:
its policy alone, and as the prior of a tree search. Then the same weights play on boards of other sizes, which is the
paper's test of scalability. With `--data` it also measures how often they find the moves of a data set's test games.
A network is a shipped model, the folder of a run or a file.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import numpy as np

from tengen.agents.registry import make_agent
from tengen.arena.match import Contestant, TimeControl
from tengen.arena.openings import load_openings, random_openings, transform_opening
from tengen.arena.pairs import play_pairs
from tengen.arena.pictures import new_figure, save_figure
from tengen.core.contracts import Ruleset
from tengen.core.shipped import shipped_folder
from tengen.datasets.dataset import Dataset, Split
from tengen.errors import InputError, TengenError
from tengen.learning.accuracy import measure_accuracy
from tengen.nets.models import load_model

OPPONENT = "alphabeta:preset=stanford15"
SMALL_OPPONENT = "naive:level=3"
SIZES = (9, 11, 13, 15, 19)
PAPER = {"cnn": "accuracy 40 %, won 0 of 1,000", "mdrnn": "accuracy 50 %, won 3 %"}


@dataclass(frozen=True)
class Plan:
    """How much is measured."""

    games: int = 200
    """Against the paper's opponent, half of them with each colour."""
    simulations: int = 100
    """Of the tree search; 0 leaves it out."""
    games_a_size: int = 100
    """On each board of the test of scalability; 0 leaves it out."""
    sizes: tuple[int, ...] = SIZES
    moves: int = 50_000
    """Of the test games, at most."""
    seed: int = 1


def measure(network: str, plan: Plan, data: Dataset | None) -> dict[str, Any]:
    """Everything about one network."""
    evaluator, info = load_model(network)
    row: dict[str, Any] = {"network": network, "ruleset": str(info.ruleset)}
    if data is not None:
        numbers = np.random.default_rng(plan.seed).permutation(data.find(Split.TEST))[: plan.moves]
        row["accuracy"] = measure_accuracy(evaluator, data, np.sort(numbers)).to_json()
    players = {"policy": f'policy:model="{network}",average=true'}
    if plan.simulations:
        players[f"search_{plan.simulations}"] = f'alphazero:model="{network}",simulations={plan.simulations}'
    if plan.games:
        for name, player in players.items():
            row[name] = _play(player, OPPONENT, info.ruleset, plan.games, plan.seed)
    if plan.games_a_size and info.has_any_size:
        row["sizes"] = {
            size: _play(players["policy"], SMALL_OPPONENT, _resized(info.ruleset, size), plan.games_a_size, plan.seed)
            for size in plan.sizes
        }
    return row


def _resized(ruleset: Ruleset, size: int) -> Ruleset:
    return Ruleset(size, size, ruleset.win_length, ruleset.rule)


def _play(player: str, opponent: str, ruleset: Ruleset, games: int, seed: int) -> dict[str, Any]:
    with make_agent(player) as own, make_agent(opponent) as other:
        contestants = Contestant(own, TimeControl()), Contestant(other, TimeControl())
        black, white = play_pairs(ruleset, contestants, _openings(ruleset, (games + 1) // 2, seed), seed)
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


def format_table(rows: Mapping[str, Mapping[str, Any]]) -> str:
    """The tables for people."""
    sections = [_format_strength(rows), _format_sizes(rows), _format_accuracy(rows)]
    return "\n".join(section for section in sections if section)


def _format_strength(rows: Mapping[str, Mapping[str, Any]]) -> str:
    lines = [
        f"| network | the paper's | player | score against `{OPPONENT}` | as black | as white |",
        "|---|---|---|--:|---|---|",
    ]
    for name, row in rows.items():
        for key in (key for key in row if key == "policy" or key.startswith("search_")):
            paper = PAPER.get(name, "") if key == "policy" else ""
            results = " | ".join("+{} ={} −{}".format(*row[key][colour]) for colour in ("black", "white"))
            label = "policy alone" if key == "policy" else f"{key.removeprefix('search_')} simulations"
            lines.append(f"| {name} | {paper} | {label} | {100 * row[key]['score']:.1f} % | {results} |")
    return "\n".join(lines) + "\n" if len(lines) > 2 else ""


def _format_sizes(rows: Mapping[str, Mapping[str, Any]]) -> str:
    measured = {name: row["sizes"] for name, row in rows.items() if "sizes" in row}
    if not measured:
        return ""
    sizes = list(next(iter(measured.values())))
    lines = [f"| policy against `{SMALL_OPPONENT}` | " + " | ".join(f"{size}×{size}" for size in sizes) + " |"]
    lines.append("|---|" + "--:|" * len(sizes))
    for name, results in measured.items():
        lines.append(f"| {name} | " + " | ".join(f"{100 * results[size]['score']:.1f} %" for size in sizes) + " |")
    return "\n".join(lines) + "\n"


def _format_accuracy(rows: Mapping[str, Mapping[str, Any]]) -> str:
    lines = ["| network | moves | top 1 | top 5 | top 1 without openings | top 5 without openings |"]
    lines.append("|---|--:|--:|--:|--:|--:|")
    for name, row in rows.items():
        if "accuracy" in row:
            keys = ("top1", "top5", "top1_without_openings", "top5_without_openings")
            shares = " | ".join(f"{100 * row['accuracy'][key]:.1f} %" for key in keys)
            lines.append(f"| {name} | {row['accuracy']['samples']:,} | {shares} |")
    return "\n".join(lines) + "\n" if len(lines) > 2 else ""


def draw_sizes(rows: Mapping[str, Mapping[str, Any]], path: Path) -> None:
    """The score on each board size."""
    figure = new_figure(6, 3.5)
    axes = figure.subplots()
    for name, row in rows.items():
        if "sizes" in row:
            scores = [100 * result["score"] for result in row["sizes"].values()]
            axes.plot(list(row["sizes"]), scores, "o-", label=name, linewidth=1)
    axes.set_xlabel("board size")
    axes.set_ylabel(f"% against {SMALL_OPPONENT}")
    axes.set_ylim(0, 100)
    axes.legend(fontsize="small", frameon=False)
    axes.grid(alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
    save_figure(figure, path)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m tengen.papers.stanford15", description=__doc__.partition("\n")[0])
    parser.add_argument("networks", nargs="+", metavar="NAME=NETWORK")
    parser.add_argument("--data", type=Path, help="a data set of `tengen data build`")
    for name, help_text in (
        ("games", "against the paper's opponent"),
        ("simulations", "of the tree search, 0 for none"),
        ("games-a-size", "on each board size"),
        ("moves", "of the data set, at most"),
        ("seed", "another one gives other games"),
    ):
        parser.add_argument(f"--{name}", type=int, default=getattr(Plan, name.replace("-", "_")), help=help_text)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--out", type=Path, default=Path("papers/stanford15/results"))
    told = parser.parse_args(arguments)
    plan = Plan(told.games, told.simulations, told.games_a_size, tuple(told.sizes), told.moves, told.seed)
    try:
        networks = dict(_parse_network(text) for text in told.networks)
        data = None if told.data is None else Dataset.open(told.data)
        told.out.mkdir(parents=True, exist_ok=True)
        rows: dict[str, dict[str, Any]] = {}
        for name, network in networks.items():
            rows[name] = measure(network, plan, data)
            (told.out / "stanford15.json").write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
        (told.out / "table.md").write_text(format_table(rows), encoding="utf-8")
        if any("sizes" in row for row in rows.values()):
            draw_sizes(rows, told.out / "scalability")
    except TengenError as error:
        print(f"stanford15: {error}", file=sys.stderr)
        return 2
    print(format_table(rows), end="")
    return 0


def _parse_network(text: str) -> tuple[str, str]:
    name, equals, network = text.partition("=")
    if not (name and equals and network):
        raise InputError(f"{text!r} is not NAME=NETWORK")
    return name, network


if __name__ == "__main__":
    sys.exit(main())
