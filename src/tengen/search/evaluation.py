"""The network side of a tree search: a uniform network, and a check of network outputs."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tengen.errors import InputError

Floats = npt.NDArray[np.float32]
_MAX_VALUE = 1.05
"""Largest accepted value of a network; rounding in int8 may produce values slightly above 1."""


class UniformEvaluator:
    """A uniform network: equal priors, value 0. Only proofs and tactics guide a search that uses it."""

    def __init__(self, plane_layout: str = "board") -> None:
        self.plane_layout = plane_layout

    def evaluate(self, planes: Floats) -> tuple[Floats, Floats]:
        """Return zeros for all rows."""
        rows, _, height, width = planes.shape
        return np.zeros((rows, height * width), dtype=np.float32), np.zeros(rows, dtype=np.float32)


def check_answers(log_policy: Floats, value: Floats) -> None:
    """Raise `InputError` if a network returned NaN or a value out of range, which would spread through the tree."""
    if np.isnan(log_policy).any() or not np.abs(value).max(initial=0) <= _MAX_VALUE:
        raise InputError(
            "the network returned NaN, infinity or a value outside [-1, 1]; its weights are probably damaged"
        )
