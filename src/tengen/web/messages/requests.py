"""Messages from the browser over the socket."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from pydantic import Field, TypeAdapter

from tengen.core.contracts import Colour
from tengen.search.threats import ThreatKind
from tengen.web.messages.base import MAX_MOVES, AgentText, GameId, Message, MessageId, PointName
from tengen.web.messages.games import GameAction
from tengen.web.messages.positions import PositionFields
from tengen.web.messages.reviews import ReviewFields


class Watch(Message):
    """Subscribe to a game: receive its state now and after every change. Agents search only in watched games."""

    type: Literal["watch"] = "watch"
    id: MessageId
    game_id: GameId


class Act(Message):
    """Perform an action in a game. All watchers receive the new state."""

    type: Literal["act"] = "act"
    id: MessageId
    game_id: GameId
    action: GameAction


class SearchLimits(Message):
    """Limits for a search; the first one reached stops it."""

    max_time_ms: Annotated[int, Field(ge=10, le=600_000)] | None = None
    max_visits: Annotated[int, Field(ge=1, le=2**40)] | None = None
    """Maximum number of positions or simulations."""
    max_depth: Annotated[int, Field(ge=1, le=MAX_MOVES)] | None = None


class Analyse(PositionFields, SearchLimits):
    """Analyse a position until a limit is reached, a `terminate` arrives or the connection closes."""

    type: Literal["analyse"] = "analyse"
    id: MessageId
    agent: AgentText | None = None
    """Agent to analyse with (default: the server's default for the ruleset)."""
    lines: Annotated[int, Field(ge=1, le=20)] = 5
    """Number of best moves to report."""
    analysis_pv_len: Annotated[int, Field(ge=1, le=60, alias="analysisPVLen")] = 20
    report_during_search_every: Annotated[float, Field(ge=0.05, le=10)] = 0.2
    """Minimum number of seconds between two reports."""
    avoid_moves: Annotated[list[PointName], Field(max_length=MAX_MOVES)] = Field(default=[])
    """Moves to exclude at the root."""
    allow_moves: Annotated[list[PointName], Field(max_length=MAX_MOVES)] = Field(default=[])
    """If given, the only moves to consider at the root."""
    include_policy: bool = False


class Solve(PositionFields):
    """Search for a win by continuous fours (vcf) or threats (vct)."""

    type: Literal["solve"] = "solve"
    id: MessageId
    kind: ThreatKind = ThreatKind.VCF
    attacker: Colour | None = None
    """Side that attacks; the search assumes it is to move (default: the side to move)."""
    max_time_ms: Annotated[int, Field(ge=10, le=30_000)] = 2000


class Hint(Message):
    """Ask for a good move in the current position of a game."""

    type: Literal["hint"] = "hint"
    id: MessageId
    game_id: GameId


class Review(ReviewFields):
    """Judge every move in a game. A stored review is sent at once."""

    type: Literal["review"] = "review"
    id: MessageId
    game_id: GameId | None = None
    """The game on this server that the moves belong to; the review is listed and deleted with that game."""
    only_stored: bool = False
    """Whether to reply with an empty message if no review is stored, instead of starting one."""


class Judge(ReviewFields):
    """Judge a single move that was not played, so that a person can retry after a mistake."""

    type: Literal["judge"] = "judge"
    id: MessageId
    move: PointName


class Terminate(Message):
    """End the search or subscription with the id `terminateId`."""

    type: Literal["terminate"] = "terminate"
    id: MessageId
    terminate_id: MessageId


class Ping(Message):
    """Check that the connection is alive; the server replies with `pong`."""

    type: Literal["ping"] = "ping"
    id: MessageId


ClientMessage: TypeAlias = Annotated[
    Watch | Act | Analyse | Solve | Hint | Review | Judge | Terminate | Ping, Field(discriminator="type")
]

CLIENT_MESSAGE: TypeAdapter[ClientMessage] = TypeAdapter(ClientMessage)
