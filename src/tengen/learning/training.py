"""Starting, continuing and executing training runs, for the command line and for Python."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from shutil import rmtree

from tengen.core.plugins import InFile
from tengen.errors import InputError, TengenError
from tengen.learning.algorithms.registry import find_algorithm
from tengen.learning.config import load_config, preset_names
from tengen.learning.run.folder import LIMITS, Run, new_header
from tengen.learning.run.progress import Progress
from tengen.learning.run.wandb import WandbLogger


def default_folder(algorithm: str, preset: str | None) -> Path:
    """Return the default folder of a run.

    >>> default_folder("alphazero", "6x6x4").as_posix()
    'runs/alphazero-6x6x4'
    """
    place = InFile.parse(algorithm)
    name = algorithm if place is None else Path(place[0].path).stem
    return Path("runs") / "-".join(part for part in (name, preset) if part)


def start_run(folder: Path, algorithm: str, preset: str | None, settings: Sequence[str] = (), seed: int = 0) -> Run:
    """Create a run. Raises `InputError` if the folder is in use or the configuration is invalid."""
    kind = find_algorithm(algorithm).Config
    names = preset_names(algorithm)
    if preset is None and names and not any(setting.partition("=")[0].strip() == "ruleset" for setting in settings):
        raise InputError(
            f"--preset is required (available: {', '.join(names)}) unless you configure the run with --set ruleset=…"
        )
    config = load_config(kind, algorithm, preset, settings)
    return Run.create(folder, new_header(algorithm, preset, seed), config)


def continue_run(
    folder: Path, algorithm: str | None = None, preset: str | None = None, settings: Sequence[str] = ()
) -> Run:
    """Open a run to continue it. `settings` can only raise its limits; see `Run.extend`.

    Raises `InputError` if the folder is not a run of this algorithm and preset, if a setting cannot change, or if the
    run uses a Python file that the caller does not name (`algorithm`, or the setting `net.kind`).
    """
    run = Run.open(folder)
    header = run.header
    named = header.algorithm if algorithm is None else algorithm
    if (header.algorithm, header.preset) != (named, preset or header.preset):
        found = f"{header.algorithm} {header.preset}".rstrip()
        raise InputError(f"{folder} contains a run of {found}; resume it with that algorithm and preset")
    if algorithm is None and InFile.parse(header.algorithm) is not None:
        raise InputError(
            f"{folder} is trained by the file {header.algorithm}, whose code is run only if you name it as the"
            " algorithm"
        )
    net = run.config_table.get("net")
    kind = net.get("kind") if isinstance(net, dict) else None
    is_trusted = f"net.kind={kind}" in settings
    if isinstance(kind, str) and InFile.parse(kind) is not None and not is_trusted:
        raise InputError(
            f"the network of {folder} is defined in the file {kind}, whose code is run only if you name it:"
            f" --set net.kind={kind}"
        )
    limits = _limits(folder, [setting for setting in settings if setting != f"net.kind={kind}"])
    if limits:
        run.extend(limits)
    return run


def _limits(folder: Path, settings: Sequence[str]) -> dict[str, float]:
    """Return the limits that settings raise. Raises `InputError` if they set anything else."""
    limits: dict[str, float] = {}
    for setting in settings:
        key, _, value = (part.strip() for part in setting.partition("="))
        try:
            limits[key.replace("-", "_")] = float(value)
        except ValueError:
            raise InputError(
                f"--resume continues {folder} with its own settings, so it cannot apply {setting!r}; it can only raise"
                f" the limits {', '.join(LIMITS)}. Use --init-from to start another run from its network"
            ) from None
    return limits


def discard_if_untouched(run: Run, error: BaseException) -> None:
    """Delete a new run that failed before its first iteration, so that the corrected command can use its folder.

    A run that another process trains is kept.
    """
    if isinstance(error, TengenError) and run.is_untouched() and not run.is_running():
        rmtree(run.folder, ignore_errors=True)


def execute(run: Run, progress: Progress) -> None:
    """Train a run in this process until it is finished."""
    find_algorithm(run.header.algorithm).train(run, progress)


@contextmanager
def logging_to_wandb(run: Run, project: str | None, say: Callable[[str], None]) -> Iterator[None]:
    """Send the metrics of a run to a Weights & Biases project while the context is open; None sends nothing."""
    if project is None:
        yield
        return
    with closing(WandbLogger(run, project, say)) as logger:
        run.add_logger(logger)
        yield
