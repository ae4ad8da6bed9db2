"""`python -m benchmarks [NAME …]`: run the benchmarks, print their figures and store them in benchmarks/results/.

A benchmark is a file `bench_<name>.py` in this folder with a function `run()` that returns its figures by name. Times
depend on the machine, so compare the ratios, whose names end in `_ratio`: both values were measured side by side. Each
result file also contains the machine, the versions and the commit.
"""

from __future__ import annotations

import argparse
import datetime
import importlib
import json
import os
import platform
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import psutil
from rich.console import Console
from rich.table import Table

import tengen

FOLDER = Path(__file__).resolve().parent


def find_benchmarks() -> dict[str, str]:
    """Return the module of each benchmark by name."""
    return {path.stem.removeprefix("bench_"): f"benchmarks.{path.stem}" for path in sorted(FOLDER.glob("bench_*.py"))}


def describe_machine() -> dict[str, Any]:
    """Describe the machine and the versions that the figures depend on."""
    return {
        "processor": processor_name(),
        "cores": os.cpu_count(),
        "memory_gib": round(psutil.virtual_memory().total / 2**30, 1),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "python": platform.python_version(),
        "numpy": np.__version__,
        "load_before": [round(load, 2) for load in psutil.getloadavg()],
    }


def processor_name() -> str:
    """Return the processor's name as reported by the system."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "unknown")


def describe_commit() -> str:
    """Return the current commit, followed by `+` if there are uncommitted changes."""
    try:
        commit = _git("rev-parse", "HEAD")
        return commit + ("+" if _git("status", "--porcelain", "--untracked-files=no") else "")
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def _git(*arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=FOLDER, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def run_benchmark(name: str, module: str) -> dict[str, Any]:
    """Run one benchmark and return the contents of its result file."""
    machine = describe_machine()
    started = time.perf_counter()
    figures = importlib.import_module(module).run()
    return {
        "name": name,
        "tengen": tengen.__version__,
        "commit": describe_commit(),
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "seconds": round(time.perf_counter() - started, 2),
        "machine": machine,
        "figures": figures,
    }


def show(results: list[dict[str, Any]]) -> None:
    """Print one row per figure."""
    table = Table("benchmark", "figure", title="Benchmarks")
    table.add_column("value", justify="right")
    for result in results:
        for figure, value in result["figures"].items():
            table.add_row(result["name"], figure, f"{value:,.4g}" if isinstance(value, float) else f"{value}")
        table.add_section()
    Console().print(table)


def main() -> int:
    """Run the benchmarks named on the command line, or all of them."""
    known = find_benchmarks()
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Run Tengen's benchmarks.")
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help=f"benchmarks to run (default: all): {', '.join(known)}"
    )
    names = parser.parse_args().names or list(known)
    unknown = [name for name in names if name not in known]
    if unknown:
        print(f"benchmarks: unknown benchmark {', '.join(unknown)}; available: {', '.join(known)}", file=sys.stderr)
        return 2
    results = []
    folder = FOLDER / "results"
    folder.mkdir(exist_ok=True)
    for name in names:
        print(f"{name} …", flush=True)
        results.append(run_benchmark(name, known[name]))
        text = json.dumps(results[-1], indent=2, ensure_ascii=False)
        (folder / f"{name}.json").write_text(text + "\n", encoding="utf-8")
    show(results)
    return 0


if __name__ == "__main__":
    sys.exit(main())
