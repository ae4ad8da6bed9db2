"""`tengen explain POSITION`: describe the threats in a position in words."""

from __future__ import annotations

import typer

from tengen.cli.position_argument import PositionText, RulesOption


def register(app: typer.Typer) -> None:
    """Add the subcommand."""

    @app.command("explain")
    def explain(position: PositionText, rules: RulesOption = None) -> None:
        """Draw a position and describe its threats, where they must be answered, and what each side can make next."""
        from rich.console import Console

        from tengen.cli.drawing import can_show_colour, draw_board
        from tengen.cli.position_argument import read_position
        from tengen.patterns.explain import explain as explain_position

        found = explain_position(read_position(position, rules))
        console = Console(highlight=False)
        console.print(draw_board(found.position, in_colour=can_show_colour(console)))
        for sentence in found.sentences:
            console.print(sentence, markup=False, soft_wrap=True)
