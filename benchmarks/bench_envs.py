"""How fast environments step: the native vector environment beside NumPy and OpenSpiel, and what renju fouls cost.

A step is one action of the agent (black), the random opponent's reply, and the new observation (three planes) and
action mask of a 15×15 freestyle board; finished games start again. The agent's actions are random legal points: drawn
by the native helper `sample_actions`, by NumPy in the NumPy environment, by `random.choice` for OpenSpiel. Choosing
them is part of the measured time. Everything runs on one thread unless its name says otherwise, in turns, so that a
busy moment hits each contender. `_per_second` is the best round by the clock on the wall; `_per_cpu_second` and
`_ratio` are medians over the rounds by processor time, which other programs on the machine disturb less.
"""

from __future__ import annotations

import random
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

from benchmarks.numpy_env import NumpyGomoku
from tengen._native import Policy, PolicyKind
from tengen.core.contracts import Colour, Ruleset
from tengen.core.position import Position
from tengen.envs import GomokuVectorEnv

BOARDS = 1024
ROUNDS = 7
SEED = 1

Runner = Callable[[int], None]


def run() -> dict[str, float]:
    contenders = {
        "vector": (_vector_runner(copy=False), 1000),
        "vector_copy": (_vector_runner(copy=True), 300),
        "vector_float32": (_vector_runner(copy=False, dtype="float32"), 500),
        "vector_two_threads": (_vector_runner(copy=False, threads=2), 1000),
        "vector_self_play": (_vector_runner(copy=False, opponent=None), 1000),
        "vector_naive3": (_vector_runner(copy=False, opponent="naive:level=3"), 100),
        "vector_renju": (_vector_runner(copy=False, ruleset="15x15:5:renju"), 20),
        "numpy": (_numpy_runner(), 60),
    }
    figures: dict[str, float] = {"boards": BOARDS}
    seconds = _measure({name: (runner, steps * BOARDS) for name, (runner, steps) in contenders.items()})
    spiel = _spiel_runner()
    if spiel is not None:
        seconds |= _measure({"openspiel": (spiel, 2000), "vector_again": (contenders["vector"][0], 1000 * BOARDS)})
    for name, (wall, _) in seconds.items():
        if name != "vector_again":
            figures[f"{name}_steps_per_second"] = 1 / min(wall)
    figures["vector_steps_per_cpu_second"] = 1 / statistics.median(seconds["vector"][1])
    figures["vector_to_numpy_ratio"] = _ratio(seconds, "numpy", "vector")
    if spiel is not None:
        figures["vector_to_openspiel_ratio"] = _ratio(seconds, "openspiel", "vector_again")
    return figures | _foul_scan() | _imports()


def _measure(contenders: dict[str, tuple[Runner, int]]) -> dict[str, tuple[list[float], list[float]]]:
    """Seconds a step, (wall time, processor time) of each round, the contenders taking turns."""
    seconds: dict[str, tuple[list[float], list[float]]] = {name: ([], []) for name in contenders}
    for runner, steps in contenders.values():
        runner(max(steps // 5, 1))  # games of all lengths are on the boards afterwards
    for _ in range(ROUNDS):
        for name, (runner, steps) in contenders.items():
            wall, processor = time.perf_counter(), time.process_time()
            runner(steps)
            seconds[name][0].append((time.perf_counter() - wall) / steps)
            seconds[name][1].append((time.process_time() - processor) / steps)
    return seconds


def _ratio(seconds: dict[str, tuple[list[float], list[float]]], slow: str, quick: str) -> float:
    return statistics.median(a / b for a, b in zip(seconds[slow][1], seconds[quick][1], strict=True))


def _vector_runner(ruleset: str = "15x15:5:freestyle", **settings: Any) -> Runner:
    env = GomokuVectorEnv(BOARDS, ruleset, **settings)
    env.reset(seed=SEED)

    def play(steps: int) -> None:
        for _ in range(max(steps // BOARDS, 1)):
            env.step(env.sample_actions())

    return play


def _numpy_runner() -> Runner:
    env = NumpyGomoku(BOARDS, 15, SEED)

    def play(steps: int) -> None:
        for _ in range(max(steps // BOARDS, 1)):
            env.step(env.sample_actions())

    return play


def _spiel_runner() -> Runner | None:
    """None where OpenSpiel is not installed (it has no Windows wheels)."""
    try:
        import pyspiel
    except ImportError:
        return None
    game = pyspiel.load_game("gomoku(size=15)")
    rng = random.Random(SEED)
    state = game.new_initial_state()

    def play(steps: int) -> None:
        nonlocal state
        for _ in range(steps):
            state.apply_action(rng.choice(state.legal_actions()))
            if not state.is_terminal():
                state.apply_action(rng.choice(state.legal_actions()))
            if state.is_terminal():
                state = game.new_initial_state()
            state.observation_tensor(0)
            state.legal_actions_mask(0)

    return play


def _foul_scan() -> dict[str, float]:
    """Microseconds to find all fouls of a 15×15 board, called from Python; the positions come from whole games."""
    positions = _renju_positions()
    rounds = []
    for _ in range(5 * ROUNDS):
        started = time.perf_counter()
        for position in positions:
            position.native.fouls()
        rounds.append((time.perf_counter() - started) / len(positions))
    fouls = sum(len(position.forbidden_points()) for position in positions)
    return {
        "renju_foul_scan_us": 1e6 * min(rounds),
        "renju_foul_scan_positions": len(positions),
        "renju_fouls_per_position": fouls / len(positions),
    }


def _renju_positions() -> list[Position]:
    """Positions with black to move from games between two simple players that build many threes."""
    positions = []
    for seed in range(20):
        policy = Policy(PolicyKind.RULE_BASED, seed)
        position = Position.start(Ruleset.parse("15x15:5:renju"))
        while not position.is_over and position.stones < 80:
            if position.to_move is Colour.BLACK and position.stones >= 8:
                positions.append(position)
            position = position.play(policy.choose(position.native))
    return positions


def _imports() -> dict[str, float]:
    """Milliseconds of importing the native module (by itself) and the environments (with everything they need)."""
    native, everything = [], []
    for _ in range(ROUNDS):
        command = [sys.executable, "-X", "importtime", "-c", "import tengen.envs"]
        lines = subprocess.run(command, check=True, capture_output=True, text=True).stderr.splitlines()
        # import time: self [us] | cumulative | imported package
        rows = [line.removeprefix("import time:").split("|") for line in lines if line.startswith("import time:")]
        cumulative = {row[2].strip(): int(row[1]) / 1000 for row in rows if row[1].strip().isdigit()}
        native.append(cumulative["tengen._native"])
        everything.append(cumulative["tengen.envs"])
    return {"import_native_ms": statistics.median(native), "import_envs_ms": statistics.median(everything)}
