"""Drawing positions in a terminal, in colour if the terminal supports it, otherwise with plain letters."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

from rich.text import Text

from tengen.core.contracts import Colour
from tengen.core.geometry import Point

if TYPE_CHECKING:
    from rich.console import Console

    from tengen.core.position import Position

_WOOD = "on #dcb35c"
_PLAIN_MARKS = {Colour.BLACK: "X", Colour.WHITE: "O", None: "."}
_FANCY_MARKS = {Colour.BLACK: "●", Colour.WHITE: "●", None: "·"}
_FANCY_STYLES = {Colour.BLACK: "#000000", Colour.WHITE: "#ffffff", None: "#8a6a28"}


def can_show_colour(console: Console) -> bool:
    """Whether the console can show black and white stones that differ only in colour."""
    return (
        console.is_terminal
        and not console.no_color
        and console.color_system in ("256", "truecolor")
        and console.encoding.lower().replace("-", "") == "utf8"
    )


def draw_board(
    position: Position, *, in_colour: bool, show_fouls: bool = True, marks: Mapping[Point, str] | None = None
) -> Text:
    """Draw the board with coordinates on all sides, brackets around the last move, and `!` on forbidden points.

    Without colour, X is black and O is white. `marks` are one or two characters on empty points, such as the numbers of
    candidate moves.
    """
    marks = marks or {}
    ruleset = position.ruleset
    fouls: Collection[Point] = position.forbidden_points() if show_fouls else ()
    winning = position.winning_line
    last = position.last_move
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
                text.append(label[1], _style("bold #2030a0", in_colour))
                continue
            text.append(before, _style("bold #d02020", in_colour))
            mark, style = _mark(position, point, in_colour=in_colour, foul=point in fouls, won=point in winning)
            text.append(mark, style)
        text.append(")" if last == row[-1] else " ", _style("bold #d02020", in_colour))
        text.append(f" {y + 1}\n")
    text.append(columns)
    return text


def _mark(position: Position, point: Point, *, in_colour: bool, foul: bool, won: bool) -> tuple[str, str]:
    stone = position.at(point)
    if foul:
        return "!", _style("bold #d02020", in_colour)
    if not in_colour:
        return _PLAIN_MARKS[stone], ""
    return _FANCY_MARKS[stone], f"{_FANCY_STYLES[stone]} {'on #e8743b' if won else _WOOD}"


def _style(ink: str, in_colour: bool) -> str:
    return f"{ink} {_WOOD}" if in_colour else ""
