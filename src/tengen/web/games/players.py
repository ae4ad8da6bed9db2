"""Which agents a browser may name, and what each player of a game is told.

A browser never reaches the machine: kinds of agents that start programs are refused, and so is every parameter that
could hold a path. What may be said is decided by the type of the parameter: numbers, yes or no, and choices are
harmless; a text is allowed only where it is known to be a word. Numbers that cost memory or time have a maximum.
Networks are named by shipped models and by the training runs that the server shows: their names are looked up, and only
the server knows the folders behind them.
"""

from __future__ import annotations

import dataclasses
import enum
import re
import secrets
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from tengen.agents.levels import load_levels
from tengen.agents.networks import UNIFORM
from tengen.agents.registry import AgentKind, agent_kind, agent_names, parse_agent, with_setting
from tengen.core.contracts import Agent, Limits, Ruleset
from tengen.errors import AgentNameError, InputError, TengenError
from tengen.nets.models import find_model, model_names
from tengen.search.critic import CRITIC_FILE, critic_names
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
_CRITIC_AGENT = "adp"
"""The agent whose models are critics, not networks over planes."""
_RUN = "run"
"""A parameter of type text that must be the name of a training run that is shown."""
_RUN_NAME = re.compile(r"[\w.+/-]{1,200}")
"""Names of runs that can stand in an agent text as they are."""
_CLOSED = frozenset({"backend"})
"""Parameters that are harmless but would load another large package into every worker."""
_MAXIMA = {"hash-mb": 64, "memory-mb": 64, "threads": 1, "seconds": 30, "batch": 256, "vcf": 10_000}


@dataclass(frozen=True, slots=True)
class NamedAgent:
    """An agent that a browser has named, or that the server has chosen."""

    shown: str
    """Its text as browsers know it."""
    text: str
    """Its text for a worker: a run has its folder there."""
    seed: int | None = None
    """Of a game that an analysis with it counts as, so that it looks for the newest network of its run; mostly None."""


class OpenAgents:
    """The agents that browsers may name on one server; `runs` are the folders of its training runs by name."""

    def __init__(self, runs: Callable[[], Mapping[str, Path]] = dict) -> None:
        self._runs = runs
        self._found: dict[str, Path] = {}

    def named(self, text: str) -> NamedAgent:
        """The agent of a text; `AgentNameError` when a browser may not name it or when there is no such agent."""
        kind, settings = parse_agent(text)
        if not _is_open(kind):
            raise AgentNameError(
                f"agent {kind.name!r} cannot be named from a browser (open ones: {', '.join(open_names())})"
            )
        shown = text.strip()
        named = NamedAgent(shown, shown)
        for field in dataclasses.fields(settings):
            key, value = field.name.replace("_", "-"), getattr(settings, field.name)
            if value == field.default:
                continue
            if not _is_harmless(kind, field.name):
                raise AgentNameError(f"parameter {key!r} of {kind.name!r} cannot be given from a browser")
            if key == _MODEL and value not in open_models(kind):
                raise AgentNameError(f"model {value!r} is not one of {', '.join(open_models(kind))}")
            if key == _RUN:
                folder = str(self._run_folder(kind, value).resolve())
                named = NamedAgent(shown, with_setting(shown, _RUN, folder), secrets.randbits(31))
            if key in _MAXIMA and isinstance(value, (int, float)) and value > _MAXIMA[key]:
                raise AgentNameError(f"parameter {key}={value} is above {_MAXIMA[key]}, the most this server allows")
        return named

    def of_player(self, player: LevelPlayer | AgentPlayer, ruleset: Ruleset) -> tuple[NamedAgent, Limits]:
        """Who plays for a player that is no person, and the limits of a move."""
        if isinstance(player, AgentPlayer):
            return self.named(player.agent), Limits(time_ms=player.max_time_ms)
        level = next(one for one in load_levels() if one.level == player.level)
        text = level.agent_for(ruleset)
        return NamedAgent(text, text), Limits(time_ms=LEVEL_MOVE_MS)

    def for_analysis(self, text: str | None, ruleset: Ruleset) -> NamedAgent:
        """Who analyses positions of a ruleset: the agent that was asked for, else the usual one."""
        if text:
            return self.named(text)
        usual = DEFAULT_AGENT if ruleset.win_length in (4, 5) else FALLBACK_AGENT
        return NamedAgent(usual, usual)

    def describe(self) -> list[AgentInfo]:
        """The open kinds with the parameters that may be given."""
        runs = sorted(self._runs().items())
        return [
            _describe(agent_kind(agent), [name for name, folder in runs if _is_playable(agent, name, folder)])
            for agent in open_names()
        ]

    def _run_folder(self, kind: AgentKind, name: str) -> Path:
        if not self._has_run(kind, name):
            self._found = dict(self._runs())
        if not self._has_run(kind, name):
            raise AgentNameError(f"there is no run {name!r} with a network for {kind.name} here")
        return self._found[name]

    def _has_run(self, kind: AgentKind, name: str) -> bool:
        return name in self._found and _is_playable(kind.name, name, self._found[name])


def run_agent(algorithm: str, name: str, folder: Path) -> str | None:
    """Who plays with the network of a training run; None while there is none, and where its name cannot be said."""
    text = network_agent(algorithm, _RUN, name)
    return text if _is_playable(text.partition(":")[0], name, folder) else None


def _is_playable(agent: str, name: str, folder: Path) -> bool:
    """Whether a training run has a network for an agent, and a name to call it by."""
    if not _RUN_NAME.fullmatch(name):
        return False
    if agent == _CRITIC_AGENT:
        return (folder / CRITIC_FILE).is_file()
    try:
        find_model(folder)
    except InputError:
        return False
    return True


def network_agent(algorithm: str, key: str, name: str) -> str:
    """Who plays with a `model` or the network of a `run`: the player of its algorithm, or a search with it."""
    is_player = algorithm in agent_names() and any(
        field.name == key for field in dataclasses.fields(agent_kind(algorithm).parameters)
    )
    return f"{algorithm if is_player else 'alphazero'}:{key}={name}"


def open_names() -> list[str]:
    """The kinds of agents that a browser may name."""
    return [name for name in agent_names() if _is_open(agent_kind(name))]


def open_models(kind: AgentKind) -> tuple[str, ...]:
    """The networks of an agent that a browser may name: the shipped ones, and the one that knows nothing."""
    return critic_names() if kind.name == _CRITIC_AGENT else (*model_names(), UNIFORM)


def describe_levels() -> list[LevelInfo]:
    """The opponents by strength."""
    return [
        LevelInfo(level=one.level, name=one.name, rating=one.rating, description=one.description)
        for one in load_levels()
    ]


def _describe(kind: AgentKind, runs: list[str]) -> AgentInfo:
    choices = {_MODEL: open_models(kind), _RUN: runs}
    return AgentInfo(
        name=kind.name,
        summary=kind.summary,
        parameters=[
            ParameterInfo(
                key=one.key,
                type=" | ".join((*choices[one.key], "none")) if one.key in choices else one.type,
                default=one.default,
                help=one.help,
                maximum=_MAXIMA.get(one.key),
            )
            for one in kind.describe_parameters()
            if _is_harmless(kind, one.key.replace("-", "_")) and (one.key != _RUN or choices[_RUN])
        ],
        analyses=_analyses(kind),
    )


@cache
def _analyses(kind: AgentKind) -> bool:
    try:
        agent = kind.make(kind.parameters())
    except TengenError:  # its network is not there
        return False
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
    return name in _WORDS or name in (_MODEL, _RUN) or _is_plain(typing.get_type_hints(kind.parameters)[name])


def _is_plain(hint: Any) -> bool:
    """Whether a type has no room for a path: numbers, yes or no, lists of choices, or nothing."""
    origin = typing.get_origin(hint)
    if origin in (types.UnionType, typing.Union):
        return all(_is_plain(part) for part in typing.get_args(hint))
    if origin is typing.Literal:
        return True
    return isinstance(hint, type) and issubclass(hint, (int, float, enum.Enum, types.NoneType))
