"""The POSITION argument of commands: moves, a game file, or a drawing on standard input.

`h8i9j10` and `15/renju/h8i9` are moves from the empty board. `game.sgf` is the final position in a game file of any
format, and `game.sgf@12` the position after move 12. `-` reads moves or a drawing, as printed by `print(position)`,
from standard input.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tengen.errors import InputError

if TYPE_CHECKING:
    from tengen.core.contracts import Ruleset
    from tengen.core.position import Position

PositionText = Annotated[
    str,
    typer.Argument(
        metavar="POSITION",
        help="Moves (h8i9j10, 15/renju/h8i9), a game file (game.sgf, game.sgf@12), or - to read a drawing from stdin.",
        show_default=False,
    ),
]

_MAX_CHARACTERS = 1 << 20
"""Maximum number of characters on standard input; a 22x22 drawing has about a thousand."""
_FILE = re.compile(r"(?P<path>.+?)(?:@(?P<move>\d{1,6}))?")


def read_position(text: str, rules: str | None = None) -> Position:
    """Parse a POSITION argument. Raises an `InputError` that quotes an invalid argument."""
    from tengen.cli.convert import parse_rule

    ruleset = parse_rule(rules)
    if text == "-":
        return _read_standard_input(ruleset)
    match = _FILE.fullmatch(text)
    if match is not None and _is_file(match["path"]):
        return _read_file(Path(match["path"]), None if match["move"] is None else int(match["move"]), ruleset)
    return _parse_moves(text, ruleset)


def _is_file(path: str) -> bool:
    """Return whether the text is a path: the file exists, or the text has a file extension, unlike `15/h8i9`."""
    try:
        return Path(path).is_file() or Path(path).suffix != ""
    except OSError:
        return False


def _read_file(path: Path, move: int | None, ruleset: Ruleset | None) -> Position:
    from tengen.records import iterate

    record = next(iter(iterate(path, ruleset=ruleset)), None)
    if record is None:
        raise InputError(f"{path} contains no games")
    try:
        return record.position(move)
    except InputError as error:
        raise type(error)(f"{path}: {error}") from None


def _read_standard_input(ruleset: Ruleset | None) -> Position:
    from tengen.core.position import Position

    if sys.stdin is None:
        raise InputError("standard input is closed: pass the moves or a file instead of -")
    text = sys.stdin.read(_MAX_CHARACTERS + 1)
    if len(text) > _MAX_CHARACTERS:
        raise InputError(f"standard input has more than {_MAX_CHARACTERS} characters, too many for a board drawing")
    if "\n" in text.strip():
        return Position.parse(text, ruleset)
    return _parse_moves(text.strip(), ruleset)


def _parse_moves(text: str, ruleset: Ruleset | None) -> Position:
    from tengen.records import position_string

    try:
        return position_string.parse(text, ruleset=ruleset).position()
    except InputError as error:
        raise type(error)(f"{text!r} is neither a list of moves nor a file: {error}") from None
