"""Copies of large arrays that reuse memory instead of allocating it."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import numpy.typing as npt

_MOST_KEPT = 3


class ArrayCopies:
    """Makes copies of arrays of one shape and dtype, and reuses the memory of earlier copies that nobody refers to.

    For tens of megabytes, the system clears new memory page by page, which takes as long as the copy. A copy is a view
    of an array that only this object keeps. Views, slices, tensors and memoryviews of the copy all refer to that array,
    so it is unused if nothing else refers to it. Only CPython counts references exactly; elsewhere, each copy gets new
    memory.
    """

    def __init__(self) -> None:
        self._kept: list[npt.NDArray[Any]] = []
        self._is_counting = sys.implementation.name == "cpython"
        self._count_if_unused = 0
        for owner in [np.empty(0)] if self._is_counting else []:  # counted in the same way as in `make`
            self._count_if_unused = sys.getrefcount(owner)

    def make(self, array: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return a copy in C order."""
        if self._is_counting:
            for owner in self._kept:
                if sys.getrefcount(owner) == self._count_if_unused:
                    np.copyto(owner, array)
                    return owner.view()
        copy = array.copy()
        if len(self._kept) < _MOST_KEPT:
            self._kept.append(copy)
        return copy.view()
