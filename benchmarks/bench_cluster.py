"""Training on a Ray cluster of two nodes on this machine, compared with training in one process.

Both runs train four in a row on 6×6 with the same number of games on the same two cores, so the ratio of their speeds
shows the cost of Ray. Then the two final networks play a match, because the same number of games should give the same
strength. The other figures are for the sizing model in docs/tutorials/cluster.md: the rates at which a worker plays,
the driver receives games and the learner trains, for five in a row on 9×9.
"""

from __future__ import annotations

import pickle
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from rich.console import Console

from tengen.arena.elo import estimate_elo
from tengen.arena.entrant import Entrant
from tengen.arena.match import TimeControl
from tengen.arena.store import GameStore
from tengen.arena.tournament import OpeningSettings, Tournament, play
from tengen.cluster.local_cluster import LocalCluster
from tengen.cluster.self_play import Request, Shard, open_player
from tengen.cluster.training import RayPlace
from tengen.learning.algorithms.alphazero import Config, Learner, train
from tengen.learning.config import load_config
from tengen.learning.experience.game_source import SelfPlaySpec
from tengen.learning.experience.replay import Replay, Samples
from tengen.learning.experience.self_play import Games, save_games
from tengen.learning.run.folder import Run, new_header
from tengen.learning.run.loop import channels_last
from tengen.learning.run.progress import Progress
from tengen.learning.run.reading import strength_curve
from tengen.nets.architectures import build_net
from tengen.nets.export import export_onnx

ITERATIONS = 60
"""Number of iterations, of 128 games each."""
WARM = 5
"""Iterations before the throughput is measured; in them, processes start, and the first networks play long games."""
MATCH_PAIRS = 100
MATCH_SIMULATIONS = 64
PLAY_S = 30.0
STEPS = 40
NODES = (1, 2, 10, 100, 1000)
CORES_PER_NODE = 2


def run() -> dict[str, Any]:
    """Return the figures; takes about ten minutes on two idle cores."""
    with tempfile.TemporaryDirectory() as folder:
        local = _train(Path(folder) / "local", None)
        with LocalCluster():
            on_ray = _train(Path(folder) / "ray", RayPlace())
            two_learners = _steps_per_second(_config(learners=2, threads=1))
        match = _match(Path(folder) / "ray", Path(folder) / "local")
    figures: dict[str, Any] = {f"local_{name}": value for name, value in local.items()}
    figures |= {f"ray_{name}": value for name, value in on_ray.items()}
    figures |= match
    figures["ray_local_throughput_ratio"] = on_ray["games_per_second"] / local["games_per_second"]
    figures["steps_per_second_1_thread"] = _steps_per_second(_config(threads=1))
    figures["steps_per_second_2_threads"] = _steps_per_second(_config(threads=2))
    figures["steps_per_second_2_learners"] = two_learners
    figures["two_learners_one_thread_ratio"] = two_learners / figures["steps_per_second_1_thread"]
    return {**figures, **_size(figures["steps_per_second_2_threads"])}


def _train(folder: Path, place: RayPlace | None) -> dict[str, float]:
    settings = ["minutes=0", f"iterations={ITERATIONS}", f"strength.every={ITERATIONS}", "strength.games=40"]
    config = load_config(Config, "alphazero", "6x6x4", settings)
    made = Run.create(folder, new_header("alphazero", "6x6x4", 1), config)
    train(made, Progress(Console(quiet=True), folder.name), place)
    metrics = made.metrics()
    first, last = metrics[WARM - 1], metrics[-1]
    (point,) = strength_curve(metrics)
    return {
        "games": last["games"],
        "games_per_second": (last["games"] - first["games"]) / (last["seconds"] - first["seconds"]),
        "elo": point.elo,
        "elo_error": point.error,
        "staleness": float(np.mean([line["self_play"]["staleness"] for line in metrics[WARM:]])),
    }


# -- the sizing model -------------------------------------------------------------------------------------------------


def _match(ray: Path, local: Path) -> dict[str, float]:
    """Play the final networks against each other from random openings of two stones, each opening with both colours."""
    tournament = Tournament(
        rules=(load_config(Config, "alphazero", "6x6x4", []).ruleset,),
        players=tuple(
            Entrant(
                name=folder.name, agent=f'alphazero:run="{folder}"', limits=TimeControl(simulations=MATCH_SIMULATIONS)
            )
            for folder in (ray, local)
        ),
        rounds=MATCH_PAIRS,
        openings=OpeningSettings(stones=2),
        seed=1,
    )
    with GameStore(ray.parent / "match.db") as store:
        estimate = estimate_elo(play(tournament, store, concurrency=2).tally.match_counts(0, 1))
    return {
        "match_games": 2 * MATCH_PAIRS,
        "match_ray_score": estimate.score,
        "match_ray_elo": estimate.elo,
        "match_ray_elo_low": estimate.low,
        "match_ray_elo_high": estimate.high,
    }


def _config(*, learners: int = 1, threads: int = 1) -> Config:
    settings = [f"learners={learners}", f"learner.threads={threads}", "learner.device=cpu", "self_play.device=cpu"]
    return load_config(Config, "alphazero", "9x9", settings)


def _size(steps_per_second: float) -> dict[str, Any]:
    config = _config()
    spec = SelfPlaySpec(
        ruleset=config.ruleset,
        layout=config.net.planes,
        openings=config.openings,
        games=config.self_play.games,
        actors=config.self_play.actors,
        parallel=config.self_play.parallel,
        seed=1,
    )
    model = export_onnx(build_net(config.net, config.ruleset, seed=1), config.ruleset)
    with open_player(spec, 0) as play:
        play(Request(0, config.search, 10_000, PLAY_S), model)  # warm up, until games end at a steady rate
        started = time.perf_counter()
        shard = play(Request(0, config.search, 10_000, PLAY_S), model)
        per_worker = len(shard.games) / (time.perf_counter() - started)
    positions = sum(len(game.samples) for game in shard.games) / len(shard.games)
    message = pickle.dumps(shard, protocol=5)
    driver = _ingest(shard, message, config)
    learner = steps_per_second * config.learner.batch / config.learner.reuse / positions
    figures: dict[str, Any] = {
        "worker_games_per_second": per_worker,
        "positions_per_game": positions,
        "bytes_per_game": len(message) / len(shard.games),
        "model_bytes": len(model),
        "driver_games_per_second": driver,
        "learner_games_per_second": learner,
    }
    for nodes in NODES:
        rates = {"self-play": nodes * CORES_PER_NODE * per_worker, "driver": driver, "learner": learner}
        bottleneck = min(rates, key=lambda name: rates[name])
        figures[f"games_per_hour_{nodes}_nodes"] = round(3600 * rates[bottleneck])
        figures[f"bottleneck_{nodes}_nodes"] = bottleneck
    return figures


def _ingest(shard: Shard, message: bytes, config: Config) -> float:
    """Return how many games per second a driver can unpack, join and write when it does nothing else."""
    rounds = max(1, 512 // len(shard.games))
    with tempfile.TemporaryDirectory() as folder:
        replay = Replay(Path(folder) / "replay", config.ruleset, config.net.planes, config.window)
        started = time.perf_counter()
        games = []
        for _ in range(rounds):
            for game in pickle.loads(message).games:
                games.append(replace(game, samples=Samples.concatenate([game.samples])))
        joined = Games.join(games, 0)
        replay.add(1, joined.samples)
        save_games(Path(folder), 1, joined.moves, joined.outcomes, config.ruleset)
        return len(games) / (time.perf_counter() - started)


def _steps_per_second(config: Config) -> float:
    """Return the training steps per second; with several learners, their total."""
    torch.set_num_threads(config.learner.threads)
    learner = Learner(channels_last(build_net(config.net, config.ruleset, seed=1)), config.learner)
    batch = _random_batch(config)

    def batches(count: int) -> Iterator[tuple[Samples, float]]:
        for _ in range(count):
            yield batch, 1e-3

    with RayPlace().trainer(learner, config) as trainer:
        list(trainer.train(batches(5)))
        started = time.perf_counter()
        list(trainer.train(batches(STEPS)))
        return STEPS / (time.perf_counter() - started)


def _random_batch(config: Config) -> Samples:
    rng, count, area = np.random.default_rng(1), config.learner.batch, config.ruleset.area
    net = build_net(config.net, config.ruleset, seed=1)
    channels = next(net.parameters()).shape[1]
    policy = rng.random((count, area)).astype(np.float32)
    return Samples(
        planes=rng.integers(0, 2, (count, channels, config.ruleset.height, config.ruleset.width)).astype(np.int8),
        policy=(policy / policy.sum(axis=1, keepdims=True)).astype(np.float16),
        value_to_move=rng.uniform(-1, 1, count).astype(np.float32),
        result=rng.integers(-1, 2, count).astype(np.float32),
        reply=rng.integers(0, area, count).astype(np.int16),
        surprise=np.ones(count, np.float32),
    )
