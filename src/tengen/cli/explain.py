"""`tengen explain POSITION`: describe the threats in a position in words."""

from __future__ import annotations

import typer

from tengen.cli.command import Group, command
from tengen.cli.options import StatedRulesOption
from tengen.cli.position_argument import PositionText

_EXAMPLES = """
    tengen explain h8i9i8h9j8                # moves from the empty board
    tengen explain game.sgf@23               # after move 23 of a game
    tengen explain h8h9i8i9j8 --rules renju  # with the points that renju forbids
"""


def register(app: typer.Typer) -> None:
    """Add the subcommand."""

    @command(app, "explain", group=Group.ANALYSE, examples=_EXAMPLES)
    def explain(position: PositionText, rules: StatedRulesOption = None) -> None:
        """Draw a position and describe its threats, the points that answer them, and the shapes each side can make."""
        from rich.console import Console

        from tengen.cli.drawing import can_show_colour, draw_board
        from tengen.cli.position_argument import read_position
        from tengen.patterns.explain import explain as explain_position

        found = explain_position(read_position(position, rules))
        console = Console(highlight=False, markup=False)
        console.print(draw_board(found.position, in_colour=can_show_colour(console)))
        for sentence in found.sentences:
            console.print(sentence, markup=False, soft_wrap=True)
