"""Samples that are equal up to a symmetry of the board."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tengen.core.contracts import Ruleset
from tengen.core.symmetry import permutation, symmetries

_KEYS_SEED = 20151


def sample_keys(
    moves: npt.NDArray[np.uint16], starts: npt.NDArray[np.int64], ruleset: Ruleset
) -> npt.NDArray[np.uint64]:
    """Return a key [M] for each move; samples with the same stones and move under some symmetry have equal keys.

    `moves` [M] are all games, concatenated; game g starts at `starts[g]`. The order of the stones does not matter. The
    keys are 64-bit hashes, so collisions between different samples are extremely unlikely.
    """
    rng = np.random.default_rng(_KEYS_SEED)
    stones = rng.integers(0, 1 << 64, size=(2, ruleset.area), dtype=np.uint64)
    next_move = rng.integers(0, 1 << 64, size=ruleset.area, dtype=np.uint64)
    begin = np.repeat(starts[:-1], np.diff(starts))
    colour = (np.arange(len(moves)) - begin) & 1
    smallest = np.full(len(moves), np.iinfo(np.uint64).max, np.uint64)
    for symmetry in symmetries(ruleset):
        points = permutation(symmetry, ruleset)[moves]
        # sums[i] covers all stones before index i, including earlier games; XOR with sums[begin] removes those.
        sums = np.zeros(len(moves) + 1, np.uint64)
        np.bitwise_xor.accumulate(stones[colour, points], out=sums[1:])
        np.minimum(smallest, sums[:-1] ^ sums[begin] ^ next_move[points], out=smallest)
    return smallest
