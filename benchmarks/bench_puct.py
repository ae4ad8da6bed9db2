"""Cost of the tree relative to the network: self-play on 9×9 with the paper's network, and single positions.

The network is zero9's model II with random weights, which are as fast as trained ones. The search is the paper's
(preset `zero9`: 500 simulations, noise at every expansion), with one leaf per game and 128 games per thread. Two
threads each play their own games and evaluate with one thread. *Raw* means that the same two threads only evaluate
batches of 128. Every simulation that does not end in a finished game costs one evaluation.

Self-play and raw evaluation take turns, so that load on the machine affects both, and each round gives one ratio.
Figures are medians over the rounds. Ratios use processor time, which other programs affect less than wall-clock time.
`*_per_second` uses wall-clock time and is meaningful only on an idle machine.
"""

from __future__ import annotations

import statistics
import threading
import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from tengen.core.contracts import Evaluator, Limits, Ruleset
from tengen.core.position import Position
from tengen.learning.experience.self_play import random_planes
from tengen.nets.evaluators import OnnxEvaluator
from tengen.search.evaluation import UniformEvaluator
from tengen.search.puct_config import PRESETS
from tengen.search.puct_search import PuctSearch
from tengen.search.puct_self_play import SelfPlay

LAYOUT = "own-other-last-colour"
RULES = Ruleset.parse("9x9:5:freestyle")
OPENED = Position.from_moves(RULES, "e5e6d6f4")
GAMES = 128
THREADS = 2
ROUNDS = 7
ROUND_SECONDS = 1.5
WARM_UP_SECONDS = 4.0
PAPER_SECONDS_A_MOVE = 1.5


def run() -> dict[str, float]:
    """Return all figures by name."""
    figures: dict[str, float] = {}
    networks = _networks()
    for name, network in networks.items():
        figures |= {f"{name}_{key}": value for key, value in _self_play(network).items()}
    figures |= {f"tree_alone_{key}": value for key, value in _tree_alone().items()}
    for name, network in networks.items():
        figures |= {f"{name}_{key}": value for key, value in _single_position(network).items()}
    return figures


def _networks() -> dict[str, Evaluator]:
    from tengen.nets.architectures import NetConfig, NetKind, build_net
    from tengen.nets.export import export_onnx, quantise

    model = export_onnx(build_net(NetConfig(kind=NetKind.PLAIN, planes=LAYOUT), RULES), RULES)
    planes = random_planes(RULES, LAYOUT, 256, np.random.default_rng(1))
    return {"fp32": OnnxEvaluator(model), "int8": OnnxEvaluator(quantise(model, planes))}


def _self_play(network: Evaluator) -> dict[str, float]:
    plays = [SelfPlay(RULES, PRESETS["zero9"], games=GAMES, seed=i, layout=LAYOUT) for i in range(THREADS)]
    rng = np.random.default_rng(1)
    batches = [random_planes(RULES, LAYOUT, GAMES, rng) for _ in range(THREADS)]

    def play(thread: int) -> int:
        return plays[thread].step(network)

    def ask(thread: int) -> int:
        network.evaluate(batches[thread])
        return GAMES

    # Warm up, because new trees are smaller than usual.
    _throughput(play, WARM_UP_SECONDS)
    rounds = [(_throughput(ask, ROUND_SECONDS), _throughput(play, ROUND_SECONDS)) for _ in range(ROUNDS)]
    return {
        "raw_evaluations_per_second": statistics.median(raw[0] for raw, _ in rounds),
        "self_play_evaluations_per_second": statistics.median(played[0] for _, played in rounds),
        "raw_evaluations_per_cpu_second": statistics.median(raw[1] for raw, _ in rounds),
        "self_play_evaluations_per_cpu_second": statistics.median(played[1] for _, played in rounds),
        "self_play_to_raw_ratio": statistics.median(played[1] / raw[1] for raw, played in rounds),
    }


def _throughput(work: Callable[[int], int], seconds: float) -> tuple[float, float]:
    """Return the evaluations per second of all threads together, by wall-clock time and by processor time."""
    rows = [0] * THREADS
    wall, processor = time.perf_counter(), time.process_time()

    def loop(thread: int) -> None:
        while time.perf_counter() - wall < seconds:
            rows[thread] += work(thread)

    threads = [threading.Thread(target=loop, args=(thread,)) for thread in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(rows) / (time.perf_counter() - wall), sum(rows) / (time.process_time() - processor)


def _tree_alone() -> dict[str, float]:
    """Measure simulations per second of processor time without a network, in the paper's search and in ours."""
    figures = {}
    for name, rules, preset in (("zero9", "9x9", "zero9"), ("best", "9x9", "best"), ("best_15", "15x15", "best")):
        play = SelfPlay(Ruleset.parse(rules), replace(PRESETS[preset], temperature=1.0), games=GAMES, seed=1)
        network = UniformEvaluator()
        processor = time.process_time()
        while time.process_time() - processor < ROUND_SECONDS:
            play.step(network)
        spent = time.process_time() - processor
        figures[f"{name}_simulations_per_cpu_second"] = play.counts.simulations / spent
    return figures


def _single_position(network: Evaluator) -> dict[str, float]:
    """Time a search of 500 simulations from an empty tree, with one thread and with two threads on one tree."""
    config = replace(PRESETS["zero9"], leaves=16)
    seconds: dict[int, list[float]] = {1: [], 2: []}
    for _ in range(ROUNDS):
        for threads, each in seconds.items():
            search = PuctSearch(RULES, network, config)
            started = time.perf_counter()
            search.search(OPENED, Limits(simulations=500, threads=threads))
            each.append(time.perf_counter() - started)
    one, two = (statistics.median(each) for each in seconds.values())
    return {
        "move_of_500_simulations_seconds": two,
        "paper_seconds_to_ours_ratio": PAPER_SECONDS_A_MOVE / two,
        "two_threads_to_one_ratio": one / two,
    }
