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

_EXAMPLES = """
    tengen train                                    # list all presets
    tengen train alphazero --preset 6x6x4 --set net.channels=48
    tengen train alphazero --preset 6x6x4 --resume  # continue the run
    tengen train ppo --keys                         # list every setting
"""


def register(app: typer.Typer) -> None:
    """Add the subcommand."""
    command(app, "train", group=Group.TRAIN, examples=_EXAMPLES)(train)


def train(
    algorithm: Annotated[
        str | None, typer.Argument(help="Training algorithm, such as alphazero; omit it to list all presets.")
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
    resume: Annotated[bool, typer.Option("--resume", help="Resume an existing run.")] = False,
    minutes: Annotated[
        float | None,
        typer.Option(
            min=0,
            help="After this many minutes, stop at the end of the iteration; same as --set minutes=…."
            " With --resume, the new limit of the run.",
        ),
    ] = None,
    keys: Annotated[
        bool,
        typer.Option("--keys", help="List the algorithm's settings (for --set) and their defaults, then exit."),
    ] = False,
    init_from: Annotated[
        str | None, typer.Option(metavar="MODEL", help="Initial network: a shipped model, a run or a weights file.")
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
    quiet: Annotated[bool, typer.Option("--quiet", help="Do not show progress.")] = False,
) -> None:
    """Train a player. A run is a folder; it can be interrupted at any time, resumed, watched and played against."""
    import shlex
    from shutil import rmtree

    from rich.console import Console

    from tengen.cluster.connection import On
    from tengen.errors import AgentError, InputError, MissingExtraError, RunError
    from tengen.learning.algorithms.registry import check_algorithm, find_algorithm
    from tengen.learning.config import describe_preset, load_config, preset_names
    from tengen.learning.run import Run, new_header
    from tengen.learning.run.folder import LIMITS
    from tengen.learning.run.progress import Progress
    from tengen.learning.run.reading import describe_learning, strength_curve

    console = Console(highlight=False, quiet=quiet)
    if algorithm is None:
        _list_presets(console)
        return
    check_algorithm(algorithm)
    if preset is not None:
        describe_preset(algorithm, preset)  # report a typo before a missing package
    module = find_algorithm(algorithm)
    if keys:
        _list_keys(console, algorithm, preset)
        return
    is_placed = On.parse(on).is_ray or workers is not None or device is not None
    if is_placed and algorithm != "alphazero":
        raise InputError(
            f"--on ray, --workers and --device apply only to alphazero; {algorithm} trains in one process on the CPU"
        )
    folder = run or Path("runs") / "-".join(part for part in (algorithm, preset) if part)
    if resume and run is None and not folder.exists():
        raise InputError(
            f"cannot resume: {folder} does not exist; pass the run's folder with --run, or its preset with --preset"
        )
    if resume:
        limits = _limits(settings or [], minutes)
        if limits is None or init_from is not None or seed:
            raise InputError(
                f"--resume continues {folder} with its own settings: omit --set, --init-from and --seed;"
                f" only higher limits can be set ({', '.join(LIMITS)})"
            )
        current = Run.open(folder)
        if (current.header.algorithm, current.header.preset) != (algorithm, preset or current.header.preset):
            found = f"{current.header.algorithm} {current.header.preset}".rstrip()
            raise InputError(f"{folder} contains a run of {found}; resume it with that algorithm and preset")
        if limits:
            current.extend(limits)
    else:
        changes = list(settings or [])
        changes += [] if minutes is None else [f"minutes={minutes}"]
        changes += [] if init_from is None else [f"init_from={init_from}"]
        if preset is None and not any(change.partition("=")[0].strip() == "ruleset" for change in changes):
            known = ", ".join(preset_names(algorithm))
            raise InputError(
                f"--preset is required (available: {known}) unless you configure the run with --set ruleset=…"
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
        console.print(f"stopped; continue with --run {folder} --resume", soft_wrap=True)
        raise typer.Exit(130) from None
    except (InputError, AgentError, RunError, MissingExtraError):
        if not resume and current.is_untouched():
            rmtree(folder, ignore_errors=True)  # otherwise the corrected command would reject the existing folder
        raise
    strength = current.config_table.get("strength", {})
    for sentence in describe_learning(strength_curve(current.metrics()), str(strength.get("anchor", "the anchor"))):
        console.print(sentence)
    player = shlex.quote(f"{algorithm}:run={folder}")
    rules = current.config_table["ruleset"]
    console.print(f"{folder}: play against it with `tengen play {player} --rules {rules}`", soft_wrap=True)


def _limits(settings: list[str], minutes: float | None) -> dict[str, float] | None:
    """Return the limits that `--set` and `--minutes` raise when a run is resumed; None if they set anything else."""
    from tengen.learning.run.folder import LIMITS

    limits = {} if minutes is None else {"minutes": minutes}
    for setting in settings:
        key, _, value = (part.strip() for part in setting.partition("="))
        try:
            limits[key] = float(value)
        except ValueError:
            return None
    return limits if limits.keys() <= set(LIMITS) else None


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
    """Print every setting with its type, its default (or the preset's value) and its description."""
    from rich.padding import Padding
    from rich.text import Text

    from tengen.learning.algorithms.registry import find_algorithm
    from tengen.learning.config import describe_keys

    for key in describe_keys(find_algorithm(algorithm).Config, algorithm, preset):
        heading = Text.assemble((key.key, "bold"), f" ({key.type}) = ", (key.default, "cyan"))
        console.print(heading, soft_wrap=True)
        console.print(Padding(Text(key.help), (0, 0, 0, 4)))
