"""Numbers of a configuration within their bounds; `InputError` names the field and its value."""

from __future__ import annotations

import math
from typing import Any

from tengen.errors import InputError


def check_at_least(config: Any, low: float, *names: str) -> None:
    """Refuse fields below `low`, and those that are no finite number."""
    for name in names:
        value = getattr(config, name)
        if not low <= value < math.inf:
            raise InputError(f"{name} {value} is not a number of at least {low:g}")


def check_positive(config: Any, *names: str) -> None:
    """Refuse fields that are 0, negative or no finite number."""
    for name in names:
        value = getattr(config, name)
        if not 0 < value < math.inf:
            raise InputError(f"{name} {value} is not a number above 0")


def check_share(config: Any, *names: str) -> None:
    """Refuse fields outside 0–1."""
    for name in names:
        value = getattr(config, name)
        if not 0 <= value <= 1:
            raise InputError(f"{name} {value} is outside 0–1")


def check_decay(config: Any, *names: str) -> None:
    """Refuse fields that are not in 0–1 or are 1, with which nothing would ever change."""
    for name in names:
        value = getattr(config, name)
        if not 0 <= value < 1:
            raise InputError(f"{name} {value} is not from 0 to below 1")
