"""Kill processes while a run trains on a Ray cluster of two nodes on this machine, and check that nothing was lost.

    python -m benchmarks.chaos --minutes 10 --every 20     # kill worker processes and nodes alternately
    python -m benchmarks.chaos --driver 5                  # kill the driver five times and resume it each time

Prints the findings; the exit code is 1 if a check failed.
"""

from __future__ import annotations

import argparse
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import defaultdict
from contextlib import suppress
from itertools import groupby
from pathlib import Path

import numpy as np
import psutil
from rich.console import Console

from tengen.cluster.local_cluster import LocalCluster
from tengen.cluster.training import RayPlace
from tengen.errors import TengenError
from tengen.learning.algorithms.alphazero import Config, train
from tengen.learning.config import load_config
from tengen.learning.run.folder import Run, new_header
from tengen.learning.run.progress import Progress
from tengen.records import load

GAMES = 128
"""Games per iteration."""
WINDOW = 5_000
"""Positions in the replay window. It fills within the first two minutes; after that, the driver should not grow."""
FLAT_AFTER_S = 120.0
MAX_GROWTH = 1.10
"""Maximum ratio of the memory at the end to the memory after `FLAT_AFTER_S`."""
_SAMPLE_S = 2.0


class Striking(Progress):
    """Kills processes at the end of iterations, in the main thread."""

    def __init__(self, cluster: LocalCluster, every_s: float) -> None:
        super().__init__(Console(quiet=True), "chaos")
        self._cluster = cluster
        self._every_s = every_s
        self._next = time.monotonic() + every_s
        self.killed: list[str] = []

    def update(self, fraction: float, seconds_left: float | None, text: str) -> None:
        print(f"{100 * fraction:3.0f} %  {text}", flush=True)
        if time.monotonic() < self._next:
            return
        self._next = time.monotonic() + self._every_s
        if len(self.killed) % 2:
            self._cluster.replace_node()
            self.killed.append("node")
        elif self._cluster.kill_worker():
            self.killed.append("worker")


class Memory:
    """Samples the memory of the driver and of all processes of the cluster in a thread."""

    def __init__(self, cluster: LocalCluster) -> None:
        self._cluster = cluster
        self._is_over = threading.Event()
        self._started = time.monotonic()
        self.samples: dict[str, list[tuple[float, int]]] = defaultdict(list)
        """For each kind of process, the seconds since the start and the bytes of the largest process."""
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def _watch(self) -> None:
        while not self._is_over.wait(_SAMPLE_S):
            largest: dict[str, int] = defaultdict(int)
            largest["driver"] = _own_memory(psutil.Process())
            for process in self._cluster.processes():
                with suppress(psutil.Error):
                    kind = process.name()
                    largest[kind] = max(largest[kind], _own_memory(process))
            now = time.monotonic() - self._started
            for kind, size in largest.items():
                self.samples[kind].append((now, size))

    def close(self) -> None:
        self._is_over.set()
        self._thread.join()

    def growth(self) -> dict[str, tuple[float, float]]:
        """Return, by kind, the memory in MiB after `FLAT_AFTER_S` and at the end, as medians over a minute."""
        found = {}
        for kind, samples in self.samples.items():
            end = samples[-1][0]
            early = [size for at, size in samples if FLAT_AFTER_S <= at < FLAT_AFTER_S + 60]
            late = [size for at, size in samples if at >= end - 60]
            if early and end > FLAT_AFTER_S + 120:
                found[kind] = float(np.median(early)) / 2**20, float(np.median(late)) / 2**20
        return found


def _own_memory(process: psutil.Process) -> int:
    """Return the resident bytes without shared pages, which belong to the object store and have their own limit."""
    memory = process.memory_info()
    return int(memory.rss - getattr(memory, "shared", 0))


def check_run(run: Run) -> list[str]:
    """Return the problems with the files and counts of a run on a cluster."""
    problems = []
    metrics = run.metrics()
    count = len(metrics)
    if [line["games"] for line in metrics] != [GAMES * number for number in range(1, count + 1)]:
        problems.append("the game counts in the metrics are wrong")
    try:
        games = [load(path) for path in run.game_files()]
    except TengenError as error:
        return [*problems, f"a game file cannot be loaded: {error}"]
    if [len(part) for part in games] != [GAMES] * count:
        problems.append("the game files do not match the counts in the metrics")
    shards = [shard for shard, _ in groupby(game.comment.split()[1] for part in games for game in part)]
    if len(shards) != len(set(shards)):
        problems.append("a shard was counted twice")
    rows = 0
    for path in sorted((run.folder / "replay").iterdir()):
        with np.load(path, allow_pickle=False) as arrays:
            rows += len(arrays["result"])
    if not 0 < rows <= metrics[-1]["positions"]:
        problems.append(f"{rows} positions in the replay window, but {metrics[-1]['positions']} were generated")
    checkpoint = run.load_checkpoint()
    if checkpoint is None or checkpoint.iteration != count:
        problems.append("the newest checkpoint is not from the last iteration")
    print(f"{count} iterations, {sum(map(len, games))} games in {len(shards)} shards, all files load")
    return problems


def begin(folder: Path, *settings: str) -> Run:
    config = load_config(Config, "alphazero", "6x6x4", ["strength.every=0", f"self_play.games={GAMES}", *settings])
    return Run.create(folder, new_header("alphazero", "6x6x4", 1), config)


def strike_workers(folder: Path, minutes: float, every_s: float) -> list[str]:
    """Train for some minutes while workers and nodes are killed."""
    with LocalCluster() as cluster:
        window = (f"window.first={WINDOW}", f"window.largest={WINDOW}")
        run = begin(folder / "run", f"minutes={minutes}", "iterations=100000", *window)
        progress, memory = Striking(cluster, every_s), Memory(cluster)
        train(run, progress, RayPlace())
        memory.close()
        spilled = cluster.spilled_files()
    problems = check_run(run)
    last = run.metrics()[-1]
    print(f"killed {progress.killed.count('worker')} workers and {progress.killed.count('node')} nodes;", end=" ")
    print(f"{last['cluster']['restarts']} restarts, staleness {last['self_play']['staleness']}")
    if len(progress.killed) < 60 * minutes / every_s / 2:
        problems.append(f"only {len(progress.killed)} kills")
    for kind, (early, late) in sorted(memory.growth().items()):
        print(f"memory of {kind}: {early:.0f} MiB after {FLAT_AFTER_S / 60:.0f} minutes, {late:.0f} MiB at the end")
        if late > MAX_GROWTH * early + 5:
            problems.append(f"the memory of {kind} grew from {early:.0f} to {late:.0f} MiB")
    if spilled:
        problems.append(f"{len(spilled)} objects were spilled to disk")
    return problems


def strike_driver(folder: Path, kills: int, iterations_between: int = 3) -> list[str]:
    """Kill the driver several times and resume. The counts must equal those of an uninterrupted run."""
    total = iterations_between * (kills + 1)
    with LocalCluster() as cluster:
        run = begin(folder / "run", "minutes=0", f"iterations={total}")
        command = [sys.executable, "-m", "tengen.cli", "train", "alphazero", "--quiet", "--resume"]
        command += ["--run", str(run.folder), "--on", f"ray={cluster.address}"]
        for number in range(1, kills + 1):
            driver = subprocess.Popen(command)
            while len(run.metrics()) < number * iterations_between and driver.poll() is None:
                time.sleep(0.1)
            driver.send_signal(signal.SIGKILL)
            driver.wait()
            print(f"killed the driver after {len(run.metrics())} iterations", flush=True)
        subprocess.run(command, check=True)
    problems = check_run(run)
    if len(run.metrics()) != total:
        problems.append(f"{len(run.metrics())} iterations instead of {total}")
    return problems


def main() -> int:
    """Run one of the two tests."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.chaos", description=__doc__.partition("\n")[0])
    parser.add_argument("--minutes", type=float, default=10.0, help="training time in minutes (default: 10)")
    parser.add_argument("--every", type=float, default=20.0, help="seconds between kills (default: 20)")
    parser.add_argument("--driver", type=int, default=0, metavar="N", help="kill the driver N times instead")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if chosen.driver:
            problems = strike_driver(Path(folder), chosen.driver)
        else:
            problems = strike_workers(Path(folder), chosen.minutes, chosen.every)
    for problem in problems:
        print(f"wrong: {problem}")
    print("all checks passed" if not problems else f"{len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
