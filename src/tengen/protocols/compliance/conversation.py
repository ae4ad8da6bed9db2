"""A conversation with the tested engine: one process, its board, and a record of everything it writes."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from tengen.core.contracts import Colour, Ruleset
from tengen.core.geometry import Point
from tengen.core.position import Position
from tengen.errors import EngineError, EngineFault, ForbiddenPointError, InputError
from tengen.protocols.compliance.report import Grade
from tengen.protocols.engine_process import EngineProcess
from tengen.protocols.piskvork.notation import (
    RULE_NUMBERS,
    UNLIMITED_MS,
    Field,
    parse_squares,
    point_of_square,
    square_of_point,
)

LONG_LINE = 8_000
"""Longest line that Piskvork reads."""
_FLOOD_BYTES = 1 << 20
"""If the engine writes more bytes than this without a move, a missed deadline counts as a flood."""
_COMPLAINT_S = 0.5
"""Seconds to wait for a move after the engine has answered ERROR or UNKNOWN."""
_QUIET_S = 0.1
"""Seconds to wait for an answer to a command that must not be answered."""
_WORDS = frozenset(
    {"OK", "ERROR", "UNKNOWN", "MESSAGE", "DEBUG", "SUGGEST", "INFO", "FORBID", "SWAP", "ANALYSIS", "DATABASE"}
)
_ASIDES = frozenset({"MESSAGE", "DEBUG", "INFO"})
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f\x7f\ufffd]")


@dataclass(frozen=True, slots=True, kw_only=True)
class ComplianceSettings:
    """The engine to test and the limits it must respect."""

    argv: tuple[str, ...]
    """Program and arguments."""
    cwd: str | None = None
    turn_ms: int = 200
    """Milliseconds per move in most checks."""
    tolerance_ms: int = 1000
    """Tolerance for late answers, as in Gomocup."""
    start_ms: int = 10_000
    """Time limit for START."""
    idle_ms: int = 500
    """Milliseconds for which the engine is observed while its opponent is to move."""
    memory_mb: int = 350
    """Memory limit, as in Gomocup."""


class Problem(Exception):  # noqa: N818  a finding, not an error
    """The engine did not meet the requirement of a check."""

    def __init__(self, detail: str, advice: str = "", grade: Grade = Grade.FAILED) -> None:
        super().__init__(detail)
        self.detail = detail
        self.advice = advice
        self.grade = grade


class Transcript:
    """What the engine wrote in all conversations. Memory use is bounded."""

    def __init__(self) -> None:
        self.strange: list[str] = []
        """The first lines that are not squares and do not begin with a word of the protocol."""
        self.strange_count = 0
        self.stderr = ""
        """The first line of stderr."""
        self.stderr_count = 0
        self.long_count = 0
        self.control_count = 0
        """Number of lines with control characters, NUL bytes or invalid UTF-8."""
        self.accepts_text = False
        """Whether any text is expected: the answer to ABOUT, or one that repeats an invalid command."""
        self._lock = threading.Lock()

    def write(self, mark: str, line: str) -> None:
        """Record a line from a pipe."""
        if mark == "->":
            return
        with self._lock:
            if mark == "!!":
                self.stderr_count += 1
                self.stderr = self.stderr or line[:80]
                return
            if self.accepts_text:
                return
            self.long_count += len(line) > LONG_LINE
            self.control_count += _CONTROL.search(line) is not None
            if first_word(line) not in _WORDS and parse_squares(line) is None:
                self.strange_count += 1
                if len(self.strange) < 3:
                    self.strange.append(line[:40])


class _Record:
    """Passes the lines of one process to the transcript until it is closed."""

    def __init__(self, transcript: Transcript) -> None:
        self._transcript = transcript
        self.is_open = True

    def write(self, mark: str, line: str) -> None:
        if self.is_open:
            self._transcript.write(mark, line)


class Conversation:
    """One process of the engine. A context manager that kills it at the end."""

    def __init__(self, settings: ComplianceSettings, transcript: Transcript) -> None:
        self.settings = settings
        self._record = _Record(transcript)
        self._process = EngineProcess(
            settings.argv, cwd=settings.cwd, log=self._record, memory_bytes=settings.memory_mb << 20
        )
        self.position = Position.start(Ruleset(15, 15))
        """Position on the engine's board."""
        self.slowest_ms = 0.0
        """Longest time used for a move."""
        self.overrun_ms = 0.0
        """Largest amount by which a move exceeded its time."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self._record.is_open = False  # the last line may be cut when the process is killed
        self._process.kill()

    @property
    def pid(self) -> int:
        """The process id of the engine."""
        return self._process.pid

    # -- commands ------------------------------------------------------------------------------------------------------

    def send(self, *lines: str, line_end: str = "\r\n") -> None:
        """Send lines; output that has not been read is dropped."""
        self._process.send(lines, self._deadline(0), line_end=line_end)

    def answer(self, *lines: str, ms: float = 0) -> str | None:
        """Send lines and return the first answer that is not a message, or None after the deadline."""
        self.send(*lines)
        return self.next_answer(self._deadline(ms))

    def next_answer(self, deadline: float) -> str | None:
        """Return the next line that is not a message, or None after the deadline."""
        while (line := self._process.receive(deadline)) is not None:
            if first_word(line) not in _ASIDES:
                return line
        return None

    def unexpected_answer(self) -> str | None:
        """Return the first line that is not a message, after a command that must not be answered, or None."""
        return self.next_answer(time.monotonic() + _QUIET_S)

    def start(
        self,
        size: int = 15,
        rule_number: int = 0,
        *,
        turn_ms: int | None = None,
        first: bool = True,
        skips_answers: bool = False,
    ) -> None:
        """Send START, require OK, and send the settings of the game.

        `first` grants the start-up time of a new process. `skips_answers` ignores late answers to earlier commands.
        """
        ms = self.settings.start_ms if first else self.settings.turn_ms
        answer = self.answer(f"START {size}", ms=ms)
        deadline = self._deadline(ms)
        while skips_answers and answer is not None and first_word(answer) != "OK":
            answer = self.next_answer(deadline)
        if answer is None:
            raise Problem(
                f"no answer to START {size} within {ms + self.settings.tolerance_ms} ms",
                "answer OK as soon as the board is created, and flush the output after every line",
            )
        if first_word(answer) != "OK":
            raise Problem(f"unexpected answer to START {size}: {answer[:80]!r}", "answer OK; this size is mandatory")
        self.set_rules(size, size, rule_number)
        self.send(*self.settings_lines(rule_number, turn_ms))

    def set_rules(self, width: int, height: int, rule_number: int = 0) -> None:
        """Reset our copy of the board to an empty one with this size and rule."""
        rule = next(rule for rule, number in RULE_NUMBERS.items() if number == rule_number)
        self.position = Position.start(Ruleset(width, height, 5, rule))

    def settings_lines(self, rule_number: int = 0, turn_ms: int | None = None) -> list[str]:
        """Return the INFO lines that managers send at the start of a game."""
        return [
            f"INFO rule {rule_number}",
            f"INFO timeout_turn {self.settings.turn_ms if turn_ms is None else turn_ms}",
            "INFO timeout_match 0",
            "INFO game_type 1",
            f"INFO max_memory {self.settings.memory_mb << 20}",
            f"INFO time_left {UNLIMITED_MS}",
        ]

    # -- moves ---------------------------------------------------------------------------------------------------------

    def begin(self, ms: int | None = None) -> Point:
        """Send BEGIN and return the engine's move."""
        return self.move(["BEGIN"], ms)

    def turn(self, point: Point, ms: int | None = None) -> Point:
        """Play a point for the opponent and return the engine's move."""
        square = square_of_point(point, self.position.ruleset.height)
        self.position = self.position.play(point)
        return self.move([f"TURN {square}"], ms)

    def board(self, position: Position, ms: int | None = None) -> Point:
        """Send a position as a BOARD block and return the engine's move."""
        self.position = position
        return self.move(board_lines(position), ms)

    def move(self, lines: Sequence[str], ms: int | None = None, line_end: str = "\r\n") -> Point:
        """Send a command that asks for a move, check the move and play it."""
        self.send(*lines, line_end=line_end)
        return self.read_move(lines[0].split()[0], ms)

    def read_move(self, command: str, ms: int | None = None) -> Point:
        """Read the answer to a command that asks for a move, check it and play it."""
        allowed_ms = self.settings.turn_ms if ms is None else ms
        started = time.monotonic()
        square = self._read_square(command, allowed_ms)
        spent_ms = 1000 * (time.monotonic() - started)
        self.slowest_ms = max(self.slowest_ms, spent_ms)
        self.overrun_ms = max(self.overrun_ms, spent_ms - allowed_ms)
        self._process.check_memory()
        return self._play(command, square)

    def _read_square(self, command: str, allowed_ms: int) -> tuple[int, int]:
        deadline = self._deadline(allowed_ms)
        complaint = ""
        while (line := self._process.receive(deadline)) is not None:
            squares = parse_squares(line)
            if squares is not None and len(squares) == 1:
                return squares[0]
            if squares is not None:
                raise Problem(f"unexpected answer to {command}: {line[:40]!r}", "answer with a single square, X,Y")
            if first_word(line) == "SUGGEST":
                self._process.send([f"PLAY {line.split(None, 1)[-1]}"], deadline, clears_output=False)
            elif first_word(line) in ("ERROR", "UNKNOWN") and not complaint:
                complaint = line
                deadline = min(deadline, time.monotonic() + _COMPLAINT_S)
        if complaint:
            raise Problem(f"{complaint[:80]!r} instead of a move in answer to {command}", "answer with a square, X,Y")
        missing = f"no answer to {command} within {allowed_ms} ms and a tolerance of {self.settings.tolerance_ms} ms"
        lines, size = self._process.output_size
        if size > _FLOOD_BYTES:
            raise Problem(
                f"flood: {missing}; instead it wrote {lines:,} lines ({size:,} bytes)", _REMEDIES[EngineFault.FLOOD]
            )
        written = f"; it wrote {size:,} bytes and {lines:,} complete lines" if size else ""
        raise Problem(
            missing + written,
            "answer X,Y with a line end before the time runs out, and flush the output after every line",
        )

    def _play(self, command: str, square: tuple[int, int]) -> Point:
        ruleset = self.position.ruleset
        name = f"{square[0]},{square[1]}"
        point = point_of_square(*square, ruleset.width, ruleset.height)
        if point is None:
            raise Problem(
                f"unexpected answer to {command}: {name} is off the {ruleset.width}x{ruleset.height} board",
                "columns and rows are counted from 0 at the top left",
            )
        try:
            self.position = self.position.play(point)
        except ForbiddenPointError as error:
            raise Problem(
                f"unexpected answer to {command}: {name}: {str(error).splitlines()[0]}",
                "black must not play forbidden points under INFO rule 4; an engine without renju must answer ERROR",
            ) from None
        except InputError:
            raise Problem(
                f"unexpected answer to {command}: {name} is occupied",
                "BOARD, START and RESTART replace all earlier stones; BOARD lists the stones of both sides",
            ) from None
        return point

    # -- the end -------------------------------------------------------------------------------------------------------

    def end(self) -> None:
        """Send END."""
        self.send("END")

    def close_input(self) -> None:
        """Close the engine's input."""
        self._process.close_input()

    def has_exited(self, ms: float) -> bool:
        """Wait for the process to exit; return whether it did in time."""
        return self._process.wait_for_exit(ms / 1000)

    def count_output(self) -> int:
        """Return the number of lines that the engine has written since the last command."""
        return self._process.output_size[0]

    def count_survivors(self) -> int:
        """Return the number of processes that the engine has left behind."""
        return self._process.count_survivors()

    def check_memory(self) -> None:
        """Raise `EngineError` if the engine uses too much memory."""
        self._process.check_memory()

    def _deadline(self, ms: float) -> float:
        return time.monotonic() + (ms + self.settings.tolerance_ms) / 1000


def first_word(line: str) -> str:
    """Return the first word in upper case."""
    return line.split(None, 1)[0].upper()


def board_lines(position: Position) -> list[str]:
    """Return a BOARD block with the stones in alternating colours, as in a game."""
    height = position.ruleset.height
    black, white = (position.points_of(colour) for colour in (Colour.BLACK, Colour.WHITE))
    stones: list[tuple[Point, Colour]] = []
    for number in range(max(len(black), len(white))):
        stones += [(black[number], Colour.BLACK)] if number < len(black) else []
        stones += [(white[number], Colour.WHITE)] if number < len(white) else []
    rows = [
        f"{square_of_point(point, height)},{int(Field.OWN if colour is position.to_move else Field.OPPONENT)}"
        for point, colour in stones
    ]
    return ["BOARD", *rows, "DONE"]


def describe_fault(error: EngineError) -> Problem:
    """Convert a fault of the process to a problem with a remedy."""
    return Problem(f"{error.reason}: {error}", _REMEDIES.get(error.reason, ""))


_REMEDIES = {
    EngineFault.CRASH: "keep running until END or the end of the input, even after invalid input",
    EngineFault.FLOOD: "write at most a few lines per second while thinking and nothing while idle",
    EngineFault.CLOSED: "keep stdin and stdout open until END",
    EngineFault.MEMORY: "stay below INFO max_memory, including the memory of child processes",
    EngineFault.TIMEOUT: "read the input continuously, or at least whenever no answer is due",
}
