"""Draws boards in a terminal, in the same style for every command.

In colour, black stones are ● and white stones ○ on a wooden board. Otherwise black stones are X and white stones O.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

from rich.text import Text

from tengen.core.contracts import Colour, Ruleset
from tengen.core.geometry import Point

if TYPE_CHECKING:
    from rich.console import Console

    from tengen.core.position import Position

_WOOD = "on #dcb35c"
_PLAIN_MARKS = {Colour.BLACK: "X", Colour.WHITE: "O", None: "."}
_FANCY_MARKS = {Colour.BLACK: "●", Colour.WHITE: "○", None: "·"}
_FANCY_STYLES = {Colour.BLACK: "bold #000000", Colour.WHITE: "bold #ffffff", None: "#8a6a28"}


def can_show_colour(console: Console) -> bool:
    """Return whether the console can show a board in colour."""
    return (
        console.is_terminal
        and not console.no_color
        and console.color_system in ("256", "truecolor")
        and console.encoding.lower().replace("-", "") == "utf8"
    )


def draw_board(
    position: Position, *, in_colour: bool, show_fouls: bool = True, marks: Mapping[Point, str] | None = None
) -> Text:
    """Draw a position with coordinates on all sides, brackets around the last move, and `!` on forbidden points.

    `marks` are one or two characters on empty points, such as the numbers of candidate moves.
    """
    stones = {point: colour for colour in Colour for point in position.points_of(colour)}
    fouls: Collection[Point] = position.forbidden_points() if show_fouls else ()
    return draw_stones(
        position.ruleset,
        stones,
        last=position.last_move,
        in_colour=in_colour,
        winning=position.winning_line,
        marks={**dict.fromkeys(fouls, "!"), **(marks or {})},
    )


def draw_stones(
    ruleset: Ruleset,
    stones: Mapping[Point, Colour],
    *,
    last: Point | None,
    in_colour: bool,
    winning: Collection[Point] = (),
    marks: Mapping[Point, str] | None = None,
) -> Text:
    """Draw stones in the style of `draw_board`. The stones need not form a legal position."""
    marks = marks or {}
    columns = "   " + "".join(f" {chr(ord('a') + x)}" for x in range(ruleset.width))
    text = Text(columns + "\n")
    for y in reversed(range(ruleset.height)):
        text.append(f"{y + 1:>2} ")
        row = [Point.at(x, y) for x in range(ruleset.width)]
        for point in row:
            after_last = last is not None and last.y == y and last.x == point.x - 1
            before = "(" if point == last else ")" if after_last else " "
            if point in marks:
                label = marks[point].rjust(2)
                text.append(before if label[0] == " " else label[0], _style("bold #d02020", in_colour))
                text.append(label[1], _style("bold #d02020" if label[1] == "!" else "bold #2030a0", in_colour))
                continue
            text.append(before, _style("bold #d02020", in_colour))
            stone = stones.get(point)
            if in_colour:
                text.append(
                    _FANCY_MARKS[stone], f"{_FANCY_STYLES[stone]} {'on #e8743b' if point in winning else _WOOD}"
                )
            else:
                text.append(_PLAIN_MARKS[stone])
        text.append(")" if last == row[-1] else " ", _style("bold #d02020", in_colour))
        text.append(f" {y + 1}\n")
    text.append(columns)
    return text


def _style(ink: str, in_colour: bool) -> str:
    return f"{ink} {_WOOD}" if in_colour else ""
