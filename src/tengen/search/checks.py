"""Range checks shared by the search configurations."""

from __future__ import annotations

import math

from tengen.errors import InputError


def check_range(name: str, value: int, low: int, high: int) -> None:
    """Raise `InputError` unless low ≤ value ≤ high."""
    if not low <= value <= high:
        raise InputError(f"{name}={value} is outside the range {low}–{high}")


def check_real(name: str, value: float, low: float, high: float) -> None:
    """Raise `InputError` unless the value is finite and low ≤ value ≤ high."""
    if not (math.isfinite(value) and low <= value <= high):
        raise InputError(f"{name}={value} is outside the range {low:g}–{high:g}")
