"""The brain's side of the Piskvork protocol: serve any `Agent` to a Gomocup manager or a board program.

One thread reads commands, one answers them, and one runs the player (`thinking`). Commands that arrive during a search
are queued. Only END, STOP, YXSTOP and `INFO timeout_turn 0` take effect as soon as they are read. Pondering ends when
any command is read.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable

from tengen.core.contracts import Agent
from tengen.core.plugins import describe_exception
from tengen.protocols.pipe import LineSplitter, PipeLog
from tengen.protocols.piskvork.commands import MAX_COMMAND_LINE, Command, CommandReader
from tengen.protocols.piskvork.notation import MAX_BOARD, MIN_BOARD, About, Field, parse_squares, square_of_point
from tengen.protocols.piskvork.session import Output, Session
from tengen.protocols.piskvork.yixin import COMMANDS as YIXIN_COMMANDS
from tengen.protocols.piskvork.yixin import answer_swap2_board

END_GRACE_S = 0.3
"""Time limit in seconds for ending a session; managers kill a brain after half a second."""

WARM_UP_S = 2.0
"""Seconds allowed for preparing the player before START and RESTART are answered; the first move has its own time."""

Handler = Callable[[Session, Command], None]


class BrainServer:
    """Serves one manager. `read` returns the next bytes, empty at the end of input; `write` sends and flushes bytes."""

    def __init__(
        self,
        make_agent: Callable[[], Agent],
        read: Callable[[], bytes],
        write: Callable[[bytes], None],
        *,
        about: About,
        log: PipeLog | None = None,
    ) -> None:
        self._read = read
        self._log = log
        self._session = Session(make_agent, Output(write, log), about)
        self._commands: queue.SimpleQueue[Command | None] = queue.SimpleQueue()
        self._worker = threading.Thread(target=self._answer_all, name="answerer", daemon=True)

    def run(self) -> None:
        """Serve until END or the end of input, then return within half a second.

        Pending commands are still answered if they need no search. A player that does not stop in time keeps running in
        its daemon thread.
        """
        self._worker.start()
        try:
            self._read_all()
        finally:
            self._session.thinker.begin_close()
            self._commands.put(None)
            self._worker.join(END_GRACE_S)
            self._session.output.is_muted = True

    def _read_all(self) -> None:
        splitter = LineSplitter(MAX_COMMAND_LINE)
        reader = CommandReader()
        is_open = True
        while is_open:
            data = self._read()
            is_open = bool(data)
            now = time.monotonic()
            for line in splitter.feed(data) if is_open else splitter.flush():
                if self._log is not None:
                    self._log.write("->", line)
                for command in reader.feed(line, now):
                    if command.name == "END":
                        return
                    self._enqueue(command)

    def _enqueue(self, command: Command) -> None:
        self._session.thinker.note_command(command.number)
        if command.name in ("STOP", "YXSTOP") or _asks_to_move_now(command):
            self._session.thinker.stop_before(command.number)
        self._commands.put(command)

    def _answer_all(self) -> None:
        while (command := self._commands.get()) is not None and not self._session.output.is_muted:
            try:
                answer_command(self._session, command)
            except Exception as error:
                # A bug in one command must not end the session; the manager may continue with another command.
                self._session.send(f"DEBUG {command.name}: {describe_exception(error)[:300]}")
                self._session.send(f"ERROR {command.name} failed")
        self._session.thinker.close(END_GRACE_S)


def _asks_to_move_now(command: Command) -> bool:
    words = command.arguments.lower().split()
    return command.name == "INFO" and words[:1] == ["timeout_turn"] and words[1:] == ["0"]


def answer_command(session: Session, command: Command) -> None:
    """Execute one command."""
    handler = COMMANDS.get(command.name)
    if handler is None:
        session.send(f"UNKNOWN command {command.name[:40]}")
    elif not command.is_finished:
        session.send(f"ERROR {command.name} without DONE")
    else:
        handler(session, command)


# -- the commands of the published protocol ----------------------------------------------------------------------------


def _about(session: Session, command: Command) -> None:
    session.send(str(session.about))


def _start(session: Session, command: Command) -> None:
    words = command.arguments.split()
    size = int(words[0]) if words and words[0].isdecimal() and len(words[0]) < 9 else None
    _start_board(session, size, size, command.arguments)


def _rect_start(session: Session, command: Command) -> None:
    squares = parse_squares(command.arguments)
    width, height = squares[0] if squares and len(squares) == 1 else (None, None)
    _start_board(session, width, height, command.arguments)


def _start_board(session: Session, width: int | None, height: int | None, size_text: str) -> None:
    if width is None or height is None or not all(MIN_BOARD <= size <= MAX_BOARD for size in (width, height)):
        # If the message contains 20, Piskvork offers that size to its user.
        session.send(
            f"ERROR unsupported board size {size_text[:40]!r}: use {MIN_BOARD} to {MAX_BOARD}, for example 15 or 20"
        )
        return
    session.new_game(width, height)
    session.warm_up(wait_s=WARM_UP_S)
    session.send("OK")


def _restart(session: Session, command: Command) -> None:
    board = session.require_board()
    if board is not None:
        session.new_game(board.width, board.height)
        session.warm_up(wait_s=WARM_UP_S)
        session.send("OK")


def _begin(session: Session, command: Command) -> None:
    session.answer_with_move(command)


def _turn(session: Session, command: Command) -> None:
    board = session.require_board()
    point = session.free_point(board, command.arguments) if board is not None else None
    if board is not None and point is not None:
        board.add(point, Field.OPPONENT)
        session.answer_with_move(command)


def _board(session: Session, command: Command) -> None:
    board = session.require_board()
    if board is not None:
        session.set_up(board, command.rows)
        session.answer_with_move(command)


def _take_back(session: Session, command: Command) -> None:
    board = session.require_board()
    point = session.named_point(board, command.arguments) if board is not None else None
    if board is not None and point is not None:
        session.send("OK" if board.remove(point) else f"ERROR there is no stone on {command.arguments}")


def _play(session: Session, command: Command) -> None:
    """Enter a move for the brain. Some managers send PLAY although this brain never sends SUGGEST."""
    board = session.require_board()
    point = session.free_point(board, command.arguments) if board is not None else None
    if board is not None and point is not None:
        board.add(point, Field.OWN)
        session.send(square_of_point(point, board.height))


def _info(session: Session, command: Command) -> None:
    key, _, value = command.arguments.partition(" ")
    session.settings.store(key, value.strip())
    if key.lower() in ("rule", "max_memory"):
        session.warm_up()


COMMANDS: dict[str, Handler] = {
    "ABOUT": _about,
    "START": _start,
    "RECTSTART": _rect_start,
    "RESTART": _restart,
    "BEGIN": _begin,
    "TURN": _turn,
    "BOARD": _board,
    "TAKEBACK": _take_back,
    "PLAY": _play,
    "INFO": _info,
    "SWAP2BOARD": answer_swap2_board,
    **YIXIN_COMMANDS,
}
"""Handlers by command name. END is handled by the reader thread."""
