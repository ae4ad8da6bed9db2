"""Copies of large arrays that reuse memory instead of allocating it."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import numpy.typing as npt

_MOST_KEPT = 3


class ArrayCopies:
    """Copies arrays of one shape and dtype, and reuses the memory of earlier copies that are no longer in use.

    The operating system clears newly allocated memory page by page. For tens of megabytes, this takes as long as the
    copy itself. A copy is unused if only this object refers to it: views, slices, tensors and memoryviews of an array
    all keep a reference to it. Without reference counts (outside CPython), each copy gets new memory.
    """

    def __init__(self) -> None:
        self._kept: list[npt.NDArray[Any]] = []
        self._count = getattr(sys, "getrefcount", None)
        probe = [np.empty(0)]
        self._unused = 0 if self._count is None else self._count(probe[0])

    def make(self, array: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return a copy in C order."""
        kept = self._kept
        if self._count is not None:
            for index in range(len(kept)):
                if self._count(kept[index]) == self._unused:
                    np.copyto(kept[index], array)
                    return kept[index]
        copy = array.copy()
        if len(kept) < _MOST_KEPT:
            kept.append(copy)
        return copy
