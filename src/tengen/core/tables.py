"""Conversion between TOML tables and frozen dataclasses, driven by the types of their fields.

Unknown keys are errors. `to_table` is the inverse of `TableReader.make`.
"""

from __future__ import annotations

import dataclasses
import difflib
import tomllib
import types
import typing
from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from tengen.core.contracts import Ruleset
from tengen.errors import InputError, TengenError

T = TypeVar("T")

MAX_TOML_BYTES = 1 << 20
"""Maximum size of a TOML file."""


def read_toml(path: Path) -> dict[str, Any]:
    """Read a TOML file and return its table. Raises `InputError` if the file is unreadable or invalid."""
    try:
        if path.stat().st_size > MAX_TOML_BYTES:
            raise InputError(f"{path} is larger than {MAX_TOML_BYTES} bytes")
        data = path.read_bytes()
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from None
    return parse_toml(data, str(path))


def parse_toml(data: bytes, place: str) -> dict[str, Any]:
    """Parse the content of a TOML file. Raises an `InputError` that names `place` if the content is invalid."""
    try:
        return tomllib.loads(data.decode("utf-8"))
    except ValueError as error:  # a number with thousands of digits raises a plain ValueError, not TOMLDecodeError
        raise InputError(f"{place}: {error}") from None
    except RecursionError:
        raise InputError(f"{place}: values are nested too deeply") from None


class TableReader:
    """Converts tables to dataclasses, using the types of their fields.

    A string is accepted for a dataclass with a class method `parse`, such as `Ruleset`. A nested table updates the
    default of its field, if there is one; keys that it omits keep their defaults.
    """

    def __init__(self, origin: str, folder: Path) -> None:
        """Store the source name for error messages (`origin`) and the base folder of relative paths."""
        self._origin = origin
        self._folder = folder

    def make(
        self, kind: type[T], table: Mapping[str, Any], place: str, known: Sequence[str] = (), base: T | None = None
    ) -> T:
        """Convert a table to a dataclass, or update `base` with it; `place` is the table's name in error messages."""
        hints = typing.get_type_hints(kind)
        wanted = {one.name: one for one in dataclasses.fields(kind)}  # type: ignore[arg-type]
        values: dict[str, Any] = {}
        for key, value in table.items():
            if key not in wanted:
                self._refuse(f"unknown key {place}{key}{did_you_mean(key, known or list(wanted))}")
            default = _default_of(wanted[key]) if base is None else getattr(base, key)
            values[key] = self._value(hints[key], value, f"{place}{key}", default)
        missing = [
            name
            for name, one in wanted.items()
            if base is None and one.default is one.default_factory is dataclasses.MISSING and name not in values
        ]
        if missing:
            self._refuse(f"{place}{missing[0]} is missing")
        try:
            return kind(**values) if base is None else dataclasses.replace(base, **values)  # type: ignore[type-var]
        except TengenError as error:
            raise InputError(f"{self._origin}: {place.rstrip('.')}{': ' if place else ''}{error}") from None

    def _value(self, hint: Any, value: Any, place: str, default: Any = None) -> Any:
        origin, arguments = typing.get_origin(hint), typing.get_args(hint)
        if origin in (types.UnionType, typing.Union):
            return self._value(next(kind for kind in arguments if kind is not type(None)), value, place, default)
        if origin is tuple:
            items = value if isinstance(value, list) else [value]
            return tuple(self._value(arguments[0], item, f"{place}[{number}]") for number, item in enumerate(items))
        if origin is Mapping:
            self._expect(isinstance(value, dict), place, value, "a table")
            return {key: self._value(arguments[1], item, f"{place}.{key}") for key, item in value.items()}
        if isinstance(value, str) and hasattr(hint, "parse"):
            try:
                return hint.parse(value)
            except TengenError as error:
                self._refuse(f"{place}: {error}")
        if dataclasses.is_dataclass(hint):
            self._expect(isinstance(value, dict), place, value, "a table")
            return self.make(hint, value, f"{place}.", base=default)  # type: ignore[arg-type]
        return self._plain_value(hint, value, place)

    def _plain_value(self, hint: Any, value: Any, place: str) -> Any:
        if hint is float:
            self._expect(isinstance(value, (int, float)) and not isinstance(value, bool), place, value, "a number")
            return float(value)
        if hint in (int, bool):
            self._expect(type(value) is hint, place, value, "an integer" if hint is int else "true or false")
            return value
        self._expect(isinstance(value, str), place, value, "a string")
        if hint is Path:
            return self._folder / value
        if isinstance(hint, type) and issubclass(hint, StrEnum):
            choices = [member.value for member in hint]
            self._expect(value in choices, place, value, f"one of {', '.join(choices)}")
            return hint(value)
        return value

    def _expect(self, condition: bool, place: str, value: Any, wanted: str) -> None:
        if not condition:
            self._refuse(f"{place} = {value!r} is not {wanted}")

    def _refuse(self, message: str) -> NoReturn:
        raise InputError(f"{self._origin}: {message}")


def _default_of(field: dataclasses.Field[Any]) -> Any:
    """Return the default of a field, or None."""
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    return None if field.default is dataclasses.MISSING else field.default


def to_table(value: Any) -> Any:
    """Convert dataclasses to nested tables of plain values; fields that are None are omitted."""
    if isinstance(value, (Ruleset, Path, StrEnum)):
        return str(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        pairs = ((one.name, to_table(getattr(value, one.name))) for one in dataclasses.fields(value))
        return {key: part for key, part in pairs if part is not None}
    if isinstance(value, Mapping):
        return {str(key): to_table(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [to_table(item) for item in value]
    return value


def did_you_mean(given: str, known: Sequence[str]) -> str:
    """Return the suffix of an "unknown name" error: the known names and the closest match."""
    close = difflib.get_close_matches(given, known, n=1)
    guess = f"; did you mean {close[0]!r}?" if close else ""
    return f" (known: {', '.join(known) or 'none'}{guess})"
