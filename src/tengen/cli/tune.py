"""`tengen tune`: fit the numbers of the alpha-beta engine to games."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Annotated

import typer

_SECONDS_BETWEEN_LINES = 60


def register(app: typer.Typer) -> None:
    """Add the subcommands."""
    tune = typer.Typer(
        name="tune",
        help="Fit the numbers of the alpha-beta engine to games that it plays against itself.",
        no_args_is_help=True,
    )
    tune.command("fit")(fit)
    tune.command("net")(net)
    tune.command("search")(search)
    app.add_typer(tune)


def fit(
    target: Annotated[
        Path, typer.Argument(metavar="WEIGHTS", help="The weights file (.npz) to write; the log beside it.")
    ],
    games: Annotated[list[Path], typer.Argument(metavar="GAMES…", help="Files of `tengen data generate --proved`.")],
    result_weight: Annotated[
        float, typer.Option(min=0, max=1, help="Share of the game's result in the target, the rest search value.")
    ] = 0.5,
    regularisation: Annotated[float, typer.Option(min=0, help="Factor of all penalties.")] = 1.0,
    by_colour: Annotated[
        bool | None,
        typer.Option(help="Tables of their own for black and white; in renju only, unless told.", show_default=False),
    ] = None,
    validation: Annotated[float, typer.Option(help="Share of games kept out to measure the fit.")] = 0.05,
    iterations: Annotated[int, typer.Option(min=1, help="Most steps for the evaluation.")] = 150,
    ordering_iterations: Annotated[int, typer.Option(min=1, help="Most steps for the move ordering.")] = 60,
    seed: Annotated[int, typer.Option(help="Chooses the games kept out.")] = 1,
) -> None:
    """Fit evaluation and move ordering to games; print the losses and write the weights file."""
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
    console = Console(highlight=False)
    fit_files(games, target, config, lambda line: console.print(line, soft_wrap=True))
    console.print(f"wrote {target} and {target.with_suffix('.json').name}", soft_wrap=True)


def net(
    target: Annotated[
        Path, typer.Argument(metavar="WEIGHTS", help="The weights file (.npz) to write; the log beside it.")
    ],
    games: Annotated[list[Path], typer.Argument(metavar="GAMES…", help="Files of `tengen data generate --proved`.")],
    base: Annotated[Path, typer.Option(help="The weights of `tengen tune fit` that the network is added to.")],
    epochs: Annotated[float, typer.Option(help="Passes over the games.")] = 8.0,
    result_weight: Annotated[
        float, typer.Option(min=0, max=1, help="Share of the game's result in the target, the rest search value.")
    ] = 0.5,
    learning_rate: Annotated[float, typer.Option(help="At its highest.")] = 5e-3,
    threads: Annotated[int, typer.Option(min=1, help="Threads to train with.")] = 1,
    seed: Annotated[int, typer.Option(help="Of the first weights, the batches and the games kept out.")] = 1,
) -> None:
    """Train the evaluation's small network on games; print the losses and write the weights file with it."""
    from rich.console import Console

    from tengen.cli.output import check_writable
    from tengen.learning.algorithms.registry import training_imports

    check_writable(target, target.with_suffix(".json"))
    with training_imports():
        from tengen.tuning.evaluation_net import NetFitConfig, train_files
    config = NetFitConfig(
        epochs=epochs, result_weight=result_weight, learning_rate=learning_rate, threads=threads, seed=seed
    )
    console = Console(highlight=False)
    train_files(games, base, target, config, lambda line: console.print(line, soft_wrap=True))
    console.print(f"wrote {target} and {target.with_suffix('.json').name}", soft_wrap=True)


def search(
    target: Annotated[
        Path, typer.Argument(metavar="STATE", help="The state of the run (.json) to write or go on with.")
    ],
    rules: Annotated[str, typer.Option(help="What is played, such as 15x15:5:renju.")] = "15x15:5:freestyle",
    pairs: Annotated[int, typer.Option(min=1, help="Pairs of games of the whole run.")] = 5000,
    nodes: Annotated[int, typer.Option(min=1, help="Nodes of each search.")] = 10_000,
    seed: Annotated[int, typer.Option(help="Another seed takes another way.")] = 1,
    step: Annotated[
        float, typer.Option(help="How far a parameter is moved to and fro, as a share of its range.")
    ] = 0.08,
    gain: Annotated[float, typer.Option(help="How far it follows a won pair, as a share of the step.")] = 0.008,
    workers: Annotated[
        int | None, typer.Option(min=1, help="Processes that play; as many as cores unless told.", show_default=False)
    ] = None,
) -> None:
    """Tune the numbers that steer the search by games (SPSA) and print them. Killed, the same command goes on."""
    from rich.console import Console

    from tengen.cli.output import check_writable
    from tengen.core.contracts import Ruleset
    from tengen.tuning.spsa import Spsa, SpsaConfig, tune_search

    check_writable(target)
    console = Console(highlight=False)
    config = SpsaConfig(ruleset=Ruleset.parse(rules), pairs=pairs, nodes=nodes, seed=seed, step=step, gain=gain)
    said = time.monotonic()

    def report(state: Spsa) -> None:
        nonlocal said
        if time.monotonic() - said >= _SECONDS_BETWEEN_LINES:
            said = time.monotonic()
            console.print(f"{state.pairs_done:,} of {config.pairs:,} pairs", soft_wrap=True)

    state = tune_search(target, config, workers=workers or os.cpu_count() or 1, on_round=report)
    for parameter in state.parameters:
        console.print(f"{parameter.name:24} {parameter.default:5} -> {state.rounded()[parameter.name]:5}")
