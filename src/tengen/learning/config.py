"""Training configurations: TOML presets, settings that override them, and the resolved configuration as a file.

Each algorithm has a frozen dataclass `Config`, possibly nested, with a docstring per field. A preset is
`presets/ALGORITHM/NAME.toml`, here or in a paper's folder. It lists only the fields that differ from the
defaults; its first line is a description.
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
    """Return the first line of a preset file, its description."""
    first = _preset_path(algorithm, preset).read_text(encoding="utf-8").partition("\n")[0]
    return first.lstrip("# ")


def load_config(kind: type[C], algorithm: str, preset: str | None, settings: Sequence[str] = ()) -> C:
    """Return the defaults of `kind` updated by a preset and by `key=value` or `table.key=value` settings, in order.

    Values are parsed as TOML; text that is not valid TOML becomes a string. Unknown presets and keys are errors that
    suggest a known name.
    """
    table = {} if preset is None else read_toml(_preset_path(algorithm, preset))
    origin = f"preset {preset}" if preset else f"settings of {algorithm}"
    for setting in settings:
        _set(table, setting)
        origin += f" with {setting}"
    return TableReader(origin, Path()).make(kind, table, "")


def read_config(kind: type[C], table: Mapping[str, Any], origin: str) -> C:
    """Convert a table written by `format_toml` to a configuration; `origin` names its source in errors."""
    return TableReader(origin, Path()).make(kind, table, "")


def format_toml(config: Any) -> str:
    """Format a configuration as TOML with every field; `read_config` reads it back."""
    lines: list[str] = []
    _write_table(to_table(config), (), lines)
    return "\n".join(lines) + "\n"


def _write_table(table: Mapping[str, Any], place: tuple[str, ...], lines: list[str]) -> None:
    tables = {key: value for key, value in table.items() if isinstance(value, Mapping)}
    # Numbers, strings, booleans and lists of them are written the same way in JSON and TOML.
    lines += [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in table.items() if key not in tables]
    for key, value in tables.items():
        lines += ["", f"[{'.'.join((*place, key))}]"]
        _write_table(value, (*place, key), lines)


def _preset_paths(algorithm: str) -> dict[str, Path]:
    return {path.stem: path for folder in _PRESET_FOLDERS for path in (folder / algorithm).glob("*.toml")}


def _preset_path(algorithm: str, preset: str) -> Path:
    paths = _preset_paths(algorithm)
    if preset not in paths:
        raise InputError(f"unknown preset {preset!r} for {algorithm}{did_you_mean(preset, tuple(paths))}")
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
