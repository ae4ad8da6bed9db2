"""`tengen solve-threats POSITION`: search for a win by continuous threats."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from tengen.cli.command import Group, command
from tengen.cli.options import StatedRulesOption
from tengen.cli.position_argument import PositionText

DEFAULT_TIME_MS = 10_000
_EXAMPLES = """
    tengen solve-threats h8i9g8j10i8a1             # a win by fours
    tengen solve-threats game.sgf@23 --kind vct    # by fours and threes
    tengen solve-threats game.sgf@23 --side white  # as if white were to move
"""


class Kind(StrEnum):
    """The moves that the attacker may play."""

    VCF = "vcf"
    VCT = "vct"


class Side(StrEnum):
    """The attacking side."""

    MOVER = "to-move"
    BLACK = "black"
    WHITE = "white"


def register(app: typer.Typer) -> None:
    """Add the subcommand."""

    @command(app, "solve-threats", group=Group.ANALYSE, examples=_EXAMPLES)
    def solve_threats(
        position: PositionText,
        kind: Annotated[
            Kind, typer.Option(help="vcf: only fours; vct: fours, open threes and moves that threaten a VCF.")
        ] = (Kind.VCF),
        rules: StatedRulesOption = None,
        side: Annotated[Side, typer.Option(help="Attacking side, which is treated as the side to move.")] = Side.MOVER,
        time_ms: Annotated[int, typer.Option(min=1, help="Time limit in milliseconds.")] = DEFAULT_TIME_MS,
    ) -> None:
        """Search for a win by continuous threats and show it on the board with numbered moves.

        The exit code is 0 if a win was found, otherwise 1.
        """
        from rich.console import Console

        from tengen.cli.drawing import can_show_colour, draw_board
        from tengen.cli.interruptible import run_interruptibly
        from tengen.cli.position_argument import read_position
        from tengen.core.contracts import Colour, Limits
        from tengen.core.stop_signal import StopSignal
        from tengen.search import threats

        board = read_position(position, rules)
        attacker = board.to_move if side is Side.MOVER else Colour(side.value)
        stop = StopSignal()
        result = run_interruptibly(
            lambda: threats.solve_threats(board, kind.value, Limits(time_ms=time_ms), for_side=attacker, stop=stop),
            stop.set,
        )
        console = Console(highlight=False, markup=False)
        marks = {point: str(number % 100) for number, point in enumerate(result.line, 1)}
        console.print(draw_board(board, in_colour=can_show_colour(console), marks=marks))
        console.print(str(result), markup=False, soft_wrap=True)
        console.print(f"{result.nodes:,} nodes in {result.elapsed_ms:,.0f} ms")
        if result.verdict is not threats.Verdict.WIN:
            raise typer.Exit(1)
