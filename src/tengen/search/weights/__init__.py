"""The fitted weights of the alpha-beta engine, written by `tengen tune`; some rules have their own file."""

from __future__ import annotations

from importlib import resources
from pathlib import Path
from typing import BinaryIO

import numpy as np

from tengen._native import LOGISTIC_UNIT, SHAPE_CODES, VALUE_UNIT, EvaluationNet, Weights
from tengen.core.checked_files import parse_arrays, read_bytes
from tengen.core.contracts import Ruleset
from tengen.errors import InputError

__all__ = (
    "LOGISTIC_UNIT",
    "SHAPE_CODES",
    "VALUE_UNIT",
    "EvaluationNet",
    "Weights",
    "load_weights",
    "save_weights",
    "weights_for",
)

_TABLES = ("points", "threats", "attack", "defence")
_NET_TABLES = ("own", "other", "first", "threats", "second", "second_bias", "output", "output_bias")
_NET_BY_SIDE = ("own", "other", "first", "threats")
_NET_PREFIX = "net_"

_MAX_FILE_BYTES = 64 << 20

# Rules without a separate file use the weights for the standard rule, where shapes have nearly the same meaning.
_FALLBACK = "standard.npz"


def load_weights(path: Path) -> Weights:
    """Read a weights file: int16 arrays `points`, `threats`, `attack`, `defence` [2, n], and `net_…` for a network."""
    tables = parse_arrays(read_bytes(path, _MAX_FILE_BYTES), str(path), _MAX_FILE_BYTES)
    try:
        net = None
        if _NET_PREFIX + _NET_TABLES[0] in tables:
            parts = {name: tables[_NET_PREFIX + name] for name in _NET_TABLES}
            for name in _NET_BY_SIDE:  # stored once if black and white share them
                parts[name] = np.broadcast_to(parts[name], (2, *parts[name].shape[1:]))
            whole = {name: np.ascontiguousarray(part) for name, part in parts.items()}
            net = EvaluationNet(**whole | {"output_bias": parts["output_bias"].item()})
        linear = {name: np.ascontiguousarray(tables[name], dtype=np.int16) for name in _TABLES}
        return Weights(**linear, net=net)
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise InputError(f"{path} is not a weights file: {error}") from None


def save_weights(file: Path | BinaryIO, weights: Weights) -> None:
    """Write a weights file that `load_weights` reads back."""
    tables = {name: getattr(weights, name) for name in _TABLES}
    if weights.net is not None:
        for name in _NET_TABLES:
            part = np.asarray(getattr(weights.net, name))
            alike = name in _NET_BY_SIDE and np.array_equal(part[0], part[1])
            tables[_NET_PREFIX + name] = part[:1] if alike else part
    np.savez_compressed(file, **tables)


def weights_for(ruleset: Ruleset) -> Weights:
    """Return the weights shipped for a ruleset."""
    folder = resources.files(__name__)
    own = folder / f"{ruleset.rule}.npz"
    with resources.as_file(own if own.is_file() else folder / _FALLBACK) as path:
        return load_weights(path)
