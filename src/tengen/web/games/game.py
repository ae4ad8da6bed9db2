"""A game between two seats: what has happened, what is due, and what an action does. No searches, no sockets here.

The history is a list of *actions*: points, and options of an opening procedure. Everything else follows from it, so
that a game is stored as its settings and its actions (`as_json`, `from_json`), and an undo is a shorter list.
"""

from __future__ import annotations

import json
import secrets
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from pydantic import TypeAdapter, ValidationError

from tengen.core.contracts import Colour, Opening, Outcome
from tengen.core.geometry import Point
from tengen.core.opening_procedure import Done, OpeningState, Option, Seat
from tengen.core.position import Position
from tengen.errors import GameOverError, InputError, NotDueError
from tengen.web.messages.games import Clock, ClockState, GameState, MoveNote, NewGame, Person, Player, Turn
from tengen.web.positions import fouls_of, ruleset_of, start_of, stones_of

_VERSION = 1
_PLAYER: TypeAdapter[Player] = TypeAdapter(Player)


@dataclass(frozen=True, slots=True)
class _Deed:
    """An action that was carried out."""

    action: Point | Option
    seat: Seat
    note: MoveNote | None
    """For stones."""


@dataclass(frozen=True, slots=True)
class _Ending:
    outcome: Outcome
    reason: str


_Undone: TypeAlias = list[_Deed]


@dataclass
class Game:
    """A game under way or finished. Every change raises `revision`."""

    id: str
    players: dict[Seat, Player]
    start: Position
    clock: Clock | None = None
    seed: int = 0
    revision: int = 0
    is_paused: bool = False
    left_ms: dict[Seat, int] = field(default_factory=dict)
    base: int = 0
    """Actions that stood when the game began; they cannot be taken back."""
    _deeds: list[_Deed] = field(default_factory=list)
    _undone: list[_Undone] = field(default_factory=list)
    _ending: _Ending | None = None
    _opening: OpeningState = field(init=False)
    _position: Position = field(init=False)

    def __post_init__(self) -> None:
        if self.clock is not None and not self.left_ms:
            self.left_ms = dict.fromkeys(Seat, self.clock.main_ms)
        self._replay()

    # -- beginning and keeping -------------------------------------------------------------------------------------

    @classmethod
    def begin(cls, request: NewGame) -> Game:
        """A new game; `InputError` when the request makes no sense."""
        ruleset = ruleset_of(request)
        start = start_of(request)
        if ruleset.opening is not Opening.FREE and (start.stones or request.moves):
            raise InputError(f"a game of {ruleset} begins on the empty board")
        if start.is_over:
            raise GameOverError("the game would be over before it begins")
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
            raise GameOverError("the game would be over before it begins")
        return game

    def rematch(self) -> NewGame:
        """What begins the same game again, with the seats exchanged."""
        return NewGame(
            rules=self.start.ruleset.name,
            initial_stones=stones_of(self.start),
            initial_player=self.start.to_move,
            moves=[str(deed.action) for deed in self._deeds[: self.base]],
            black=self.players[Seat.CHOOSER],
            white=self.players[Seat.PROPOSER],
            clock=self.clock,
        )

    def as_json(self) -> str:
        """Everything, as text to keep."""
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
                "deeds": [_deed_json(deed) for deed in self._deeds],
                "undone": [[_deed_json(deed) for deed in group] for group in self._undone],
                "ending": None if self._ending is None else [self._ending.outcome, self._ending.reason],
            },
            separators=(",", ":"),
        )

    @classmethod
    def from_json(cls, id: str, text: str) -> Game:
        """The game that `as_json` wrote; `InputError` when it did not."""
        try:
            found = json.loads(text)
            if found["version"] != _VERSION:
                raise InputError(f"game {id} was kept by another version ({found['version']})")
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
                _deeds=[_deed_from(deed) for deed in found["deeds"]],
                _undone=[[_deed_from(deed) for deed in group] for group in found["undone"]],
                _ending=None if ending is None else _Ending(Outcome(ending[0]), ending[1]),
            )
        except (KeyError, TypeError, ValueError, ValidationError) as error:
            raise InputError(f"game {id} was not kept well: {type(error).__name__} {error}") from None

    # -- what stands -----------------------------------------------------------------------------------------------

    @property
    def position(self) -> Position:
        """The board."""
        return self._position

    @property
    def opening(self) -> OpeningState:
        """How far the opening has come."""
        return self._opening

    @property
    def outcome(self) -> Outcome:
        """How the game stands, resignations and time included."""
        return self._ending.outcome if self._ending is not None else self._position.outcome

    @property
    def is_over(self) -> bool:
        """Whether nothing more can be played."""
        return self.outcome is not Outcome.ONGOING

    @property
    def reason(self) -> str:
        """Why the game ended, empty before."""
        if self._ending is not None:
            return self._ending.reason
        if self._position.winning_line:
            return "five"
        if not self.is_over:
            return ""
        return "full board" if self.outcome is Outcome.DRAW else "no legal point"

    @property
    def due(self) -> Seat | None:
        """Who must act now; None when the game is over."""
        return None if self.is_over else self._seat_due()

    @property
    def agent_due(self) -> bool:
        """Whether a player that is no person must act now."""
        return self.due is not None and not isinstance(self.players[self.due], Person)

    @property
    def actions(self) -> tuple[str, ...]:
        """What has happened, in order."""
        return tuple(str(deed.action) for deed in self._deeds)

    @property
    def can_undo(self) -> bool:
        """Whether there is a decision to take back."""
        return self._undo_count() > 0

    def state(self, *, is_thinking: bool = False, running: Seat | None = None, running_ms: int = 0) -> GameState:
        """The game as message. `running_ms` is what the running clock has used since it was last set."""
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
            moves=[str(deed.action) for deed in self._deeds if isinstance(deed.action, Point)],
            notes=[deed.note or MoveNote(time_ms=0) for deed in self._deeds if isinstance(deed.action, Point)],
            choices=[deed.action for deed in self._deeds if isinstance(deed.action, Option)],
            current_player=position.to_move,
            outcome=self.outcome,
            reason=self.reason,
            winning_line=list(position.winning_line),
            fouls=fouls_of(position),
            turn=self._turn(),
            is_thinking=is_thinking,
            is_paused=self.is_paused,
            can_undo=self.can_undo,
            can_redo=bool(self._undone),
            clock=self._clock_state(running, running_ms),
            seed=self.seed,
        )

    # -- what can be done ------------------------------------------------------------------------------------------

    def play(self, point: str, *, time_ms: int = 0, note: MoveNote | None = None) -> None:
        """The seat that is due puts a stone."""
        if self._opening.options:
            raise NotDueError(f"no stone is due: {self._opening}")
        self._act(Point(point), time_ms, note)

    def choose(self, option: Option, *, time_ms: int = 0) -> None:
        """The seat that is due picks an option of the opening."""
        if not self._opening.options:
            raise NotDueError(f"nothing is to be chosen: {self._opening}")
        self._act(option, time_ms, None)

    def undo(self) -> None:
        """Take back to the last decision of a person; between agents, one action, and they hold still."""
        count = self._undo_count()
        if not count:
            raise NotDueError("there is nothing to take back")
        self._undone.append(self._deeds[-count:])
        del self._deeds[-count:]
        self._ending = None
        self.is_paused = self.is_paused or not self._persons()
        self._replay()
        self.revision += 1

    def redo(self) -> None:
        """Take the last undo back."""
        if not self._undone:
            raise NotDueError("there is nothing to play again")
        self._deeds += self._undone.pop()
        self._replay()
        self.revision += 1

    def take_back_agent(self) -> None:
        """Take back the last action if an agent did it, so that it thinks again."""
        if len(self._deeds) <= self.base or isinstance(self.players[self._deeds[-1].seat], Person):
            raise NotDueError("the last move was not an agent's")
        self._deeds.pop()
        self._undone.clear()
        self._ending = None
        self._replay()
        self.revision += 1

    def resign(self) -> None:
        """The person whose turn it is gives up; when an agent is due, the only person does."""
        if self.is_over:
            raise NotDueError("the game is over")
        persons = self._persons()
        seat = self.due if self.due in persons else persons[0] if len(persons) == 1 else None
        if seat is None:
            raise NotDueError("nobody is there to resign")
        self.end(seat, "resignation")

    def end(self, loser: Seat, reason: str) -> None:
        """The seat has lost for a reason beyond the board. Before the colours are settled, the proposer counts as
        black.
        """
        loses_black = loser is (self._opening.black or Seat.PROPOSER)
        self._ending = _Ending(Outcome.WHITE if loses_black else Outcome.BLACK, reason)
        self.revision += 1

    def set_paused(self, is_paused: bool) -> None:
        """Hold agents and clocks, or let them go on."""
        self.is_paused = is_paused
        self.revision += 1

    # -- inside ----------------------------------------------------------------------------------------------------

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
        self._deeds.append(_Deed(action, seat, note))

    def _replay(self) -> None:
        deeds, self._deeds = self._deeds, []
        if self.start.ruleset.opening is Opening.FREE:
            self._opening = OpeningState(self.start, Done(Seat.PROPOSER))
        else:
            self._opening = OpeningState.start(self.start.ruleset)
        self._position = self._opening.position
        for deed in deeds:
            self._do(deed.action, deed.note.time_ms if deed.note else 0, deed.note)

    def _seat_due(self) -> Seat:
        if self._opening.seat is not None:
            return self._opening.seat
        black = self._opening.black
        assert black is not None
        return black if self._position.to_move is Colour.BLACK else black.other

    def _persons(self) -> list[Seat]:
        return [seat for seat, player in self.players.items() if isinstance(player, Person)]

    def _undo_count(self) -> int:
        """How many actions an undo takes back."""
        free = self._deeds[self.base :]
        persons = self._persons()
        if not persons:
            return min(1, len(free))
        for count, deed in enumerate(reversed(free), start=1):
            if deed.seat in persons:
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


def _deed_json(deed: _Deed) -> list[Any]:
    note = None if deed.note is None else deed.note.model_dump(mode="json", exclude_defaults=True)
    return [deed.action, note]


def _deed_from(found: list[Any]) -> _Deed:
    action, note = found
    is_option = action in tuple(Option)
    # The seat is found again by replaying.
    return _Deed(
        Option(action) if is_option else Point(action),
        Seat.PROPOSER,
        None if note is None else MoveNote.model_validate(note),
    )


def refuse_stale(game: Game, turn_number: int | None) -> None:
    """`NotDueError` unless the board still has that many moves."""
    moves = len(game.position.moves)
    if turn_number is not None and turn_number != moves:
        raise NotDueError(f"the board has changed: move {moves + 1} is due, not {turn_number + 1}")
