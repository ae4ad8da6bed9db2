"""Positions from quick games, for calibrating int8 networks and comparing networks."""

from __future__ import annotations

import numpy as np

from tengen.core.contracts import Ruleset
from tengen.core.game_batch import POLICIES, GameBatch
from tengen.core.planes import FloatPlanes

_GAMES = 32
_OPENING_MOVES = 4


def played_planes(ruleset: Ruleset, layout: str, count: int, seed: int) -> FloatPlanes:
    """Return planes [count, C, height, width] from complete games between the simple players.

    A game starts with up to four random moves; after that, a random simple player makes each move.
    """
    rng = np.random.default_rng(seed)
    kinds = np.array([int(kind.value) for kind in dict.fromkeys(POLICIES.values())], np.int8)
    batch = GameBatch(ruleset, _GAMES, layout)
    found: list[FloatPlanes] = []
    actions = np.empty(_GAMES, np.int64)
    while sum(map(len, found)) < count:
        batch.begin(int(rng.integers(2**63)), min(_OPENING_MOVES, 2 * ruleset.win_length - 2))
        while len(going := np.flatnonzero(~batch.is_over)):
            found.append(batch.look(going, np.zeros(len(going), np.int8))[0])
            actions.fill(-1)
            batch.choose(rng.choice(kinds, _GAMES), actions)
            batch.play(actions)
    planes = np.concatenate(found)
    return np.ascontiguousarray(planes[np.sort(rng.choice(len(planes), count, replace=False))])
