"""Which agents a browser may name, and what each player of a game is told.

A browser never reaches the machine: kinds of agents that start programs are refused, and so is every parameter that
could hold a path. What may be said is decided by the type of the parameter: numbers, yes or no, and choices are
harmless; a text is allowed only where it is known to be a word. Numbers that cost memory or time have a maximum.
"""

from __future__ import annotations

import dataclasses
import enum
import types
import typing
from functools import cache
from typing import Any

from tengen.agents.levels import load_levels
from tengen.agents.networks import UNIFORM
from tengen.agents.registry import AgentKind, agent_kind, agent_names, parse_agent
from tengen.core.contracts import Agent, Limits, Ruleset
from tengen.errors import AgentNameError
from tengen.nets.models import model_names
from tengen.web.messages.games import AgentPlayer, LevelPlayer
from tengen.web.messages.info import AgentInfo, LevelInfo, ParameterInfo

DEFAULT_AGENT = "alphabeta"
"""Analyses and reviews where its patterns serve."""
FALLBACK_AGENT = "uct"
"""Analyses everything else."""
LEVEL_MOVE_MS = 5_000
"""A level thinks by its own limits; this is the end of it on a slow machine."""

_WORDS = frozenset({"preset", "without"})
"""Parameters of type text that are words of their agent, never paths."""
_MODEL = "model"
"""A parameter of type text that must be the name of a shipped network."""
_CLOSED = frozenset({"backend"})
"""Parameters that are harmless but would load another large package into every worker."""
_MAXIMA = {"hash-mb": 64, "memory-mb": 64, "threads": 1, "seconds": 30, "batch": 256, "vcf": 10_000}


def check_agent(text: str) -> str:
    """The agent text if a browser may name it; `AgentNameError` when it may not or when there is no such agent."""
    kind, settings = parse_agent(text)
    if not _is_open(kind):
        raise AgentNameError(
            f"agent {kind.name!r} cannot be named from a browser (open ones: {', '.join(open_names())})"
        )
    for field in dataclasses.fields(settings):
        key, value = field.name.replace("_", "-"), getattr(settings, field.name)
        if value == field.default:
            continue
        if not _is_harmless(kind, field.name):
            raise AgentNameError(f"parameter {key!r} of {kind.name!r} cannot be given from a browser")
        if key == _MODEL and value not in open_models():
            raise AgentNameError(f"model {value!r} is not one of {', '.join(open_models())}")
        if key in _MAXIMA and isinstance(value, (int, float)) and value > _MAXIMA[key]:
            raise AgentNameError(f"parameter {key}={value} is above {_MAXIMA[key]}, the most this server allows")
    return text.strip()


def open_names() -> list[str]:
    """The kinds of agents that a browser may name."""
    return [name for name in agent_names() if _is_open(agent_kind(name))]


def open_models() -> tuple[str, ...]:
    """The networks that a browser may name: the shipped ones, and the one that knows nothing."""
    return (*model_names(), UNIFORM)


@cache
def describe_agents() -> tuple[AgentInfo, ...]:
    """The open kinds with the parameters that may be given."""
    return tuple(_describe(agent_kind(name)) for name in open_names())


def describe_levels() -> list[LevelInfo]:
    """The opponents by strength."""
    return [
        LevelInfo(level=one.level, name=one.name, rating=one.rating, description=one.description)
        for one in load_levels()
    ]


def agent_of(player: LevelPlayer | AgentPlayer, ruleset: Ruleset) -> tuple[str, Limits]:
    """The agent text and the limits of a move for a player that is no person."""
    if isinstance(player, AgentPlayer):
        return check_agent(player.agent), Limits(time_ms=player.max_time_ms)
    level = next(one for one in load_levels() if one.level == player.level)
    return level.agent_for(ruleset), Limits(time_ms=LEVEL_MOVE_MS)


def default_agent(ruleset: Ruleset) -> str:
    """Who analyses positions of a ruleset unless told."""
    return DEFAULT_AGENT if ruleset.win_length in (4, 5) else FALLBACK_AGENT


def _describe(kind: AgentKind) -> AgentInfo:
    return AgentInfo(
        name=kind.name,
        summary=kind.summary,
        parameters=[
            ParameterInfo(
                key=one.key,
                type=" | ".join((*open_models(), "none")) if one.key == _MODEL else one.type,
                default=one.default,
                help=one.help,
                maximum=_MAXIMA.get(one.key),
            )
            for one in kind.describe_parameters()
            if _is_harmless(kind, one.key.replace("-", "_"))
        ],
        analyses=_analyses(kind),
    )


def _analyses(kind: AgentKind) -> bool:
    has_model = any(field.name == _MODEL for field in dataclasses.fields(kind.parameters))
    agent = kind.make(kind.parameters(model=UNIFORM) if has_model else kind.parameters())
    try:
        return type(agent).analyse is not Agent.analyse
    finally:
        agent.close()


def _is_open(kind: AgentKind) -> bool:
    """Whether it can be made from harmless parameters alone."""
    return all(
        field.default is not dataclasses.MISSING or _is_harmless(kind, field.name)
        for field in dataclasses.fields(kind.parameters)
    )


def _is_harmless(kind: AgentKind, name: str) -> bool:
    if name in _CLOSED:
        return False
    return name in _WORDS or name == _MODEL or _is_plain(typing.get_type_hints(kind.parameters)[name])


def _is_plain(hint: Any) -> bool:
    """Whether a type has no room for a path: numbers, yes or no, lists of choices, or nothing."""
    origin = typing.get_origin(hint)
    if origin in (types.UnionType, typing.Union):
        return all(_is_plain(part) for part in typing.get_args(hint))
    if origin is typing.Literal:
        return True
    return isinstance(hint, type) and issubclass(hint, (int, float, enum.Enum, types.NoneType))
