"""The agents that a browser may use, and the agent and limits for each player.

A browser must not be able to start programs or open files on the server. Agents that start programs are refused, and so
is every parameter that could contain a path. The check is by type: numbers, booleans and enumerations are safe; a
string is allowed only if its parameter accepts nothing but keywords. Numbers that affect memory or time have a maximum.
A browser selects a network by the name of a shipped model or a training run; the server looks up the folder.

Browsers can use the built-in agents and those named with --agents when the server was started. No name from a browser
makes the server import code: other agents in files or installed packages are not found.
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
from tengen.agents.registry import AgentKind, AgentRegistry, network_player, with_setting
from tengen.core.contracts import Limits, Ruleset
from tengen.core.files import is_within
from tengen.errors import AgentNameError, InputError, TengenError
from tengen.nets.models import find_milestone, find_model, model_names, shipped_name
from tengen.search.critic import CRITIC_FILE, critic_names
from tengen.web.messages.games import AgentPlayer, LevelPlayer
from tengen.web.messages.info import AgentInfo, LevelInfo, ParameterInfo

DEFAULT_AGENT = "alphabeta"
"""The agent for analyses and reviews with win length 4 or 5, for which there are pattern tables."""
FALLBACK_AGENT = "uct"
"""The agent for analyses and reviews with any other win length."""
LEVEL_MOVE_MS = 5_000
"""Maximum time per move at any level. On most machines the agent reaches its node limit first."""

_SAFE_TEXTS = frozenset({"preset", "without"})
"""Text parameters for which the agent accepts only keywords, never paths."""
_MODEL = "model"
"""Text parameter that must be the name of a shipped network."""
_CRITIC_AGENT = "adp"
"""The agent whose models are critics instead of convolutional networks."""
_RUN = "run"
"""Text parameter that must be the name of a training run that the laboratory shows."""
_RUN_NAME = re.compile(r"[\w.+/-]{1,200}")
"""Run names that need no quoting in an agent specification."""
_UNAVAILABLE = frozenset({"backend"})
"""Parameters that are safe but would make every worker import an additional large package."""
_MAXIMA = {"hash-mb": 64, "memory-mb": 64, "threads": 1, "seconds": 30, "batch": 256, "vcf": 10_000}


@dataclass(frozen=True, slots=True)
class NamedAgent:
    """An agent selected by a browser or by the server."""

    shown: str
    """Agent specification shown to browsers."""
    text: str
    """Agent specification for a worker, with the folder of a run in place of its name."""
    seed: int | None = None
    """Random seed that makes a worker start a new game for an analysis, so that it loads the run's newest network."""


_BUILT_IN = AgentRegistry().restricted()


class AllowedAgents:
    """The agents that browsers may use. `runs` returns the folders of the training runs by name."""

    def __init__(self, runs: Callable[[], Mapping[str, Path]] = dict, registry: AgentRegistry = _BUILT_IN) -> None:
        """Allow the agents of a restricted registry."""
        assert registry.plugins.is_restricted
        self._runs = runs
        self._registry = registry
        self._found: dict[str, Path] = {}

    def named(self, text: str) -> NamedAgent:
        """Parse an agent specification. Raises `AgentNameError` if the agent is unknown or not allowed for browsers."""
        kind, settings = self._registry.parse(text)
        if not self._is_allowed(kind):
            raise AgentNameError(
                f"agent {kind.name!r} is not allowed in a browser; available: {', '.join(self._names())}"
            )
        shown = text.strip()
        named = NamedAgent(shown, shown)
        for field in dataclasses.fields(settings):
            key, value = field.name.replace("_", "-"), getattr(settings, field.name)
            if value == field.default:
                continue
            if not self._is_harmless(kind, field.name):
                raise AgentNameError(f"parameter {key!r} of {kind.name!r} is not allowed in a browser; leave it out")
            if self._is_own(kind):
                continue
            if key == _MODEL and shipped_name(value) not in allowed_models(kind):
                raise AgentNameError(f"unknown model {value!r}; available: {', '.join(allowed_models(kind))}")
            if key == _RUN:
                folder = self._run_folder(kind, value)
                _check_milestone(folder, getattr(settings, "iteration", None))
                named = NamedAgent(shown, with_setting(shown, _RUN, str(folder.resolve())), secrets.randbits(31))
            if key in _MAXIMA and isinstance(value, (int, float)) and value > _MAXIMA[key]:
                raise AgentNameError(f"parameter {key}={value} exceeds this server's maximum of {_MAXIMA[key]}")
        return named

    def of_player(self, player: LevelPlayer | AgentPlayer, ruleset: Ruleset) -> tuple[NamedAgent, Limits]:
        """Return a player's agent and its limits per move."""
        if isinstance(player, AgentPlayer):
            return self.named(player.agent), Limits(time_ms=player.max_time_ms)
        level = next(one for one in load_levels() if one.level == player.level)
        text = level.agent_for(ruleset)
        return NamedAgent(text, text), Limits(time_ms=LEVEL_MOVE_MS)

    def for_analysis(self, text: str | None, ruleset: Ruleset) -> NamedAgent:
        """Return the requested agent, or the default analysis agent for the ruleset."""
        if text:
            return self.named(text)
        default = DEFAULT_AGENT if ruleset.win_length in (4, 5) else FALLBACK_AGENT
        return NamedAgent(default, default)

    def describe(self) -> list[AgentInfo]:
        """List the allowed agents with their allowed parameters."""
        runs = sorted(self._runs().items())
        return [
            self._describe(
                self._registry.kind(agent), [name for name, folder in runs if _is_playable(agent, name, folder)]
            )
            for agent in self._names()
        ]

    def _names(self) -> list[str]:
        return [name for name in self._registry.names() if self._is_allowed(self._registry.kind(name))]

    def _is_own(self, kind: AgentKind) -> bool:
        """Whether the agent was named with --agents; the server does not know what its text parameters mean."""
        return kind.name in self._registry.plugins.own

    def _is_allowed(self, kind: AgentKind) -> bool:
        """Whether the agent can be created from safe parameters alone."""
        return all(
            field.default is not dataclasses.MISSING or self._is_harmless(kind, field.name)
            for field in dataclasses.fields(kind.parameters)
        )

    def _is_harmless(self, kind: AgentKind, name: str) -> bool:
        if name in _UNAVAILABLE:
            return False
        is_known_text = name in (*_SAFE_TEXTS, _MODEL, _RUN) and not self._is_own(kind)
        return is_known_text or _is_plain(typing.get_type_hints(kind.parameters)[name])

    def _describe(self, kind: AgentKind, runs: list[str]) -> AgentInfo:
        choices = {} if self._is_own(kind) else {_MODEL: allowed_models(kind), _RUN: runs}
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
                if self._is_harmless(kind, one.key.replace("-", "_")) and (one.key != _RUN or runs)
            ],
            analyses=_analyses(kind),
        )

    def _run_folder(self, kind: AgentKind, name: str) -> Path:
        if not self._has_run(kind, name):
            self._found = dict(self._runs())
        if not self._has_run(kind, name):
            raise AgentNameError(
                f"this server has no run {name!r} with a network for {kind.name}; the laboratory page lists the runs"
            )
        return self._found[name]

    def _has_run(self, kind: AgentKind, name: str) -> bool:
        return name in self._found and _is_playable(kind.name, name, self._found[name])


def _check_milestone(run: Path, iteration: int | None) -> None:
    """Raise `InputError` if the run has no network of the iteration, or if its file is outside the run."""
    if iteration is not None and not is_within(find_model(find_milestone(run, iteration)), run):
        raise InputError(f"the network of iteration {iteration} is a link that points outside its run")


def run_agent(algorithm: str, name: str, folder: Path) -> str | None:
    """Return the agent specification for a run's network; None if it has no network or its name needs quoting."""
    text = f"{network_player(algorithm, _RUN)}:{_RUN}={name}"
    return text if _is_playable(text.partition(":")[0], name, folder) else None


def _is_playable(agent: str, name: str, folder: Path) -> bool:
    """Whether a training run has a network for an agent and a name that needs no quoting."""
    if not _RUN_NAME.fullmatch(name):
        return False
    if agent == _CRITIC_AGENT:
        network = folder / CRITIC_FILE
        return network.is_file() and is_within(network, folder)
    try:
        return is_within(find_model(folder), folder)
    except InputError:
        return False


def allowed_models(kind: AgentKind) -> tuple[str, ...]:
    """Return the model names that a browser may use for an agent: the shipped ones and the uniform network."""
    return critic_names() if kind.name == _CRITIC_AGENT else (*model_names(), UNIFORM)


def describe_levels() -> list[LevelInfo]:
    """List the opponents by level."""
    return [
        LevelInfo(level=one.level, name=one.name, rating=one.rating, description=one.description)
        for one in load_levels()
    ]


@cache
def _analyses(kind: AgentKind) -> bool:
    """Whether the agent can analyse; False if its network is not installed."""
    try:
        kind.make(kind.parameters()).close()
    except TengenError:
        return False
    return True


def _is_plain(hint: Any) -> bool:
    """Whether a type cannot contain a path: numbers, booleans, enumerations, literals, None."""
    origin = typing.get_origin(hint)
    if origin in (types.UnionType, typing.Union):
        return all(_is_plain(part) for part in typing.get_args(hint))
    if origin is typing.Literal:
        return True
    return isinstance(hint, type) and issubclass(hint, (int, float, enum.Enum, types.NoneType))
