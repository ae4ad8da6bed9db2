"""Players by name: `make_agent("naive:level=3")`.

An agent specification is `NAME[:key=value,key=value…]`. Each kind of player registers a frozen dataclass of parameters,
whose help texts `tengen agents` shows, and a function that creates the player from it. A kind's module is imported when
the kind is first used.
"""

from __future__ import annotations

import dataclasses
import difflib
import enum
import importlib
import types
import typing
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from tengen.core.contracts import Agent, Ruleset
from tengen.errors import AgentError, AgentNameError, TengenError


@dataclass(frozen=True)
class AgentKind:
    """A kind of player: its name, a one-sentence summary, its parameters, and a factory function."""

    name: str
    summary: str
    parameters: type[Any]
    """A frozen dataclass whose fields are created by `parameter`; it raises ValueError for invalid values."""
    make: Callable[[Any], Agent]

    def describe_parameters(self) -> list[ParameterDescription]:
        """Return the parameters in the order of the dataclass fields."""
        hints = typing.get_type_hints(self.parameters)
        return [
            ParameterDescription(
                key=_key(field),
                type=_type_name(hints[field.name]),
                default=None if field.default is dataclasses.MISSING else _value_text(field.default),
                help=field.metadata.get("help", ""),
            )
            for field in dataclasses.fields(self.parameters)
        ]


@dataclass(frozen=True)
class ParameterDescription:
    """A player's parameter as text, for tables and forms."""

    key: str
    type: str
    default: str | None
    """Default as written in an agent specification; None if the parameter is required."""
    help: str


# The kinds of agent that each module defines. The module itself lists them in `KINDS`.
_MODULES: dict[str, tuple[str, ...]] = {
    "tengen.agents.simple": ("random", "naive", "chains", "rule-based"),
    "tengen.agents.alphabeta": ("alphabeta",),
    "tengen.agents.fudan": ("fudan",),
    "tengen.agents.rollout": ("uct", "hmcts"),
    "tengen.agents.alphazero": ("alphazero",),
    "tengen.agents.policy": ("policy", "pg", "ppo", "supervised", "cnn", "mdrnn", "dqn", "evolution"),
    "tengen.agents.adp": ("adp",),
    "tengen.agents.external_engine": ("brain",),
}


def parameter(default: Any = dataclasses.MISSING, *, help: str) -> Any:
    """Create a field of a parameters dataclass with its help text. Without a default, the parameter is required."""
    return dataclasses.field(default=default, metadata={"help": help})


def agent_names() -> tuple[str, ...]:
    """Return the names of all kinds of players."""
    return tuple(name for names in _MODULES.values() for name in names)


def agent_kind(name: str) -> AgentKind:
    """Import and return the kind with the given name."""
    for module, names in _MODULES.items():
        if name in names:
            kinds: tuple[AgentKind, ...] = importlib.import_module(module).KINDS
            return next(kind for kind in kinds if kind.name == name)
    raise AgentNameError(f"unknown agent {name!r}{_known(name, agent_names())}")


def make_agent(text: str) -> Agent:
    """Create a player from its specification, such as `random`, `naive:level=3` or `alphabeta:depth=7`.

    Raises `AgentNameError` for unknown names, keys and values; the message lists the known ones.

    >>> make_agent("naive:level=2").name
    'naive:level=2'
    """
    kind, settings = parse_agent(text)
    try:
        agent = kind.make(settings)
    except AgentNameError as error:
        raise AgentNameError(f"{error} in {text!r}") from None
    agent.name = text.strip()
    return agent


def parse_agent(text: str) -> tuple[AgentKind, Any]:
    """Return the kind and the parameters given by an agent specification.

    >>> parse_agent("naive:level=2")[1]
    NaiveParameters(level=2, seed=0)
    """
    if len(text) > _MAX_TEXT:
        raise AgentNameError(
            f"an agent specification can have at most {_MAX_TEXT} characters, but this one has {len(text)}:"
            f" {text[:40]!r}…"
        )
    name, _, tail = text.strip().partition(":")
    kind = agent_kind(name.strip())
    fields = {_key(field): field for field in dataclasses.fields(kind.parameters)}
    hints = typing.get_type_hints(kind.parameters)
    values: dict[str, Any] = {}
    for key, value in _split_settings(tail, text):
        field = fields.get(key.replace("_", "-"))
        if field is None:
            raise AgentNameError(f"agent {kind.name!r} has no parameter {key!r}{_known(key, fields)} in {text!r}")
        if field.name in values:
            raise AgentNameError(f"parameter {key!r} is given twice in {text!r}")
        values[field.name] = _convert(value, hints[field.name], key, text)
    missing = [
        key for key, field in fields.items() if field.default is dataclasses.MISSING and field.name not in values
    ]
    if missing:
        raise AgentNameError(f"{text!r} does not set {', '.join(missing)}, which agent {kind.name!r} requires")
    try:
        return kind, kind.parameters(**values)
    except ValueError as error:
        raise AgentNameError(f"{error} in {text!r}") from None


def check_plays(agent: Agent, ruleset: Ruleset) -> None:
    """Run `Agent.check_supports`. If it fails, start a game and add the reason that some agents report only then."""
    try:
        agent.check_supports(ruleset)
    except AgentError as error:
        try:
            agent.new_game(ruleset)
        except TengenError as reason:
            raise AgentError(f"{error}: {reason}") from None
        raise


def with_setting(text: str, key: str, value: str) -> str:
    """Return the agent specification with one setting changed.

    >>> with_setting("alphazero:run=first,simulations=50", "run", "runs/first")
    'alphazero:run="runs/first",simulations="50"'
    """
    name, _, tail = text.strip().partition(":")
    settings = dict(_split_settings(tail, text)) | {key: value}
    if any('"' in each for each in settings.values()):
        raise AgentNameError(
            f"the value {value!r} contains a double quote, which is not allowed in an agent specification"
        )
    return f"{name}:" + ",".join(f'{each}="{settings[each]}"' for each in settings)


def _known(given: str, known: Iterable[str]) -> str:
    names = list(known)
    close = difflib.get_close_matches(given, names, n=1)
    guess = f"; did you mean {close[0]!r}?" if close else ""
    return f" (known: {', '.join(names) or 'none'}{guess})"


def _key(field: dataclasses.Field[Any]) -> str:
    return field.name.replace("_", "-")


def _split_settings(tail: str, text: str) -> list[tuple[str, str]]:
    """Split `key=value,key=value`; a value in double quotes may contain commas and spaces."""
    settings: list[tuple[str, str]] = []
    rest = tail.strip()
    while rest:
        key, equals, rest = rest.partition("=")
        key, rest = key.strip(), rest.lstrip()
        if not equals or not key or "," in key:
            raise AgentNameError(f"{key.split(',')[0].strip()!r} in {text!r} does not have the form key=value")
        if rest.startswith('"'):
            value, quote, rest = rest[1:].partition('"')
            rest = rest.lstrip()
            if not quote or (rest and not rest.startswith(",")):
                raise AgentNameError(
                    f"the quoted value of {key!r} is unterminated or not followed by a comma in {text!r}"
                )
            rest = rest[1:]
        else:
            value, _, rest = rest.partition(",")
            value = value.strip()
        settings.append((key, value))
        rest = rest.lstrip()
    return settings


_MAX_TEXT = 10_000
"""Maximum length of an agent specification, which may contain a long command line."""
_BOOLEANS = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}


def _is_optional(hint: Any) -> bool:
    return typing.get_origin(hint) in (types.UnionType, typing.Union) and type(None) in typing.get_args(hint)


def _plain(hint: Any) -> Any:
    """Return T if the hint is `T | None`."""
    if not _is_optional(hint):
        return hint
    return next(kind for kind in typing.get_args(hint) if kind is not type(None))


def _choices(kind: Any) -> tuple[str, ...] | None:
    """Return the possible values of a parameter if its type lists them."""
    if typing.get_origin(kind) is typing.Literal:
        return tuple(str(value) for value in typing.get_args(kind))
    if isinstance(kind, type) and issubclass(kind, enum.StrEnum):
        return tuple(member.value for member in kind)
    if kind is bool:
        return ("true", "false")
    return None


def _type_name(hint: Any) -> str:
    kind = _plain(hint)
    choices = _choices(kind)
    name = " | ".join(choices) if choices else getattr(kind, "__name__", str(kind))
    return f"{name} | none" if _is_optional(hint) else name


def _value_text(value: Any) -> str:
    if value is None:
        return "none"
    if isinstance(value, bool):
        return str(value).lower()
    return str(value)


def _convert(value: str, hint: Any, key: str, text: str) -> Any:
    if _is_optional(hint) and value.lower() == "none":
        return None
    kind = _plain(hint)
    choices = _choices(kind)
    try:
        if kind is bool:
            return _BOOLEANS[value.lower()]
        if typing.get_origin(kind) is typing.Literal:
            return {str(member): member for member in typing.get_args(kind)}[value]
        return kind(value)
    except (KeyError, ValueError, TypeError):
        wanted = f"one of {', '.join(choices)}" if choices else f"of type {getattr(kind, '__name__', str(kind))}"
        raise AgentNameError(f"parameter {key}={value!r} is not {wanted} in {text!r}") from None
