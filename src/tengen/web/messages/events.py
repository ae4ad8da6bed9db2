"""What the server says over the socket."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from pydantic import Field, TypeAdapter

from tengen.core.contracts import Colour
from tengen.search.threats import ThreatKind, Verdict
from tengen.web.messages.base import AgentText, Message, MessageId, PointName, Probability, ProblemCode
from tengen.web.messages.games import GameState
from tengen.web.messages.positions import Proof


class GameMessage(Message):
    """The state of a watched game; `id` is that of the watch."""

    type: Literal["game"] = "game"
    id: MessageId
    game: GameState


class Done(Message):
    """An `act` was carried out, or a `terminate`; the revision is the game's after it."""

    type: Literal["done"] = "done"
    id: MessageId
    revision: int | None = None


class MoveInfo(Message):
    """A candidate move."""

    order: int
    """0 is the best."""
    move: PointName
    visits: int
    """Simulations or positions spent on it (N); 0 when the agent does not count by move."""
    winrate: Probability
    utility: Annotated[float, Field(ge=-1, le=1)]
    """The value (Q)."""
    black_winrate: Probability
    prior: Probability | None
    """The network's (P), when there is one."""
    pv: list[PointName]
    depth: int
    proof: Proof | None


class RootInfo(Message):
    """What is known of the position as a whole."""

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
    """By point, when asked for and the agent has one."""


class SolveMessage(Message):
    """The answer to `solve`."""

    type: Literal["solve"] = "solve"
    id: MessageId
    kind: ThreatKind
    attacker: Colour
    verdict: Verdict
    pv: list[PointName]
    """The attacker's moves and one answer to each in turn, when there is a win."""
    visits: int
    elapsed_ms: int


class HintMessage(Message):
    """The answer to `hint`."""

    type: Literal["hint"] = "hint"
    id: MessageId
    turn_number: int
    move_info: MoveInfo


Quality: TypeAlias = Literal["best", "good", "inaccuracy", "mistake", "blunder"]


class ReviewMove(Message):
    """A move of a game with its judgement."""

    turn_number: int
    """1 for the first move."""
    colour: Colour
    move: PointName
    black_winrate: Probability
    """After the move."""
    winrate_loss: Probability
    """What the mover lost against the best move."""
    quality: Quality
    is_key: bool
    """Whether the game turned here: the move changed who is winning, or threw away a forced win."""
    best: MoveInfo | None
    """The best move in its place; None for the move itself after the end of the game."""
    proof: Proof | None
    """For the side to move after the move."""


class SideSummary(Message):
    """A player's share of a review."""

    accuracy: Annotated[float, Field(ge=0, le=100)] | None
    """From 0 to 100; None without moves."""
    moves: int
    counts: dict[Quality, int]
    mean_loss: Probability | None


class ReviewSummary(Message):
    """What a review says in the end."""

    sides: dict[Colour, SideSummary]
    key_moves: list[int]
    """Turn numbers."""


class ReviewMessage(Message):
    """Progress of a review: moves judged since the last message; the last one brings the summary."""

    type: Literal["review"] = "review"
    id: MessageId
    is_during_search: bool
    agent: AgentText
    done: int
    total: int
    root_black_winrate: Probability | None = None
    """Before the first move; in the first message."""
    moves: list[ReviewMove]
    summary: ReviewSummary | None = None


class JudgeMessage(Message):
    """The answer to `judge`."""

    type: Literal["judge"] = "judge"
    id: MessageId
    move: PointName
    winrate: Probability
    """After the move, for the player who makes it."""
    winrate_loss: Probability
    quality: Quality


class Terminated(Message):
    """What was begun with this id has ended before its time."""

    type: Literal["terminated"] = "terminated"
    id: MessageId


class Pong(Message):
    """I am here."""

    type: Literal["pong"] = "pong"
    id: MessageId


class ErrorMessage(Message):
    """A request that could not be carried out, and has changed nothing; or, if it `goesOn`, a trouble on the way."""

    type: Literal["error"] = "error"
    id: MessageId | None = None
    """None when the request's own id could not be read."""
    error: str
    code: ProblemCode
    field: str | None = None
    """Which field was at fault, when it was one."""
    goes_on: bool = False
    """Whether what was asked for goes on all the same, as a game whose agent failed does."""
    retry_after_ms: int | None = None
    """When the request came too soon: how long to wait."""


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

SERVER_MESSAGE: TypeAdapter[ServerMessage] = TypeAdapter(ServerMessage)
