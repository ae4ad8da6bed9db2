"""What a browser may choose for a training run: algorithms, presets, and settings with their limits.

Only numbers can be set, so no setting can name a file or start a program. A test compares the table with the
configurations, which the server does not import, because they need torch.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tengen.core.tables import did_you_mean
from tengen.errors import InputError
from tengen.learning.algorithms.registry import describe_algorithm
from tengen.learning.config import describe_preset, preset_names, preset_table
from tengen.web.messages.operations import MAX_MINUTES, AlgorithmInfo, PresetInfo, SettingInfo


@dataclass(frozen=True, slots=True)
class _Range:
    least: float
    most: float
    is_integer: bool = True


_COMMON = {
    "minutes": _Range(0, MAX_MINUTES, is_integer=False),
    "iterations": _Range(1, 1_000_000),
    "strength.every": _Range(0, 100_000),
}
_NETWORK = {
    "milestone_every": _Range(0, 100_000),
    "net.channels": _Range(4, 512),
    "net.blocks": _Range(1, 40),
}
_LEARNING_RATE = {"learner.learning_rate": _Range(0, 1, is_integer=False)}
_BATCH = {"learner.batch": _Range(1, 4096)}
_PLAY = {"play.games": _Range(1, 4096)}
SETTINGS: Mapping[str, Mapping[str, _Range]] = {
    "alphazero": _COMMON
    | _NETWORK
    | {"search.simulations": _Range(1, 2000), "self_play.games": _Range(2, 4096)}
    | _LEARNING_RATE
    | _BATCH,
    "pg": _COMMON | _NETWORK | _PLAY | _LEARNING_RATE,
    "ppo": _COMMON | _NETWORK | _PLAY | _LEARNING_RATE | _BATCH,
    "dqn": _COMMON | _NETWORK | _PLAY | _LEARNING_RATE | _BATCH,
    "evolution": _COMMON | _NETWORK | _PLAY,
    "adp": _COMMON | {"self_play.games": _Range(1, 4096)} | _LEARNING_RATE | _BATCH,
}
"""Settings by algorithm. Supervised learning is missing because its data set is given as a path."""


def describe_algorithms() -> list[AlgorithmInfo]:
    """List the algorithms with their presets and settings."""
    return [
        AlgorithmInfo(
            name=algorithm,
            description=describe_algorithm(algorithm),
            settings=[
                SettingInfo(key=key, is_integer=one.is_integer, least=one.least, most=one.most)
                for key, one in SETTINGS[algorithm].items()
            ],
            presets=[_describe(algorithm, preset) for preset in preset_names(algorithm)],
        )
        for algorithm in SETTINGS
    ]


def _describe(algorithm: str, preset: str) -> PresetInfo:
    table = preset_table(algorithm, preset)
    values = {key: _value(table, key) for key in SETTINGS[algorithm]}
    return PresetInfo(
        name=preset,
        description=describe_preset(algorithm, preset),
        rules=str(table.get("ruleset", "")),
        values={key: value for key, value in values.items() if value is not None},
    )


def _value(table: Mapping[str, Any], key: str) -> float | None:
    *parents, name = key.split(".")
    for parent in parents:
        table = table.get(parent, {})
    value = table.get(name)
    return float(value) if isinstance(value, (int, float)) else None


def check_choice(algorithm: str, preset: str, settings: Mapping[str, float]) -> list[str]:
    """Return the settings as `key=value`. Raises `InputError` for an unknown name or a value out of range."""
    if algorithm not in SETTINGS:
        raise InputError(f"{algorithm!r} cannot be trained from a browser{did_you_mean(algorithm, tuple(SETTINGS))}")
    if preset not in preset_names(algorithm):
        raise InputError(f"unknown preset {preset!r} for {algorithm}{did_you_mean(preset, preset_names(algorithm))}")
    known = SETTINGS[algorithm]
    texts = []
    for key, value in settings.items():
        if key not in known:
            raise InputError(f"{key!r} cannot be set from a browser; available: {', '.join(known)}")
        one = known[key]
        if not one.least <= value <= one.most or (one.is_integer and value != int(value)):
            kind = "an integer" if one.is_integer else "a number"
            raise InputError(f"{key}={value:g} must be {kind} between {one.least:g} and {one.most:g}")
        texts.append(f"{key}={int(value) if one.is_integer else float(value)!r}")
    return texts
