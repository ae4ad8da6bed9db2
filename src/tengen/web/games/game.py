"""The state of a game between two seats: its history, the seat to move, and the effect of each action.

The history is a list of *actions*: points, and options in an opening procedure. All other state is derived from it. A
game is therefore stored as its settings and its actions (`as_json`, `from_json`), and an undo shortens the list. This
module contains no searches and no sockets; `live_games` adds them.
"""

from __future__ import annotations

import copy
import json
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import TypeAdapter, ValidationError

from tengen.agents.levels import load_levels
from tengen.core.contracts import Colour, Opening, Outcome
from tengen.core.geometry import Point
from tengen.core.opening_procedure import Done, OpeningState, Option, Seat
from tengen.core.position import Position
from tengen.errors import GameOverError, InputError, NotDueError
from tengen.patterns.explain import winning_shape
from tengen.records.game import GameRecord, Setup
from tengen.web.messages.games import (
    AgentPlayer,
    ChoiceNote,
    Clock,
    ClockState,
    GameState,
    LevelPlayer,
    MoveNote,
    NewGame,
    Person,
    Player,
    Turn,
)
from tengen.web.positions import fouls_of, ruleset_of, start_of, stones_of

_VERSION = 1
_RATED_WIN_LENGTH = 5
_SMALLEST_RATED_SIZE = 13
_PLAYER: TypeAdapter[Player] = TypeAdapter(Player)


@dataclass(frozen=True, slots=True)
class _PastAction:
    """An action in the history of a game."""

    action: Point | Option
    seat: Seat
    note: MoveNote | None
    """Statistics of the move; None for an option that was chosen without an evaluation."""


@dataclass(frozen=True, slots=True)
class _Ending:
    outcome: Outcome
    reason: str


@dataclass
class Game:
    """A game, ongoing or finished. Every change increments `revision`."""

    id: str
    players: dict[Seat, Player]
    start: Position
    clock: Clock | None = None
    seed: int = 0
    revision: int = 0
    is_paused: bool = False
    left_ms: dict[Seat, int] = field(default_factory=dict)
    base: int = 0
    """Number of actions that were part of the request that created the game; they cannot be undone."""
    is_assisted: bool = False
    """Whether the person has had help: an undo, a hint, or a search that was stopped or repeated."""
    _history: list[_PastAction] = field(default_factory=list)
    _undone: list[list[_PastAction]] = field(default_factory=list)
    _ending: _Ending | None = None
    _opening: OpeningState = field(init=False)
    _position: Position = field(init=False)

    def __post_init__(self) -> None:
        if self.clock is not None and not self.left_ms:
            self.left_ms = dict.fromkeys(Seat, self.clock.main_ms)
        self._replay()

    def copy(self) -> Game:
        """Return a copy; changing it does not change this game."""
        other = copy.copy(self)
        other.left_ms = dict(self.left_ms)
        other._history = list(self._history)
        other._undone = list(self._undone)
        return other

    # -- creating and storing --------------------------------------------------------------------------------------

    @classmethod
    def begin(cls, request: NewGame) -> Game:
        """Create a game. Raises `InputError` if the request is inconsistent."""
        ruleset = ruleset_of(request)
        start = start_of(request)
        if ruleset.opening is not Opening.FREE and (start.stones or request.moves):
            raise InputError(f"a game of {ruleset} must start on an empty board; leave out the stones and moves")
        if start.is_over:
            raise GameOverError("the game is already over in the starting position")
        game = cls(
            id=secrets.token_urlsafe(16),
            players={Seat.PROPOSER: request.black, Seat.CHOOSER: request.white},
            start=start,
            clock=request.clock,
            seed=secrets.randbits(32) if request.seed is None else request.seed,
        )
        for move in request.moves:
            game._do(Point(move), 0, None)
        game.base, game.revision = len(request.moves), 0
        if game.is_over:
            raise GameOverError("the game is already over in the starting position")
        return game

    def rematch(self) -> NewGame:
        """Return the request for a new game from the same starting position with the seats exchanged."""
        return NewGame(
            rules=self.start.ruleset.name,
            initial_stones=stones_of(self.start),
            initial_player=self.start.to_move,
            moves=[str(past.action) for past in self._history[: self.base]],
            black=self.players[Seat.CHOOSER],
            white=self.players[Seat.PROPOSER],
            clock=self.clock,
        )

    def as_json(self) -> str:
        """Return the complete game as JSON, for the store."""
        return json.dumps(
            {
                "version": _VERSION,
                "rules": self.start.ruleset.name,
                "stones": stones_of(self.start),
                "to_move": self.start.to_move,
                "players": {seat: _PLAYER.dump_python(player, mode="json") for seat, player in self.players.items()},
                "clock": None if self.clock is None else self.clock.model_dump(mode="json"),
                "seed": self.seed,
                "revision": self.revision,
                "is_paused": self.is_paused,
                "left_ms": self.left_ms,
                "base": self.base,
                "assisted": self.is_assisted,
                "deeds": [_past_action_json(past) for past in self._history],
                "undone": [[_past_action_json(past) for past in group] for group in self._undone],
                "ending": None if self._ending is None else [self._ending.outcome, self._ending.reason],
            },
            separators=(",", ":"),
        )

    @classmethod
    def from_json(cls, id: str, text: str) -> Game:
        """Restore a game from the JSON returned by `as_json`. Raises `InputError` if the JSON is damaged."""
        try:
            found = json.loads(text)
            if found["version"] != _VERSION:
                raise InputError(
                    f"game {id} was stored in format version {found['version']}; this server reads version {_VERSION}"
                )
            fields = NewGame(
                rules=found["rules"],
                initial_stones=found["stones"],
                initial_player=found["to_move"],
                black=found["players"]["proposer"],
                white=found["players"]["chooser"],
                clock=found["clock"],
            )
            ending = found["ending"]
            return cls(
                id=id,
                players={Seat.PROPOSER: fields.black, Seat.CHOOSER: fields.white},
                start=start_of(fields),
                clock=fields.clock,
                seed=found["seed"],
                revision=found["revision"],
                is_paused=found["is_paused"],
                left_ms={Seat(seat): left for seat, left in found["left_ms"].items()},
                base=found["base"],
                is_assisted=bool(found.get("assisted", False)),
                _history=[_past_action_from(past) for past in found["deeds"]],
                _undone=[[_past_action_from(past) for past in group] for group in found["undone"]],
                _ending=None if ending is None else _Ending(Outcome(ending[0]), ending[1]),
            )
        except (KeyError, TypeError, ValueError, ValidationError) as error:
            raise InputError(f"the stored game {id} is damaged: {type(error).__name__} {error}") from None

    # -- current state ---------------------------------------------------------------------------------------------

    @property
    def position(self) -> Position:
        """The current position."""
        return self._position

    @property
    def opening(self) -> OpeningState:
        """State of the opening procedure."""
        return self._opening

    @property
    def outcome(self) -> Outcome:
        """Outcome of the game, including resignation and loss on time."""
        return self._ending.outcome if self._ending is not None else self._position.outcome

    @property
    def is_over(self) -> bool:
        """Whether the game has ended."""
        return self.outcome is not Outcome.ONGOING

    @property
    def reason(self) -> str:
        """Why the game ended; empty while it is ongoing."""
        if self._ending is not None:
            return self._ending.reason
        if self._position.winning_line:
            return "five"
        if not self.is_over:
            return ""
        return "full board" if self.outcome is Outcome.DRAW else "no legal point"

    @property
    def due(self) -> Seat | None:
        """The seat whose turn it is; None if the game is over."""
        return None if self.is_over else self._seat_due()

    @property
    def agent_due(self) -> bool:
        """Whether it is an agent's turn."""
        return self.due is not None and not isinstance(self.players[self.due], Person)

    @property
    def is_rated(self) -> bool:
        """Whether the result counts for a rating: one person against a level on an empty board, without help.

        The ratings of the levels were measured on 15x15 with five in a row, so the board must be about as large.
        """
        ruleset = self.start.ruleset
        return (
            not self.is_assisted
            and len(self._persons()) == 1
            and any(isinstance(player, LevelPlayer) for player in self.players.values())
            and not self.base
            and not self.start.stones
            and ruleset.win_length == _RATED_WIN_LENGTH
            and min(ruleset.width, ruleset.height) >= _SMALLEST_RATED_SIZE
        )

    @property
    def people(self) -> frozenset[Colour]:
        """The colours that people play."""
        black = self._opening.black or Seat.PROPOSER
        seats = {Colour.BLACK: black, Colour.WHITE: black.other}
        return frozenset(colour for colour, seat in seats.items() if isinstance(self.players[seat], Person))

    @property
    def actions(self) -> tuple[str, ...]:
        """All actions so far, in order."""
        return tuple(str(past.action) for past in self._history)

    @property
    def can_undo(self) -> bool:
        """Whether there is an action to undo."""
        return self._undo_count() > 0

    def state(
        self,
        *,
        is_thinking: bool = False,
        running: Seat | None = None,
        running_ms: int = 0,
        is_stalled: bool = False,
    ) -> GameState:
        """Return the game as a message. `running_ms` is the time that the seat `running` has used this turn.

        A stalled game is reported as paused.
        """
        start, position = self.start, self._position
        ruleset = start.ruleset
        return GameState(
            id=self.id,
            revision=self.revision,
            rules=ruleset.name,
            board_x_size=ruleset.width,
            board_y_size=ruleset.height,
            win_length=ruleset.win_length,
            players=self.players,
            black_seat=self._opening.black,
            initial_stones=stones_of(start),
            initial_player=start.to_move,
            moves=[str(past.action) for past in self._history if isinstance(past.action, Point)],
            notes=[past.note or MoveNote(time_ms=0) for past in self._history if isinstance(past.action, Point)],
            choices=[past.action for past in self._history if isinstance(past.action, Option)],
            choice_notes=[
                ChoiceNote(
                    seat=past.seat,
                    option=past.action,
                    white_winrate=None
                    if past.note is None or past.note.black_winrate is None
                    else 1 - past.note.black_winrate,
                )
                for past in self._history
                if isinstance(past.action, Option)
            ],
            current_player=position.to_move,
            outcome=self.outcome,
            reason=self.reason,
            winning_line=list(position.winning_line),
            winning_shape=winning_shape(position),
            fouls=fouls_of(position),
            turn=self._turn(),
            is_thinking=is_thinking,
            is_paused=self.is_paused or is_stalled,
            can_undo=self.can_undo,
            can_redo=bool(self._undone),
            is_rated=self.is_rated,
            clock=self._clock_state(running, running_ms),
            seed=self.seed,
        )

    def summary(self, accuracy: Mapping[Colour, float] | None = None, mistakes: Sequence[int] = ()) -> str:
        """Return the fields shown in the list of games, as JSON.

        `accuracy` is from a review of this game; `mistakes` are the turn numbers of the people's moves that missed or
        allowed a forced win.
        """
        black = self._opening.black
        fields = {
            "rules": self.start.ruleset.name,
            "players": {seat: _PLAYER.dump_python(player, mode="json") for seat, player in self.players.items()},
            "black_seat": black,
            "outcome": self.outcome,
            "reason": self.reason,
            "move_count": len(self._position.moves),
            "is_rated": self.is_rated,
            "accuracy": dict(accuracy or {}),
            "mistakes": list(mistakes),
        }
        return json.dumps(fields, separators=(",", ":"))

    def record(self) -> GameRecord:
        """Return the game as a record, for export."""
        state = self._position.undo(len(self._position.moves))
        game = GameRecord(
            ruleset=self.start.ruleset,
            black=_player_name(self.players[self._opening.black or Seat.PROPOSER]),
            white=_player_name(self.players[(self._opening.black or Seat.PROPOSER).other]),
            result=None if self.outcome is Outcome.ONGOING else self.outcome,
            result_reason=self.reason,
        )
        if state.stones:
            game.root.setup = Setup(
                tuple(state.points_of(Colour.BLACK)), tuple(state.points_of(Colour.WHITE)), to_move=state.to_move
            )
        node = game.root
        for past in self._history:
            if isinstance(past.action, Point):
                node = node.play(past.action)
                if past.note is not None:
                    node.time_ms = past.note.time_ms
        return game

    # -- actions ---------------------------------------------------------------------------------------------------

    def play(self, point: str, *, time_ms: int = 0, note: MoveNote | None = None) -> None:
        """Place a stone for the seat whose turn it is."""
        if self._opening.options:
            raise NotDueError(f"choose an opening option before you place a stone: {self._opening}")
        self._act(Point(point), time_ms, note)

    def choose(self, option: Option, *, time_ms: int = 0, note: MoveNote | None = None) -> None:
        """Pick an option of the opening for the seat whose turn it is."""
        if not self._opening.options:
            raise NotDueError(f"there is no option to choose: {self._opening}")
        self._act(option, time_ms, note)

    def undo(self) -> None:
        """Go back to the last decision by a person. If both players are agents, undo one action and pause the game."""
        count = self._undo_count()
        if not count:
            raise NotDueError("there is nothing to undo")
        self._undone.append(self._history[-count:])
        del self._history[-count:]
        self.is_assisted = True
        self._ending = None
        self.is_paused = self.is_paused or not self._persons()
        self._replay()
        self.revision += 1

    def redo(self) -> None:
        """Restore the actions that the last undo removed."""
        if not self._undone:
            raise NotDueError("there is nothing to redo")
        self._history += self._undone.pop()
        self._replay()
        self.revision += 1

    def take_back_agent(self) -> None:
        """Undo the agent's last action so that it searches again."""
        if len(self._history) <= self.base or isinstance(self.players[self._history[-1].seat], Person):
            raise NotDueError("the last move was not made by an agent")
        self._history.pop()
        self._undone.clear()
        self.is_assisted = True
        self._ending = None
        self._replay()
        self.revision += 1

    def resign(self) -> None:
        """Resign for the person whose turn it is; during an agent's turn, for the only human player."""
        if self.is_over:
            raise NotDueError("the game is over")
        persons = self._persons()
        seat = self.due if self.due in persons else persons[0] if len(persons) == 1 else None
        if seat is None:
            raise NotDueError("no human player can resign now")
        self.end(seat, "resignation")

    def end(self, loser: Seat, reason: str) -> None:
        """End the game with a loss for a seat, for example on time.

        Until the opening procedure has decided the colours, the proposer counts as black.
        """
        loses_black = loser is (self._opening.black or Seat.PROPOSER)
        self._ending = _Ending(Outcome.WHITE if loses_black else Outcome.BLACK, reason)
        self.revision += 1

    def set_paused(self, is_paused: bool) -> None:
        """Pause or resume agents and clocks."""
        self.is_paused = is_paused
        self.revision += 1

    # -- implementation --------------------------------------------------------------------------------------------

    def _act(self, action: Point | Option, time_ms: int, note: MoveNote | None) -> None:
        if self.is_over:
            raise GameOverError(f"cannot play {action}: the game is over")
        seat = self._seat_due()
        if self.clock is not None and time_ms > self.left_ms[seat]:
            self.left_ms[seat] = 0
            self.end(seat, "time")
            return
        self._do(action, time_ms, note)
        if self.clock is not None:
            self.left_ms[seat] += self.clock.increment_ms - time_ms
        self._undone.clear()
        self.revision += 1

    def _do(self, action: Point | Option, time_ms: int, note: MoveNote | None) -> None:
        seat = self._seat_due()
        if isinstance(action, Point) and note is None:
            note = MoveNote(time_ms=time_ms)
        if self._opening.is_done:
            self._position = self._position.play(action)
        else:
            self._opening = self._opening.apply(action)
            self._position = self._opening.position
        self._history.append(_PastAction(action, seat, note))

    def _replay(self) -> None:
        history, self._history = self._history, []
        if self.start.ruleset.opening is Opening.FREE:
            self._opening = OpeningState(self.start, Done(Seat.PROPOSER))
        else:
            self._opening = OpeningState.start(self.start.ruleset)
        self._position = self._opening.position
        for past in history:
            self._do(past.action, past.note.time_ms if past.note else 0, past.note)

    def _seat_due(self) -> Seat:
        if self._opening.seat is not None:
            return self._opening.seat
        black = self._opening.black
        assert black is not None
        return black if self._position.to_move is Colour.BLACK else black.other

    def _persons(self) -> list[Seat]:
        return [seat for seat, player in self.players.items() if isinstance(player, Person)]

    def _undo_count(self) -> int:
        """Return the number of actions that an undo removes."""
        free = self._history[self.base :]
        persons = self._persons()
        if not persons:
            return min(1, len(free))
        for count, past in enumerate(reversed(free), start=1):
            if past.seat in persons:
                return count
        return 0

    def _turn(self) -> Turn | None:
        seat = self.due
        if seat is None:
            return None
        options = list(self._opening.options)
        in_opening = not self._opening.is_done
        legal = self._opening.allowed_points() if in_opening else self._position.legal_points()
        return Turn(
            seat=seat,
            is_person=isinstance(self.players[seat], Person),
            step="option" if options else "stone",
            stones_due=self._opening.stones_due if in_opening else 1,
            options=options,
            legal=[] if options else list(legal),
        )

    def _clock_state(self, running: Seat | None, running_ms: int) -> ClockState | None:
        if self.clock is None:
            return None
        left = dict(self.left_ms)
        if running is not None:
            left[running] = max(0, left[running] - running_ms)
        return ClockState(
            main_ms=self.clock.main_ms, increment_ms=self.clock.increment_ms, left_ms=left, running=running
        )


def _player_name(player: Player) -> str:
    match player:
        case LevelPlayer():
            return next((level.name for level in load_levels() if level.level == player.level), f"level {player.level}")
        case AgentPlayer():
            return player.agent
        case Person():
            return player.name or "Person"


def _past_action_json(past: _PastAction) -> list[Any]:
    note = None if past.note is None else past.note.model_dump(mode="json", exclude_defaults=True)
    return [past.action, note]


def _past_action_from(found: list[Any]) -> _PastAction:
    action, note = found
    is_option = action in tuple(Option)
    # The stored form has no seat; `Game._replay` sets the correct one.
    return _PastAction(
        Option(action) if is_option else Point(action),
        Seat.PROPOSER,
        None if note is None else MoveNote.model_validate(note),
    )


def moves_of_stored(body: str) -> list[str]:
    """Return the moves of a game in its stored form, without restoring it; empty if it began with stones."""
    found = json.loads(body)
    options = tuple(Option)
    return [] if found["stones"] else [action for action, _ in found["deeds"] if action not in options]


def check_turn_number(game: Game, turn_number: int | None) -> None:
    """Raise `NotDueError` if the number of moves has changed since the client sent its request."""
    moves = len(game.position.moves)
    if turn_number is not None and turn_number != moves:
        raise NotDueError(f"the board has changed: the next move is number {moves + 1}, not {turn_number + 1}")
