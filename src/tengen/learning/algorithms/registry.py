"""The training algorithms by name; each lives in a module with `Config` and `train`."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Protocol

from tengen.core.tables import did_you_mean
from tengen.errors import InputError, MissingExtraError
from tengen.learning.progress import Progress
from tengen.learning.run import Run

# Name → module, and what it is in one sentence.
_MODULES = {
    "alphazero": ("tengen.learning.algorithms.alphazero", "A network learns from the games of its own tree search."),
    "pg": (
        "tengen.learning.algorithms.policy_gradient",
        "Policy gradient: moves of games that were won become likelier.",
    ),
    "ppo": ("tengen.learning.algorithms.ppo", "Proximal policy optimization: policy gradient in small safe steps."),
    "dqn": ("tengen.learning.algorithms.dqn", "Deep Q-learning: the value of every move, from replayed games."),
    "evolution": (
        "tengen.learning.algorithms.evolution",
        "Evolution: weights are drawn around those whose games went well.",
    ),
    "supervised": ("tengen.learning.algorithms.supervised", "A network learns the moves of recorded games."),
    "adp": (
        "tengen.learning.algorithms.adp",
        "A critic over counts of shapes learns by temporal differences from its own games.",
    ),
}

_EXTRA = ("torch", "safetensors", "onnx", "tensorboard")
"""The packages of the extra `train`."""


class Algorithm(Protocol):
    """What a module of an algorithm offers."""

    Config: type[Any]
    """A frozen dataclass."""

    def train(self, run: Run, progress: Progress) -> None:
        """Do what is left of a run."""


def algorithm_names() -> tuple[str, ...]:
    """The names of all algorithms."""
    return tuple(_MODULES)


def describe_algorithm(name: str) -> str:
    """What an algorithm is in one sentence."""
    return _MODULES[name][1]


def find_algorithm(name: str) -> Algorithm:
    """The module of an algorithm, imported."""
    if name not in _MODULES:
        raise InputError(f"unknown algorithm {name!r}{did_you_mean(name, algorithm_names())}")
    with training_imports():
        module: Any = importlib.import_module(_MODULES[name][0])
    return module  # type: ignore[no-any-return]


@contextmanager
def training_imports() -> Iterator[None]:
    """Around the import of a module that trains: says which extra to install where a package of it is missing."""
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name not in _EXTRA:
            raise
        raise MissingExtraError(f"training needs {error.name}: pip install -e '.[train]' in Tengen's folder") from None
