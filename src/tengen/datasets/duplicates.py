"""Which samples are the same one but for a symmetry of the board."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tengen.core.contracts import Ruleset
from tengen.core.symmetry import permutation, symmetries

_KEYS_SEED = 20151


def sample_keys(
    moves: npt.NDArray[np.uint16], starts: npt.NDArray[np.int64], ruleset: Ruleset
) -> npt.NDArray[np.uint64]:
    """[M] numbers, equal for moves by which the same stones are followed by the same move in some reflection.

    `moves` [M] are all games in a row, game g from `starts[g]` on; the order in which stones came does not matter. As
    with any hash, two different samples may agree by chance, once in many billions.
    """
    rng = np.random.default_rng(_KEYS_SEED)
    stones = rng.integers(0, 1 << 64, size=(2, ruleset.area), dtype=np.uint64)
    next_move = rng.integers(0, 1 << 64, size=ruleset.area, dtype=np.uint64)
    begin = np.repeat(starts[:-1], np.diff(starts))
    colour = (np.arange(len(moves)) - begin) & 1
    smallest = np.full(len(moves), np.iinfo(np.uint64).max, np.uint64)
    for symmetry in symmetries(ruleset):
        points = permutation(symmetry, ruleset)[moves]
        # sums[i] is of all stones before place i, of earlier games too, which the second term takes away again.
        sums = np.zeros(len(moves) + 1, np.uint64)
        np.bitwise_xor.accumulate(stones[colour, points], out=sums[1:])
        np.minimum(smallest, sums[:-1] ^ sums[begin] ^ next_move[points], out=smallest)
    return smallest
