"""Training on a real Ray cluster of two nodes on this machine: what is lost, what is counted, and moving a run."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Callable
from itertools import groupby
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console
from typer.testing import CliRunner

from tengen.cli import app
from tengen.cluster.local_cluster import LocalCluster
from tengen.cluster.training import RayPlace
from tengen.learning.algorithms.alphazero import Config, Learner, train
from tengen.learning.config import load_config
from tengen.learning.experience.replay import NO_MOVE, Samples
from tengen.learning.run.folder import Run, new_header
from tengen.learning.run.progress import Progress
from tengen.nets.architectures import build_net
from tengen.papers.comparison.experiments import Race
from tengen.papers.experiment import Lab
from tengen.records import load

pytestmark = pytest.mark.xdist_group("ray")  # one cluster for all of them

TINY = [
    "minutes=0",
    "self_play.games=20",
    "self_play.parallel=8",
    "net.channels=8",
    "net.blocks=1",
    "search.simulations=8",
    "strength.every=0",
    "learner.batch=32",
    "learner.threads=1",
]


def begin(folder: Path, *settings: str) -> Run:
    config = load_config(Config, "alphazero", "6x6x4", [*TINY, *settings])
    return Run.create(folder, new_header("alphazero", "6x6x4", 1), config)


def go(run: Run, place: RayPlace | None = None) -> None:
    train(run, Progress(Console(quiet=True), "test"), place)


def comments(run: Run) -> list[str]:
    """Shard and weights of all games, in the order in which they were counted."""
    return [game.comment for path in run.game_files() for game in load(path)]


def check_counts(run: Run, iterations: int, games: int = 20) -> None:
    """Every iteration has its games, every file loads, and no shard was counted twice."""
    metrics = run.metrics()
    assert [line["iteration"] for line in metrics] == list(range(1, iterations + 1))
    assert [line["games"] for line in metrics] == [games * number for number in range(1, iterations + 1)]
    assert [len(load(path)) for path in run.game_files()] == [games] * iterations
    rows = 0
    for path in sorted((run.folder / "replay").iterdir()):
        with np.load(path, allow_pickle=False) as arrays:
            rows += len(arrays["result"])
    assert rows <= metrics[-1]["positions"]
    # The games of a shard are next to each other; a shard that came twice would be there twice.
    shards = [shard for shard, _ in groupby(comment.split()[1] for comment in comments(run) if comment)]
    assert len(shards) == len(set(shards))


class Watching(Progress):
    """Calls back at the end of each iteration, before its checkpoint; in the main thread, as Ray's test nodes need."""

    def __init__(self, at_iteration: Callable[[int], None]) -> None:
        super().__init__(Console(quiet=True), "test")
        self._at_iteration = at_iteration
        self._iterations = 0

    def update(self, fraction: float, seconds_left: float | None, text: str) -> None:
        self._iterations += 1
        self._at_iteration(self._iterations)


def test_killed_workers_and_nodes_cost_no_counted_game(cluster: LocalCluster, tmp_path: Path) -> None:
    run = begin(tmp_path / "run", "iterations=16", "search.simulations=48", "self_play.first_simulations=0")
    strikes = {3: cluster.kill_worker, 6: cluster.replace_node, 9: cluster.kill_worker, 12: cluster.replace_node}

    def strike(iteration: int) -> None:
        if iteration in strikes:
            strikes.pop(iteration)()

    train(run, Watching(strike), RayPlace())
    check_counts(run, 16)
    assert strikes == {}
    last = run.metrics()[-1]
    assert last["cluster"]["restarts"] >= 2
    assert last["cluster"]["workers"] <= 2
    assert last["self_play"]["staleness"] >= 0
    done = CliRunner().invoke(app, ["runs", str(run.folder)], env={"COLUMNS": "200"})
    assert " workers, " in done.stdout
    assert " restarts" in done.stdout


def test_a_run_moves_to_the_cluster_and_back(cluster: LocalCluster, tmp_path: Path) -> None:
    run = begin(tmp_path / "run", "iterations=6")

    def stop(iteration: int) -> None:
        if iteration == 3:
            raise KeyboardInterrupt

    for place in (None, RayPlace()):
        # The third iteration of each has no checkpoint yet and is done again.
        with pytest.raises(KeyboardInterrupt):
            train(Run.open(run.folder), Watching(stop), place)
    go(Run.open(run.folder))
    metrics = run.metrics()
    assert [line["iteration"] for line in metrics] == [1, 2, 3, 4, 5, 6]
    assert ["cluster" in line for line in metrics] == [False, False, True, True, False, False]
    assert metrics[3]["games"] - metrics[1]["games"] == 40
    assert [bool(comment) for comment in comments(run)].count(True) == 40


def test_a_driver_that_is_killed_and_resumed_ends_with_the_same_counts(cluster: LocalCluster, tmp_path: Path) -> None:
    run = begin(tmp_path / "run", "iterations=8")
    command = [sys.executable, "-m", "tengen.cli", "train", "alphazero", "--quiet", "--resume"]
    command += ["--run", str(run.folder), "--on", f"ray={cluster.address}"]
    for iterations in (2, 4):
        driver = subprocess.Popen(command)
        while len(run.metrics()) < iterations and driver.poll() is None:
            time.sleep(0.2)
        driver.send_signal(signal.SIGKILL)
        driver.wait()
        assert iterations <= len(run.metrics()) < 8
    subprocess.run(command, check=True, timeout=300)
    check_counts(run, 8)


# -- several learners ------------------------------------------------------------------------------------------------


def test_two_learners_take_the_steps_of_one(cluster: LocalCluster) -> None:
    config = load_config(Config, "alphazero", "6x6x4", [*TINY, "learners=2", "learner.batch=33"])
    rng = np.random.default_rng(1)

    def batch() -> Samples:
        policy = rng.random((33, 36)).astype(np.float32)
        return Samples(
            planes=rng.integers(0, 2, (33, 12, 6, 6)).astype(np.int8),
            policy=(policy / policy.sum(axis=1, keepdims=True)).astype(np.float16),
            value_to_move=rng.uniform(-1, 1, 33).astype(np.float32),
            result=rng.integers(-1, 2, 33).astype(np.float32),
            reply=np.where(rng.random(33) < 0.3, NO_MOVE, rng.integers(0, 36, 33)).astype(np.int16),
            surprise=np.ones(33, np.float32),
        )

    batches = [(batch(), 1e-3) for _ in range(12)]
    one, several = (Learner(build_net(config.net, config.ruleset, seed=5), config.learner) for _ in range(2))
    expected = list(one.train(batches))
    with RayPlace().trainer(several, config) as trainer:
        found = list(trainer.train(batches[:5]))
        assert several.steps == 5
        found += list(trainer.train(batches[5:]))
    for ours, theirs in zip(found, expected, strict=True):
        assert ours == pytest.approx(theirs, rel=2e-4)
    assert several.steps == 12
    # Adam makes a full step of a gradient of almost zero, so single weights may differ, but not what they compute.
    assert set(expected[0]) == {"policy", "value", "soft_policy", "reply"}
    unseen = batch()
    assert several.validate(unseen) == pytest.approx(one.validate(unseen), rel=1e-3)


def test_the_comparison_of_the_papers_runs_on_the_cluster(cluster: LocalCluster, tmp_path: Path) -> None:
    settings = ("iterations=1", "strength.opponents=['random', 'rule-based']", "strength.games=2", *TINY[1:6])
    race = Race(name="r", board="6x6x4", algorithms=("alphazero",), cpu_minutes=5, seeds=1, settings=settings)
    race.run(Lab(out=tmp_path, console=Console(quiet=True), on=f"ray={cluster.address}"))
    (line,) = Run.open(tmp_path / "runs" / "r-alphazero" / "1").metrics()
    assert line["cluster"]["workers"] >= 1
