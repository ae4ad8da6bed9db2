"""Positions and planes that the tests of networks look at."""

from __future__ import annotations

import random
from contextlib import ExitStack

import numpy as np

from tengen.agents.registry import make_agent
from tengen.core.contracts import Limits, Ruleset
from tengen.core.geometry import Point
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


PLAYERS = ("alphabeta:nodes=50,hash-mb=2", "rule-based", "chains")


def played_positions(ruleset: Ruleset, count: int, seed: int = 0) -> list[Position]:
    """Positions of games between quick players, each against each and itself, after up to four stones in the middle."""
    rng = random.Random(seed)
    left, bottom = (ruleset.width - 5) // 2, (ruleset.height - 5) // 2
    middle = [Point.at(left + x, bottom + y) for x in range(5) for y in range(5)]
    found: list[Position] = []
    with ExitStack() as closing:
        players = [closing.enter_context(make_agent(name)) for name in PLAYERS]
        while len(found) < count:
            seats = rng.choices(players, k=2)
            position = Position.from_moves(ruleset, rng.sample(middle, rng.randrange(5)))
            for agent in seats:
                agent.new_game(ruleset, rng.getrandbits(32))
            while not position.is_over:
                found.append(position)
                position = position.play(seats[position.stones % 2].choose(position, Limits()).move)
    return found[:count]


def random_planes(ruleset: Ruleset, count: int, layout: str, seed: int = 0) -> FloatPlanes:
    """The planes of `random_positions`."""
    return np.ascontiguousarray(encode_batch(random_positions(ruleset, count, seed), layout))
