"""Range checks for configuration fields; `InputError` names the field and its value."""

from __future__ import annotations

import math
from typing import Any

from tengen.errors import InputError


def check_at_least(config: Any, low: float, *names: str) -> None:
    """Reject fields that are below `low`, NaN or infinite."""
    for name in names:
        value = getattr(config, name)
        if not low <= value < math.inf:
            raise InputError(f"{name} must be finite and at least {low:g}, not {value}")


def check_positive(config: Any, *names: str) -> None:
    """Reject fields that are 0, negative, NaN or infinite."""
    for name in names:
        value = getattr(config, name)
        if not 0 < value < math.inf:
            raise InputError(f"{name} must be finite and above 0, not {value}")


def check_share(config: Any, *names: str) -> None:
    """Reject fields outside 0–1."""
    for name in names:
        value = getattr(config, name)
        if not 0 <= value <= 1:
            raise InputError(f"{name}={value} is outside the range 0–1")


def check_decay(config: Any, *names: str) -> None:
    """Reject fields outside 0–1, and 1 itself: an average with decay 1 never changes."""
    for name in names:
        value = getattr(config, name)
        if not 0 <= value < 1:
            raise InputError(f"{name} must be at least 0 and below 1, not {value}")
