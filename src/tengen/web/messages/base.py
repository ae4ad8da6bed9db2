"""Common parts of all messages: constrained text types, the base class, and errors."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints
from pydantic.alias_generators import to_camel

from tengen.core.geometry import MAX_SIZE

MAX_MOVES = MAX_SIZE * MAX_SIZE

MAX_COMMENT = 10_000

MAX_RECORD_NODES = 20_000

MAX_LEVEL = 10

PointName = Annotated[str, StringConstraints(pattern=r"^[a-v]([1-9]|1[0-9]|2[0-2])$")]
"""Name of a point, such as `h8`."""

RulesText = Annotated[str, StringConstraints(min_length=1, max_length=40)]
"""Ruleset such as `15x15:5:renju`, or only a rule such as `renju`."""

AgentText = Annotated[str, StringConstraints(min_length=1, max_length=200)]
"""Agent such as `alphabeta:nodes=5000`."""

MessageId = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_.-]{1,64}$")]
"""Id chosen by the client; replies carry the same id."""

GameId = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{16,64}$")]

Name = Annotated[str, StringConstraints(max_length=80)]

Comment = Annotated[str, StringConstraints(max_length=MAX_COMMENT)]

Probability = Annotated[float, Field(ge=0, le=1)]


class Message(BaseModel):
    """Base class of all messages: camelCase on the wire, immutable, rejects unknown fields."""

    model_config = ConfigDict(
        alias_generator=to_camel,
        populate_by_name=True,
        extra="forbid",
        frozen=True,
        serialize_by_alias=True,
        allow_inf_nan=False,
        json_schema_serialization_defaults_required=True,  # the server sends every field
    )


class ProblemCode(StrEnum):
    """Machine-readable kind of an error. The page has a translated text for each kind."""

    INVALID = "invalid"
    """The message is malformed or contains an invalid value."""
    NOTATION = "notation"
    RULES = "rules"
    POSITION = "position"
    ILLEGAL = "illegal"
    FORBIDDEN = "forbidden"
    GAME_OVER = "game-over"
    RECORD = "record"
    """A game file cannot be read or written."""
    NOT_FOUND = "not-found"
    NOT_DUE = "not-due"
    """The action is valid, but not at this point in the game."""
    AGENT = "agent"
    """The agent is not allowed, does not support the rules, or failed."""
    STORAGE = "storage"
    """The server cannot store or read the data, for example because its disk is full. Nothing has changed."""
    BUSY = "busy"
    TOO_MANY = "too-many"
    TOO_LARGE = "too-large"
    TOO_SLOW = "too-slow"
    """The request did not arrive in time."""
    REFUSED = "refused"
    """The request came from a page with a different origin or was addressed to an unknown host."""
    INTERNAL = "internal"


class Problem(Message):
    """Body of every unsuccessful HTTP response."""

    error: str
    """Message in English that quotes the invalid input."""
    code: ProblemCode
    field: str | None = None
