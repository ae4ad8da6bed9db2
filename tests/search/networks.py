"""Networks without training: fixed functions of the planes whose result for a row does not depend on the batch."""

from __future__ import annotations

import numpy as np

from tengen.search.evaluation import Floats


class FixedEvaluator:
    """A linear network with random weights for one board size; counts the rows that it evaluates."""

    def __init__(self, plane_layout: str, seed: int = 0) -> None:
        self.plane_layout = plane_layout
        self.rows = 0
        self._rng = np.random.default_rng(seed)
        self._weights: Floats | None = None

    def evaluate(self, planes: Floats) -> tuple[Floats, Floats]:
        self.rows += len(planes)
        size = int(np.prod(planes.shape[1:]))
        area = planes.shape[2] * planes.shape[3]
        if self._weights is None:
            self._weights = self._rng.normal(size=(size, area + 1)).astype(np.float32)
        outputs = np.stack([row.reshape(-1) @ self._weights for row in planes])
        logits = outputs[:, :area]
        log_policy = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
        return log_policy.astype(np.float32), np.tanh(outputs[:, area]).astype(np.float32)


class TabledEvaluator:
    """Returns the same policy and value for every position."""

    def __init__(self, log_policy: Floats, value: float = 0.0, plane_layout: str = "board") -> None:
        self.plane_layout = plane_layout
        self._log_policy = log_policy
        self._value = value

    def evaluate(self, planes: Floats) -> tuple[Floats, Floats]:
        rows = len(planes)
        return np.tile(self._log_policy, (rows, 1)), np.full(rows, self._value, dtype=np.float32)
