"""Configurations of training: presets in TOML, settings on top of them, and the resolved one as a file.

Each algorithm has a frozen dataclass `Config`, nested where that helps, every field with its sentence. A preset is
`presets/ALGORITHM/NAME.toml`, here or in the folder of its paper. It says only what differs from the defaults; its
first line describes it.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from tengen.core.tables import TableReader, did_you_mean, read_toml, to_table
from tengen.errors import InputError

C = TypeVar("C")

_PACKAGE = Path(__file__).parents[1]
_PRESET_FOLDERS = (_PACKAGE / "learning" / "presets", *sorted(_PACKAGE.glob("papers/*/presets")))


def preset_names(algorithm: str) -> tuple[str, ...]:
    """Return the names of an algorithm's presets."""
    return tuple(sorted(_preset_paths(algorithm)))


def describe_preset(algorithm: str, preset: str) -> str:
    """The sentence at the top of a preset's file."""
    first = _preset_path(algorithm, preset).read_text(encoding="utf-8").partition("\n")[0]
    return first.lstrip("# ")


def load_config(kind: type[C], algorithm: str, preset: str | None, settings: Sequence[str] = ()) -> C:
    """The defaults of `kind`, changed by the preset, changed by `key=value` settings, `table.key=value` in a table.

    Values are TOML; a word that is none is a text. Unknown presets and keys are refused with the nearest known one.
    """
    table = {} if preset is None else read_toml(_preset_path(algorithm, preset))
    origin = f"preset {preset}" if preset else f"settings of {algorithm}"
    for setting in settings:
        _set(table, setting)
        origin += f" with {setting}"
    return TableReader(origin, Path()).make(kind, table, "")


def read_config(kind: type[C], table: Mapping[str, Any], origin: str) -> C:
    """The configuration in a table that `format_toml` wrote; `origin` names it in errors."""
    return TableReader(origin, Path()).make(kind, table, "")


def format_toml(config: Any) -> str:
    """A configuration as TOML, every field written out: what `read_config` reads back as the same."""
    lines: list[str] = []
    _write_table(to_table(config), (), lines)
    return "\n".join(lines) + "\n"


def _write_table(table: Mapping[str, Any], place: tuple[str, ...], lines: list[str]) -> None:
    tables = {key: value for key, value in table.items() if isinstance(value, Mapping)}
    # Numbers, texts, truth values and lists of them look the same in JSON as in TOML.
    lines += [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in table.items() if key not in tables]
    for key, value in tables.items():
        lines += ["", f"[{'.'.join((*place, key))}]"]
        _write_table(value, (*place, key), lines)


def _preset_paths(algorithm: str) -> dict[str, Path]:
    return {path.stem: path for folder in _PRESET_FOLDERS for path in (folder / algorithm).glob("*.toml")}


def _preset_path(algorithm: str, preset: str) -> Path:
    paths = _preset_paths(algorithm)
    if preset not in paths:
        raise InputError(f"unknown preset {preset!r} of {algorithm}{did_you_mean(preset, tuple(paths))}")
    return paths[preset]


def _set(table: dict[str, Any], setting: str) -> None:
    place, equals, text = setting.partition("=")
    *parents, key = (part.strip().replace("-", "_") for part in place.split("."))
    if not equals or not key:
        raise InputError(f"{setting!r} is not key=value")
    try:
        value = tomllib.loads(f"value = {text.strip()}")["value"]
    except (tomllib.TOMLDecodeError, RecursionError):
        value = text.strip()
    for parent in parents:
        table = table.setdefault(parent, {})
        if not isinstance(table, dict):
            raise InputError(f"{parent!r} in {setting!r} is not a table")
    table[key] = value
