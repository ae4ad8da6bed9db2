"""The manager's side of the Piskvork protocol: run an external engine without trusting its output.

Every wait has a deadline, every move is checked, and every misbehaviour raises an `EngineError` with its `reason`.
An error also kills the engine's process; the next request starts a new one.
"""

from __future__ import annotations

import time
from collections import deque
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
from tengen.protocols.engine_process import EngineProcess, program_name
from tengen.protocols.pipe import TrafficLog
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
"""Pause in seconds after an answer. Some engines, such as Rapfi, ignore input while their search is shutting down."""
_COMPLAINT_S = 1.0
"""Seconds to keep waiting for an analysis after the engine has answered ERROR or UNKNOWN."""
_MAX_MESSAGES = 8
_MAX_MESSAGE = 200
"""Maximum number of engine messages kept per move (the most recent ones), and maximum length of each in characters."""
_FLOOD_BYTES = 1 << 20
"""If the engine writes more bytes than this without an answer, a timeout counts as a flood, not as silence."""
_WORDS = frozenset({"OK", "ERROR", "UNKNOWN", "MESSAGE", "DEBUG", "SUGGEST", "INFO", "SWAP"})
"""First words of lines that have a meaning in the protocol."""
_UNLIMITED_DEPTH = 99
"""Value of `INFO max_depth` that engines treat as no limit."""
_DETAIL_INFO = 2

# How many stones a valid answer to a swap2 opening may place, by the number of stones on the board.
_SWAP2_COUNTS = {0: (3,), 3: (1, 2), 5: (1,)}

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineSettings:
    """Settings for running an engine."""

    argv: tuple[str, ...]
    """Program and arguments."""
    cwd: str | None = None
    """Working directory (default: the current one)."""
    memory_bytes: int | None = None
    """Memory limit for the engine and its children (default: none). It is sent to the engine and enforced."""
    tolerance_ms: int = 1000
    """Tolerance in milliseconds: exceeding a move's time limit by more than this is a fault."""
    start_ms: int = 10_000
    """Time limit for START in milliseconds."""
    turn_ms: int = 30_000
    """Milliseconds per move if the limits set no time."""
    is_suspended_when_idle: bool = False
    """Whether to suspend the process between requests."""
    is_strict: bool = False
    """Whether answering ERROR or UNKNOWN instead of a move is an immediate fault rather than one at the deadline."""


class PiskvorkManager:
    """Runs one engine and starts or restarts its process when needed. Only one thread may use it at a time."""

    def __init__(self, settings: EngineSettings, log: TrafficLog | None = None) -> None:
        self._settings = settings
        self._log = log
        self._process: EngineProcess | None = None
        self._ruleset: Ruleset | None = None
        self._engine_position: Position | None = None
        """The position on the engine's board; None if unknown."""
        self._sent_info: dict[str, int] = {}
        """The INFO values sent to the process so far."""
        self._memory_bytes = settings.memory_bytes
        self._threads = 1
        self._answered_at = 0.0
        self._analysis_refusal = ""
        """The running engine's error message if it cannot analyse."""
        self._is_stop_sent = False
        self._messages: deque[str] = deque(maxlen=_MAX_MESSAGES)

    @property
    def messages(self) -> tuple[str, ...]:
        """The most recent MESSAGE and DEBUG lines that the engine wrote during its last move."""
        return tuple(self._messages)

    @property
    def pid(self) -> int | None:
        """The process id of the engine; None if it is not running."""
        return None if self._process is None else self._process.pid

    def configure(self, *, memory_bytes: int | None, threads: int | None) -> None:
        """Change the memory limit and the number of threads; None keeps the old value.

        The engine receives the new values with the next game or request. The memory limit is enforced immediately.
        """
        self._memory_bytes = memory_bytes if memory_bytes is not None else self._memory_bytes
        self._threads = threads if threads is not None else self._threads
        if self._process is not None:
            self._process.memory_bytes = self._memory_bytes

    # -- games ---------------------------------------------------------------------------------------------------------

    def new_game(self, ruleset: Ruleset) -> None:
        """Prepare the engine for a game on an empty board; a running process is reused if it supports RESTART."""
        if not is_playable(ruleset):
            raise RulesetError(f"the Piskvork protocol cannot express {ruleset}")
        try:
            if not self._restart(ruleset):
                self._start(ruleset)
            self._ruleset = ruleset
            self._engine_position = Position.start(ruleset)
            self._send_game_info(ruleset)
            self._suspend_if_idle()
        except EngineError:
            self.kill()
            raise

    def ask_move(self, position: Position, limits: Limits, stop: StopSignal) -> Point:
        """Return the engine's move, checked for legality. The game must not be over; `stop` ends the search."""
        self._ensure_ready(position.ruleset)
        if position.stones == 0 and self._engine_position != position:
            self.new_game(position.ruleset)
        return self._run_request(lambda: self._ask_move(position, limits, stop))

    def ask_swap2(self, ruleset: Ruleset, points: Sequence[Point], limits: Limits, stop: StopSignal) -> Swap2Answer:
        """Return the engine's answer to a swap2 opening of 0, 3 or 5 stones; the caller must place its stones."""
        self._ensure_ready(ruleset)
        return self._run_request(lambda: self._ask_swap2(ruleset, tuple(points), limits, stop))

    def ask_about(self) -> About | None:
        """Return the self-description of the running engine; None if it does not answer."""
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
            self._suspend_if_idle()
        return None

    def analyse(
        self, position: Position, limits: Limits, lines: int, stop: StopSignal
    ) -> Generator[Analysis, None, None]:
        """Yield snapshots of the `lines` best moves from an engine that supports YXNBEST.

        Raises `AgentError` if the engine does not. Ending the iteration early stops the engine.
        """
        self._ensure_ready(position.ruleset)
        assert self._process is not None
        if self._analysis_refusal:
            raise self._no_analysis_error()
        try:
            self._process.resume()
            command = ["YXBOARD", *_board_rows(position), "DONE", f"YXNBEST {lines}"]
            deadline = self._send_request(command, limits, show_detail=_DETAIL_INFO)
            self._engine_position = None
            with stop.calling(self._send_stop):
                yield from self._read_analysis(position, deadline)
            self._process.check_memory()
        except EngineError:
            self.kill()
            raise
        except GeneratorExit:
            self._abort_analysis()
            raise
        finally:
            self._finish_request()

    # -- the process ---------------------------------------------------------------------------------------------------

    def close(self) -> None:
        """Send END and kill the process if it does not exit. The next request starts a new one."""
        process = self._process
        if process is not None:
            process.resume()
            try:
                process.send(["END"], time.monotonic() + _END_S)
                process.wait_for_exit(_END_S)
            except EngineError:
                pass  # the engine is killed below
        self.kill()

    def kill(self) -> None:
        """Kill the engine's process immediately."""
        process, self._process = self._process, None
        self._engine_position = self._ruleset = None
        self._analysis_refusal = ""
        self._sent_info.clear()
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
        """Send a command and return "OK", or the ERROR or UNKNOWN line; None if there was no answer in time."""
        assert self._process is not None
        self._wait_until_settled()
        deadline = time.monotonic() + seconds
        self._process.send([command], deadline)
        while (line := self._process.receive(deadline)) is not None:
            word = _first_word(line)
            if word in ("OK", "ERROR", "UNKNOWN"):
                return "OK" if word == "OK" else line
        return None

    def _wait_until_settled(self) -> None:
        time.sleep(max(0.0, self._answered_at + _SETTLE_S - time.monotonic()))

    def _suspend_if_idle(self) -> None:
        if self._process is not None and self._settings.is_suspended_when_idle:
            self._process.suspend()

    @property
    def _name(self) -> str:
        return f"engine {program_name(self._settings.argv)!r}"

    # -- requests ------------------------------------------------------------------------------------------------------

    def _ensure_ready(self, ruleset: Ruleset) -> None:
        """Ensure that a process is running with a board for the ruleset; engines ignore the opening procedure."""
        if self._process is None or self._ruleset is None or replace(self._ruleset, opening=ruleset.opening) != ruleset:
            self.new_game(ruleset)

    def _run_request(self, request: Callable[[], T]) -> T:
        try:
            assert self._process is not None
            self._process.resume()
            answer = request()
            self._process.check_memory()
            return answer
        except EngineError:
            self.kill()
            raise
        finally:
            self._finish_request()

    def _finish_request(self) -> None:
        self._answered_at = time.monotonic()
        self._suspend_if_idle()

    def _send_stop(self) -> None:
        """Ask the engine to answer now, using `INFO timeout_turn 0` and YXSTOP; an engine may support neither.

        Any thread may call this while a request is pending. The next request must send timeout_turn again.
        """
        process = self._process
        if process is None or self._is_stop_sent:
            return
        self._is_stop_sent = True
        self._sent_info.pop("timeout_turn", None)
        # If the engine has died, the thread that waits for its answer reports it.
        with suppress(EngineError):
            process.send(["INFO timeout_turn 0", "YXSTOP"], time.monotonic() + _STOP_S, clears_output=False)

    def _ask_move(self, position: Position, limits: Limits, stop: StopSignal) -> Point:
        deadline = self._send_request(self._move_command(position), limits)
        self._engine_position = None
        with stop.calling(self._send_stop):
            squares = self._await_squares(deadline)
        if len(squares) != 1:
            raise EngineError(f"{self._name} answered with {len(squares)} squares instead of one", EngineFault.PROTOCOL)
        move = self._checked_point(squares[0], position.ruleset)
        try:
            self._engine_position = position.play(move)
        except ForbiddenPointError as error:
            raise EngineError(f"{self._name}: {error}", EngineFault.FOUL) from None
        except InputError as error:
            raise EngineError(f"{self._name}: {error}", EngineFault.ILLEGAL) from None
        return move

    def _ask_swap2(self, ruleset: Ruleset, points: tuple[Point, ...], limits: Limits, stop: StopSignal) -> Swap2Answer:
        if len(points) not in _SWAP2_COUNTS:
            raise InputError(f"a swap2 opening has 0, 3 or 5 stones, not {len(points)}")
        rows = [square_of_point(point, ruleset.height) for point in points]
        deadline = self._send_request(["SWAP2BOARD", *rows, "DONE"], limits)
        self._engine_position = None
        with stop.calling(self._send_stop):
            squares = self._await_squares(deadline, accepts_swap=bool(points))
        if not squares:
            return Swap2Answer(Option.TAKE_BLACK)
        if len(squares) not in _SWAP2_COUNTS[len(points)]:
            raise EngineError(
                f"{self._name} answered a swap2 opening of {len(points)} stones with {len(squares)} squares",
                EngineFault.PROTOCOL,
            )
        stones = tuple(self._checked_point(square, ruleset) for square in squares)
        if len({*points, *stones}) != len(points) + len(stones):
            raise EngineError(
                f"{self._name} placed a swap2 stone on an occupied point: {' '.join(stones)}", EngineFault.ILLEGAL
            )
        if not points:
            return Swap2Answer(None, stones)
        return Swap2Answer(Option.TAKE_WHITE if len(stones) == 1 else Option.PLACE_TWO, stones)

    def _move_command(self, position: Position) -> list[str]:
        height = position.ruleset.height
        last = position.last_move
        if position.stones == 0:
            return ["BEGIN"]
        if last is not None and self._engine_position is not None and position.undo() == self._engine_position:
            return [f"TURN {square_of_point(last, height)}"]
        return ["BOARD", *_board_rows(position), "DONE"]

    def _send_request(self, command: list[str], limits: Limits, *, show_detail: int = 0) -> float:
        """Send the changed settings and the command; return the deadline for the answer."""
        assert self._process is not None
        turn_ms = self._settings.turn_ms if limits.time_ms is None else limits.time_ms
        clock_ms = UNLIMITED_MS if limits.clock_ms is None else limits.clock_ms
        allowed_ms = min(turn_ms, clock_ms) + self._settings.tolerance_ms
        lines = [
            f"INFO time_left {clock_ms}",
            *self._changed_info("timeout_match", 0 if limits.clock_ms is None else clock_ms, once_per_game=True),
            *self._changed_info("time_increment", limits.increment_ms, default=0),
            *self._changed_info("timeout_turn", turn_ms),
            *self._changed_info("max_node", limits.nodes or 0, default=0),
            *self._changed_info("max_depth", limits.depth or _UNLIMITED_DEPTH, default=_UNLIMITED_DEPTH),
            *self._changed_info("thread_num", max(limits.threads, self._threads), default=1),
            *self._changed_info("show_detail", show_detail, default=0),
            *command,
        ]
        self._wait_until_settled()
        deadline = time.monotonic() + allowed_ms / 1000
        self._is_stop_sent = False
        self._process.send(lines, deadline)
        return deadline

    def _changed_info(
        self, key: str, value: int, *, default: int | None = None, once_per_game: bool = False
    ) -> list[str]:
        """Return the INFO line for a value unless the engine already has it; engines start with `default`."""
        known = self._sent_info.get(key, default)
        if known == value or (once_per_game and key in self._sent_info):
            return []
        self._sent_info[key] = value
        return [f"INFO {key} {value}"]

    def _send_game_info(self, ruleset: Ruleset) -> None:
        assert self._process is not None
        # timeout_match is sent with the first move of the game, because the clock is not known before then.
        self._sent_info.pop("timeout_match", None)
        self._process.send(
            [
                f"INFO rule {RULE_NUMBERS[ruleset.rule]}",
                "INFO game_type 1",
                f"INFO max_memory {self._memory_bytes or 0}",
            ],
            time.monotonic() + self._settings.start_ms / 1000,
        )

    def _await_squares(self, deadline: float, *, accepts_swap: bool = False) -> tuple[tuple[int, int], ...]:
        """Wait for the engine's answer and return its squares, or an empty tuple for SWAP if that is allowed.

        All other output is ignored until the deadline.
        """
        assert self._process is not None
        complaint = ""
        garbage = ""
        self._messages.clear()
        while (line := self._process.receive(deadline)) is not None:
            squares = parse_squares(line)
            if squares is not None:
                return squares
            word = _first_word(line)
            if accepts_swap and word == "SWAP":
                return ()
            if word == "SUGGEST":
                self._process.send([f"PLAY {line.split(None, 1)[-1]}"], deadline, clears_output=False)
            elif word in ("ERROR", "UNKNOWN") and not self._is_stop_sent:
                complaint = line
                if self._settings.is_strict:
                    break
            elif word in ("MESSAGE", "DEBUG"):
                self._messages.append(line[:_MAX_MESSAGE])
            elif word not in _WORDS:
                garbage = garbage or line[:40]
        if complaint:
            raise EngineError(f"{self._name} answered {complaint[:200]!r}", EngineFault.PROTOCOL)
        raise self._silence_error(garbage)

    def _silence_error(self, garbage: str) -> EngineError:
        """Return the error for an engine that has not answered in time: it flooded, wrote garbage, or neither."""
        assert self._process is not None
        lines, size = self._process.output_size
        if size > _FLOOD_BYTES:
            return EngineError(
                f"{self._name} floods: {lines:,} lines ({size:,} bytes) without an answer in time", EngineFault.FLOOD
            )
        if garbage:
            return EngineError(
                f"{self._name} did not answer in time; it wrote garbage, such as {garbage!r}", EngineFault.GARBAGE
            )
        return self._timeout_error()

    def _timeout_error(self) -> EngineError:
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
        wait_until = deadline
        while (line := self._process.receive(wait_until)) is not None:
            squares = parse_squares(line)
            if squares is not None:
                if not has_snapshot:
                    yield _bare_analysis(self._checked_point(squares[0], position.ruleset))
                return
            if _first_word(line) in ("ERROR", "UNKNOWN") and not complaint and not self._is_stop_sent:
                complaint = line
                wait_until = min(deadline, time.monotonic() + _COMPLAINT_S)
            snapshot = parser.feed(line)
            if snapshot is not None and all(position.is_legal(candidate.move) for candidate in snapshot.lines):
                has_snapshot = True
                wait_until = deadline
                yield snapshot
        if complaint and not has_snapshot:
            self._analysis_refusal = complaint
            raise self._no_analysis_error()
        raise self._timeout_error()

    def _no_analysis_error(self) -> AgentError:
        return AgentError(f"{self._name} does not support analysis: {self._analysis_refusal[:200]!r}")

    def _abort_analysis(self) -> None:
        """Stop the engine's search after the caller has ended the iteration; kill the engine if it does not stop."""
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
    """Return the rows of a BOARD block: set-up stones in alternating colours, black first, then the moves."""
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
