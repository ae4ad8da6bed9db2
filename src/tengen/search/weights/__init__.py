"""The fitted numbers of the alpha-beta engine, one file per rule, written by `tengen tune`."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

import numpy as np

from tengen._native import Weights
from tengen.core.contracts import Ruleset
from tengen.errors import InputError

_TABLES = ("points", "threats", "attack", "defence")

# Rules without a file of their own play with the numbers of freestyle, whose shapes mean nearly the same.
_FALLBACK = "freestyle.npz"


def load_weights(path: Path) -> Weights:
    """Read a weights file: int16 arrays `points`, `threats`, `attack`, `defence` of shape [2, n]."""
    try:
        with np.load(path, allow_pickle=False) as tables:
            return Weights(*(np.ascontiguousarray(tables[name], dtype=np.int16) for name in _TABLES))
    except (OSError, KeyError, ValueError) as error:
        raise InputError(f"{path} is not a weights file: {error}") from None


def save_weights(path: Path, weights: Weights) -> None:
    """Write a weights file that `load_weights` reads back."""
    np.savez_compressed(path, **{name: getattr(weights, name) for name in _TABLES})


def weights_for(ruleset: Ruleset) -> Weights:
    """The numbers shipped for a ruleset."""
    folder = resources.files(__name__)
    own = folder / f"{ruleset.rule}.npz"
    with resources.as_file(own if own.is_file() else folder / _FALLBACK) as path:
        return load_weights(path)
