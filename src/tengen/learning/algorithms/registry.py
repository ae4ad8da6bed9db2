"""Training algorithms by name; each is a module or class with `Config` and `train`.

Third-party algorithms are entry points `tengen.learners` of installed packages, or are in files such as
`./mylearner.py`.
"""

from __future__ import annotations

import dataclasses
from typing import Any, Protocol

from tengen.core.extras import needs_extra
from tengen.core.plugins import InFile, Plugins
from tengen.core.tables import did_you_mean
from tengen.errors import InputError
from tengen.learning.run.folder import Run
from tengen.learning.run.progress import Progress

# Module and one-sentence description of each algorithm.
_BUILT_IN = {
    "alphazero": ("tengen.learning.algorithms.alphazero", "A network learns from its own tree search."),
    "pg": (
        "tengen.learning.algorithms.policy_gradient",
        "Policy gradient: moves from won games become more likely.",
    ),
    "ppo": ("tengen.learning.algorithms.ppo", "Proximal policy optimization: policy gradient with clipped steps."),
    "dqn": ("tengen.learning.algorithms.dqn", "Deep Q-learning: a network learns move values from a replay buffer."),
    "evolution": (
        "tengen.learning.algorithms.evolution",
        "Evolution strategies: new weights are sampled around those that scored best.",
    ),
    "supervised": ("tengen.learning.algorithms.supervised", "A network learns the moves of recorded games."),
    "adp": (
        "tengen.learning.algorithms.adp",
        "A critic with shape features learns from its own games by temporal differences.",
    ),
}


class Algorithm(Protocol):
    """Interface of an algorithm."""

    Config: type[Any]
    """Frozen dataclass with the configuration, usually a subclass of `LoopConfig`."""

    def train(self, run: Run, progress: Progress) -> None:
        """Train a run until it is finished."""


def _is_algorithm(found: object) -> bool:
    config = getattr(found, "Config", None)
    return dataclasses.is_dataclass(config) and callable(getattr(found, "train", None))


LEARNERS = Plugins(
    what="algorithm",
    group="tengen.learners",
    wanted="a module or class with a dataclass Config and a function train(run, progress)",
    accepts=_is_algorithm,
    built_in={name: module for name, (module, _) in _BUILT_IN.items()},
)


def algorithm_names() -> tuple[str, ...]:
    """Return the names of the built-in algorithms."""
    return tuple(_BUILT_IN)


def describe_algorithm(name: str) -> str:
    """Return the one-sentence description of an algorithm."""
    return _BUILT_IN[name][1]


def check_algorithm(name: str) -> None:
    """Raise `InputError` if there is no algorithm with this name; nothing is imported, and files are not read."""
    if InFile.parse(name) is None and name not in LEARNERS.names():
        raise InputError(f"unknown algorithm {name!r}{did_you_mean(name, LEARNERS.names())}")


def find_algorithm(name: str) -> Algorithm:
    """Import and return an algorithm."""
    check_algorithm(name)
    with needs_extra("training", "train"):
        found: Algorithm = LEARNERS.find(name)
    return found
