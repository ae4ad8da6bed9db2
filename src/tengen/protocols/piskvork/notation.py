"""Notation shared by both sides of the Piskvork protocol: squares, rule numbers, board fields, ABOUT lines.

The protocol counts squares `X,Y` from the top left corner; Tengen counts rows from the bottom. Rows are flipped
(Y = height - 1 - y), so that the board looks the same in the manager and in Tengen. Squares are used only inside
`tengen.protocols`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import IntEnum

from tengen.core.contracts import Rule, Ruleset
from tengen.core.geometry import Point

UNLIMITED_MS = 2_147_483_647
"""Value of `INFO time_left` if there is no clock."""
MIN_BOARD = 5
MAX_BOARD = 22

RULE_NUMBERS = {Rule.FREESTYLE: 0, Rule.STANDARD: 1, Rule.RENJU: 4, Rule.CARO: 8, Rule.CARO_EXACT: 9}
"""The value of `INFO rule` for each rule, as Gomocup's managers send it."""

# Yixin uses 2 for renju; Rapfi uses 5 and 6 for freestyle with swap openings. In the published protocol, 2 is the
# continuous game, which no tournament plays.
_RULES_BY_NUMBER = {number: rule for rule, number in RULE_NUMBERS.items()} | {
    2: Rule.RENJU,
    5: Rule.FREESTYLE,
    6: Rule.FREESTYLE,
}


class Field(IntEnum):
    """The owner of a stone: the third number of a BOARD line."""

    OWN = 1
    OPPONENT = 2
    BLOCKED = 3


@dataclass(frozen=True, slots=True)
class About:
    """The self-description of an engine."""

    name: str
    version: str = ""
    author: str = ""
    country: str = ""

    def __str__(self) -> str:
        values = (("name", self.name), ("version", self.version), ("author", self.author), ("country", self.country))
        return ", ".join(f'{key}="{_printable(value)}"' for key, value in values if value)


def parse_about(text: str) -> About:
    """Parse the answer to ABOUT; the free text that old engines send becomes the name.

    >>> parse_about('name="Five", version="1.2", author="A. Player"').version
    '1.2'
    >>> parse_about("Five by A. Player").name
    'Five by A. Player'
    """
    values = {key.lower(): value for key, value in _ABOUT_ENTRY.findall(text)}
    name = values.get("name") or text.strip()[:80]
    return About(name, values.get("version", ""), values.get("author", ""), values.get("country", ""))


def rule_of_number(number: int) -> Rule | None:
    """Return the rule for an `INFO rule` number; None if Tengen does not support it.

    >>> rule_of_number(9), rule_of_number(2) is Rule.RENJU, rule_of_number(3)
    (<Rule.CARO_EXACT: 'caro-exact'>, True, None)
    """
    return _RULES_BY_NUMBER.get(number)


def point_of_square(x: int, y: int, width: int, height: int) -> Point | None:
    """Return the point in column `x` from the left and row `y` from the top; None if it is off the board."""
    if 0 <= x < width and 0 <= y < height:
        return Point.at(x, height - 1 - y)
    return None


def square_of_point(point: Point, height: int) -> str:
    """Return the square `X,Y` of a point.

    >>> square_of_point(Point("a1"), 15)
    '0,14'
    """
    return f"{point.x},{height - 1 - point.y}"


def squares_of_points(points: tuple[Point, ...], height: int) -> str:
    """Return the squares of several points, separated by spaces."""
    return " ".join(square_of_point(point, height) for point in points)


_ABOUT_ENTRY = re.compile(r'(?<!\w)(\w++)\s*+=\s*+"([^"]*+)"')
_SQUARE = re.compile(r"([+-]?\d{1,9})\s*,\s*([+-]?\d{1,9})", re.ASCII)


def parse_squares(text: str) -> tuple[tuple[int, int], ...] | None:
    """Parse one or more squares of the form `X,Y`, separated by spaces; None if the text is anything else.

    >>> parse_squares("7,8"), parse_squares("7, 8  0,0"), parse_squares("MESSAGE 7,8")
    (((7, 8),), ((7, 8), (0, 0)), None)
    """
    squares: list[tuple[int, int]] = []
    stripped = text.strip()
    offset = 0
    while offset < len(stripped):
        match = _SQUARE.match(stripped, offset)
        if match is None or (match.end() < len(stripped) and not stripped[match.end()].isspace()):
            return None
        squares.append((int(match[1]), int(match[2])))
        offset = match.end()
        while offset < len(stripped) and stripped[offset].isspace():
            offset += 1
    return tuple(squares) or None


def is_playable(ruleset: Ruleset) -> bool:
    """Whether the protocol supports the ruleset: five in a row on boards with 5 to 22 lines."""
    return ruleset.win_length == 5 and all(MIN_BOARD <= size <= MAX_BOARD for size in (ruleset.width, ruleset.height))


def _printable(value: str) -> str:
    return "".join(letter for letter in value.replace('"', "'") if letter.isprintable())
