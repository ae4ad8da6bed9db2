"""Messages from the server over the socket."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from tengen.core.contracts import Colour
from tengen.search.threats import ThreatKind, Verdict
from tengen.web.messages.base import AgentText, Message, MessageId, PointName, Probability, ProblemCode
from tengen.web.messages.games import GameState
from tengen.web.messages.positions import Proof
from tengen.web.messages.reviews import EffortName, ReasonInfo, ReviewMove, ReviewSummary


class GameMessage(Message):
    """The state of a watched game. `id` is the id of the `watch` request."""

    type: Literal["game"] = "game"
    id: MessageId
    game: GameState


class Done(Message):
    """Confirmation of an `act` (with the new revision of the game) or a `terminate`."""

    type: Literal["done"] = "done"
    id: MessageId
    revision: int | None = None


class MoveInfo(Message):
    """A candidate move."""

    order: int
    """Rank of the move; 0 is the best."""
    move: PointName
    visits: int
    """Visit count (N): simulations or positions searched below the move; 0 if the agent does not count them."""
    winrate: Probability
    utility: Annotated[float, Field(ge=-1, le=1)]
    """Value (Q) for the side to move."""
    black_winrate: Probability
    prior: Probability | None
    """Prior probability (P) from the network; None without a network."""
    pv: list[PointName]
    depth: int
    proof: Proof | None


class RootInfo(Message):
    """Evaluation of the position as a whole."""

    current_player: Colour
    winrate: Probability
    utility: float
    black_winrate: Probability
    visits: int
    depth: int
    elapsed_ms: int
    visits_per_second: int
    proof: Proof | None


class AnalysisMessage(Message):
    """A snapshot of an analysis; the last one has `isDuringSearch` false."""

    type: Literal["analysis"] = "analysis"
    id: MessageId
    turn_number: int
    is_during_search: bool
    agent: AgentText
    move_infos: list[MoveInfo]
    root_info: RootInfo
    policy: dict[PointName, float] | None = None
    """Probability by point, if requested and if the agent has a policy."""


class SolveMessage(Message):
    """Reply to `solve`."""

    type: Literal["solve"] = "solve"
    id: MessageId
    kind: ThreatKind
    attacker: Colour
    verdict: Verdict
    pv: list[PointName]
    """The winning line: the attacker's moves, each followed by a defence; empty if there is no win."""
    visits: int
    elapsed_ms: int


class HintMessage(Message):
    """Reply to `hint`."""

    type: Literal["hint"] = "hint"
    id: MessageId
    turn_number: int
    move_info: MoveInfo
    reason: ReasonInfo
    """What the move achieves."""


class ReviewMessage(Message):
    """Progress of a review: the moves judged since the last message. The last message contains the summary."""

    type: Literal["review"] = "review"
    id: MessageId
    is_during_search: bool
    effort: EffortName
    done: int
    total: int
    root_black_winrate: Probability | None = None
    """Black's winrate before the first move; only in the first message."""
    moves: list[ReviewMove]
    summary: ReviewSummary | None = None
    is_stored: bool = False
    """Whether the finished review is stored, so that the same request will be answered immediately."""


class JudgeMessage(Message):
    """Reply to `judge`: the move, judged like a move in the game."""

    type: Literal["judge"] = "judge"
    id: MessageId
    move: PointName
    winrate: Probability
    """Winrate after the move, for the player who made it."""
    judged: ReviewMove
    """For a good move, `betterReason` is the reason to play it."""


class Terminated(Message):
    """The search or subscription with this id was terminated."""

    type: Literal["terminated"] = "terminated"
    id: MessageId


class Pong(Message):
    """Reply to `ping`."""

    type: Literal["pong"] = "pong"
    id: MessageId


class ErrorMessage(Message):
    """A request failed and had no effect; if `goesOn` is true, its subscription continues despite the error."""

    type: Literal["error"] = "error"
    id: MessageId | None = None
    """Id of the request; None if the id could not be parsed."""
    error: str
    code: ProblemCode
    field: str | None = None
    """Name of the invalid field, if the error concerns a single field."""
    goes_on: bool = False
    """Whether the subscription continues, for example after one of the game's agents failed."""
    retry_after_ms: int | None = None
    """How long to wait before the next request, if the client sent too many."""


ServerMessage: TypeAlias = Annotated[
    GameMessage
    | Done
    | AnalysisMessage
    | SolveMessage
    | HintMessage
    | ReviewMessage
    | JudgeMessage
    | Terminated
    | Pong
    | ErrorMessage,
    Field(discriminator="type"),
]
