"""What the server offers: agents, levels, file formats."""

from __future__ import annotations

from tengen.web.messages.base import AgentText, Message


class ParameterInfo(Message):
    """A parameter of an agent, for forms."""

    key: str
    type: str
    """`int`, `float`, or its choices: `best | fudan`."""
    default: str | None
    help: str
    maximum: int | None = None
    """The largest value that the server allows, when it has a limit."""


class AgentInfo(Message):
    """A kind of player that the browser may name."""

    name: str
    summary: str
    parameters: list[ParameterInfo]
    analyses: bool
    """Whether it can think aloud."""


class LevelInfo(Message):
    """An opponent by strength."""

    level: int
    name: str
    rating: int | None
    """On the scale of the ladder; None until measured."""
    description: str


class FormatInfo(Message):
    """A file format."""

    name: str
    title: str
    endings: list[str]
    is_written: bool


class ServerInfo(Message):
    """What the server offers."""

    version: str
    rules: list[str]
    openings: list[str]
    levels: list[LevelInfo]
    agents: list[AgentInfo]
    default_agent: AgentText
    """Who analyses and reviews unless told."""
    formats: list[FormatInfo]
    cores: int
    max_message_bytes: int
    max_searches: int
    """Searches that a socket may have under way at once."""
    models: list[str]
