"""`tengen doctor`: show the installation and the hardware, and check whether Tengen runs at the expected speed."""

from __future__ import annotations

import os
import platform
import re
import sys
import time
from collections.abc import Callable, Iterator
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from tengen.cli.command import Group, command

if TYPE_CHECKING:
    from rich.console import Console

_EXAMPLES = """
    tengen doctor             # everything, with a ten-second speed check
    tengen doctor --no-speed  # without the speed check
"""

_INSTRUCTION_SETS = ("sse4_2", "avx", "avx2", "bmi2", "avx512f", "avx512_vnni", "asimd", "sve")
_SECONDS_PER_CHECK = 2.5
_SLOW = 0.5
"""Fraction of the expected speed below which a check counts as slow."""
_SPEED_ROW = "  {:<34}{:>12}{:>12}{:>10}"


class _Check(NamedTuple):
    """A speed check on one core; `work` returns the number of units that it completed."""

    name: str
    work: Callable[[], int]
    expected: float
    """Units per second of processor time on one core of a busy AMD EPYC server (2 cores, Linux, GCC, editable)."""


def register(app: typer.Typer) -> None:
    """Add the subcommand."""
    command(app, "doctor", group=Group.DEVELOP, examples=_EXAMPLES)(doctor)


def doctor(
    speed: Annotated[bool, typer.Option("--speed/--no-speed", help="Run the speed check.")] = True,
) -> None:
    """Show the installed packages and the hardware, and compare Tengen's speed with the expected speed.

    Include the output in bug reports. The speed check takes ten seconds on one core.
    """
    from rich.console import Console

    from tengen.core.extras import EXTRAS

    console = Console(highlight=False, markup=False)
    for name, text in (*_describe_installation(), *_describe_machine()):
        _print_row(console, name, text)
    console.print("\nExtras", style="bold")
    for name, extra in EXTRAS.items():
        _print_row(console, name, f"{_describe_extra(name)} ({extra.purpose})")
    if speed:
        console.print("\nSpeed of one core, in units per second of processor time", style="bold")
        console.print(_SPEED_ROW.format("", "measured", "expected", "ratio"))
        _print_speeds(console)


def _print_row(console: Console, name: str, text: str) -> None:
    from rich.padding import Padding
    from rich.table import Table

    row = Table.grid(padding=(0, 2))
    row.add_column(width=12, style="bold")
    row.add_column(overflow="fold")
    row.add_row(name, text)
    console.print(Padding(row, (0, 0, 0, 2)))


def _describe_installation() -> Iterator[tuple[str, str]]:
    from tengen import __version__

    origin = metadata.distribution("tengen").read_text("direct_url.json") or ""
    is_editable = '"editable": true' in origin
    build = "editable install, built for this machine's processor" if is_editable else "installed package"
    yield "Tengen", f"{__version__}, {build}"
    yield "Python", f"{platform.python_version()}, {sys.executable}"
    models = _shipped_models()
    yield "models", ", ".join(models) if models else "none: they are part of the repository, not of the package"


def _shipped_models() -> list[str]:
    from tengen.core.shipped import shipped_folder

    return sorted(path.parent.name for path in shipped_folder("models").glob("*/card.md"))


def _describe_machine() -> Iterator[tuple[str, str]]:
    import psutil

    from tengen.nets.devices import describe_gpu

    yield "system", f"{platform.system()} {platform.release()}, {platform.machine()}"
    name, flags = _processor()
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    yield "processor", f"{name}, {usable} {'core' if usable == 1 else 'cores'} usable"
    found = [flag.upper() for flag in _INSTRUCTION_SETS if flag in flags]
    yield "instructions", ", ".join(found) or "unknown"
    load = f", load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""
    yield "memory", f"{psutil.virtual_memory().total / (1 << 30):.1f} GiB{load}"
    yield "GPU", describe_gpu()


def _processor() -> tuple[str, set[str]]:
    """Return the name of the processor and its instruction sets; empty if the system does not report them."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return platform.processor() or "unknown", set()
    name = re.search(r"^model name\s*:\s*(.+)$", text, re.MULTILINE)
    flags = re.search(r"^(?:flags|Features)\s*:\s*(.+)$", text, re.MULTILINE)
    return name[1] if name else platform.machine(), set(flags[1].split()) if flags else set()


def _describe_extra(extra: str) -> str:
    """Return the versions of the packages in an extra, or how to install the missing ones."""
    versions: dict[str, str | None] = {}
    for requirement in metadata.requires("tengen") or ():
        match = re.match(rf"([\w.-]+).*extra == ['\"]{extra}['\"]", requirement)
        if match is not None:
            try:
                versions[match[1]] = metadata.version(match[1])
            except metadata.PackageNotFoundError:
                versions[match[1]] = None
    missing = [name for name, version in versions.items() if version is None]
    if missing:
        return f"missing {', '.join(missing)}: pip install 'tengen[{extra}]'"
    return ", ".join(f"{name} {version}" for name, version in versions.items())


def _print_speeds(console: Console) -> None:
    slow = 0
    for check in _checks():
        with console.status(f"measuring: {check.name} …"):
            speed = _measure(check.work)
        ratio = speed / check.expected
        slow += ratio < _SLOW
        row = _SPEED_ROW.format(check.name, f"{speed:,.0f}", f"{check.expected:,.0f}", f"{100 * ratio:.0f} %")
        console.print(row, style="yellow" if ratio < _SLOW else "")
    if slow:
        console.print(
            f"Checks below {100 * _SLOW:.0f} % of the expected speed: {slow}. Close other programs and try again. If"
            " the speed stays low, this processor is slower than the reference, or the native module was built without"
            " optimisation; rebuild it with `make clean install`."
        )


def _measure(work: Callable[[], int]) -> float:
    """Return the units per second of processor time, after one warm-up call."""
    work()
    started, cpu_started = time.monotonic(), time.process_time()
    units = 0
    while time.monotonic() - started < _SECONDS_PER_CHECK:
        units += work()
    return units / max(time.process_time() - cpu_started, 1e-9)


def _checks() -> list[_Check]:
    from tengen.agents.registry import make_agent
    from tengen.core.contracts import Limits, Ruleset
    from tengen.core.perft import perft
    from tengen.core.position import Position
    from tengen.search.bench import run_bench

    position = Position.from_moves(Ruleset.parse("9x9:5:freestyle"), "e5e6d6f4")
    playouts = make_agent("uct:playouts=2000")
    checks = [
        _Check("rules: sequences of legal moves", lambda: perft(Ruleset.parse("renju"), 3)[-1].nodes, 57e6),
        _Check("engine: nodes", lambda: run_bench(8).nodes, 840e3),
        _Check("rollouts: playouts", lambda: playouts.choose(position, Limits()).nodes, 280e3),
    ]
    if "9x9" in _shipped_models():
        network = make_agent("alphazero:model=9x9,simulations=400,reuse=false,resist=0")
        checks.append(_Check("network: simulations", lambda: network.choose(position, Limits()).nodes, 92e3))
    return checks
