"""`tengen tune`: play games and fit the numbers of the alpha-beta engine to them."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from rich.console import Console

    from tengen.search.tuning_games import TuningGame

_SECONDS_BETWEEN_LINES = 60


def register(app: typer.Typer) -> None:
    """Add the subcommands."""
    tune = typer.Typer(
        name="tune",
        help="Fit the numbers of the alpha-beta engine to games that it plays against itself.",
        no_args_is_help=True,
    )
    tune.command("generate")(generate)
    tune.command("fit")(fit)
    tune.command("search")(search)
    app.add_typer(tune)


def generate(
    target: Annotated[
        Path, typer.Argument(metavar="GAMES", help="The file of games (.jsonl) to write or to go on with.")
    ],
    rules: Annotated[str, typer.Option(help="What is played, such as 15x15:5:renju.")] = "15x15:5:freestyle",
    games: Annotated[int, typer.Option(min=1, help="How many games the file shall hold.")] = 1000,
    nodes: Annotated[int, typer.Option(min=1, help="Nodes of each search.")] = 10_000,
    seed: Annotated[int, typer.Option(help="Another seed gives other games.")] = 1,
    workers: Annotated[
        int | None, typer.Option(min=1, help="Processes that play; as many as cores unless told.", show_default=False)
    ] = None,
    weights: Annotated[Path | None, typer.Option(help="A weights file instead of the shipped one.")] = None,
) -> None:
    """Play games from random balanced openings at a fixed number of nodes. Killed, the same command goes on."""
    from rich.console import Console

    from tengen.core.contracts import Ruleset
    from tengen.search.tuning_games import SelfPlayConfig, generate_games

    config = SelfPlayConfig(ruleset=Ruleset.parse(rules), games=games, nodes=nodes, seed=seed, weights=weights)
    console = Console(highlight=False)
    with _Progress(console, games) as progress:
        count = workers or os.cpu_count() or 1
        before = generate_games(target, config, workers=count, on_start=progress.begin, on_game=progress.add)
    console.print(f"{target}: {before:,} games before, {before + progress.games:,} now", soft_wrap=True)


def fit(
    target: Annotated[
        Path, typer.Argument(metavar="WEIGHTS", help="The weights file (.npz) to write; the log beside it.")
    ],
    games: Annotated[list[Path], typer.Argument(metavar="GAMES…", help="Files of `tengen tune generate`.")],
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

    from tengen.search.tuning import FitConfig, fit_files

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

    from tengen.core.contracts import Ruleset
    from tengen.search.spsa import Spsa, SpsaConfig, tune_search

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


class _Progress:
    """Games and positions a second: a bar on a terminal, a line a minute elsewhere."""

    def __init__(self, console: Console, total: int) -> None:
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        self.games = 0
        self._positions = 0
        self._console = console
        self._started = self._said = time.monotonic()
        self._bar = Progress(
            MofNCompleteColumn(), BarColumn(), TextColumn("{task.description}"), TimeRemainingColumn(), console=console
        )
        self._task = self._bar.add_task("", total=total)

    def __enter__(self) -> _Progress:
        if self._console.is_terminal:
            self._bar.start()
        return self

    def __exit__(self, *exception: object) -> None:
        if self._console.is_terminal:
            self._bar.stop()

    def begin(self, before: int) -> None:
        """So many games are there already."""
        self._bar.update(self._task, completed=before)

    def add(self, game: TuningGame) -> None:
        """One more game has been played."""
        self.games += 1
        self._positions += len(game.values)
        now = time.monotonic()
        seconds = max(now - self._started, 1e-9)
        speed = f"{self.games / seconds:.2f} games/s, {self._positions / seconds:.0f} positions/s"
        self._bar.update(self._task, advance=1, description=speed)
        if not self._console.is_terminal and now - self._said >= _SECONDS_BETWEEN_LINES:
            self._said = now
            self._console.print(f"{self.games:,} games played, {speed}", soft_wrap=True)
