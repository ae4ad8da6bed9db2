"""`tengen train ALGORITHM`: begin a training run or go on with one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tengen.cli.place_option import OnOption
from tengen.nets.devices import Device

if TYPE_CHECKING:
    from rich.console import Console


def register(app: typer.Typer) -> None:
    """Add the subcommand."""
    app.command("train")(train)


def train(
    algorithm: Annotated[str | None, typer.Argument(help="What to train by, such as alphazero.")] = None,
    preset: Annotated[
        str | None, typer.Option(help="A preset of the algorithm; without ALGORITHM they are listed.")
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Change the preset, such as net.channels=48; repeatable."),
    ] = None,
    run: Annotated[Path | None, typer.Option(help="The folder of the run; runs/ALGORITHM-PRESET unless told.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the run of that folder.")] = False,
    minutes: Annotated[
        float | None,
        typer.Option(min=0, help="End after the iteration that passes them; short for --set minutes=…."),
    ] = None,
    init_from: Annotated[
        str | None, typer.Option(help="Begin with this network: a shipped model, a run or a weights file.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Another seed gives another run.")] = 0,
    on: OnOption = "local",
    workers: Annotated[
        int | None,
        typer.Option(min=1, help="Workers of --on ray (default: every free CPU of the cluster).", show_default=False),
    ] = None,
    device: Annotated[
        Device | None,
        typer.Option(
            help="Device of the network in training and self-play, in place of the one in the configuration.",
            show_default=False,
        ),
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="Show nothing while it runs.")] = False,
) -> None:
    """Train a player. The run is a folder: it can be killed at any moment, resumed, watched and played."""
    import shlex
    from shutil import rmtree

    from rich.console import Console

    from tengen.cluster.connection import On
    from tengen.errors import AgentError, InputError, MissingExtraError, RunError
    from tengen.learning.algorithms.registry import find_algorithm
    from tengen.learning.config import load_config, preset_names
    from tengen.learning.run import Run, new_header
    from tengen.learning.run.progress import Progress

    console = Console(highlight=False, quiet=quiet)
    if algorithm is None:
        _list_presets(console)
        return
    module = find_algorithm(algorithm)
    is_placed = On.parse(on).is_ray or workers is not None or device is not None
    if is_placed and algorithm != "alphazero":
        raise InputError(
            f"--on ray, --workers and --device are for alphazero; {algorithm} trains in one process on the CPU"
        )
    folder = run or Path("runs") / "-".join(part for part in (algorithm, preset) if part)
    if resume and run is None and not folder.exists():
        raise InputError(f"there is no {folder} to go on with: name the run by --run FOLDER, or by its --preset")
    if resume:
        if settings or minutes is not None or init_from is not None or seed:
            raise InputError(f"--resume goes on with {folder} as it was begun: give no settings, minutes or seed")
        current = Run.open(folder)
        if (current.header.algorithm, current.header.preset) != (algorithm, preset or current.header.preset):
            raise InputError(f"{folder} is a run of {current.header.algorithm} {current.header.preset}".rstrip())
    else:
        changes = list(settings or [])
        changes += [] if minutes is None else [f"minutes={minutes}"]
        changes += [] if init_from is None else [f"init_from={init_from}"]
        if preset is None and not any(change.partition("=")[0].strip() == "ruleset" for change in changes):
            known = ", ".join(preset_names(algorithm))
            raise InputError(
                f"what shall it play? Give a --preset ({known}), or --set ruleset=… and what else you like"
            )
        config = load_config(module.Config, algorithm, preset, changes)
        current = Run.create(folder, new_header(algorithm, preset, seed), config)
    try:
        with Progress(console, folder.name) as progress:
            if is_placed:
                from tengen.cluster.training import open_place
                from tengen.learning.algorithms import alphazero

                with open_place(on, workers=workers or 0, device=device, warn=progress.say) as place:
                    alphazero.train(current, progress, place)
            else:
                module.train(current, progress)
    except KeyboardInterrupt:
        console.print(f"stopped; --run {folder} --resume goes on", soft_wrap=True)
        raise typer.Exit(130) from None
    except (InputError, AgentError, RunError, MissingExtraError):
        if not resume and current.is_untouched():
            rmtree(folder, ignore_errors=True)  # it would stand in the way of the right command
        raise
    player = shlex.quote(f"{algorithm}:run={folder}")
    rules = current.config_table["ruleset"]
    console.print(f"{folder}: play it by `tengen play --terminal {player} --rules {rules}`", soft_wrap=True)


def _list_presets(console: Console) -> None:
    from rich.table import Table

    from tengen.learning.algorithms.registry import algorithm_names, describe_algorithm
    from tengen.learning.config import describe_preset, preset_names

    for algorithm in algorithm_names():
        table = Table(title=f"{algorithm}: {describe_algorithm(algorithm)}", title_justify="left")
        table.add_column("preset", style="bold", no_wrap=True)
        table.add_column("what it is")
        for name in preset_names(algorithm):
            table.add_row(name, describe_preset(algorithm, name))
        console.print(table)
