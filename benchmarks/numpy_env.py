"""A vector environment in pure NumPy, the baseline for bench_envs.py.

It uses the usual optimisations: padded boards, the four lines through the last stone gathered for all boards at once,
random replies by rejection sampling, planes and masks updated in place. The rule is freestyle; the agent plays black,
the opponent plays at random, and a finished board is reset in the same step.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt


class NumpyGomoku:
    """A batch of square boards with planes (black, white, occupied) [num_envs, 3, area] and masks [num_envs, area]."""

    def __init__(self, num_envs: int, size: int, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.every = np.arange(num_envs)
        self.area = size * size
        # A border of four cells keeps windows of ±4 cells inside the array.
        padded = size + 8
        self.cells = np.zeros((num_envs, padded * padded), dtype=np.int8)
        rows, columns = np.divmod(np.arange(self.area), size)
        self.place = (rows + 4) * padded + columns + 4
        steps = np.array([1, padded, padded + 1, padded - 1])
        self.windows = (steps[:, None] * np.arange(-4, 5)).ravel()
        self.planes = np.zeros((num_envs, 3, self.area), dtype=np.uint8)
        self.masks = np.ones((num_envs, self.area), dtype=np.int8)

    def sample_actions(self) -> npt.NDArray[np.int64]:
        return self._random_points(self.every)

    def step(self, actions: npt.NDArray[np.int64]) -> tuple[Any, Any, Any, Any]:
        rewards = np.zeros(len(self.every))
        wins = self._place(self.every, actions, 0)
        rewards[wins] = 1.0
        over = wins | ~self.masks.any(axis=1)
        others = self.every[~over]
        losses = self._place(others, self._random_points(others), 1)
        rewards[others[losses]] = -1.0
        over[others] = losses | ~self.masks[others].any(axis=1)
        self.cells[over], self.planes[over], self.masks[over] = 0, 0, 1
        return self.planes, rewards, over, self.masks

    def _random_points(self, boards: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
        points = self.rng.integers(self.area, size=len(boards))
        taken = np.flatnonzero(self.masks[boards, points] == 0)
        while len(taken):
            points[taken] = self.rng.integers(self.area, size=len(taken))
            taken = taken[self.masks[boards[taken], points[taken]] == 0]
        return points

    def _place(self, boards: npt.NDArray[Any], points: npt.NDArray[Any], colour: int) -> npt.NDArray[np.bool_]:
        """Place a stone on each board; return which of them win."""
        stone = colour + 1
        places = self.place[points]
        self.cells[boards, places] = stone
        self.planes[boards, colour, points] = 1
        self.planes[boards, 2, points] = 1
        self.masks[boards, points] = 0
        lines = (self.cells[boards[:, None], places[:, None] + self.windows] == stone).reshape(-1, 4, 9)
        fives = lines[..., 0:5] & lines[..., 1:6] & lines[..., 2:7] & lines[..., 3:8] & lines[..., 4:9]
        return np.asarray(fives.any(axis=(1, 2)))
