"""Messages about games: players, game state, actions."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from tengen.core.contracts import Colour, Outcome
from tengen.core.opening_procedure import Option, Seat
from tengen.patterns.explain import Kind
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
    """A human player, whose moves come from a browser."""

    kind: Literal["person"] = "person"
    name: Name = ""


class LevelPlayer(Message):
    """An opponent chosen by level (`tengen.agents.levels`)."""

    kind: Literal["level"] = "level"
    level: Annotated[int, Field(ge=1, le=MAX_LEVEL)]
    is_adaptive: bool = False
    """Whether the server replaces the level with the one closest to the browser's rating; also applies to rematches."""


class AgentPlayer(Message):
    """An opponent given by an agent specification."""

    kind: Literal["agent"] = "agent"
    agent: AgentText
    max_time_ms: Annotated[int, Field(ge=1, le=60_000)] = 1000
    """Maximum time per move. With a clock, the agent also respects the time left."""


Player: TypeAlias = Annotated[Person | LevelPlayer | AgentPlayer, Field(discriminator="kind")]


class Clock(Message):
    """Main time and increment per move."""

    main_ms: Annotated[int, Field(ge=1000, le=24 * 3600 * 1000)]
    increment_ms: Annotated[int, Field(ge=0, le=3600 * 1000)] = 0


class NewGame(PositionFields):
    """Request to start a game.

    In an opening procedure, `black` places the first stones; the procedure decides who plays black afterwards. Initial
    stones and moves set the starting position; they require a free opening.
    """

    black: Player
    white: Player
    clock: Clock | None = None
    seed: Annotated[int, Field(ge=0, le=2**53)] | None = None
    """Random seed for the players (default: chosen by the server)."""


class Turn(Message):
    """Whose turn it is, and which actions are possible."""

    seat: Seat
    is_person: bool
    step: Literal["stone", "option"]
    stones_due: int
    """Number of stones the seat has yet to place this turn: 1 after the opening, 0 if it must choose an option."""
    options: list[Option]
    """The options to choose from; empty if a stone is to be placed."""
    legal: list[PointName]
    """Points where a stone may be placed."""


class ClockState(Message):
    """State of the clocks when the message was sent. They run only while the game is watched."""

    main_ms: int
    increment_ms: int
    left_ms: dict[Seat, int]
    running: Seat | None


class MoveNote(Message):
    """Statistics for a move in the game."""

    time_ms: int
    black_winrate: Probability | None = None
    """The player's own evaluation; None if the player did not report one."""
    depth: int = 0
    visits: int = 0
    proof: Proof | None = None
    """Proved result for the player who made the move."""


class ChoiceNote(Message):
    """An option that a player chose in the opening, and the reason."""

    seat: Seat
    option: Option
    white_winrate: Probability | None = None
    """White's winrate as estimated by the agent; None for a person or an agent that does not evaluate positions."""


class GameState(Message):
    """The complete state of a game; sent after every change."""

    id: GameId
    revision: int
    """Number of changes so far."""
    rules: RulesText
    board_x_size: int
    board_y_size: int
    win_length: int
    players: dict[Seat, Player]
    """Players by seat. The proposer is the `black` player of the request."""
    black_seat: Seat | None
    """The seat that plays black; None until the opening procedure has decided it."""
    initial_stones: list[tuple[Colour, PointName]]
    initial_player: Colour
    moves: list[PointName]
    notes: list[MoveNote]
    """Statistics for each move in `moves`."""
    choices: list[Option]
    """The options chosen in the opening, in order."""
    choice_notes: list[ChoiceNote]
    """Who chose each option in `choices`, and why."""
    current_player: Colour
    outcome: Outcome
    reason: str
    """Why the game ended: `five`, `full board`, `no legal point`, `resignation`, `time`, `forfeit`; or empty."""
    winning_line: list[PointName]
    winning_shape: Kind | None
    """The shape that decided a game that ended with a five, such as `four-three`; None if it has no name."""
    fouls: list[FoulPoint]
    turn: Turn | None
    """None if the game is over."""
    is_thinking: bool
    is_paused: bool
    """Whether agents and clocks are paused."""
    can_undo: bool
    can_redo: bool
    is_rated: bool
    """Whether the result counts for the person's rating (docs/reference/api.md has the conditions)."""
    clock: ClockState | None
    seed: int


class PlayAction(Message):
    """Place a stone. The server rejects the action if `turnNumber` is not the current number of moves."""

    action: Literal["play"] = "play"
    point: PointName
    turn_number: Annotated[int, Field(ge=0, le=MAX_MOVES)] | None = None


class ChooseAction(Message):
    """Pick an opening option."""

    action: Literal["choose"] = "choose"
    option: Option


class SimpleAction(Message):
    """Actions without an argument.

    - `undo` goes back to the last decision by a person; `redo` reverts an undo.
    - `moveNow` stops the search; the agent plays its best move so far.
    - `pause` and `resume` stop and restart agents and clocks; `step` plays one agent action while paused.
    - `thinkAgain` undoes the agent's last move and lets it search again.
    """

    action: Literal["undo", "redo", "resign", "moveNow", "pause", "resume", "step", "thinkAgain"]


GameAction: TypeAlias = Annotated[PlayAction | ChooseAction | SimpleAction, Field(discriminator="action")]


class GameSummary(Message):
    """An entry in the list of a browser's games."""

    id: GameId
    rules: RulesText
    black: Player | None
    """The player with the black stones; None until the opening has settled the colours."""
    white: Player | None
    players: dict[Seat, Player]
    outcome: Outcome
    reason: str
    move_count: int
    is_rated: bool = False
    """Whether the result counts for the person's rating."""
    accuracy: dict[Colour, float]
    """Accuracy of each player (0 to 100) in the last review of the game; empty if there is no review."""
    started_at: float
    """Seconds since 1970."""
    changed_at: float


class MyResult(StrEnum):
    """Result of a game for its only human player."""

    WON = "won"
    LOST = "lost"
    DRAW = "draw"
    ONGOING = "ongoing"


class Opponent(Message):
    """An opponent in this browser's games; the list can be filtered by opponent."""

    key: str
    """Identifies the opponent in a search, for example `level:3`."""
    player: Player
    games: int
    """Number of games against this opponent."""


class GameList(Message):
    """A page of this browser's games that match a search, newest first."""

    games: list[GameSummary]
    total: int
    """Number of games that match."""
    stored: int
    """Number of all games of this browser."""
    opponents: list[Opponent]
    """Opponents in all games of this browser, the most frequent ones first."""


class RatedGame(Message):
    """A game that counted for a rating."""

    game_id: GameId
    level: int
    score: float
    """1 for a win, 0.5 for a draw, 0 for a loss."""
    rating: int
    """Rating after the game."""
    change: int


class PlayerRating(Message):
    """The rating of the person using this browser, from games against levels (Glicko-2, on the scale of the ladder)."""

    rating: int
    deviation: int
    """Standard deviation; the true strength is within two deviations of the rating with 95% probability."""
    games: int
    """Number of rated games."""
    suggested_level: Annotated[int, Field(ge=1, le=MAX_LEVEL)]
    """The level whose rating is closest to the person's."""
    history: list[RatedGame]
    """The newest rated games, oldest first."""


class Deleted(Message):
    """Confirms that a game was deleted."""

    id: GameId
