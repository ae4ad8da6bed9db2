"""Positions and planes that the tests of networks look at."""

from __future__ import annotations

import random

import numpy as np

from tengen.core.contracts import Ruleset
from tengen.core.planes import FloatPlanes, encode_batch
from tengen.core.position import Position


def random_positions(ruleset: Ruleset, count: int, seed: int = 0) -> list[Position]:
    """Positions of random games, from the empty board to the last move but one."""
    rng = random.Random(seed)
    found: list[Position] = []
    position = Position.start(ruleset)
    while len(found) < count:
        if position.is_over:
            position = Position.start(ruleset)
        found.append(position)
        position = position.play(rng.choice(position.legal_points()))
    return found


def random_planes(ruleset: Ruleset, count: int, layout: str, seed: int = 0) -> FloatPlanes:
    """The planes of `random_positions`."""
    return np.ascontiguousarray(encode_batch(random_positions(ruleset, count, seed), layout))
