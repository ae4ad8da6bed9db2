"""Messages that describe the server: agents, levels, file formats."""

from __future__ import annotations

from tengen.web.messages.base import AgentText, Message


class ParameterInfo(Message):
    """A parameter of an agent, for building forms."""

    key: str
    type: str
    """`int`, `float`, or the choices separated by bars: `best | fudan`."""
    default: str | None
    help: str
    maximum: int | None = None
    """Largest value that the server allows; None for no limit."""


class AgentInfo(Message):
    """An agent that the browser may use."""

    name: str
    summary: str
    parameters: list[ParameterInfo]
    analyses: bool
    """Whether the agent supports analysis."""


class LevelInfo(Message):
    """An opponent with a fixed strength."""

    level: int
    name: str
    rating: int | None
    """Rating on the ladder (docs/results/ladder.md); None if not measured."""
    description: str


class FormatInfo(Message):
    """A file format."""

    name: str
    title: str
    endings: list[str]
    is_written: bool


class ServerInfo(Message):
    """Description of the server."""

    version: str
    rules: list[str]
    openings: list[str]
    levels: list[LevelInfo]
    agents: list[AgentInfo]
    default_agent: AgentText
    """Default agent for analyses and reviews."""
    formats: list[FormatInfo]
    cores: int
    max_message_bytes: int
    max_searches: int
    """Maximum number of searches that one socket can run at once."""
    models: list[str]
