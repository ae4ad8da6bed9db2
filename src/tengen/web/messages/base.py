"""What all messages share: the form of names, points, rulesets and agents, and how a refusal looks."""

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
"""A point such as `h8`."""

RulesText = Annotated[str, StringConstraints(min_length=1, max_length=40)]
"""A ruleset such as `15x15:5:renju`, or a rule alone such as `renju`."""

AgentText = Annotated[str, StringConstraints(min_length=1, max_length=200)]
"""An agent such as `alphabeta:nodes=5000`."""

MessageId = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_.-]{1,64}$")]
"""Chosen by the client; answers carry it."""

GameId = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{16,64}$")]

Name = Annotated[str, StringConstraints(max_length=80)]

Comment = Annotated[str, StringConstraints(max_length=MAX_COMMENT)]

Probability = Annotated[float, Field(ge=0, le=1)]


class Message(BaseModel):
    """What all messages share: names on the wire are camelCase, unknown fields are refused."""

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
    """What kind of thing went wrong, for programs: the page has a sentence for each in every language."""

    INVALID = "invalid"
    """Not a message, or a value that cannot be used."""
    NOTATION = "notation"
    RULES = "rules"
    POSITION = "position"
    ILLEGAL = "illegal"
    FORBIDDEN = "forbidden"
    GAME_OVER = "game-over"
    RECORD = "record"
    """A game file that cannot be read or written."""
    NOT_FOUND = "not-found"
    NOT_DUE = "not-due"
    """Right in itself, but not now."""
    AGENT = "agent"
    """An agent that may not be named, does not play this, or failed."""
    BUSY = "busy"
    TOO_MANY = "too-many"
    TOO_LARGE = "too-large"
    REFUSED = "refused"
    """From a page or for a host that is not this server's."""
    INTERNAL = "internal"


class Problem(Message):
    """The body of every HTTP answer that is not a success."""

    error: str
    """In English, with the input at fault."""
    code: ProblemCode
    field: str | None = None
