"""Costs and benefits of int8: every shipped network with several options, compared with the same network in fp32.

`_kl` is the mean divergence of the policy in nats, `_same` the share of positions with the same best move, `_value` the
mean difference of the value, over positions of games between simple players. `_speed_ratio` is the number of
evaluations per CPU second on one thread, relative to fp32 in the same run, at a batch of 64.
"""

from __future__ import annotations

import statistics
import time

import numpy as np

from tengen.core.planes import FloatPlanes
from tengen.nets.calibration import played_planes
from tengen.nets.evaluators import OnnxEvaluator
from tengen.nets.export import Int8Options, quantise
from tengen.nets.models import find_model, load_model, model_names, read_card

VARIANTS = {
    "residuals_heads": Int8Options(residuals=True, heads=True),
    "residuals": Int8Options(residuals=True),
    "not_rectified": Int8Options(rectified=False),
    "chosen": Int8Options(),
    "full_range": Int8Options(full_range=True),
}
"""Variants by name; `tengen ship` and self-play use `chosen`."""

POSITIONS = 1000
BATCH = 64
ROUNDS = 15


def run() -> dict[str, float]:
    figures: dict[str, float] = {}
    for name in model_names():
        if read_card(name).get("int8", True):
            figures |= {f"{name}_{key}": value for key, value in _compare(name).items()}
    return figures


def _compare(name: str) -> dict[str, float]:
    """Return the figures of one network."""
    info = load_model(name)[1]
    model = find_model(name).read_bytes()
    calibration = played_planes(info.ruleset, info.plane_layout, 512, seed=1)
    planes = played_planes(info.ruleset, info.plane_layout, POSITIONS, seed=2)
    nets = {"fp32": OnnxEvaluator(model)}
    nets |= {variant: OnnxEvaluator(quantise(model, calibration, options)) for variant, options in VARIANTS.items()}
    seconds = _seconds(nets, planes[:BATCH])
    policy, value = nets["fp32"].evaluate(planes)
    figures: dict[str, float] = {}
    for variant in VARIANTS:
        its_policy, its_value = nets[variant].evaluate(planes)
        divergence = (np.exp(policy.astype(np.float64)) * (policy - its_policy)).sum(axis=1).mean()
        figures[f"{variant}_kl"] = float(divergence)
        figures[f"{variant}_same"] = float((its_policy.argmax(axis=1) == policy.argmax(axis=1)).mean())
        figures[f"{variant}_value"] = float(np.abs(its_value - value).mean())
        figures[f"{variant}_speed_ratio"] = seconds["fp32"] / seconds[variant]
    return figures


def _seconds(nets: dict[str, OnnxEvaluator], planes: FloatPlanes) -> dict[str, float]:
    """Return the median CPU seconds per batch; the networks take turns."""
    measured: dict[str, list[float]] = {name: [] for name in nets}
    for _ in range(ROUNDS):
        for name, net in nets.items():
            started = time.process_time()
            net.evaluate(planes)
            measured[name].append(time.process_time() - started)
    return {name: statistics.median(times) for name, times in measured.items()}
