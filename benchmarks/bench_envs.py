"""Speed of environments: one board and many boards against OpenSpiel and NumPy, and the cost of renju fouls.

A step is one action of the agent (black), the random opponent's reply, and the new observation (three planes) and
action mask of a 15×15 freestyle board; finished games are restarted. The agent's actions are random legal points: drawn
by the native helper `sample_actions`, by NumPy in the NumPy environment, by `random.choice` for OpenSpiel and for the
environments with one board. Choosing them is part of the measured time. `gym` is `gymnasium.make` with its default
wrappers. `aec` and `openspiel_moves` play both colours, one move per step, each with observation and mask. Everything
runs on one thread, except where the name says otherwise.

The environments take turns of a few milliseconds. Every call (one step of all boards) is timed by wall-clock time.
`_per_second` is computed from the median call, which is robust on a busy machine, since most calls are shorter than a
scheduler time slice. `_ratio` is the quotient of two such figures from the same run.
"""

from __future__ import annotations

import random
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import gymnasium
import numpy as np

from benchmarks.numpy_env import NumpyGomoku
from tengen._native import Policy, PolicyKind
from tengen.core.contracts import Colour, Ruleset
from tengen.core.position import Position
from tengen.envs import ENV_ID, GomokuVectorEnv, gomoku_aec

BOARDS = 1024
ROUNDS = 12
WARM_UP_CALLS = 120  # spreads the boards over all stages of a game
SEED = 1

COMPARED = (
    ("vector", "numpy"),
    ("vector", "openspiel"),
    ("vector", "vector_renju"),
    ("vector_naive3", "vector_renju_naive3"),
    ("vector_two_threads", "vector"),
    ("vector_naive3_two_threads", "vector_naive3"),
    ("gym", "openspiel"),
    ("aec", "openspiel_moves"),
)
"""Pairs of contenders; the figure is the ratio of the first one's speed to the second one's."""


@dataclass
class Contender:
    """An implementation under test; each call makes `steps` environment steps."""

    call: Callable[[], object]
    steps: int
    calls_per_round: int
    seconds: list[float] = field(default_factory=list)

    def play_round(self) -> None:
        for _ in range(self.calls_per_round):
            started = time.perf_counter()
            self.call()
            self.seconds.append(time.perf_counter() - started)

    @property
    def steps_per_second(self) -> float:
        return self.steps / statistics.median(self.seconds)


def run() -> dict[str, float]:
    contenders = {
        "vector": _vector(100),
        "vector_copy": _vector(50, copy=True),
        "vector_float32": _vector(50, dtype="float32"),
        "vector_two_threads": _vector(50, threads=2),
        "vector_self_play": _vector(50, opponent=None),
        "vector_naive3": _vector(10, opponent="naive:level=3"),
        "vector_naive3_two_threads": _vector(10, opponent="naive:level=3", threads=2),
        "vector_renju": _vector(20, ruleset="15x15:5:renju"),
        "vector_renju_naive3": _vector(10, ruleset="15x15:5:renju", opponent="naive:level=3"),
        "numpy": _numpy(20),
        "gym": _gym(400),
        "aec": _aec(400),
    }
    if (spiel := _spiel(100)) is not None:
        contenders["openspiel"] = spiel
        contenders["openspiel_moves"] = _spiel_moves(200)
    for contender in contenders.values():
        for _ in range(WARM_UP_CALLS):
            contender.call()
    for _ in range(ROUNDS):
        for contender in contenders.values():
            contender.play_round()
    speeds = {name: contender.steps_per_second for name, contender in contenders.items()}
    figures: dict[str, float] = {"boards": BOARDS}
    figures |= {f"{name}_steps_per_second": speed for name, speed in speeds.items()}
    figures |= {
        f"{name}_to_{other}_ratio": speeds[name] / speeds[other]
        for name, other in COMPARED
        if name in speeds and other in speeds
    }
    return figures | _foul_scan() | _imports()


def _vector(calls: int, ruleset: str = "15x15:5:freestyle", copy: bool = False, **settings: Any) -> Contender:
    env = GomokuVectorEnv(BOARDS, ruleset, copy=copy, **settings)
    env.reset(seed=SEED)
    return Contender(lambda: env.step(env.sample_actions()), BOARDS, calls)


def _numpy(calls: int) -> Contender:
    env = NumpyGomoku(BOARDS, 15, SEED)
    return Contender(lambda: env.step(env.sample_actions()), BOARDS, calls)


def _gym(calls: int) -> Contender:
    env = gymnasium.make(ENV_ID)
    rng = random.Random(SEED)
    mask = env.reset(seed=SEED)[1]["action_mask"]

    def step() -> None:
        nonlocal mask
        *_, terminated, _, info = env.step(rng.choice(np.flatnonzero(mask)))
        mask = (env.reset()[1] if terminated else info)["action_mask"]

    return Contender(step, 1, calls)


def _aec(calls: int) -> Contender:
    env = gomoku_aec.env()
    rng = random.Random(SEED)
    env.reset(seed=SEED)

    def step() -> None:
        observation, _, terminated, _, _ = env.last()
        if terminated:
            env.reset()
        else:
            env.step(rng.choice(np.flatnonzero(observation["action_mask"])))

    return Contender(step, 1, calls)


def _spiel_moves(calls: int) -> Contender:
    """Create an OpenSpiel game in which the caller plays both colours."""
    import pyspiel

    game = pyspiel.load_game("gomoku(size=15)")
    rng = random.Random(SEED)
    state = game.new_initial_state()

    def step() -> None:
        nonlocal state
        state.apply_action(rng.choice(state.legal_actions()))
        if state.is_terminal():
            state = game.new_initial_state()
        state.observation_tensor(state.current_player())
        state.legal_actions_mask()

    return Contender(step, 1, calls)


def _spiel(calls: int) -> Contender | None:
    """Create an OpenSpiel environment of one board; None if OpenSpiel is not installed (it has no Windows wheels)."""
    try:
        import pyspiel
    except ImportError:
        return None
    game = pyspiel.load_game("gomoku(size=15)")
    rng = random.Random(SEED)
    state = game.new_initial_state()

    def step() -> None:
        nonlocal state
        state.apply_action(rng.choice(state.legal_actions()))
        if not state.is_terminal():
            state.apply_action(rng.choice(state.legal_actions()))
        if state.is_terminal():
            state = game.new_initial_state()
        state.observation_tensor(0)
        state.legal_actions_mask(0)

    return Contender(step, 1, calls)


def _foul_scan() -> dict[str, float]:
    """Return the microseconds to find all fouls of a 15×15 board from Python, over positions of complete games."""
    positions = _renju_positions()
    seconds = []
    for _ in range(5 * ROUNDS):
        started = time.perf_counter()
        for position in positions:
            position.native.fouls()
        seconds.append((time.perf_counter() - started) / len(positions))
    fouls = sum(len(position.forbidden_points()) for position in positions)
    return {
        "renju_foul_scan_us": 1e6 * statistics.median(seconds),
        "renju_foul_scan_positions": len(positions),
        "renju_fouls_per_position": fouls / len(positions),
    }


def _renju_positions() -> list[Position]:
    """Return positions with black to move, from games of two simple players that build many threes."""
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
    """Return the milliseconds to import the native module alone and the environments with all their dependencies."""
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
