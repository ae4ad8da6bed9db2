"""`tengen tune`: fit the parameters of the alpha-beta engine to games."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Annotated

import typer

from tengen.cli.command import Group, add_subgroup, command
from tengen.cli.options import DEFAULT_RULES, RulesOption

WeightsArgument = Annotated[
    Path,
    typer.Argument(metavar="WEIGHTS", help="Weights file (.npz) to write; a log (.json) is written next to it."),
]
GamesArgument = Annotated[
    list[Path], typer.Argument(metavar="GAMES", help="Files written by `tengen data generate --proved`.")
]
ResultWeightOption = Annotated[
    float,
    typer.Option(
        min=0, max=1, help="Weight of the game's result in the training target; the rest is the search value."
    ),
]

_SECONDS_BETWEEN_LINES = 60
_FIT_EXAMPLES = """
    tengen tune fit weights.npz games.jsonl
    tengen tune fit weights.npz a.jsonl b.jsonl --result-weight 0.7
"""
_NET_EXAMPLES = """
    tengen tune net weights.npz games.jsonl --base fitted.npz
    tengen tune net weights.npz games.jsonl --base fitted.npz --epochs 2
"""
_SEARCH_EXAMPLES = """
    tengen tune search state.json --rules renju --pairs 1000
    tengen tune search state.json                     # resume the run
"""


def register(app: typer.Typer) -> None:
    """Add the subcommands."""
    tune = add_subgroup(
        app, "tune", help="Fit the parameters of the alpha-beta engine to its self-play games.", group=Group.DEVELOP
    )
    command(tune, "fit", examples=_FIT_EXAMPLES)(fit)
    command(tune, "net", examples=_NET_EXAMPLES)(net)
    command(tune, "search", examples=_SEARCH_EXAMPLES)(search)


def fit(
    target: WeightsArgument,
    games: GamesArgument,
    result_weight: ResultWeightOption = 0.5,
    regularisation: Annotated[float, typer.Option(min=0, help="Factor applied to all regularisation penalties.")] = 1.0,
    by_colour: Annotated[
        bool | None,
        typer.Option(help="Fit separate tables for black and white (default: only for renju).", show_default=False),
    ] = None,
    validation: Annotated[float, typer.Option(help="Fraction of games held out for validation.")] = 0.05,
    iterations: Annotated[
        int, typer.Option(min=1, help="Maximum number of optimisation steps for the evaluation.")
    ] = 150,
    ordering_iterations: Annotated[
        int, typer.Option(min=1, help="Maximum number of optimisation steps for the move ordering.")
    ] = 60,
    seed: Annotated[int, typer.Option(help="Seed for choosing the validation games.")] = 1,
) -> None:
    """Fit the evaluation and move ordering to games; print the losses and write the weights file."""
    from rich.console import Console

    from tengen.cli.output import check_writable
    from tengen.tuning.evaluation_fit import FitConfig, fit_files

    check_writable(target, target.with_suffix(".json"))
    config = FitConfig(
        result_weight=result_weight,
        regularisation=regularisation,
        by_colour=by_colour,
        validation=validation,
        iterations=iterations,
        ordering_iterations=ordering_iterations,
        seed=seed,
    )
    console = Console(highlight=False, markup=False)
    fit_files(games, target, config, lambda line: console.print(line, soft_wrap=True))
    console.print(f"wrote {target} and {target.with_suffix('.json').name}", soft_wrap=True)


def net(
    target: WeightsArgument,
    games: GamesArgument,
    base: Annotated[
        Path, typer.Option(help="Weights file written by `tengen tune fit`; the network is added to its weights.")
    ],
    epochs: Annotated[float, typer.Option(help="Number of passes over the games.")] = 8.0,
    result_weight: ResultWeightOption = 0.5,
    learning_rate: Annotated[float, typer.Option(help="Peak learning rate.")] = 5e-3,
    threads: Annotated[int, typer.Option(min=1, help="Number of training threads.")] = 1,
    seed: Annotated[int, typer.Option(help="Seed for the initial weights, the batches and the validation games.")] = 1,
) -> None:
    """Train the evaluation's small network on games; print the losses and write the weights file."""
    from rich.console import Console

    from tengen.cli.output import check_writable
    from tengen.core.extras import needs_extra

    check_writable(target, target.with_suffix(".json"))
    with needs_extra("training", "train"):
        from tengen.tuning.evaluation_net import NetFitConfig, train_files
    config = NetFitConfig(
        epochs=epochs, result_weight=result_weight, learning_rate=learning_rate, threads=threads, seed=seed
    )
    console = Console(highlight=False, markup=False)
    train_files(games, base, target, config, lambda line: console.print(line, soft_wrap=True))
    console.print(f"wrote {target} and {target.with_suffix('.json').name}", soft_wrap=True)


def search(
    target: Annotated[
        Path, typer.Argument(metavar="STATE", help="State file (.json) for the run; an existing run is resumed.")
    ],
    rules: RulesOption = DEFAULT_RULES,
    pairs: Annotated[int, typer.Option(min=1, help="Number of game pairs in the whole run.")] = 5000,
    nodes: Annotated[int, typer.Option(min=1, help="Nodes per search.")] = 10_000,
    seed: Annotated[int, typer.Option(help="Random seed for the run.")] = 1,
    step: Annotated[
        float, typer.Option(help="Perturbation of each parameter at the end of the run, as a fraction of its range.")
    ] = 0.08,
    gain: Annotated[
        float, typer.Option(help="Size of the update after a won pair at the end of the run, as a fraction of --step.")
    ] = 0.008,
    workers: Annotated[
        int | None, typer.Option(min=1, help="Number of processes (default: one per core).", show_default=False)
    ] = None,
) -> None:
    """Tune the search parameters by playing games (SPSA) and print them. Repeat the command to resume a run."""
    from rich.console import Console

    from tengen.cli.output import check_writable
    from tengen.core.contracts import Ruleset
    from tengen.tuning.spsa import Spsa, SpsaConfig, tune_search

    check_writable(target)
    console = Console(highlight=False, markup=False)
    config = SpsaConfig(ruleset=Ruleset.parse(rules), pairs=pairs, nodes=nodes, seed=seed, step=step, gain=gain)
    reported = time.monotonic()

    def report(state: Spsa) -> None:
        nonlocal reported
        if time.monotonic() - reported >= _SECONDS_BETWEEN_LINES:
            reported = time.monotonic()
            console.print(f"{state.pairs_done:,} of {config.pairs:,} pairs", soft_wrap=True)

    state = tune_search(target, config, workers=workers or os.cpu_count() or 1, on_round=report)
    for parameter in state.parameters:
        console.print(f"{parameter.name:24} {parameter.default:5} -> {state.rounded()[parameter.name]:5}")
