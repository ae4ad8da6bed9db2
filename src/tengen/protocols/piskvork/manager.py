"""The manager's side of the Piskvork protocol: ask a foreign engine for moves, and trust nothing it says.

Every wait has a deadline, every move is checked, every misbehaviour is an `EngineError` with its `reason`. After one
the engine's process is gone; the next game (or the next question) starts a new one.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import TypeVar

from tengen.core.contracts import Analysis, AnalysisLine, Colour, Limits, Ruleset
from tengen.core.geometry import Point
from tengen.core.opening_procedure import Option
from tengen.core.position import Position
from tengen.core.stop_signal import StopSignal
from tengen.errors import AgentError, EngineError, EngineFault, ForbiddenPointError, InputError, RulesetError
from tengen.protocols.engine_process import EngineProcess
from tengen.protocols.pipe import PipeLog
from tengen.protocols.piskvork.notation import (
    RULE_NUMBERS,
    UNLIMITED_MS,
    About,
    Field,
    is_playable,
    parse_about,
    parse_squares,
    point_of_square,
    square_of_point,
)
from tengen.protocols.piskvork.report import InfoParser
from tengen.protocols.piskvork.swap2 import Swap2Answer

_END_S = 0.5
_RESTART_S = 2.0
_ABOUT_S = 1.0
_STOP_S = 0.2
_SETTLE_S = 0.005
"""Rapfi and others drop what comes right behind their answer, while they still leave their thinking state."""
_COMPLAINT_S = 1.0
"""How long an engine that complained may take to analyse all the same."""
_ANY_DEPTH = 99
"""What engines take for no limit of depth."""
_SHOW_INFO = 2

# How many stones may be put in answer to so many of a swap2 opening.
_SWAP2_COUNTS = {0: (3,), 3: (1, 2), 5: (1,)}

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineSettings:
    """How an engine is run."""

    argv: tuple[str, ...]
    """The program and its arguments."""
    cwd: str | None = None
    """The folder it runs in, ours if None."""
    memory_bytes: int | None = None
    """What it may hold at most, its children included; it is told and checked."""
    tolerance_ms: int = 1000
    """How much later than allowed a move may come before the game is lost."""
    start_ms: int = 10_000
    """How long START may take."""
    turn_ms: int = 30_000
    """Time for a move when the limits give none."""
    is_suspended_when_idle: bool = False
    """Whether the process is stopped while it is not asked anything."""
    is_strict: bool = False
    """Whether ERROR or UNKNOWN in place of a move loses at once, instead of when the time is over."""


class PiskvorkManager:
    """Runs one engine, starting and restarting its process when needed. Used by one thread at a time."""

    def __init__(self, settings: EngineSettings, log: PipeLog | None = None) -> None:
        self._settings = settings
        self._log = log
        self._process: EngineProcess | None = None
        self._ruleset: Ruleset | None = None
        self._known: Position | None = None
        """What stands on the engine's own board, None when that is not known."""
        self._told: dict[str, int] = {}
        """The INFO values the process has been sent."""
        self._memory_bytes = settings.memory_bytes
        self._threads = 1
        self._answered_at = 0.0
        self._cannot_analyse = ""
        """What the running process said when it was asked to analyse."""
        self._is_stop_sent = False

    @property
    def pid(self) -> int | None:
        """The engine's process, None when it does not run."""
        return None if self._process is None else self._process.pid

    def configure(self, *, memory_bytes: int | None, threads: int | None) -> None:
        """What later games tell the engine of memory and threads, and what it may hold from now on.

        None leaves it as it was.
        """
        self._memory_bytes = memory_bytes if memory_bytes is not None else self._memory_bytes
        self._threads = threads if threads is not None else self._threads
        if self._process is not None:
            self._process.memory_bytes = self._memory_bytes

    # -- games ---------------------------------------------------------------------------------------------------------

    def new_game(self, ruleset: Ruleset) -> None:
        """Have the engine ready with an empty board; a running process is used again if it can RESTART."""
        if not is_playable(ruleset):
            raise RulesetError(f"the Piskvork protocol cannot express {ruleset}")
        try:
            if not self._restart(ruleset):
                self._start(ruleset)
            self._ruleset = ruleset
            self._known = Position.start(ruleset)
            self._tell_game(ruleset)
            self._rest()
        except EngineError:
            self.kill()
            raise

    def ask_move(self, position: Position, limits: Limits, stop: StopSignal) -> Point:
        """The engine's move; legal in `position`, which must not be over. `stop` asks it to answer now."""
        self._ready(position.ruleset)
        if position.stones == 0 and self._known != position:
            self.new_game(position.ruleset)
        return self._ask(lambda: self._ask_move(position, limits, stop))

    def ask_swap2(self, ruleset: Ruleset, points: Sequence[Point], limits: Limits, stop: StopSignal) -> Swap2Answer:
        """The engine's answer to a swap2 opening of 0, 3 or 5 stones. The stones are put by the caller."""
        self._ready(ruleset)
        return self._ask(lambda: self._ask_swap2(ruleset, tuple(points), limits, stop))

    def ask_about(self) -> About | None:
        """What the running engine says of itself, None when it does not answer."""
        process = self._process
        if process is None:
            return None
        deadline = time.monotonic() + _ABOUT_S
        try:
            process.resume()
            process.send(["ABOUT"], deadline)
            while (line := process.receive(deadline)) is not None:
                if _first_word(line) not in ("MESSAGE", "DEBUG", "OK"):
                    return None if _first_word(line) in ("UNKNOWN", "ERROR") else parse_about(line)
        except EngineError:
            self.kill()
            raise
        finally:
            self._rest()
        return None

    def analyse(
        self, position: Position, limits: Limits, lines: int, stop: StopSignal
    ) -> Generator[Analysis, None, None]:
        """Snapshots of the `lines` best moves from an engine that knows YXNBEST.

        Raises `AgentError` when it does not. Ending the iteration early stops the engine.
        """
        self._ready(position.ruleset)
        assert self._process is not None
        if self._cannot_analyse:
            raise self._unable_to_analyse()
        try:
            self._process.resume()
            command = ["YXBOARD", *_board_rows(position), "DONE", f"YXNBEST {lines}"]
            deadline = self._put_question(command, limits, show_detail=_SHOW_INFO)
            self._known = None
            with stop.calling(self._send_stop):
                yield from self._read_analysis(position, deadline)
            self._process.check_memory()
        except EngineError:
            self.kill()
            raise
        except GeneratorExit:
            self._give_up_analysis()
            raise
        finally:
            self._end_question()

    # -- the process ---------------------------------------------------------------------------------------------------

    def close(self) -> None:
        """END the engine's process, by force if need be. A later question starts a new one."""
        process = self._process
        if process is not None:
            process.resume()
            try:
                process.send(["END"], time.monotonic() + _END_S)
                process.wait_for_exit(_END_S)
            except EngineError:
                pass  # it is killed all the same
        self.kill()

    def kill(self) -> None:
        """End the engine's process now, without a word."""
        process, self._process = self._process, None
        self._known = self._ruleset = None
        self._cannot_analyse = ""
        self._told.clear()
        if process is not None:
            process.kill()

    def _start(self, ruleset: Ruleset) -> None:
        self.close()
        self._process = EngineProcess(
            self._settings.argv,
            cwd=self._settings.cwd,
            log=self._log,
            memory_bytes=self._memory_bytes,
        )
        size = f"START {ruleset.width}" if ruleset.is_square else f"RECTSTART {ruleset.width},{ruleset.height}"
        answer = self._request_ok(size, self._settings.start_ms / 1000)
        if answer is None:
            raise EngineError(
                f"{self._name} did not answer {size!r} within {self._settings.start_ms} ms", EngineFault.TIMEOUT
            )
        if answer != "OK":
            raise EngineError(f"{self._name} refused {size!r}: {answer[:200]!r}", EngineFault.START)

    def _restart(self, ruleset: Ruleset) -> bool:
        if self._process is None or self._ruleset is None or not self._process.is_alive:
            return False
        if (self._ruleset.width, self._ruleset.height) != (ruleset.width, ruleset.height):
            return False
        self._process.resume()
        try:
            return self._request_ok("RESTART", _RESTART_S) == "OK"
        except EngineError:
            return False

    def _request_ok(self, command: str, seconds: float) -> str | None:
        """OK, or the ERROR or UNKNOWN said instead; None when neither came in time."""
        assert self._process is not None
        self._let_settle()
        deadline = time.monotonic() + seconds
        self._process.send([command], deadline)
        while (line := self._process.receive(deadline)) is not None:
            word = _first_word(line)
            if word in ("OK", "ERROR", "UNKNOWN"):
                return "OK" if word == "OK" else line
        return None

    def _let_settle(self) -> None:
        time.sleep(max(0.0, self._answered_at + _SETTLE_S - time.monotonic()))

    def _rest(self) -> None:
        if self._process is not None and self._settings.is_suspended_when_idle:
            self._process.suspend()

    @property
    def _name(self) -> str:
        return f"engine {self._settings.argv[0]!r}"

    # -- asking --------------------------------------------------------------------------------------------------------

    def _ready(self, ruleset: Ruleset) -> None:
        """Have a process whose board fits the ruleset; the opening procedure is no concern of an engine."""
        if self._process is None or self._ruleset is None or replace(self._ruleset, opening=ruleset.opening) != ruleset:
            self.new_game(ruleset)

    def _ask(self, question: Callable[[], T]) -> T:
        try:
            assert self._process is not None
            self._process.resume()
            answer = question()
            self._process.check_memory()
            return answer
        except EngineError:
            self.kill()
            raise
        finally:
            self._end_question()

    def _end_question(self) -> None:
        self._answered_at = time.monotonic()
        self._rest()

    def _send_stop(self) -> None:
        """Ask the engine to answer now. It may know `INFO timeout_turn 0`, YXSTOP, both or neither.

        Runs in any thread while the question is pending. The next move has to restore the engine's time limit.
        """
        process = self._process
        if process is None or self._is_stop_sent:
            return
        self._is_stop_sent = True
        self._told.pop("timeout_turn", None)
        # The thread that waits for the answer notices that the engine is gone.
        with suppress(EngineError):
            process.send(["INFO timeout_turn 0", "YXSTOP"], time.monotonic() + _STOP_S, forgets_output=False)

    def _ask_move(self, position: Position, limits: Limits, stop: StopSignal) -> Point:
        deadline = self._put_question(self._move_command(position), limits)
        self._known = None
        with stop.calling(self._send_stop):
            squares = self._await_squares(deadline)
        if len(squares) != 1:
            raise EngineError(f"{self._name} answered {len(squares)} squares instead of one", EngineFault.PROTOCOL)
        move = self._checked_point(squares[0], position.ruleset)
        try:
            self._known = position.play(move)
        except ForbiddenPointError as error:
            raise EngineError(f"{self._name}: {error}", EngineFault.FOUL) from None
        except InputError as error:
            raise EngineError(f"{self._name}: {error}", EngineFault.ILLEGAL) from None
        return move

    def _ask_swap2(self, ruleset: Ruleset, points: tuple[Point, ...], limits: Limits, stop: StopSignal) -> Swap2Answer:
        if len(points) not in _SWAP2_COUNTS:
            raise InputError(f"swap2 asks with 0, 3 or 5 stones, not {len(points)}")
        rows = [square_of_point(point, ruleset.height) for point in points]
        deadline = self._put_question(["SWAP2BOARD", *rows, "DONE"], limits)
        self._known = None
        with stop.calling(self._send_stop):
            squares = self._await_squares(deadline, accepts_swap=bool(points))
        if not squares:
            return Swap2Answer(Option.TAKE_BLACK)
        if len(squares) not in _SWAP2_COUNTS[len(points)]:
            raise EngineError(
                f"{self._name} answered {len(squares)} squares to {len(points)} stones of swap2", EngineFault.PROTOCOL
            )
        stones = tuple(self._checked_point(square, ruleset) for square in squares)
        if len({*points, *stones}) != len(points) + len(stones):
            raise EngineError(f"{self._name} put a stone of swap2 on another: {' '.join(stones)}", EngineFault.ILLEGAL)
        if not points:
            return Swap2Answer(None, stones)
        return Swap2Answer(Option.TAKE_WHITE if len(stones) == 1 else Option.PLACE_TWO, stones)

    def _move_command(self, position: Position) -> list[str]:
        height = position.ruleset.height
        last = position.last_move
        if position.stones == 0:
            return ["BEGIN"]
        if last is not None and self._known is not None and position.undo() == self._known:
            return [f"TURN {square_of_point(last, height)}"]
        return ["BOARD", *_board_rows(position), "DONE"]

    def _put_question(self, command: list[str], limits: Limits, *, show_detail: int = 0) -> float:
        """Send the settings of the move and the question; returns the deadline of the answer."""
        assert self._process is not None
        turn_ms = self._settings.turn_ms if limits.time_ms is None else limits.time_ms
        clock_ms = UNLIMITED_MS if limits.clock_ms is None else limits.clock_ms
        allowed_ms = min(turn_ms, clock_ms) + self._settings.tolerance_ms
        lines = [
            f"INFO time_left {clock_ms}",
            *self._news("timeout_match", 0 if limits.clock_ms is None else clock_ms, is_once=True),
            *self._news("timeout_turn", turn_ms),
            *self._news("max_node", limits.nodes or 0, default=0),
            *self._news("max_depth", limits.depth or _ANY_DEPTH, default=_ANY_DEPTH),
            *self._news("thread_num", max(limits.threads, self._threads), default=1),
            *self._news("show_detail", show_detail, default=0),
            *command,
        ]
        self._let_settle()
        deadline = time.monotonic() + allowed_ms / 1000
        self._is_stop_sent = False
        self._process.send(lines, deadline)
        return deadline

    def _news(self, key: str, value: int, *, default: int | None = None, is_once: bool = False) -> list[str]:
        """The INFO line of a value that the engine has not been told yet; `default` is what it assumes untold."""
        known = self._told.get(key, default)
        if known == value or (is_once and key in self._told):
            return []
        self._told[key] = value
        return [f"INFO {key} {value}"]

    def _tell_game(self, ruleset: Ruleset) -> None:
        assert self._process is not None
        # A clock is told with the first move of the game, when it is known.
        self._told.pop("timeout_match", None)
        self._process.send(
            [
                f"INFO rule {RULE_NUMBERS[ruleset.rule]}",
                "INFO game_type 1",
                f"INFO max_memory {self._memory_bytes or 0}",
            ],
            time.monotonic() + self._settings.start_ms / 1000,
        )

    def _await_squares(self, deadline: float, *, accepts_swap: bool = False) -> tuple[tuple[int, int], ...]:
        """The squares the engine answers with; none for SWAP, where that is an answer.

        Whatever else it says is passed over until the deadline.
        """
        assert self._process is not None
        complaint = ""
        while (line := self._process.receive(deadline)) is not None:
            squares = parse_squares(line)
            if squares is not None:
                return squares
            word = _first_word(line)
            if accepts_swap and word == "SWAP":
                return ()
            if word == "SUGGEST":
                self._process.send([f"PLAY {line.split(None, 1)[-1]}"], deadline, forgets_output=False)
            elif word in ("ERROR", "UNKNOWN") and not self._is_stop_sent:
                complaint = line
                if self._settings.is_strict:
                    break
        if complaint:
            raise EngineError(f"{self._name} answered {complaint[:200]!r}", EngineFault.PROTOCOL)
        raise self._late()

    def _late(self) -> EngineError:
        return EngineError(f"{self._name} did not answer in time", EngineFault.TIMEOUT)

    def _checked_point(self, square: tuple[int, int], ruleset: Ruleset) -> Point:
        point = point_of_square(*square, ruleset.width, ruleset.height)
        if point is None:
            raise EngineError(
                f"{self._name} played {square[0]},{square[1]}, which is off the {ruleset.width}x{ruleset.height} board",
                EngineFault.ILLEGAL,
            )
        return point

    # -- analysis ------------------------------------------------------------------------------------------------------

    def _read_analysis(self, position: Position, deadline: float) -> Iterator[Analysis]:
        assert self._process is not None
        parser = InfoParser(position.ruleset.width, position.ruleset.height)
        has_snapshot = False
        complaint = ""
        patience = deadline
        while (line := self._process.receive(patience)) is not None:
            squares = parse_squares(line)
            if squares is not None:
                if not has_snapshot:
                    yield _bare_analysis(self._checked_point(squares[0], position.ruleset))
                return
            if _first_word(line) in ("ERROR", "UNKNOWN") and not complaint and not self._is_stop_sent:
                complaint = line
                patience = min(deadline, time.monotonic() + _COMPLAINT_S)
            snapshot = parser.feed(line)
            if snapshot is not None and all(position.is_legal(candidate.move) for candidate in snapshot.lines):
                has_snapshot = True
                patience = deadline
                yield snapshot
        if complaint and not has_snapshot:
            self._cannot_analyse = complaint
            raise self._unable_to_analyse()
        raise self._late()

    def _unable_to_analyse(self) -> AgentError:
        return AgentError(f"{self._name} does not analyse: {self._cannot_analyse[:200]!r}")

    def _give_up_analysis(self) -> None:
        """Nobody reads on: have the engine end its search, by force if it does not."""
        self._send_stop()
        try:
            self._await_squares(time.monotonic() + self._settings.tolerance_ms / 1000)
        except EngineError:
            self.kill()


def _first_word(line: str) -> str:
    return line.split(None, 1)[0].upper()


def _bare_analysis(move: Point) -> Analysis:
    return Analysis(lines=(AnalysisLine(move=move, value_to_move=0.0, line=(move,)),))


def _board_rows(position: Position) -> list[str]:
    """The rows of a BOARD block: set-up stones in turns from black on, then the moves in the order of the game."""
    start = position.undo(len(position.moves))
    sides = [[(point, colour) for point in start.points_of(colour)] for colour in (Colour.BLACK, Colour.WHITE)]
    stones = [stone for pair in zip_longest(*sides) for stone in pair if stone is not None]
    mover = start.to_move
    for move in position.moves:
        stones.append((move, mover))
        mover = mover.opponent
    return [
        f"{square_of_point(point, position.ruleset.height)},"
        f"{int(Field.OWN if colour is position.to_move else Field.OPPONENT)}"
        for point, colour in stones
    ]
