"""From lines to commands: what a manager sends a brain, blocks put together, nothing interpreted yet.

Commands are matched without regard to case. A block (BOARD … DONE) may come line by line or, as web clients send it,
with all its stones on one line; rows that make no sense are kept for the command to judge.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from tengen.core.geometry import MAX_SIZE

MAX_COMMAND_LINE = 65_536
"""A whole block fits on one line of this length."""
MAX_ROWS = 4 * MAX_SIZE * MAX_SIZE
"""More rows than any board can need; what a block holds beyond is dropped."""

DATABASE_BLOCKS = frozenset(
    {
        "YXQUERYDATABASEALL",
        "YXQUERYDATABASEONE",
        "YXQUERYDATABASETEXT",
        "YXQUERYDATABASEALLT",
        "YXEDITTVDDATABASE",
        "YXEDITTEXTDATABASE",
        "YXEDITLABELDATABASE",
        "YXDELETEDATABASEONE",
        "YXDELETEDATABASEALL",
    }
)
"""What Yixin-Board asks of a database, about the position whose squares follow."""
_BLOCKS = frozenset({"BOARD", "YXBOARD", "SWAP2BOARD", "YXBLOCK", "YXBLOCKUNDO"}) | DATABASE_BLOCKS
FILE_COMMANDS = frozenset({"YXHASHDUMP", "YXHASHLOAD", "YXSETDATABASE"})
"""The file name follows on a line of its own."""
# A manager that starts a new game has given up the block it was sending.
_GIVES_UP_BLOCK = frozenset({"START", "RECTSTART", "RESTART"})


@dataclass(frozen=True, slots=True)
class Command:
    """One command of the manager."""

    name: str
    """In upper case."""
    arguments: str = ""
    """What follows the name on its line, or the file name on the next."""
    rows: tuple[str, ...] = ()
    """The rows of a block, such as `7,7,1`."""
    is_finished: bool = True
    """False for a block whose DONE never came."""
    received: float = 0.0
    """When its first line was read, in seconds of the monotonic clock."""
    number: int = 0
    """Commands are numbered as they are read, from 1."""


class CommandReader:
    """Puts lines together to commands.

    >>> reader = CommandReader()
    >>> reader.feed("turn 7,8", 0.0)[0].name
    'TURN'
    >>> reader.feed("yxboard 7,7,2 7, 8, 1 done yxnbest 2", 0.0)[0].rows
    ('7,7,2', '7,8,1')
    """

    def __init__(self) -> None:
        self._count = 0
        self._open: tuple[str, float] | None = None
        self._rows: list[str] = []
        self._wants_file = ""

    def feed(self, line: str, now: float) -> list[Command]:
        """The commands that the line completes, in order."""
        if self._wants_file:
            name, self._wants_file = self._wants_file, ""
            return [self._command(name, line, now)]
        if self._open is not None:
            return self._feed_block(line, now)
        return self._feed_command(line, now)

    def _feed_command(self, line: str, now: float) -> list[Command]:
        name, _, arguments = line.partition(" ")
        name = name.upper()
        if name in _BLOCKS:
            self._open = (name, now)
            return self._feed_block(arguments, now)
        if name in FILE_COMMANDS and not arguments.strip():
            self._wants_file = name
            return []
        return [self._command(name, arguments.strip(), now)]

    def _feed_block(self, line: str, now: float) -> list[Command]:
        words = re.sub(r"\s*,\s*", ",", line).split()
        if words and words[0].upper() in _GIVES_UP_BLOCK:
            return [self._close_block(is_finished=False), *self._feed_command(line, now)]
        if words and words[0].upper() in ("END", "STOP", "YXSTOP"):
            return [self._command(words[0].upper(), "", now)]
        for place, word in enumerate(words):
            if word.upper() == "DONE":
                rest = " ".join(words[place + 1 :])
                return [self._close_block(), *(self._feed_command(rest, now) if rest else ())]
            if len(self._rows) < MAX_ROWS:
                self._rows.append(word)
        return []

    def _close_block(self, *, is_finished: bool = True) -> Command:
        assert self._open is not None
        name, received = self._open
        rows = tuple(self._rows)
        self._open, self._rows = None, []
        return self._command(name, "", received, rows=rows, is_finished=is_finished)

    def _command(
        self, name: str, arguments: str, now: float, *, rows: tuple[str, ...] = (), is_finished: bool = True
    ) -> Command:
        self._count += 1
        return Command(name, arguments, rows, is_finished, now, self._count)
