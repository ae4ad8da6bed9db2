"""One game between two agents: clocks, checks and the result.

An exception raised by an agent never leaves this module: the agent loses the game, and the `Ending` is the fault.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple, TypeVar

from tengen.agents.opening_choices import choose_actions
from tengen.arena.adjudication import Adjudication, Adjudicator
from tengen.core.contracts import Agent, Colour, Limits, Opening, Outcome, Ruleset
from tengen.core.geometry import Point
from tengen.core.opening_procedure import OpeningState, Option, Seat
from tengen.core.plugins import describe_exception, place_of
from tengen.core.position import Position
from tengen.errors import (
    EngineError,
    EngineFault,
    ForbiddenPointError,
    IllegalMoveError,
    InputError,
    NotationError,
    TengenError,
)

T = TypeVar("T")

DEFAULT_TOLERANCE_MS = 1000
"""Default tolerance for moves that exceed their time, in milliseconds, as in Gomocup."""


MAX_MESSAGE_CHARACTERS = 16_384
"""Maximum number of characters of engine messages kept per game."""


class Ending(StrEnum):
    """Reason why a game ended. Endings from `START` on are player faults; most match members of `EngineFault`."""

    FIVE = "five"
    """A winning line."""
    FULL_BOARD = "full board"
    NO_LEGAL_POINT = "no legal point"
    """Black to move has no legal point (renju)."""
    PROVED = "proved"
    """Adjudicated because the result was proved."""
    MOVE_LIMIT = "move limit"
    """Adjudicated as a draw after `Adjudication.max_moves` stones."""
    RESIGNATION = "resignation"
    """Adjudicated because the loser valued its own position as lost for several moves (`ResignRule`)."""
    EVEN = "even scores"
    """Adjudicated as a draw because both players valued the position as even for several moves (`DrawRule`)."""
    START = EngineFault.START.value
    CRASH = EngineFault.CRASH.value
    TIMEOUT = EngineFault.TIMEOUT.value
    ILLEGAL = EngineFault.ILLEGAL.value
    FOUL = EngineFault.FOUL.value
    PROTOCOL = EngineFault.PROTOCOL.value
    GARBAGE = EngineFault.GARBAGE.value
    FLOOD = EngineFault.FLOOD.value
    CLOSED = EngineFault.CLOSED.value
    MEMORY = EngineFault.MEMORY.value
    ERROR = "error"
    """A player that runs in this process raised an exception."""

    @property
    def is_forfeit(self) -> bool:
        """Whether a player lost because of a fault rather than on the board."""
        return self not in _PLAYED_OUT


_PLAYED_OUT = frozenset(
    (
        Ending.FIVE,
        Ending.FULL_BOARD,
        Ending.NO_LEGAL_POINT,
        Ending.PROVED,
        Ending.MOVE_LIMIT,
        Ending.RESIGNATION,
        Ending.EVEN,
    )
)


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeControl(Limits):
    """A player's limits for a whole game: the `Limits` for each move, the clock at the start and the tolerance.

    None means no limit. `clock_ms` changes during a game and stays None here; `match_ms` is its initial value.
    """

    match_ms: int | None = None
    """Milliseconds for the whole game."""
    tolerance_ms: int = DEFAULT_TOLERANCE_MS
    """Tolerance in milliseconds; a move that exceeds its time by more loses the game."""

    def __post_init__(self) -> None:
        if self.clock_ms is not None:
            raise NotationError(
                f"limit clock_ms={self.clock_ms} applies to a single move; use match_ms for a whole game"
            )
        for name in ("time_ms", "match_ms", "nodes", "depth", "simulations", "threads"):
            amount = getattr(self, name)
            if amount is not None and amount < 1:
                raise NotationError(f"limit {name} must be at least 1, not {amount}")
        for name in ("increment_ms", "tolerance_ms"):
            if getattr(self, name) < 0:
                raise NotationError(f"limit {name} must be at least 0, not {getattr(self, name)}")

    def limits(self, clock_ms: float | None) -> Limits:
        """Return the limits for a move made with `clock_ms` left on the clock."""
        return Limits(
            time_ms=self.time_ms,
            clock_ms=None if clock_ms is None else int(clock_ms),
            increment_ms=self.increment_ms,
            nodes=self.nodes,
            depth=self.depth,
            simulations=self.simulations,
            threads=self.threads,
        )

    def allowed_ms(self, clock_ms: float | None) -> float | None:
        """Return the time for the next move in milliseconds; None without a time limit."""
        return min((ms for ms in (self.time_ms, clock_ms) if ms is not None), default=None)


class Turn(NamedTuple):
    """Time, evaluation and search effort of one move. Tuples are faster than dataclasses to send between processes."""

    time_ms: float
    value_to_move: float | None = None
    nodes: int = 0
    depth: int = 0


class Remark(NamedTuple):
    """A message from an external engine about one of its moves."""

    ply: int
    """Number of stones on the board after the move."""
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GameResult:
    """A finished game. Seat 0 is the player named first, seat 1 the second player."""

    outcome: Outcome
    ending: Ending
    detail: str = ""
    """Description of the fault, if the game was forfeited."""
    black_seat: int
    """Seat that played black: 0 unless an opening procedure decided otherwise."""
    moves: tuple[Point, ...]
    """All stones, including the opening."""
    turns: tuple[Turn, ...]
    """One entry for each stone after the opening."""
    choices: tuple[Option, ...] = ()
    """Options chosen in an opening procedure."""
    messages: tuple[Remark, ...] = ()
    """Messages from external engines, up to `MAX_MESSAGE_CHARACTERS` in total; later messages are dropped."""
    duration_s: float = 0.0

    @property
    def winner_seat(self) -> int | None:
        """Seat that won, or None for a draw."""
        winner = self.outcome.winner
        if winner is None:
            return None
        return self.black_seat if winner is Colour.BLACK else 1 - self.black_seat

    @property
    def loser_seat(self) -> int | None:
        """Seat that lost, or None for a draw."""
        return None if self.winner_seat is None else 1 - self.winner_seat


Watch = Callable[[int, float | None], None]
"""Callback invoked before each wait for a player, with its seat and the milliseconds allowed (None for no limit)."""


def play_game(
    ruleset: Ruleset | str,
    agents: tuple[Agent, Agent],
    *,
    controls: tuple[TimeControl, TimeControl] = (TimeControl(), TimeControl()),
    opening: Sequence[Point] = (),
    adjudication: Adjudication | None = None,
    seed: int = 0,
    watch: Watch | None = None,
) -> GameResult:
    """Play one game from `opening`. Seat 0 is black, or the proposer if the ruleset has an opening procedure."""
    ruleset = Ruleset.of(ruleset)
    return _Game(ruleset, agents, controls, adjudication or Adjudication(), seed, watch or _watch_nothing).play(opening)


def _watch_nothing(seat: int, allowed_ms: float | None) -> None:
    pass


class _Forfeit(Exception):  # noqa: N818  it never leaves this module
    """A player lost because of a fault."""

    def __init__(self, seat: int, ending: Ending, detail: str) -> None:
        super().__init__(detail)
        self.seat = seat
        self.ending = ending
        self.detail = detail


class _Game:
    """State of a running game."""

    def __init__(
        self,
        ruleset: Ruleset,
        agents: tuple[Agent, Agent],
        controls: tuple[TimeControl, TimeControl],
        adjudication: Adjudication,
        seed: int,
        watch: Watch,
    ) -> None:
        self._ruleset = ruleset
        self._agents = agents
        self._controls = controls
        self._max_moves = adjudication.max_moves
        self._adjudicator = Adjudicator(adjudication)
        self._rng = random.Random(seed)
        self._watch = watch
        self._clocks: list[float | None] = [control.match_ms for control in controls]
        self._position = Position.start(ruleset)
        self._black_seat = 0
        self._turns: list[Turn] = []
        self._choices: tuple[Option, ...] = ()
        self._messages: list[Remark] = []
        self._message_characters = 0

    def play(self, opening: Sequence[Point]) -> GameResult:
        started = time.perf_counter()
        try:
            for seat in (0, 1):
                self._begin(seat)
            self._open(opening)
            outcome, ending = self._play_out()
            detail = ""
        except _Forfeit as forfeit:
            loser = Colour.BLACK if forfeit.seat == self._black_seat else Colour.WHITE
            outcome, ending, detail = Outcome.win_for(loser.opponent), forfeit.ending, forfeit.detail
        return GameResult(
            outcome=outcome,
            ending=ending,
            detail=detail,
            black_seat=self._black_seat,
            moves=self._position.moves,
            turns=tuple(self._turns),
            choices=self._choices,
            messages=tuple(self._messages),
            duration_s=time.perf_counter() - started,
        )

    # -- stages of a game ----------------------------------------------------------------------------------------------

    def _begin(self, seat: int) -> None:
        seed = self._rng.getrandbits(63)
        self._watch(seat, None)
        with _Faults(seat):
            self._agents[seat].new_game(self._ruleset, seed)

    def _open(self, opening: Sequence[Point]) -> None:
        if self._ruleset.opening is Opening.FREE:
            for point in opening:
                self._position = self._position.play(point)
            if self._position.is_over:
                raise InputError(f"the opening already ends the game\n{self._position}")
            return
        state = OpeningState.replay(self._ruleset, opening)
        while not state.is_done:
            state = self._take_opening_step(0 if state.seat is Seat.PROPOSER else 1, state)

    def _take_opening_step(self, seat: int, state: OpeningState) -> OpeningState:
        """Ask a seat for its opening actions. Its clock runs, but the stones get no `Turn`."""
        actions, spent_ms = self._timed(seat, lambda agent, limits: choose_actions(agent, state, limits, self._rng))
        for action in actions:
            try:
                if state.is_done:  # choosing white may include playing white's first move
                    self._position = self._position.play(action)
                    self._turns.append(Turn(spent_ms))
                    break
                state = state.apply(action)
            except InputError as error:
                raise _Forfeit(seat, _ending_of_move(error), str(error)) from None
            self._position = state.position
            if isinstance(action, Option):
                self._choices += (action,)
            if state.is_done:
                self._black_seat = 0 if state.black is Seat.PROPOSER else 1
        return state

    def _play_out(self) -> tuple[Outcome, Ending]:
        while not self._position.is_over:
            if self._max_moves is not None and self._position.stones >= self._max_moves:
                return Outcome.DRAW, Ending.MOVE_LIMIT
            decided = self._take_turn()
            if decided is not None and not self._position.is_over:
                return decided
        if self._position.winning_line:
            return self._position.outcome, Ending.FIVE
        is_draw = self._position.outcome is Outcome.DRAW
        return self._position.outcome, Ending.FULL_BOARD if is_draw else Ending.NO_LEGAL_POINT

    def _take_turn(self) -> tuple[Outcome, Ending] | None:
        """Ask for a move and play it. Return the outcome and the ending if the game is adjudicated."""
        mover = self._position.to_move
        seat = self._black_seat if mover is Colour.BLACK else 1 - self._black_seat
        decision, spent_ms = self._timed(seat, lambda agent, limits: agent.choose(self._position, limits))
        with _Faults(seat):
            turn = Turn(spent_ms, decision.value_to_move, decision.nodes, decision.depth)
            messages = decision.messages
        try:
            self._position = self._position.play(decision.move)
        except InputError as error:
            raise _Forfeit(seat, _ending_of_move(error), str(error)) from None
        self._turns.append(turn)
        self._keep_messages(messages)
        proved = self._adjudicator.proved_result(self._agents[seat], decision, self._position)
        if proved is not None:
            return proved, Ending.PROVED
        if self._adjudicator.has_resigned(seat, turn.value_to_move):
            return Outcome.win_for(mover.opponent), Ending.RESIGNATION
        if self._adjudicator.is_drawn(seat, turn.value_to_move, self._position.stones):
            return Outcome.DRAW, Ending.EVEN
        return None

    def _timed(self, seat: int, ask: Callable[[Agent, Limits], T]) -> tuple[T, float]:
        """Ask the player in a seat for an answer and charge its clock. Return the answer and the milliseconds used."""
        control = self._controls[seat]
        clock_ms = self._clocks[seat]
        allowed_ms = control.allowed_ms(clock_ms)
        self._watch(seat, allowed_ms)
        started = time.perf_counter()
        with _Faults(seat):
            answer = ask(self._agents[seat], control.limits(clock_ms))
        spent_ms = 1000 * (time.perf_counter() - started)
        if allowed_ms is not None and spent_ms > allowed_ms + control.tolerance_ms:
            raise _Forfeit(seat, Ending.TIMEOUT, f"a move took {spent_ms:.0f} ms; {allowed_ms:.0f} ms were allowed")
        if clock_ms is not None:
            self._clocks[seat] = max(0.0, clock_ms - spent_ms) + control.increment_ms
        return answer, spent_ms

    def _keep_messages(self, texts: Sequence[str]) -> None:
        """Keep the messages about the last move, up to the per-game limit."""
        for text in texts:
            self._message_characters += len(text)
            if self._message_characters <= MAX_MESSAGE_CHARACTERS:
                self._messages.append(Remark(self._position.stones, text))


class _Faults:
    """Context manager that converts an exception raised by an agent into a forfeit by its seat."""

    def __init__(self, seat: int) -> None:
        self._seat = seat

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if isinstance(error, Exception) and not isinstance(error, _Forfeit):
            raise _Forfeit(self._seat, _ending_of_fault(error), _sentence(error)) from error


def _ending_of_fault(error: Exception) -> Ending:
    if isinstance(error, EngineError):
        return Ending(error.reason.value)
    return Ending.MEMORY if isinstance(error, MemoryError) else Ending.ERROR


def _ending_of_move(error: InputError) -> Ending:
    if isinstance(error, ForbiddenPointError):
        return Ending.FOUL
    return Ending.ILLEGAL if isinstance(error, IllegalMoveError) else Ending.PROTOCOL


def _sentence(error: Exception) -> str:
    """Return the error's message, with the line of the player's own file that raised it, if the player has a file."""
    return f"{place_of(error)}{error}" if isinstance(error, TengenError) else describe_exception(error)
