"""Parser for the commands that a manager sends to a brain. It assembles blocks but does not interpret arguments.

Command names are case-insensitive. A block (BOARD … DONE) may come line by line or, from web clients, on one line.
Rows are passed on without validation.
"""

from __future__ import annotations

from dataclasses import dataclass

from tengen.core.geometry import MAX_SIZE

MAX_COMMAND_LINE = 65_536
"""Maximum bytes per line; enough for a whole block on one line."""
MAX_ROWS = 4 * MAX_SIZE * MAX_SIZE
"""Maximum rows per block, more than any board needs; further rows are dropped."""

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
"""Yixin-Board's database commands; the squares of a position follow as a block."""
_BLOCKS = frozenset({"BOARD", "YXBOARD", "SWAP2BOARD", "YXBLOCK", "YXBLOCKUNDO"}) | DATABASE_BLOCKS
FILE_COMMANDS = frozenset({"YXHASHDUMP", "YXHASHLOAD", "YXSETDATABASE"})
"""Commands that are followed by a file name on the next line."""
# A manager that starts a new game has abandoned the block it was sending.
_ABANDONS_BLOCK = frozenset({"START", "RECTSTART", "RESTART"})


@dataclass(frozen=True, slots=True)
class Command:
    """One command from the manager."""

    name: str
    """Name of the command in upper case."""
    arguments: str = ""
    """The rest of the line after the name, or the file name on the next line."""
    rows: tuple[str, ...] = ()
    """The rows of a block, such as `7,7,1`."""
    is_finished: bool = True
    """Whether the command is complete; False for a block that did not end with DONE."""
    received: float = 0.0
    """Time at which the first line was read, in seconds of the monotonic clock."""
    number: int = 0
    """Sequence number, starting from 1."""


class CommandReader:
    """Assembles lines into commands.

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
        self._awaits_file = ""

    def feed(self, line: str, now: float) -> list[Command]:
        """Return the commands that the line completes, in order."""
        if self._awaits_file:
            name, self._awaits_file = self._awaits_file, ""
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
            self._awaits_file = name
            return []
        return [self._command(name, arguments.strip(), now)]

    def _feed_block(self, line: str, now: float) -> list[Command]:
        words = ",".join(part.strip() for part in line.split(",")).split()
        if words and words[0].upper() in _ABANDONS_BLOCK:
            return [self._close_block(is_finished=False), *self._feed_command(line, now)]
        if words and words[0].upper() in ("END", "STOP", "YXSTOP"):
            return [self._command(words[0].upper(), "", now)]
        for index, word in enumerate(words):
            if word.upper() == "DONE":
                rest = " ".join(words[index + 1 :])
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
