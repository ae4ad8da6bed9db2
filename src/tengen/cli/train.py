"""`tengen train ALGORITHM`: start or resume a training run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tengen.cli.command import Group, command
from tengen.cli.options import OnOption
from tengen.nets.devices import Device

if TYPE_CHECKING:
    from rich.console import Console

    from tengen.learning.run.reading import RunReader

_EXAMPLES = """
    tengen train                                    # list all presets
    tengen train alphazero --preset 6x6x4 --set net.channels=48
    tengen train alphazero --run runs/a --resume --minutes 30  # train longer
    tengen train ppo --keys                         # list every setting
"""


def register(app: typer.Typer) -> None:
    """Add the subcommand."""
    command(app, "train", group=Group.TRAIN, examples=_EXAMPLES)(train)


def train(
    algorithm: Annotated[
        str | None,
        typer.Argument(help="Training algorithm, such as alphazero or ./mylearner.py; omit it to list all presets."),
    ] = None,
    preset: Annotated[
        str | None, typer.Option(metavar="NAME", help="Preset for the algorithm; run `tengen train` for a list.")
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="KEY=VALUE", help="Override a setting in the preset, such as net.channels=48; repeatable."
        ),
    ] = None,
    run: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Folder of the run (default: runs/ALGORITHM-PRESET).")
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Resume an existing run; --minutes and --set iterations=… extend it.")
    ] = False,
    minutes: Annotated[
        float | None,
        typer.Option(
            min=0,
            help="Stop after this many minutes, at the end of the current iteration (default: the preset's limit); same"
            " as --set minutes=…. With --resume, this is the new total.",
        ),
    ] = None,
    keys: Annotated[
        bool,
        typer.Option("--keys", help="List the algorithm's settings (for --set) and their defaults, then exit."),
    ] = False,
    init_from: Annotated[
        str | None,
        typer.Option(
            metavar="MODEL",
            help="Initial network: a shipped model, a run or a weights file"
            " (default: the preset's, or random weights).",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Random seed for the run.")] = 0,
    on: OnOption = "local",
    workers: Annotated[
        int | None,
        typer.Option(min=1, help="Number of workers for --on ray (default: all free CPUs).", show_default=False),
    ] = None,
    device: Annotated[
        Device | None,
        typer.Option(
            help="Device for the network in training and self-play (default: the preset's, normally auto).",
            show_default=False,
        ),
    ] = None,
    wandb: Annotated[
        str | None,
        typer.Option(metavar="PROJECT", help="Also log to this Weights & Biases project; needs the package wandb."),
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="Do not show progress.")] = False,
) -> None:
    """Train a player. A run is a folder; you can interrupt and resume it at any time, watch it and play against it."""
    from rich.console import Console

    from tengen.cluster.connection import On
    from tengen.errors import InputError
    from tengen.learning.algorithms.registry import check_algorithm
    from tengen.learning.config import describe_preset
    from tengen.learning.run.progress import Progress
    from tengen.learning.training import (
        continue_run,
        default_folder,
        discard_if_untouched,
        execute,
        logging_to_wandb,
        start_run,
    )

    console = Console(highlight=False, quiet=quiet, markup=False)
    if algorithm is None:
        _list_presets(console)
        return
    check_algorithm(algorithm)
    if preset is not None:
        describe_preset(algorithm, preset)  # report an unknown preset before a missing package
    if keys:
        _list_keys(console, algorithm, preset)
        return
    is_placed = On.parse(on).is_ray or workers is not None or device is not None
    if is_placed and algorithm != "alphazero":
        raise InputError(
            f"--on ray, --workers and --device apply only to alphazero; {algorithm} trains in one process on the CPU"
        )
    folder = run or default_folder(algorithm, preset)
    if resume and run is None and not folder.exists():
        raise InputError(
            f"cannot resume: {folder} does not exist; pass the run's folder with --run, or its preset with --preset"
        )
    if resume:
        if init_from is not None or seed:
            raise InputError(f"--resume continues {folder} with its own network and seed: omit --init-from and --seed")
        changes = [*(settings or []), *([] if minutes is None else [f"minutes={minutes}"])]
        current = continue_run(folder, algorithm, preset, changes)
        if current.is_finished():
            console.print(
                f"{folder} is finished; raise a limit to train on, such as --minutes or --set iterations=…",
                soft_wrap=True,
            )
            _print_result(console, current)
            return
    else:
        changes = list(settings or [])
        changes += [] if minutes is None else [f"minutes={minutes}"]
        changes += [] if init_from is None else [f"init_from={init_from}"]
        current = start_run(folder, algorithm, preset, changes, seed)
    try:
        with Progress(console, folder.name) as progress, logging_to_wandb(current, wandb, progress.say):
            if is_placed:
                from tengen.cluster.training import open_place
                from tengen.learning.algorithms import alphazero

                with open_place(on, workers=workers or 0, device=device, warn=progress.say) as place:
                    alphazero.train(current, progress, place)
            else:
                execute(current, progress)
    except KeyboardInterrupt:
        console.print(f"stopped; continue with --run {folder} --resume", soft_wrap=True)
        raise typer.Exit(130) from None
    except Exception as error:
        if not resume:
            discard_if_untouched(current, error)
        raise
    _print_result(console, current)


def _print_result(console: Console, run: RunReader) -> None:
    """Print what the run has learnt and how to play against it."""
    import shlex

    from tengen.agents.registry import network_player
    from tengen.learning.run.reading import describe_learning, strength_curve

    strength = run.config_table.get("strength", {})
    for sentence in describe_learning(strength_curve(run.metrics()), str(strength.get("anchor", "the anchor"))):
        console.print(sentence)
    player = shlex.quote(f"{network_player(run.header.algorithm, 'run')}:run={run.folder}")
    rules = run.config_table["ruleset"]
    console.print(f"{run.folder}: play against it with `tengen play {player} --rules {rules}`", soft_wrap=True)


def _list_presets(console: Console) -> None:
    from rich.table import Table

    from tengen.learning.algorithms.registry import algorithm_names, describe_algorithm
    from tengen.learning.config import describe_preset, preset_names

    for algorithm in algorithm_names():
        table = Table(title=f"{algorithm}: {describe_algorithm(algorithm)}", title_justify="left")
        table.add_column("preset", style="bold", no_wrap=True)
        table.add_column("description")
        for name in preset_names(algorithm):
            table.add_row(name, describe_preset(algorithm, name))
        console.print(table)


def _list_keys(console: Console, algorithm: str, preset: str | None) -> None:
    """Print every setting with its type, its default or the preset's value, and its description."""
    from rich.padding import Padding
    from rich.text import Text

    from tengen.learning.algorithms.registry import find_algorithm
    from tengen.learning.config import describe_keys

    for key in describe_keys(find_algorithm(algorithm).Config, algorithm, preset):
        heading = Text.assemble((key.key, "bold"), f" ({key.type}) = ", (key.default, "cyan"))
        console.print(heading, soft_wrap=True)
        console.print(Padding(Text(key.help), (0, 0, 0, 4)))
