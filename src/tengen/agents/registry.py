"""Players by name: `make_agent("naive:level=3")`.

An agent specification is `NAME[:key=value,key=value…]`, or `FILE.py[:CLASS][:key=value…]` for a player in a file. Each
kind of player has a frozen dataclass of parameters, whose help texts `tengen agents` shows, and a function that creates
the player from it. A kind's module is imported when the kind is first used.

`AgentRegistry` finds the kinds that are built in, provided by installed packages, defined in files, or added by the
caller as objects (`tengen.core.plugins`). The functions of this module use a registry without additional objects.
"""

from __future__ import annotations

import dataclasses
import enum
import functools
import inspect
import types
import typing
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from tengen.agents.wrappers import FunctionAgent, LentAgent, MoveFunction
from tengen.core.contracts import Agent, Ruleset
from tengen.core.plugins import InFile, Plugins, describe_exception
from tengen.errors import AgentError, AgentNameError, PluginError, TengenError


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


Player = str | Agent | type[Agent] | MoveFunction | AgentKind
"""A player: an agent specification, an agent, a class of agents, or a function from a position to a move."""

_MODULES: dict[str, tuple[str, ...]] = {
    "tengen.agents.simple": ("random", "naive", "chains", "rule-based", "tree"),
    "tengen.agents.alphabeta": ("alphabeta",),
    "tengen.agents.fudan": ("fudan",),
    "tengen.agents.rollout": ("uct", "hmcts"),
    "tengen.agents.alphazero": ("alphazero",),
    "tengen.agents.policy": ("policy", "pg", "ppo", "supervised", "cnn", "mdrnn", "dqn", "evolution"),
    "tengen.agents.adp": ("adp",),
    "tengen.agents.external_engine": ("brain",),
}
"""Agent modules, each with the names of the kinds in its `KINDS`."""


def _is_player(found: Any) -> bool:
    if isinstance(found, tuple):
        return bool(found) and all(isinstance(kind, AgentKind) for kind in found)
    if isinstance(found, type):
        return issubclass(found, Agent) and (found.choose is not Agent.choose or found.start is not Agent.start)
    return isinstance(found, (AgentKind, Agent)) or callable(found)


_PLUGINS = Plugins(
    what="agent",
    group="tengen.agents",
    wanted="a subclass of tengen.Agent with `choose` or `start`, or a function from a position to a move",
    accepts=_is_player,
    built_in={name: f"{module}:KINDS" for module, names in _MODULES.items() for name in names},
)


@dataclass(frozen=True)
class AgentRegistry:
    """Finds and creates players by name. It can be pickled for worker processes if the objects in it can."""

    plugins: Plugins = _PLUGINS

    def restricted(self, own: Mapping[str, Any] | None = None) -> Self:
        """Return a registry for untrusted names: it has only built-in kinds and `own`; see `Plugins.restricted`."""
        return dataclasses.replace(self, plugins=self.plugins.restricted(own))

    def of_files(self, places: Iterable[str]) -> Self:
        """Return a restricted registry with the agents in files, each given as `FILE.py` or `FILE.py:NAME`.

        Without a name, all agents that a file defines are added. Raises `AgentNameError` if a file cannot be used.
        """
        own: dict[str, InFile] = {}
        for text in places:
            place = InFile.parse(text)
            if place is None or place[1]:
                raise AgentNameError(f"not a file with agents: {text!r} (expected FILE.py or FILE.py:NAME)")
            try:
                found = self.plugins.list_file(place[0])
            except PluginError as error:
                raise AgentNameError(str(error)) from error.__cause__
            for name in found.keys() & {*own, *self.plugins.built_in}:
                raise AgentNameError(f"{text} defines {name!r}, but there is already an agent with this name")
            own |= found
        return self.restricted(own)

    def adding(self, players: Iterable[Player]) -> tuple[Self, list[str]]:
        """Return a registry that includes the players given as objects, and the agent specification of each player."""
        own: dict[str, Any] = dict(self.plugins.own)
        texts = []
        for player in players:
            if isinstance(player, str):
                texts.append(player)
                continue
            label = _label(player)
            names = (label, *(f"{label}-{number}" for number in range(2, len(own) + 3)))
            name = next(one for one in names if one not in _PLUGINS.built_in and own.get(one, player) is player)
            own[name] = player
            texts.append(name)
        return dataclasses.replace(self, plugins=self.plugins.with_own(own)), texts

    def names(self) -> tuple[str, ...]:
        """Return the names of all kinds of players. Imports nothing."""
        return self.plugins.names()

    def kind(self, name: str) -> AgentKind:
        """Import and return the kind with the given name, or a kind defined in a file (`mybot.py:MyBot`)."""
        try:
            found = self.plugins.find(name)
            if isinstance(found, tuple):
                kinds = {kind.name: kind for kind in found}
                if name not in kinds:
                    raise PluginError(f"{name!r} is registered, but its list of agents has only {', '.join(kinds)}")
                found = kinds[name]
            return found if isinstance(found, AgentKind) else _kind_of(name, found)
        except PluginError as error:
            raise AgentNameError(str(error)) from error.__cause__

    def parse(self, text: str) -> tuple[AgentKind, Any]:
        """Return the kind and the parameters given by an agent specification."""
        if len(text) > _MAX_TEXT:
            raise AgentNameError(
                f"an agent specification can have at most {_MAX_TEXT} characters, but this one has {len(text)}:"
                f" {text[:40]!r}…"
            )
        name, tail = _split_name(text)
        kind = self.kind(name)
        fields = {_key(field): field for field in dataclasses.fields(kind.parameters)}
        hints = typing.get_type_hints(kind.parameters)
        values: dict[str, Any] = {}
        for key, value in _split_settings(tail, text):
            field = fields.get(key.replace("_", "-"))
            if field is None:
                from tengen.core.tables import did_you_mean

                known = did_you_mean(key, tuple(fields))
                raise AgentNameError(f"agent {kind.name!r} has no parameter {key!r}{known} in {text!r}")
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

    def make(self, player: Player) -> Agent:
        """Create a player. An agent given as an object stays open when the returned agent is closed."""
        if not isinstance(player, str):
            registry, (text,) = self.adding([player])
            return registry.make(text)
        kind, settings = self.parse(player)
        try:
            agent = kind.make(settings)
        except AgentNameError as error:
            raise AgentNameError(f"{error} in {player!r}") from None
        with suppress(AttributeError):  # a class from outside Tengen may have a read-only name
            agent.name = player.strip()
        return agent


_AGENTS = AgentRegistry()


def parameter(default: Any = dataclasses.MISSING, *, help: str) -> Any:
    """Create a field of a parameters dataclass with its help text. Without a default, the parameter is required."""
    return dataclasses.field(default=default, metadata={"help": help})


def agent_names() -> tuple[str, ...]:
    """Return the names of all built-in and installed kinds of players."""
    return _AGENTS.names()


def agent_kind(name: str) -> AgentKind:
    """Import and return the kind with the given name, or a kind defined in a file (`mybot.py:MyBot`)."""
    return _AGENTS.kind(name)


def make_agent(player: Player) -> Agent:
    """Create a player from its specification, such as `naive:level=3` or `./mybot.py:MyBot`, or from a Python object.

    An object can be an agent, a class of agents, or a function from a position to a move. An agent given as an object
    stays open when the returned agent is closed. Raises `AgentNameError` for unknown names, keys and values, and lists
    the known ones.

    >>> make_agent("naive:level=2").name
    'naive:level=2'
    >>> make_agent(lambda position: position.ruleset.centre).name
    'function'
    """
    return _AGENTS.make(player)


def parse_agent(text: str) -> tuple[AgentKind, Any]:
    """Return the kind and the parameters given by an agent specification.

    >>> parse_agent("naive:level=2")[1]
    NaiveParameters(level=2, choice=<PointChoice.RANDOM: 'random'>, seed=0)
    """
    return _AGENTS.parse(text)


def network_player(algorithm: str, key: str) -> str:
    """Return the name of the agent that plays the networks of a learning algorithm and has the parameter `key`.

    This is the built-in agent named after the algorithm if it has that parameter, otherwise `alphazero`, which searches
    with any network.
    """
    registry = AgentRegistry().restricted()
    if algorithm in registry.names():
        fields = dataclasses.fields(registry.kind(algorithm).parameters)
        if any(field.name == key for field in fields):
            return algorithm
    return "alphazero"


def check_plays(agent: Agent, ruleset: Ruleset) -> None:
    """Run `Agent.check_supports`. If it fails, start a game, because some agents give the reason only then."""
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
    name, tail = _split_name(text)
    settings = dict(_split_settings(tail, text)) | {key: value}
    if any('"' in each for each in settings.values()):
        raise AgentNameError(
            f"the value {value!r} contains a double quote, which is not allowed in an agent specification"
        )
    return f"{name}:" + ",".join(f'{each}="{settings[each]}"' for each in settings)


# -- players from outside Tengen --------------------------------------------------------------------------------------


def _label(player: Agent | type[Agent] | MoveFunction | AgentKind) -> str:
    """Return a name for an object that is valid in an agent specification."""
    if isinstance(player, AgentKind):
        return player.name
    name = getattr(player, "__name__", "") or type(player).__name__
    return name if name.isidentifier() else "function"


@functools.lru_cache(maxsize=256)
def _kind_of(name: str, found: Agent | type[Agent] | MoveFunction) -> AgentKind:
    """Return the kind of player that an object defines, with the parameters of the class or function."""
    if isinstance(found, Agent):
        return AgentKind(name, _summary(type(found), name), _NoParameters, lambda _: LentAgent(found))
    parameters = _parameters_of(name, found)

    def make(settings: Any) -> Agent:
        values = {one.name: getattr(settings, one.name) for one in dataclasses.fields(settings)}
        if not isinstance(found, type):
            return FunctionAgent(functools.partial(found, **values), name)
        create: Callable[..., Agent] = found
        try:
            return create(**values)
        except Exception as error:
            raise AgentError(f"agent {name!r} cannot be created: {describe_exception(error)}") from error

    return AgentKind(name, _summary(found, name), parameters, make)


@dataclass(frozen=True)
class _NoParameters:
    """The parameters of a player that is given as an object."""


def _parameters_of(name: str, found: type[Agent] | MoveFunction) -> type[Any]:
    """Return a frozen dataclass with the parameters of a class, or of a function except the position."""
    target: Any = found.__init__ if inspect.isclass(found) else found
    try:
        signature = list(inspect.signature(found).parameters.values())
        hints = typing.get_type_hints(target)
    except Exception as error:
        raise PluginError(f"the parameters of agent {name!r} cannot be read: {describe_exception(error)}") from error
    named = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    given = signature if isinstance(found, type) else signature[1:]
    fields: list[tuple[str, Any, Any]] = []
    for one in given:
        if one.kind not in named:
            continue
        is_required = one.default is inspect.Parameter.empty
        hint = hints.get(one.name, str if is_required or one.default is None else type(one.default))
        if _is_writable(hint):
            fields.append((one.name, hint, parameter(dataclasses.MISSING if is_required else one.default, help="")))
        elif is_required:
            raise PluginError(
                f"agent {name!r} requires {one.name}, whose type cannot be written in an agent specification;"
                " give it a default value, or annotate it as int, float, str or Path"
            )
    return dataclasses.make_dataclass("Parameters", fields, frozen=True, kw_only=True)


def _is_writable(hint: Any) -> bool:
    """Whether values of this type can be written in an agent specification."""
    kind = _plain(hint)
    return _choices(kind) is not None or kind in (int, float, str, Path)


def _summary(found: Any, name: str) -> str:
    """Return the first sentence of an object's own docstring."""
    text = inspect.cleandoc(vars(found).get("__doc__") or "") if hasattr(found, "__dict__") else ""
    paragraph = " ".join(text.partition("\n\n")[0].split())
    return paragraph.partition(". ")[0].rstrip(".") + "." if paragraph else f"The player {name}."


# -- agent specifications --------------------------------------------------------------------------------------------


def _split_name(text: str) -> tuple[str, str]:
    """Split an agent specification into the name of the kind and the settings."""
    place = InFile.parse(text)
    if place is not None:
        return str(place[0]), place[1].removeprefix(":")
    name, _, tail = text.strip().partition(":")
    return name.strip(), tail


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
