"""Messages from the server over the socket."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from tengen.core.contracts import Colour
from tengen.search.threats import ThreatKind, Verdict
from tengen.web.messages.base import AgentText, Message, MessageId, PointName, Probability, ProblemCode
from tengen.web.messages.games import GameState
from tengen.web.messages.positions import Proof


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


Quality: TypeAlias = Literal["best", "good", "inaccuracy", "mistake", "blunder"]


class ReviewMove(Message):
    """Judgement of one move of the game."""

    turn_number: int
    """1 for the first move."""
    colour: Colour
    move: PointName
    black_winrate: Probability
    """Black's winrate after the move."""
    winrate_loss: Probability
    """Winrate lost compared with the best move."""
    quality: Quality
    is_key: bool
    """Whether this is a turning point: the move changed who is winning, or missed a forced win."""
    best: MoveInfo | None
    """The best move in the position before the move."""
    proof: Proof | None
    """Proved result after the move, for the side that moves next."""


class SideSummary(Message):
    """Summary of one player's moves."""

    accuracy: Annotated[float, Field(ge=0, le=100)] | None
    """Mean accuracy from 0 to 100; None without moves."""
    moves: int
    counts: dict[Quality, int]
    mean_loss: Probability | None


class ReviewSummary(Message):
    """Summary of a review."""

    sides: dict[Colour, SideSummary]
    key_moves: list[int]
    """Turn numbers of the key moves."""


class ReviewMessage(Message):
    """Progress of a review: the moves judged since the last message. The last message contains the summary."""

    type: Literal["review"] = "review"
    id: MessageId
    is_during_search: bool
    agent: AgentText
    done: int
    total: int
    root_black_winrate: Probability | None = None
    """Black's winrate before the first move; only in the first message."""
    moves: list[ReviewMove]
    summary: ReviewSummary | None = None


class JudgeMessage(Message):
    """Reply to `judge`."""

    type: Literal["judge"] = "judge"
    id: MessageId
    move: PointName
    winrate: Probability
    """Winrate after the move, for the player who made it."""
    winrate_loss: Probability
    quality: Quality


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
    """Whether the subscription continues, for example after an agent of the game failed."""
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
