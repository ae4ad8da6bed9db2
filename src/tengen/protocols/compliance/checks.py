"""The checks of a compliance test. Each one runs in a new process of the engine.

A check returns a remark for the report, or raises `Problem`. Positions are in the notation of Gomocup's own test of new
engines: letters are columns and numbers are rows, counted from the top left.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import count

import psutil

from tengen.core.contracts import Ruleset
from tengen.core.geometry import Point
from tengen.core.position import Position
from tengen.errors import EngineError
from tengen.protocols.compliance.conversation import (
    Conversation,
    Problem,
    Transcript,
    board_lines,
    describe_fault,
    first_word,
)
from tengen.protocols.compliance.report import Grade, Group
from tengen.protocols.piskvork.notation import (
    MAX_BOARD,
    RULE_NUMBERS,
    UNLIMITED_MS,
    parse_about,
    parse_squares,
    point_of_square,
    rule_of_number,
)

Open = Callable[[], Conversation]
"""Starts a new process of the engine."""

_SIZES = (5, 8, 10, 13, 15, 19, 20, MAX_BOARD)
_EXIT_MS = 500
"""Time to exit after END in Gomocup; the tolerance is added."""
_IDLE_LINES = 100
_IDLE_CPU_S = 0.05
_GAME_PLIES = 120
_GAME_TURN_MS = 100


@dataclass(frozen=True, slots=True)
class Check:
    """One check."""

    name: str
    group: Group
    requirement: str
    """What the engine must do, as a sentence without its full stop."""
    run: Callable[[Open], str]
    needs: tuple[str, ...] = ()
    """Checks that this one depends on."""


CHECKS: list[Check] = []


def check(name: str, group: Group, requirement: str, *needs: str) -> Callable[[Callable[[Open], str]], None]:
    """Return a decorator that adds a check to `CHECKS`."""

    def add(run: Callable[[Open], str]) -> None:
        CHECKS.append(Check(name, group, requirement, run, needs))

    return add


# -- mandatory commands ------------------------------------------------------------------------------------------------


@check("start", Group.MANDATORY, "answers START 15 and START 20 with OK")
def _start(open_engine: Open) -> str:
    started = time.monotonic()
    with open_engine() as engine:
        engine.start(15)
        spent_ms = 1000 * (time.monotonic() - started)
    with open_engine() as engine:
        engine.start(20)
    return f"the first OK after {spent_ms:.0f} ms"


@check("begin", Group.MANDATORY, "answers BEGIN on an empty board with a move", "start")
def _begin(open_engine: Open) -> str:
    with open_engine() as engine:
        engine.start()
        engine.begin()
    return ""


@check("turn", Group.MANDATORY, "answers TURN X,Y with a move, several times in a game", "begin")
def _turn(open_engine: Open) -> str:
    with open_engine() as engine:
        engine.start()
        engine.begin()
        for _ in range(3):
            engine.turn(_far_point(engine.position))
    return ""


@check("board", Group.MANDATORY, "answers BOARD … DONE with a move, then continues the game with TURN", "begin")
def _board(open_engine: Open) -> str:
    with open_engine() as engine:
        engine.start()
        engine.board(_position("h8i9j7k10"))
        engine.turn(_far_point(engine.position))
        engine.start(first=False)
        engine.board(_position("h8"))
    return ""


@check("board replaces", Group.MANDATORY, "BOARD replaces all earlier stones", "board")
def _board_replaces(open_engine: Open) -> str:
    with open_engine() as engine:
        engine.start()
        engine.begin()
        engine.turn(_far_point(engine.position))
        # Only the earlier stones and a few other points are free, so a brain that keeps old stones or ignores new ones
        # soon plays on an occupied point.
        engine.board(_crowded_position(engine.position.moves))
    return ""


@check("info", Group.MANDATORY, "INFO is never answered, not even with unknown keys or strange values", "start")
def _info(open_engine: Open) -> str:
    with open_engine() as engine:
        engine.start()
        engine.send(
            "INFO some_unknown_key 1",
            "INFO max_memory 99999999999999999999",
            "INFO timeout_turn many",
            "INFO evaluate 3,3",
            "INFO folder C:\\Program Files\\My Engine",
            "INFO",
            f"INFO time_left {-5}",
        )
        answer = engine.unexpected_answer()
        if answer is not None:
            raise Problem(
                f"unexpected answer to INFO: {answer[:60]!r}",
                "ignore unknown keys and values silently: managers would take the line as the answer to the next"
                " command",
            )
        engine.start(first=False)
        return ""


@check("about", Group.MANDATORY, 'answers ABOUT with a line such as name="X", version="1.0", even before START')
def _about(open_engine: Open) -> str:
    with open_engine() as engine:
        answer = engine.answer("ABOUT", ms=engine.settings.start_ms)
    if answer is None:
        raise Problem("no answer to ABOUT", "some managers give up without an answer before START")
    if first_word(answer) in ("ERROR", "UNKNOWN"):
        raise Problem(f"unexpected answer to ABOUT: {answer[:60]!r}", "the command is mandatory")
    if re.search(r'name\s*=\s*"', answer) is None:
        raise Problem(
            f"unexpected answer to ABOUT: {answer[:60]!r}",
            'use the form name="…", version="…", author="…"',
            Grade.WARNING,
        )
    return str(parse_about(answer))


@check(
    "end", Group.MANDATORY, "END makes the engine and everything it has started exit without further output", "start"
)
def _end(open_engine: Open) -> str:
    with open_engine() as engine:
        engine.start()
        engine.end()
        started = time.monotonic()
        _require_exit(engine, "END")
        spent_ms = 1000 * (time.monotonic() - started)
        left = engine.count_survivors()
        if left:
            raise Problem(f"{left} processes that it started are still running after END", "end child processes first")
    return f"after {spent_ms:.0f} ms"


# -- order, line ends and bad input ------------------------------------------------------------------------------------


@check("end of input", Group.ROBUSTNESS, "the engine exits when its input is closed", "start")
def _end_of_input(open_engine: Open) -> str:
    with open_engine() as engine:
        engine.start()
        engine.close_input()
        _require_exit(engine, "the end of its input")
    return ""


@check("end while thinking", Group.ROBUSTNESS, "END during a search makes the engine exit", "begin")
def _end_while_thinking(open_engine: Open) -> str:
    with open_engine() as engine:
        engine.start(turn_ms=30_000)
        engine.send(*board_lines(_position("h8i9j7k10")))
        time.sleep(0.1)
        engine.end()
        if not engine.has_exited(_EXIT_MS + engine.settings.tolerance_ms):
            raise Problem(
                "it does not exit on END while thinking",
                "read the input in a second thread, so that END works during a search; otherwise managers have to"
                " kill the engine",
                Grade.WARNING,
            )
    return ""


@check("unknown command", Group.ROBUSTNESS, "answers an unknown command with UNKNOWN", "begin")
def _unknown(open_engine: Open) -> str:
    with open_engine() as engine:
        engine.start()
        answer = engine.answer("SOMETHING 1 2 3")
        if answer is None:
            raise Problem(
                "no answer to an unknown command",
                "answer UNKNOWN, so that managers do not have to wait",
                Grade.WARNING,
            )
        if first_word(answer) not in ("UNKNOWN", "ERROR"):
            raise Problem(f"unexpected answer to an unknown command: {answer[:60]!r}", "answer UNKNOWN")
        engine.begin()
    return ""


@check("line ends", Group.ROBUSTNESS, "lines may end in CR LF or in LF, and empty lines are ignored", "begin")
def _line_ends(open_engine: Open) -> str:
    with open_engine() as engine:
        engine.send("", "START 15", "", line_end="\n")
        answer = engine.next_answer(time.monotonic() + engine.settings.start_ms / 1000)
        if answer is None or first_word(answer) != "OK":
            raise Problem(
                f"unexpected answer to START 15 between empty lines that end in LF: {answer!r}",
                "strip CR and LF from every line, and skip empty lines",
            )
        engine.set_rules(15, 15)
        engine.send(*engine.settings_lines(), line_end="\n")
        engine.move(["BEGIN"], line_end="\n")
    return ""


@check(
    "pipelined",
    Group.ROBUSTNESS,
    "commands may arrive before the answer to START, as Gomocup's judge sends them",
    "board",
)
def _pipelined(open_engine: Open) -> str:
    with open_engine() as engine:
        engine.position = _position("h8i9j7")
        engine.send("START 15", *engine.settings_lines(), *board_lines(engine.position))
        engine.read_move("START and BOARD in one go", engine.settings.start_ms)
    return ""


@check("info before start", Group.ROBUSTNESS, "INFO may arrive before START, and its values are kept", "begin")
def _info_before_start(open_engine: Open) -> str:
    with open_engine() as engine:
        engine.send(*engine.settings_lines())
        engine.start()
        engine.begin()
    return ""


@check(
    "second game",
    Group.ROBUSTNESS,
    "START in a running process begins a new game, also on a board of another size",
    "turn",
)
def _second_game(open_engine: Open) -> str:
    with open_engine() as engine:
        engine.start(15)
        engine.begin()
        engine.turn(_far_point(engine.position))
        engine.start(20, first=False)
        engine.begin()
        engine.turn(_far_point(engine.position))
        engine.start(15, first=False)
        engine.board(_crowded_position((Point("h8"), Point("a1"))))
    return ""


@check("bad commands", Group.ROBUSTNESS, "invalid commands neither stop nor confuse the engine", "begin")
def _bad_commands(open_engine: Open) -> str:
    bad = (
        "TURN 99,99",
        "TURN -1,3",
        "TURN",
        "TURN a,b",
        "TURN 7",
        "TAKEBACK 0,0",
        "PLAY 1",
        "START 0",
        "START 1000000",
        "START x",
        "X" * 20_000,
        "\x01\x02 \x7f",
    )
    with open_engine() as engine:
        engine.start()
        for command in bad:
            try:
                engine.send(command)
                engine.unexpected_answer()
                engine.start(first=False, skips_answers=True)
                engine.begin()
            except (Problem, EngineError) as error:
                shown = command if len(command) < 40 else f"a line of {len(command):,} characters"
                problem = describe_fault(error) if isinstance(error, EngineError) else error
                raise Problem(
                    f"after {shown!r}: {problem.detail}", "answer ERROR to invalid commands and keep running"
                ) from None
    return f"{len(bad)} commands"


@check("bad board", Group.ROBUSTNESS, "a BOARD block with invalid lines does not stop the engine", "board")
def _bad_board(open_engine: Open) -> str:
    with open_engine() as engine:
        engine.start()
        engine.send("BOARD", "7,7,1", "rubbish", "99,0,2", "8,8,9", "DONE")
        engine.unexpected_answer()
        engine.start(first=False, skips_answers=True)
        engine.board(_position("h8i9"))
    return ""


@check(
    "silent when idle",
    Group.ROBUSTNESS,
    "the engine writes and computes nothing while it is the opponent's turn",
    "begin",
)
def _idle(open_engine: Open) -> str:
    with open_engine() as engine:
        engine.start()
        engine.begin()
        before = _cpu_seconds(engine.pid)
        written = engine.count_output()
        idle_s = engine.settings.idle_ms / 1000
        answer = engine.next_answer(time.monotonic() + idle_s)
        if answer is not None:
            raise Problem(
                f"unexpected output after the move: {answer[:60]!r}",
                "write messages only before the move, nothing after it",
            )
        written = engine.count_output() - written
        if written > _IDLE_LINES:
            raise Problem(
                f"flood: {written:,} lines in {idle_s:g} s of its opponent's time", "write nothing while idle"
            )
        used = _cpu_seconds(engine.pid) - before
        if used > _IDLE_CPU_S:
            raise Problem(
                f"it used {used:.2f} s of processor time in {idle_s:g} s of its opponent's time",
                "ponder only after INFO pondering 1; most tournaments forbid it",
                Grade.WARNING,
            )
        engine.turn(_far_point(engine.position))
    return ""


@check("whole game", Group.ROBUSTNESS, f"a game against itself at {_GAME_TURN_MS} ms per move has no faults", "turn")
def _whole_game(open_engine: Open) -> str:
    with open_engine() as black, open_engine() as white:
        players = (black, white)
        for player in players:
            player.start(turn_ms=_GAME_TURN_MS)
        move = black.begin(_GAME_TURN_MS)
        for ply in count(1):
            if black.position.is_over or ply == _GAME_PLIES:
                break
            mover, other = players[ply % 2], players[1 - ply % 2]
            if ply == 1:
                mover.position = other.position
                move = mover.move(board_lines(mover.position), _GAME_TURN_MS)
            else:
                move = mover.turn(move, _GAME_TURN_MS)
            if mover.position.is_over:
                break
    return f"{max(player.position.stones for player in players)} stones, slowest move {_slowest(*players)}"


# -- rules and boards --------------------------------------------------------------------------------------------------


@check("sizes", Group.RULES, "every board size is either played or rejected with ERROR", "begin")
def _sizes(open_engine: Open) -> str:
    played = []
    with open_engine() as engine:
        for size in _SIZES:
            answer = engine.answer(f"START {size}", ms=engine.settings.start_ms)
            if answer is None or first_word(answer) not in ("OK", "ERROR"):
                raise Problem(
                    f"unexpected answer to START {size}: {answer!r}",
                    "answer ERROR and name the supported sizes, such as 'ERROR only boards from 10 to 20'",
                )
            if first_word(answer) == "OK":
                engine.set_rules(size, size)
                engine.send(*engine.settings_lines())
                engine.begin()
                played.append(size)
    return "plays " + ", ".join(map(str, played))


def _rule_check(number: int, name: str) -> None:
    requirement = f"INFO rule {number} ({name}) is obeyed, or rejected with ERROR"

    @check(f"rule {number}", Group.RULES, requirement, "board")
    def _rule(open_engine: Open) -> str:
        with open_engine() as engine:
            for size in (15, 20):
                _require_move(engine, size, number, "h8h9i8i9j8j9k8k9", "g8l8", "completes its open four")
            for moves, good, what in _TACTICS.get(number, ()):
                _require_move(engine, 15, number, moves, good, what)
        return ""


# By rule number: positions, the good moves in each (any legal move if there are none), and what they do.
_TACTICS: dict[int, tuple[tuple[str, str, str], ...]] = {
    1: (("h8h9i8h10g8h11j13h12g14h14i15", "f8j8", "stops the open three; six in a row does not win"),),
    4: (("h8h9i7i9h10i6i11i12", "", "plays no forbidden point"),),
    8: (("h8f8g8f9i8f7j8l8", "f5f6f10f11", "stops the open three; a five closed at both ends does not win"),),
    9: (("h8f8g8f9i8f7j8l8", "f5f6f10f11", "stops the open three; a five closed at both ends does not win"),),
}


def _require_move(engine: Conversation, size: int, rule_number: int, moves: str, good: str, what: str) -> None:
    """Require one of the moves `good` in a position; any legal move if `good` is empty."""
    ms = 5 * engine.settings.turn_ms
    engine.start(size, rule_number, turn_ms=ms)
    try:
        move = engine.board(_position(moves, size, rule_number), ms)
    except Problem as problem:
        if "'ERROR" in problem.detail.upper():
            raise Problem(f"rejects INFO rule {rule_number}", grade=Grade.ABSENT) from None
        raise
    if good and move not in _points(good, size):
        raise Problem(
            f"after {moves} on {size}x{size} (top left is a1), it does not play {' or '.join(_names(good))},"
            f" which {what}",
            "obey INFO rule, or answer ERROR at the first move under a rule that is not supported",
            Grade.WARNING,
        )


for _rule, _number in RULE_NUMBERS.items():
    _rule_check(_number, _rule.value)


# -- clock and memory --------------------------------------------------------------------------------------------------


@check("time per move", Group.RESOURCES, "moves respect INFO timeout_turn", "turn")
def _turn_time(open_engine: Open) -> str:
    with open_engine() as engine:
        for ms in (50, 100, 500):
            engine.start(turn_ms=ms)
            engine.board(_position("h8i9j7k10"), ms)
            engine.turn(_far_point(engine.position), ms)
            _warn_of_overrun(engine, ms)
    return f"largest excess {max(0.0, engine.overrun_ms):.0f} ms, slowest move {engine.slowest_ms:.0f} ms"


@check("no time", Group.RESOURCES, "INFO timeout_turn 0 requests an immediate move", "begin")
def _no_time(open_engine: Open) -> str:
    with open_engine() as engine:
        engine.start(turn_ms=0)
        engine.board(_position("h8i9j7k10"), 0)
    return f"after {engine.slowest_ms:.0f} ms"


@check("time left", Group.RESOURCES, "moves respect INFO time_left, even if timeout_turn allows more", "begin")
def _time_left(open_engine: Open) -> str:
    with open_engine() as engine:
        engine.start(turn_ms=60_000)
        engine.send("INFO timeout_match 60000", "INFO time_left 300")
        engine.board(_position("h8i9j7k10"), 300)
        _warn_of_overrun(engine, 300)
        engine.send("INFO time_left -100")
        engine.turn(_far_point(engine.position), 0)
        engine.send(f"INFO time_left {UNLIMITED_MS}", f"INFO timeout_turn {engine.settings.turn_ms}")
        engine.turn(_far_point(engine.position))
    return f"slowest move {engine.slowest_ms:.0f} ms"


@check("memory", Group.RESOURCES, "the engine and its children respect INFO max_memory", "begin")
def _memory(open_engine: Open) -> str:
    with open_engine() as engine:
        engine.start(20, turn_ms=2000)
        engine.board(_position("h8i9j7k10", 20), 2000)
        used = _memory_mb(engine.pid)
    return f"{used:.0f} of {engine.settings.memory_mb} MB"


# -- optional commands -------------------------------------------------------------------------------------------------


@check("restart", Group.OPTIONAL, "answers RESTART with OK and empties the board", "turn")
def _restart(open_engine: Open) -> str:
    with open_engine() as engine:
        engine.start()
        engine.begin()
        earlier = engine.position.moves
        _require_support(engine, "RESTART")
        engine.set_rules(15, 15)
        engine.send(*engine.settings_lines())
        engine.board(_crowded_position((*earlier, _far_point(engine.position))))
    return ""


@check("rectangle", Group.OPTIONAL, "answers RECTSTART 15,10 with OK", "begin")
def _rectangle(open_engine: Open) -> str:
    with open_engine() as engine:
        _require_support(engine, "RECTSTART 15,10")
        engine.set_rules(15, 10)
        engine.send(*engine.settings_lines())
        engine.begin()
        engine.turn(_far_point(engine.position))
    return ""


@check("take back", Group.OPTIONAL, "TAKEBACK removes stones, and the game continues", "turn")
def _take_back(open_engine: Open) -> str:
    with open_engine() as engine:
        engine.start()
        engine.begin()
        engine.turn(_far_point(engine.position))
        after_first = engine.position.undo(2)
        for point in reversed(engine.position.moves[1:]):
            _require_support(engine, f"TAKEBACK {_square(point)}")
        engine.position = after_first
        engine.turn(_far_point(after_first))
    return ""


@check("swap2", Group.OPTIONAL, "answers SWAP2BOARD with three squares, then with SWAP or one or two squares", "start")
def _swap2(open_engine: Open) -> str:
    with open_engine() as engine:
        engine.start()
        ms = 10 * engine.settings.turn_ms
        for rows, allowed in (((), (3,)), (("7,7", "8,7", "9,9"), (1, 2)), (("7,7", "8,7", "9,9", "8,8", "8,6"), (1,))):
            answer = engine.answer("SWAP2BOARD", *rows, "DONE", ms=ms)
            if answer is None or first_word(answer) in ("UNKNOWN", "ERROR"):
                raise Problem("does not support SWAP2BOARD", grade=Grade.ABSENT)
            squares = parse_squares(answer) or ()
            if not (rows and first_word(answer) == "SWAP") and len(squares) not in allowed:
                raise Problem(f"unexpected answer to SWAP2BOARD with {len(rows)} stones: {answer[:60]!r}")
            points = {point_of_square(x, y, 15, 15) for x, y in squares}
            taken = {point_of_square(*_xy(row), 15, 15) for row in rows}
            if None in points or len(points) < len(squares) or points & taken:
                raise Problem(
                    f"impossible squares in the answer to SWAP2BOARD with {len(rows)} stones: {answer[:60]!r}"
                )
    return ""


@check("analysis", Group.OPTIONAL, "YXBOARD and YXNBEST analyse a position, and YXSTOP ends the search", "board")
def _analysis(open_engine: Open) -> str:
    with open_engine() as engine:
        engine.start(turn_ms=60_000)
        engine.position = _position("h8i9j7k10")
        engine.send("YX" + "\n".join(board_lines(engine.position)), "YXNBEST 2")
        answer = engine.next_answer(time.monotonic() + 0.3)
        if answer is not None and first_word(answer) in ("UNKNOWN", "ERROR"):
            raise Problem("does not support YXNBEST", grade=Grade.ABSENT)
        if answer is None:
            answer = engine.answer("YXSTOP")
        if answer is None or parse_squares(answer) is None:
            raise Problem(f"unexpected answer to YXSTOP during YXNBEST: {answer!r}", "answer with the best move so far")
    return ""


# -- helpers -----------------------------------------------------------------------------------------------------------


def check_output(transcript: Transcript) -> Iterator[tuple[str, str, Problem | None]]:
    """Yield the name, requirement and problem of each check on everything that the engine wrote."""
    strange = None
    if transcript.strange_count:
        examples = ", ".join(map(repr, transcript.strange))
        strange = Problem(
            f"garbage: {transcript.strange_count:,} lines are neither answers nor messages, such as {examples}",
            "begin remarks with MESSAGE or DEBUG; Piskvork takes any other line as an illegal move",
        )
    yield "lines", "every line is an answer or begins with MESSAGE or DEBUG", strange
    binary = None
    if transcript.control_count:
        binary = Problem(
            f"binary: {transcript.control_count:,} lines have NUL bytes, control characters or invalid UTF-8",
            "write plain text",
        )
    yield "text", "the output is plain text", binary
    long = None
    if transcript.long_count:
        long = Problem(f"{transcript.long_count:,} lines have more than 8,000 characters", "managers cut such lines")
    yield "line length", "lines have at most 8,000 characters", long
    errors = None
    if transcript.stderr_count:
        errors = Problem(
            f"{transcript.stderr_count:,} lines on stderr, such as {transcript.stderr!r}",
            "write nothing to stderr: Piskvork reads it as output",
            Grade.WARNING,
        )
    yield "stderr", "nothing is written to stderr", errors


def run_check(one: Check, open_engine: Open) -> tuple[Grade, str, str]:
    """Run a check; return its grade, remark and advice."""
    try:
        return Grade.OK, one.run(open_engine), ""
    except EngineError as error:
        problem = describe_fault(error)
    except Problem as found:
        problem = found
    return problem.grade, problem.detail, problem.advice


def _require_exit(engine: Conversation, cause: str) -> None:
    if not engine.has_exited(_EXIT_MS + engine.settings.tolerance_ms):
        raise Problem(f"it is still running {_EXIT_MS + engine.settings.tolerance_ms} ms after {cause}", "exit at once")


def _require_support(engine: Conversation, command: str) -> None:
    """Send an optional command, to which the answer is OK. UNKNOWN and ERROR mean that it is not supported."""
    answer = engine.answer(command)
    if answer is not None and first_word(answer) in ("UNKNOWN", "ERROR"):
        raise Problem(f"does not support {command.split(maxsplit=1)[0]}", grade=Grade.ABSENT)
    if answer is None or first_word(answer) != "OK":
        raise Problem(
            f"no answer to {command}" if answer is None else f"unexpected answer to {command}: {answer[:60]!r}",
            "answer OK or UNKNOWN",
        )


def _warn_of_overrun(engine: Conversation, ms: int) -> None:
    if engine.overrun_ms > engine.settings.tolerance_ms / 2:
        raise Problem(
            f"a move took {engine.overrun_ms:.0f} ms longer than the {ms} ms allowed",
            "measure from the arrival of the command, and keep a reserve; other managers are less tolerant",
            Grade.WARNING,
        )


def _slowest(*engines: Conversation) -> str:
    return f"{max(engine.slowest_ms for engine in engines):.0f} ms"


def _cpu_seconds(pid: int) -> float:
    """Return the processor time used by a process and its children so far."""
    total = 0.0
    for process in _tree(pid):
        with suppress(psutil.Error):
            times = process.cpu_times()
            total += times.user + times.system
    return total


def _memory_mb(pid: int) -> float:
    """Return the resident memory of a process and its children."""
    total = 0
    for process in _tree(pid):
        with suppress(psutil.Error):
            total += process.memory_info().rss
    return total / 2**20


def _tree(pid: int) -> list[psutil.Process]:
    with suppress(psutil.Error):
        leader = psutil.Process(pid)
        return [leader, *leader.children(recursive=True)]
    return []


def _square(point: Point, height: int = 15) -> str:
    return f"{point.x},{height - 1 - point.y}"


def _xy(row: str) -> tuple[int, int]:
    x, y = row.split(",")
    return int(x), int(y)


def _names(text: str) -> list[str]:
    return re.findall(r"[a-z]\d+", text)


def _points(text: str, size: int) -> list[Point]:
    """Return the points of a text that counts rows from the top."""
    found = [point_of_square(ord(name[0]) - ord("a"), int(name[1:]) - 1, size, size) for name in _names(text)]
    return [point for point in found if point is not None]


def _position(moves: str, size: int = 15, rule_number: int = 0) -> Position:
    rule = rule_of_number(rule_number)
    assert rule is not None
    return Position.from_moves(Ruleset(size, size, 5, rule), _points(moves, size))


def _far_point(position: Position) -> Point:
    """Return a free point for the opponent: on the edge and away from its other stones, so that no line forms."""
    width, height = position.ruleset.width, position.ruleset.height
    for x in range(0, width, 3):
        for y in (0, height - 1):
            point = Point.at(x, y)
            if position.is_legal(point):
                return point
    raise AssertionError("the board is full")


def _crowded_position(free: tuple[Point, ...]) -> Position:
    """Return a 15x15 position that has no five and only a few free points.

    These are the given points, the corners, and a few more so that both sides have equally many stones.
    """
    colours: tuple[list[Point], list[Point]] = ([], [])
    for y in range(15):
        for x in range(15):
            colours[(x // 2 + y) % 2].append(Point.at(x, y))
    kept = set(free) | {Point("a1"), Point("o15"), Point("a15"), Point("o1")}
    black, white = ([point for point in points if point not in kept] for points in colours)
    size = min(len(black), len(white))
    return Position.from_stones(Ruleset(15, 15), black=black[:size], white=white[:size])
