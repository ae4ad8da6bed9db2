"""Startup time: importing the package and showing the help."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time

ROUNDS = 7


def run() -> dict[str, float]:
    """Return the median wall-clock milliseconds of new interpreters, and their ratio to importing only libraries."""
    commands = {
        "numpy": ["-c", "import numpy"],
        "tengen": ["-c", "import tengen"],
        "libraries": ["-c", "import numpy, typer, rich.console"],
        "help": ["-m", "tengen.cli", "--help"],
    }
    times: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(ROUNDS):  # in turn, so that load on the machine affects all of them
        for name, arguments in commands.items():
            started = time.perf_counter()
            subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)
            times[name].append(1000 * (time.perf_counter() - started))
    median = {name: statistics.median(values) for name, values in times.items()}
    return {
        "import_numpy_ms": median["numpy"],
        "import_tengen_ms": median["tengen"],
        "import_tengen_to_numpy_ratio": median["tengen"] / median["numpy"],
        "help_ms": median["help"],
        "help_to_libraries_ratio": median["help"] / median["libraries"],
    }
