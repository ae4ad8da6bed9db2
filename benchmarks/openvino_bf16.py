"""Compare the backend openvino, which computes in bf16, with onnxruntime in fp32 and int8.

    python -m benchmarks.openvino_bf16 [MODEL …]

This is not part of `make bench`, because it needs the extra `openvino`. The figures are those of `bench_int8`, with
speeds for batches of 1, 16 and 64 positions. `self-play` is the number of evaluations per CPU second of self-play,
relative to fp32, with the tree search of the preset that has the model's name.
"""

from __future__ import annotations

import statistics
import sys
import time

import numpy as np

from tengen.core.contracts import Evaluator
from tengen.learning.algorithms.alphazero import Config
from tengen.learning.config import load_config
from tengen.nets.calibration import played_planes
from tengen.nets.models import load_evaluator, load_model
from tengen.search.puct_self_play import SelfPlay

POSITIONS = 1000
BATCHES = (1, 16, 64)
ROUNDS = 15
SELF_PLAY_ROUNDS = 6
ROUND_SECONDS = 0.7


def main(names: list[str]) -> None:
    for name in names:
        info = load_model(name)[1]
        nets: dict[str, Evaluator] = {
            "fp32": load_evaluator(name),
            "int8": load_evaluator(name, precision="int8"),
            "bf16": load_evaluator(name, backend="openvino"),
        }
        planes = played_planes(info.ruleset, info.plane_layout, POSITIONS, seed=2)
        policy, _ = nets["fp32"].evaluate(planes)
        speeds = {batch: _seconds(nets, planes[:batch]) for batch in BATCHES}
        rates = _self_play_rates(name, nets)
        for form, net in nets.items():
            its_policy, _ = net.evaluate(planes)
            divergence = (np.exp(policy.astype(np.float64)) * (policy - its_policy)).sum(axis=1).mean()
            same = (its_policy.argmax(axis=1) == policy.argmax(axis=1)).mean()
            faster = ", ".join(f"{batch}: {speeds[batch]['fp32'] / speeds[batch][form]:.2f}" for batch in BATCHES)
            print(
                f"{name} {form}: divergence {divergence:.5f}, same best move {same:.1%}, speed for a batch of {faster},"
                f" self-play {rates[form] / rates['fp32']:.2f}"
            )


def _seconds(nets: dict[str, Evaluator], planes: np.ndarray[tuple[int, ...], np.dtype[np.float32]]) -> dict[str, float]:
    """Return the median CPU seconds per batch; the networks take turns."""
    measured: dict[str, list[float]] = {form: [] for form in nets}
    for _ in range(ROUNDS):
        for form, net in nets.items():
            started = time.process_time()
            for _ in range(BATCHES[-1] // len(planes)):
                net.evaluate(planes)
            measured[form].append(time.process_time() - started)
    return {form: statistics.median(times) for form, times in measured.items()}


def _self_play_rates(preset: str, nets: dict[str, Evaluator]) -> dict[str, float]:
    """Return the median number of evaluations per CPU second of self-play; the networks take turns."""
    config = load_config(Config, "alphazero", preset)
    plays = {
        form: SelfPlay(
            config.ruleset, config.search, games=64, seed=1, layout=config.net.planes, openings=config.openings
        )
        for form in nets
    }
    rates: dict[str, list[float]] = {form: [] for form in nets}
    for _ in range(SELF_PLAY_ROUNDS + 1):
        for form, net in nets.items():
            before, started = plays[form].counts.evaluations, time.process_time()
            while time.process_time() - started < ROUND_SECONDS:
                plays[form].step(net)
            rates[form].append((plays[form].counts.evaluations - before) / (time.process_time() - started))
    return {form: statistics.median(each[1:]) for form, each in rates.items()}  # new trees are smaller than usual


if __name__ == "__main__":
    main(sys.argv[1:] or ["9x9", "15x15"])
