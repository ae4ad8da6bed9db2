"""Training configurations: TOML presets, settings that override them, and the resolved configuration as a file.

Each algorithm has a frozen dataclass `Config`, possibly nested, with a docstring per field. A preset is
`presets/ALGORITHM/NAME.toml`, here or in a paper's folder. Its first line is a description. It lists only the fields
that differ from the defaults or, with `based_on`, from another preset.
"""

from __future__ import annotations

import ast
import dataclasses
import inspect
import json
import textwrap
import tomllib
import types
import typing
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from tengen.core.tables import TableReader, did_you_mean, read_toml, to_table
from tengen.errors import InputError

C = TypeVar("C")

_PACKAGE = Path(__file__).parents[1]
_PRESET_FOLDERS = (_PACKAGE / "learning" / "presets", *sorted(_PACKAGE.glob("papers/*/presets")))


def preset_names(algorithm: str) -> tuple[str, ...]:
    """Return the names of an algorithm's presets."""
    return tuple(sorted(_preset_paths(algorithm)))


def describe_preset(algorithm: str, preset: str) -> str:
    """Return a preset's description: the first line of its file."""
    first = _preset_path(algorithm, preset).read_text(encoding="utf-8").partition("\n")[0]
    return first.lstrip("# ")


def preset_table(algorithm: str, preset: str) -> dict[str, Any]:
    """Return the settings of a preset as nested tables, including those it inherits through `based_on`."""
    table = read_toml(_preset_path(algorithm, preset))
    base = table.pop("based_on", None)
    return table if base is None else _merged(preset_table(algorithm, base), table)


def _merged(base: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return `base` updated by `changes`, table by table."""
    return {**base} | {
        key: _merged(base.get(key, {}), value) if isinstance(value, Mapping) else value
        for key, value in changes.items()
    }


def load_config(kind: type[C], algorithm: str, preset: str | None, settings: Sequence[str] = ()) -> C:
    """Return the defaults of `kind` updated by a preset and by `key=value` or `table.key=value` settings, in order.

    Values are parsed as TOML; text that is not valid TOML becomes a string. The error for an unknown preset or key
    suggests a known name.
    """
    table = {} if preset is None else preset_table(algorithm, preset)
    origin = f"preset {preset}" if preset else f"settings of {algorithm}"
    apply_settings(table, settings)
    origin += "".join(f" with {setting}" for setting in settings)
    return TableReader(origin, Path()).make(kind, table, "")


def apply_settings(table: dict[str, Any], settings: Sequence[str]) -> dict[str, Any]:
    """Apply `key=value` or `table.key=value` settings to a table, in order, and return the table."""
    for setting in settings:
        _set(table, setting)
    return table


class KeyDescription(NamedTuple):
    """One key of a configuration, as accepted by `--set`."""

    key: str
    type: str
    default: str
    """Default as TOML; `required` for a key without one."""
    help: str


def describe_keys(kind: type[Any], algorithm: str, preset: str | None = None) -> list[KeyDescription]:
    """Describe every key of a configuration, with the values of a preset as defaults if one is given."""
    table = {} if preset is None else preset_table(algorithm, preset)
    return list(_describe_table(kind, table, None, ""))


def _describe_table(kind: type[Any], table: Mapping[str, Any], base: Any, place: str) -> Iterator[KeyDescription]:
    """Yield the keys of a dataclass. Defaults come from the table, then from `base`, then from the fields."""
    hints = typing.get_type_hints(kind)
    sentences = _field_sentences(kind)
    for one in dataclasses.fields(kind):
        hint = hints[one.name]
        given = table.get(one.name)
        if base is not None:
            default = getattr(base, one.name)
        elif one.default_factory is not dataclasses.MISSING:
            default = one.default_factory()
        else:
            default = one.default
        parts = typing.get_args(hint) if isinstance(hint, types.UnionType) else (hint,)
        inner = next((part for part in parts if part is not types.NoneType), hint)
        if dataclasses.is_dataclass(inner) and not hasattr(inner, "parse"):
            assert isinstance(inner, type)
            nested = default if dataclasses.is_dataclass(default) else None
            yield from _describe_table(inner, given or {}, nested, f"{place}{one.name}.")
            continue
        if given is None and default is dataclasses.MISSING:
            shown = "required"
        else:
            shown = json.dumps(to_table(default) if given is None else given, ensure_ascii=False)
        yield KeyDescription(
            f"{place}{one.name}", _type_text(hint), "none" if shown == "null" else shown, sentences.get(one.name, "")
        )


def _type_text(hint: Any) -> str:
    """Return the type of a value in terms familiar to readers of TOML."""
    if isinstance(hint, types.UnionType):
        return " or ".join(_type_text(part) for part in typing.get_args(hint))
    if typing.get_origin(hint) is tuple:
        return f"list of {_type_text(typing.get_args(hint)[0])}"
    if typing.get_origin(hint) is typing.Literal:
        return " | ".join(map(str, typing.get_args(hint)))
    if isinstance(hint, type) and issubclass(hint, StrEnum):
        return " | ".join(hint)
    names = {int: "integer", float: "number", bool: "true | false", str: "text", Path: "path", types.NoneType: "none"}
    return names.get(hint, getattr(hint, "__name__", str(hint)).lower())


def _field_sentences(kind: type[Any]) -> dict[str, str]:
    """Return the docstring below each field of a dataclass and of its base classes."""
    sentences: dict[str, str] = {}
    for one in reversed(kind.__mro__):
        if not dataclasses.is_dataclass(one):
            continue
        (definition,) = ast.parse(textwrap.dedent(inspect.getsource(one))).body
        assert isinstance(definition, ast.ClassDef)
        for field, below in zip(definition.body, definition.body[1:], strict=False):
            if (
                isinstance(field, ast.AnnAssign)
                and isinstance(field.target, ast.Name)
                and isinstance(below, ast.Expr)
                and isinstance(below.value, ast.Constant)
                and isinstance(below.value.value, str)
            ):
                sentences[field.target.id] = " ".join(below.value.value.split())
    return sentences


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
        raise InputError(f"unknown preset {preset!r} for {algorithm}{did_you_mean(preset, preset_names(algorithm))}")
    return paths[preset]


def _set(table: dict[str, Any], setting: str) -> None:
    place, equals, text = setting.partition("=")
    *parents, key = (part.strip().replace("-", "_") for part in place.split("."))
    if not equals or not key:
        raise InputError(f"{setting!r} does not have the form key=value")
    try:
        value = tomllib.loads(f"value = {text.strip()}")["value"]
    except (tomllib.TOMLDecodeError, RecursionError):
        value = text.strip()
    for parent in parents:
        inner = table.get(parent, {})
        if not isinstance(inner, dict):
            raise InputError(f"{parent!r} in {setting!r} is not a table")
        table[parent] = dict(inner)
        table = table[parent]
    table[key] = value
