"""Games: who plays, how a game stands, what can be done in it."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from tengen.core.contracts import Colour, Outcome
from tengen.core.opening_procedure import Option, Seat
from tengen.web.messages.base import (
    MAX_LEVEL,
    MAX_MOVES,
    AgentText,
    GameId,
    Message,
    Name,
    PointName,
    Probability,
    RulesText,
)
from tengen.web.messages.positions import FoulPoint, PositionFields, Proof


class Person(Message):
    """A seat whose moves come from a browser."""

    kind: Literal["person"] = "person"
    name: Name = ""


class LevelPlayer(Message):
    """An opponent by strength (`tengen.agents.levels`)."""

    kind: Literal["level"] = "level"
    level: Annotated[int, Field(ge=1, le=MAX_LEVEL)]


class AgentPlayer(Message):
    """An opponent by its agent text."""

    kind: Literal["agent"] = "agent"
    agent: AgentText
    max_time_ms: Annotated[int, Field(ge=1, le=60_000)] = 1000
    """For each move; with a clock, the clock counts as well."""


Player: TypeAlias = Annotated[Person | LevelPlayer | AgentPlayer, Field(discriminator="kind")]


class Clock(Message):
    """Time for the whole game and what each move adds to it."""

    main_ms: Annotated[int, Field(ge=1000, le=24 * 3600 * 1000)]
    increment_ms: Annotated[int, Field(ge=0, le=3600 * 1000)] = 0


class NewGame(PositionFields):
    """Begins a game. `black` puts the first stones of an opening procedure, whoever plays black after it.

    Moves and set-up stones are what stands when the game begins; they need a free opening.
    """

    black: Player
    white: Player
    clock: Clock | None = None
    seed: Annotated[int, Field(ge=0, le=2**53)] | None = None
    """For the random choices of the players; chosen by the server unless given."""


class Turn(Message):
    """Who must do what now."""

    seat: Seat
    is_person: bool
    step: Literal["stone", "option"]
    stones_due: int
    """How many stones the seat puts in a row: 1 unless an opening is under way, 0 when an option is due."""
    options: list[Option]
    """What may be chosen, in an opening that asks."""
    legal: list[PointName]
    """Where a stone may be put."""


class ClockState(Message):
    """What the clocks show at the moment of the message. They run while the game is watched."""

    main_ms: int
    increment_ms: int
    left_ms: dict[Seat, int]
    running: Seat | None


class MoveNote(Message):
    """What is known of a move that was made."""

    time_ms: int
    black_winrate: Probability | None = None
    """What the player expected, if it said so."""
    depth: int = 0
    visits: int = 0
    proof: Proof | None = None
    """For the player who made the move."""


class GameState(Message):
    """A game as it stands. Sent whole after every change."""

    id: GameId
    revision: int
    """Grows with every change."""
    rules: RulesText
    board_x_size: int
    board_y_size: int
    win_length: int
    players: dict[Seat, Player]
    """The proposer is the one named black at the beginning."""
    black_seat: Seat | None
    """Who plays black; None until an opening has settled it."""
    initial_stones: list[tuple[Colour, PointName]]
    initial_player: Colour
    moves: list[PointName]
    notes: list[MoveNote]
    """One for each move."""
    choices: list[Option]
    """What was chosen in the opening."""
    current_player: Colour
    outcome: Outcome
    reason: str
    """Why it ended: `five`, `full board`, `no legal point`, `resignation`, `time`, `forfeit`; empty before."""
    winning_line: list[PointName]
    fouls: list[FoulPoint]
    turn: Turn | None
    """None when the game is over."""
    is_thinking: bool
    is_paused: bool
    """Agents do not move by themselves in a paused game."""
    can_undo: bool
    can_redo: bool
    clock: ClockState | None
    seed: int


class PlayAction(Message):
    """A person puts a stone; `turnNumber` guards against a click on a board that has changed meanwhile."""

    action: Literal["play"] = "play"
    point: PointName
    turn_number: Annotated[int, Field(ge=0, le=MAX_MOVES)] | None = None


class ChooseAction(Message):
    """A person picks an option of the opening."""

    action: Literal["choose"] = "choose"
    option: Option


class SimpleAction(Message):
    """Actions without an argument.

    `undo` goes back to the last decision of a person, `redo` takes an undo back, `moveNow` ends the agent's thinking
    with its best move so far, `pause` and `resume` hold agents and clocks, `step` lets a paused agent do one thing,
    `thinkAgain` takes back the agent's last move and lets it think anew.
    """

    action: Literal["undo", "redo", "resign", "moveNow", "pause", "resume", "step", "thinkAgain"]


GameAction: TypeAlias = Annotated[PlayAction | ChooseAction | SimpleAction, Field(discriminator="action")]
