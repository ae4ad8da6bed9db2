"""What the browser says over the socket."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from pydantic import Field, TypeAdapter

from tengen.core.contracts import Colour
from tengen.search.threats import ThreatKind
from tengen.web.messages.base import MAX_MOVES, AgentText, GameId, Message, MessageId, PointName, Probability
from tengen.web.messages.games import GameAction
from tengen.web.messages.positions import PositionFields


class Watch(Message):
    """Follow a game: its state now and after every change. Agents think only in games that somebody watches."""

    type: Literal["watch"] = "watch"
    id: MessageId
    game_id: GameId


class Act(Message):
    """An action in a game. The new state goes to all who watch it."""

    type: Literal["act"] = "act"
    id: MessageId
    game_id: GameId
    action: GameAction


class SearchLimits(Message):
    """How long to search; whatever is reached first."""

    max_time_ms: Annotated[int, Field(ge=10, le=600_000)] | None = None
    max_visits: Annotated[int, Field(ge=1, le=2**40)] | None = None
    """Positions or simulations."""
    max_depth: Annotated[int, Field(ge=1, le=MAX_MOVES)] | None = None


class Analyse(PositionFields, SearchLimits):
    """Think aloud about a position until the limits, a `terminate` or the end of the socket."""

    type: Literal["analyse"] = "analyse"
    id: MessageId
    agent: AgentText | None = None
    """The strongest that knows the ruleset unless given."""
    lines: Annotated[int, Field(ge=1, le=20)] = 5
    """How many best moves to follow."""
    analysis_pv_len: Annotated[int, Field(ge=1, le=60, alias="analysisPVLen")] = 20
    report_during_search_every: Annotated[float, Field(ge=0.05, le=10)] = 0.2
    """Seconds between two reports, at least."""
    avoid_moves: Annotated[list[PointName], Field(max_length=MAX_MOVES)] = Field(default=[])
    """Never consider these at the root."""
    allow_moves: Annotated[list[PointName], Field(max_length=MAX_MOVES)] = Field(default=[])
    """Consider only these at the root, when any are given."""
    include_policy: bool = False


class Solve(PositionFields):
    """Look for a win by continuous fours (vcf) or threats (vct)."""

    type: Literal["solve"] = "solve"
    id: MessageId
    kind: ThreatKind = ThreatKind.VCF
    attacker: Colour | None = None
    """As if it were that side's turn; the side to move unless given."""
    max_time_ms: Annotated[int, Field(ge=10, le=30_000)] = 2000


class Hint(Message):
    """Ask for a good move where a game stands."""

    type: Literal["hint"] = "hint"
    id: MessageId
    game_id: GameId
    max_time_ms: Annotated[int, Field(ge=10, le=10_000)] = 700


class Thresholds(Message):
    """How much winrate a move may lose before it gets a bad name."""

    inaccuracy: Probability = 0.06
    mistake: Probability = 0.14
    blunder: Probability = 0.28


class Review(PositionFields):
    """Judge every move of a game."""

    type: Literal["review"] = "review"
    id: MessageId
    agent: AgentText | None = None
    max_time_ms: Annotated[int, Field(ge=10, le=10_000)] = 300
    """For each position."""
    max_visits: Annotated[int, Field(ge=1, le=2**40)] | None = None
    thresholds: Thresholds = Thresholds()


class Judge(PositionFields):
    """Judge one move that was not played: for trying again after a mistake."""

    type: Literal["judge"] = "judge"
    id: MessageId
    move: PointName
    agent: AgentText | None = None
    max_time_ms: Annotated[int, Field(ge=10, le=10_000)] = 500
    thresholds: Thresholds = Thresholds()


class Terminate(Message):
    """End what was begun with the id `terminateId`: a watch, an analysis, a solve, a review."""

    type: Literal["terminate"] = "terminate"
    id: MessageId
    terminate_id: MessageId


class Ping(Message):
    """Are you there?"""

    type: Literal["ping"] = "ping"
    id: MessageId


ClientMessage: TypeAlias = Annotated[
    Watch | Act | Analyse | Solve | Hint | Review | Judge | Terminate | Ping, Field(discriminator="type")
]

CLIENT_MESSAGE: TypeAdapter[ClientMessage] = TypeAdapter(ClientMessage)
