"""`tengen data`: generate engine self-play games, and build and inspect data sets for supervised learning."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Annotated

import typer

from tengen.cli.command import Group, add_subgroup, command
from tengen.cli.options import DEFAULT_RULES, OnOption, RulesOption, warn

_GENERATE_EXAMPLES = """
    tengen data generate games.jsonl --games 500 --nodes 3000
    tengen data generate renju.jsonl --rules renju --proved
"""
_BUILD_EXAMPLES = """
    tengen data build positions games.sgf --rules renju
    tengen data build positions games --result black --result white
"""
_STATS_EXAMPLES = """
    tengen data stats positions
    tengen data stats runs/data/freestyle15
"""
_MEASURE_EXAMPLES = """
    tengen data measure positions runs/supervised-15x15
    tengen data measure positions model.onnx --average
"""


def register(app: typer.Typer) -> None:
    """Add the subcommands."""
    data = add_subgroup(app, "data", help="Generate games and build data sets for training networks.", group=Group.DATA)
    command(data, "generate", examples=_GENERATE_EXAMPLES)(generate)
    command(data, "build", examples=_BUILD_EXAMPLES)(build)
    command(data, "stats", examples=_STATS_EXAMPLES)(stats)
    command(data, "measure", examples=_MEASURE_EXAMPLES)(measure)


def generate(
    target: Annotated[
        Path,
        typer.Argument(metavar="GAMES", help="Game file (.jsonl) to write; games are appended to an existing file."),
    ],
    rules: RulesOption = DEFAULT_RULES,
    games: Annotated[int, typer.Option(min=1, help="Total number of games in the file.")] = 1000,
    nodes: Annotated[int, typer.Option(min=1, help="Nodes per search.")] = 10_000,
    noise: Annotated[
        float,
        typer.Option(
            min=0, max=1, help="Fraction of moves chosen at random from the engine's best moves of nearly equal value."
        ),
    ] = 0.0,
    proved: Annotated[
        bool, typer.Option("--proved", help="End a game once its result is proved; needed for `tengen tune fit`.")
    ] = False,
    finish: Annotated[
        Path | None,
        typer.Option(help="Finish the games in this file (written with --proved) instead of playing new ones."),
    ] = None,
    seed: Annotated[int, typer.Option(help="Random seed; different seeds give different games.")] = 1,
    workers: Annotated[
        int | None, typer.Option(min=1, help="Number of processes (default: one per core).", show_default=False)
    ] = None,
    on: OnOption = "local",
    weights: Annotated[Path | None, typer.Option(help="Weights file (default: the shipped weights).")] = None,
) -> None:
    """Generate engine self-play games from random balanced openings. Repeat the command to resume."""
    from rich.console import Console

    from tengen.cluster.pool import open_pools
    from tengen.core.contracts import Ruleset
    from tengen.learning.run.progress import Progress
    from tengen.tuning.engine_games import EngineGame, EngineGamesConfig, generate_games

    config = EngineGamesConfig(
        ruleset=Ruleset.parse(rules),
        games=games,
        nodes=nodes,
        noise=noise,
        to_the_end=not proved,
        begun=finish,
        seed=seed,
        weights=weights,
    )
    console = Console(highlight=False, markup=False)
    started = time.monotonic()
    before = played = moves = 0

    def set_start(count: int) -> None:
        nonlocal before
        before = count

    with open_pools(on, workers=workers or 0, warn=warn) as make_pool, Progress(console, target.name) as progress:

        def show(game: EngineGame) -> None:
            nonlocal played, moves
            played, moves = played + 1, moves + len(game.values)
            seconds = max(time.monotonic() - started, 1e-9)
            left = max(0, games - before - played) * seconds / played
            text = f"{before + played:,} games, {played / seconds:.2f} games/s, {moves / seconds:.0f} moves/s"
            progress.update((before + played) / games, left, text)

        count = workers or os.cpu_count() or 1
        generate_games(target, config, workers=count, make_pool=make_pool, on_start=set_start, on_game=show)
    console.print(f"{target}: {before + played:,} games, {played:,} of them new", soft_wrap=True)


def build(
    target: Annotated[Path, typer.Argument(metavar="DATASET", help="Folder to create.", show_default=False)],
    sources: Annotated[
        list[Path],
        typer.Argument(
            metavar="GAMES", help="Game files in any format, or folders that contain them.", show_default=False
        ),
    ],
    rules: RulesOption = DEFAULT_RULES,
    opening_moves: Annotated[int, typer.Option(min=0, help="Number of moves that count as the opening of a game.")] = 0,
    skip_openings: Annotated[
        bool, typer.Option("--skip-openings", help="Exclude opening moves from the data set.")
    ] = False,
    result: Annotated[
        list[str] | None,
        typer.Option(metavar="RESULT", help="Keep only games with this result: black, white or draw; repeatable."),
    ] = None,
    player: Annotated[
        str, typer.Option(metavar="NAME", help="Keep only games with a player whose name contains this text.")
    ] = "",
    min_moves: Annotated[int, typer.Option(min=0, help="Skip games with fewer moves than this.")] = 1,
    keep_duplicates: Annotated[
        bool, typer.Option("--keep-duplicates", help="Keep moves that are duplicates up to symmetry.")
    ] = False,
    seed: Annotated[int, typer.Option(help="Seed for the split into training, validation and test games.")] = 0,
) -> None:
    """Build a data set from games: positions with the move played and the result, split 8:1:1 by game."""
    from rich.console import Console

    from tengen.core.contracts import Ruleset
    from tengen.datasets.build import BuildConfig, build_dataset
    from tengen.learning.run.progress import Progress

    config = BuildConfig(
        ruleset=Ruleset.parse(rules),
        opening_moves=opening_moves,
        skips_openings=skip_openings,
        results=tuple(result or ()),
        player=player,
        min_moves=min_moves,
        keeps_duplicates=keep_duplicates,
        seed=seed,
    )
    console = Console(highlight=False, markup=False)
    started = time.monotonic()
    with Progress(console, target.name) as progress:

        def show(share: float, games: int, moves: int) -> None:
            seconds = max(time.monotonic() - started, 1e-9)
            left = seconds * (1 / share - 1) if share else None
            progress.update(share, left, f"{games:,} games, {moves / seconds:,.0f} moves/s")

        build_dataset(sources, target, config, show)
    _print_stats(target)


def stats(
    dataset: Annotated[Path, typer.Argument(metavar="DATASET", help="Folder written by `tengen data build`.")],
) -> None:
    """Print the contents of a data set, and the games that were skipped when it was built."""
    _print_stats(dataset)


def _print_stats(folder: Path) -> None:
    from rich.console import Console
    from rich.table import Table

    from tengen.datasets.dataset import Dataset
    from tengen.datasets.stats import describe_dataset

    table = Table(title=str(folder), title_justify="left", show_header=False)
    dataset = Dataset.open(folder)
    for name, value in describe_dataset(dataset):
        table.add_row(name, value)
    console = Console(highlight=False, markup=False)
    console.print(table)
    for sentence in dataset.description.get("damaged_files", ()):
        console.print(f"damaged: {sentence}", markup=False, soft_wrap=True)


def measure(
    dataset: Annotated[Path, typer.Argument(metavar="DATASET", help="Folder written by `tengen data build`.")],
    model: Annotated[str, typer.Argument(help="Shipped model, folder of a training run, or .onnx file.")],
    moves: Annotated[int, typer.Option(min=1, help="Maximum number of test moves.")] = 50_000,
    average: Annotated[
        bool, typer.Option("--average", help="Average the policy over all symmetries of each position.")
    ] = False,
    seed: Annotated[int, typer.Option(help="Seed for choosing the test moves.")] = 0,
) -> None:
    """Print a network's top-1 and top-5 accuracy on the moves in the test games."""
    import numpy as np
    from rich.console import Console
    from rich.table import Table

    from tengen.core.contracts import Evaluator
    from tengen.datasets.dataset import Dataset, Split
    from tengen.learning.accuracy import measure_accuracy
    from tengen.learning.run.progress import Progress
    from tengen.nets.evaluators import AveragedEvaluator
    from tengen.nets.models import load_model

    data = Dataset.open(dataset)
    evaluator: Evaluator
    evaluator, info = load_model(model)
    info.check_supports(data.ruleset)
    if average:
        evaluator = AveragedEvaluator(evaluator, data.ruleset)
    numbers = np.sort(np.random.default_rng(seed).permutation(data.find(Split.TEST))[:moves])
    console = Console(highlight=False, markup=False)
    with Progress(console, model) as progress:
        accuracy = measure_accuracy(
            evaluator, data, numbers, lambda done: progress.update(done / len(numbers), None, f"{done:,} moves")
        )
    table = Table("moves of test games", "count", "top 1", "top 5", title=f"{model} on {dataset}", title_justify="left")
    counts = accuracy.to_json()
    for name, part, count in (
        ("all", "", counts["samples"]),
        ("without openings", "_without_openings", counts["samples"] - counts["opening_samples"]),
        (f"openings (first {data.opening_moves})", "_of_openings", counts["opening_samples"]),
    ):
        table.add_row(
            name, f"{count:,}", f"{100 * counts[f'top1{part}']:.1f} %", f"{100 * counts[f'top5{part}']:.1f} %"
        )
    console.print(table)
