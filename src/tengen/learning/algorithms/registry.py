"""The training algorithms by name; each is a module with `Config` and `train`."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Protocol

from tengen.core.tables import did_you_mean
from tengen.errors import InputError, MissingExtraError
from tengen.learning.run.folder import Run
from tengen.learning.run.progress import Progress

# Name → module and one-sentence description.
_MODULES = {
    "alphazero": ("tengen.learning.algorithms.alphazero", "A network learns from its own tree search."),
    "pg": (
        "tengen.learning.algorithms.policy_gradient",
        "Policy gradient: moves from won games become more likely.",
    ),
    "ppo": ("tengen.learning.algorithms.ppo", "Proximal policy optimization: policy gradient with clipped steps."),
    "dqn": ("tengen.learning.algorithms.dqn", "Deep Q-learning: the value of every move, from a replay buffer."),
    "evolution": (
        "tengen.learning.algorithms.evolution",
        "Evolution strategies: samples weights around those that scored best.",
    ),
    "supervised": ("tengen.learning.algorithms.supervised", "A network learns the moves of recorded games."),
    "adp": (
        "tengen.learning.algorithms.adp",
        "A critic over shape counts learns from its own games by temporal differences.",
    ),
}

_EXTRA = ("torch", "safetensors", "onnx", "tensorboard", "matplotlib", "scipy")
"""Packages in the extra `train`."""


class Algorithm(Protocol):
    """Interface of an algorithm module."""

    Config: type[Any]
    """Frozen dataclass with the configuration."""

    def train(self, run: Run, progress: Progress) -> None:
        """Train a run until it is finished."""


def algorithm_names() -> tuple[str, ...]:
    """Return the names of all algorithms."""
    return tuple(_MODULES)


def describe_algorithm(name: str) -> str:
    """Return the one-sentence description of an algorithm."""
    return _MODULES[name][1]


def check_algorithm(name: str) -> None:
    """Raise `InputError` if there is no algorithm with this name; nothing is imported."""
    if name not in _MODULES:
        raise InputError(f"unknown algorithm {name!r}{did_you_mean(name, algorithm_names())}")


def find_algorithm(name: str) -> Algorithm:
    """Import and return the module of an algorithm."""
    check_algorithm(name)
    with training_imports():
        module: Any = importlib.import_module(_MODULES[name][0])
    return module  # type: ignore[no-any-return]


@contextmanager
def training_imports() -> Iterator[None]:
    """Convert a failed import of a training package to an error that names the extra to install."""
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name not in _EXTRA:
            raise
        raise MissingExtraError(f"training needs {error.name}: pip install -e '.[train]' in Tengen's folder") from None
