"""The one way to name a player: `make_agent("naive:level=3")`.

An agent text is `NAME[:key=value,key=value…]`. Each kind of player registers a frozen dataclass of parameters (its
field docstrings are what `tengen agents` shows) and a function that makes the player from it. The module that holds a
player is imported when the player is first asked for, so that naming one costs nothing.
"""

from __future__ import annotations

import dataclasses
import importlib
import types
import typing
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tengen.core.contracts import Agent
from tengen.errors import AgentNameError


@dataclass(frozen=True)
class AgentKind:
    """A kind of player: its name, what it is in one sentence, its parameters, and how to make one."""

    name: str
    summary: str
    parameters: type[Any]
    """A frozen dataclass; each field has a default (or is required), metadata["help"] is its sentence."""
    make: Callable[[Any], Agent]


# Where each kind lives: module → the names it offers. A module lists its kinds in `KINDS`.
_MODULES: dict[str, tuple[str, ...]] = {
    "tengen.agents.simple": ("random", "naive", "chains", "rule-based"),
}


def parameter(default: Any = dataclasses.MISSING, *, help: str) -> Any:
    """A parameter of an agent with its sentence; without a default it must be given."""
    return dataclasses.field(default=default, metadata={"help": help})


def agent_names() -> tuple[str, ...]:
    """The names of all kinds of players."""
    return tuple(name for names in _MODULES.values() for name in names)


def agent_kind(name: str) -> AgentKind:
    """The kind with the given name, its module imported."""
    for module, names in _MODULES.items():
        if name in names:
            kinds: tuple[AgentKind, ...] = importlib.import_module(module).KINDS
            return next(kind for kind in kinds if kind.name == name)
    raise AgentNameError(f"unknown agent {name!r} (known: {', '.join(agent_names())})")


def make_agent(text: str) -> Agent:
    """Make a player from its text, such as `random`, `naive:level=3` or `alphabeta:depth=7`.

    Unknown names and keys are refused with the list of known ones.
    """
    kind, settings = parse_agent(text)
    try:
        agent = kind.make(settings)
    except AgentNameError as error:
        raise AgentNameError(f"{error} in {text!r}") from None
    agent.name = text
    return agent


def parse_agent(text: str) -> tuple[AgentKind, Any]:
    """The kind and the filled-in parameters that an agent text names."""
    name, _, tail = text.strip().partition(":")
    kind = agent_kind(name)
    fields = {field.name.replace("_", "-"): field for field in dataclasses.fields(kind.parameters)}
    hints = typing.get_type_hints(kind.parameters)
    values: dict[str, Any] = {}
    for key, value in _split_settings(tail, text):
        field = fields.get(key.replace("_", "-"))
        if field is None:
            known = ", ".join(fields) or "none"
            raise AgentNameError(f"agent {name!r} has no parameter {key!r} (known: {known}) in {text!r}")
        if field.name in values:
            raise AgentNameError(f"parameter {key!r} is given twice in {text!r}")
        values[field.name] = _convert(value, hints[field.name], key, text)
    missing = [
        key for key, field in fields.items() if field.default is dataclasses.MISSING and field.name not in values
    ]
    if missing:
        raise AgentNameError(f"agent {name!r} needs {', '.join(missing)} in {text!r}")
    try:
        return kind, kind.parameters(**values)
    except ValueError as error:
        raise AgentNameError(f"{error} in {text!r}") from None


def _split_settings(tail: str, text: str) -> list[tuple[str, str]]:
    """Split `key=value,key=value`; a value in double quotes may hold commas and blanks."""
    settings: list[tuple[str, str]] = []
    rest = tail.strip()
    while rest:
        key, equals, rest = rest.partition("=")
        if not equals:
            raise AgentNameError(f"parameter {key.strip()!r} has no value in {text!r}")
        if rest.startswith('"'):
            value, quote, rest = rest[1:].partition('"')
            if not quote or (rest and not rest.startswith(",")):
                raise AgentNameError(f"the quoted value of {key.strip()!r} does not end well in {text!r}")
            rest = rest[1:]
        else:
            value, _, rest = rest.partition(",")
        settings.append((key.strip(), value.strip()))
        rest = rest.lstrip()
    return settings


def _convert(value: str, hint: Any, key: str, text: str) -> Any:
    wanted = [kind for kind in typing.get_args(hint) if kind is not type(None)]
    kind = wanted[0] if wanted and isinstance(hint, types.UnionType) else hint
    try:
        if kind is bool:
            return {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}[value.lower()]
        return kind(value)
    except (KeyError, ValueError, TypeError):
        name = getattr(kind, "__name__", str(kind))
        raise AgentNameError(f"parameter {key}={value!r} is not {name} in {text!r}") from None
