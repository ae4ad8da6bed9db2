"""Top-1 and top-5 accuracy of a network on recorded games: overall, with and without openings, and by move number."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tengen.core.contracts import Evaluator
from tengen.datasets.dataset import Dataset

TEST_FILE = "test.json"
"""File in a run folder with the network's accuracy on the data set's test games."""
_BATCH = 256
_TOP = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Accuracy:
    """Sample counts, indexed by the number of stones on the board before the move (0 to P - 1)."""

    samples: npt.NDArray[np.int64]
    """[P]: all samples."""
    first: npt.NDArray[np.int64]
    """[P]: samples whose move is the network's first choice."""
    top: npt.NDArray[np.int64]
    """[P]: samples whose move is among the network's first five choices."""
    opening_moves: int
    """Moves played with fewer stones than this on the board count as openings."""

    def share(self, counts: npt.NDArray[np.int64], *, openings: bool | None = None) -> float:
        """Return `first` or `top` as a share of all samples, or only of those inside or outside openings; 0 if none."""
        part = {None: slice(None), True: slice(self.opening_moves), False: slice(self.opening_moves, None)}[openings]
        return float(counts[part].sum() / max(1, self.samples[part].sum()))

    def to_json(self) -> dict[str, Any]:
        """Return a table for metrics and cards, with shares rounded to four digits."""
        opening = int(self.samples[: self.opening_moves].sum())
        table: dict[str, Any] = {"samples": int(self.samples.sum()), "opening_samples": opening}
        for name, openings in (("", None), ("_without_openings", False), ("_of_openings", True)):
            table[f"top1{name}"] = round(self.share(self.first, openings=openings), 4)
            table[f"top5{name}"] = round(self.share(self.top, openings=openings), 4)
        return table


def measure_accuracy(
    evaluator: Evaluator,
    dataset: Dataset,
    numbers: npt.NDArray[np.int64],
    on_samples: Callable[[int], None] | None = None,
) -> Accuracy:
    """Measure the accuracy of a network on the samples `numbers`, considering empty points only.

    `on_samples` is called with the number of samples processed so far.
    """
    area = dataset.ruleset.area
    counts = {name: np.zeros(area, np.int64) for name in ("samples", "first", "top")}
    for begin in range(0, len(numbers), _BATCH):
        batch = dataset.batch(numbers[begin : begin + _BATCH], evaluator.plane_layout)
        log_policy = np.where(batch.empty, evaluator.evaluate(batch.planes)[0], -np.inf)
        played = log_policy[np.arange(len(batch)), batch.moves]
        # Ties count against the network.
        rank = (log_policy >= played[:, None]).sum(axis=1) - 1
        for name, found in (("samples", rank >= 0), ("first", rank == 0), ("top", rank < _TOP)):
            counts[name] += np.bincount(batch.plies[found], minlength=area)
        if on_samples is not None:
            on_samples(begin + len(batch))
    return Accuracy(opening_moves=dataset.opening_moves, **counts)
