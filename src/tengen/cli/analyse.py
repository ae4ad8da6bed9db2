"""`tengen analyse POSITION`: show an agent's search live, with its candidate moves on the board."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Annotated

import typer

from tengen.cli.command import Group, command
from tengen.cli.options import DepthOption, NodesOption, SimulationsOption, StatedRulesOption, ThreadsOption
from tengen.cli.position_argument import PositionText

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import Console, RenderableType

    from tengen.core.contracts import Analysis, AnalysisLine
    from tengen.core.position import Position

DEFAULT_TIME_MS = 5000
_BAR_WIDTH = 20
_MOVES_SHOWN = 14
_MARKS_SHOWN = 99
_EXAMPLES = """
    tengen analyse h8i9i8 --lines 3             # the three best moves
    tengen analyse game.sgf@20 --time-ms 10000  # after move 20 of a game
    tengen analyse h8i9 --rules renju --agent alphazero
"""


def register(app: typer.Typer) -> None:
    """Add the subcommand."""

    @command(app, "analyse", group=Group.ANALYSE, examples=_EXAMPLES)
    def analyse(
        position: PositionText,
        rules: StatedRulesOption = None,
        agent: Annotated[
            str, typer.Option(metavar="AGENT", help="Agent that analyses the position (see `tengen agents`).")
        ] = "alphabeta",
        lines: Annotated[int, typer.Option(min=1, max=_MARKS_SHOWN, help="Number of candidate moves to show.")] = 1,
        time_ms: Annotated[
            int | None,
            typer.Option(
                min=1,
                help=f"Milliseconds to search (default: {DEFAULT_TIME_MS} if no other limit is set).",
                show_default=False,
            ),
        ] = None,
        depth: DepthOption = None,
        nodes: NodesOption = None,
        simulations: SimulationsOption = None,
        threads: ThreadsOption = 1,
    ) -> None:
        """Analyse a position and show the best moves with their values and expected lines while the search runs.

        Values are for the side to move: +1.00 is a win, -1.00 a loss, +M5 a proved win in five plies. Press Ctrl-C to
        stop.
        """
        from rich.console import Console

        from tengen.agents.registry import check_plays, make_agent
        from tengen.cli.position_argument import read_position
        from tengen.core.contracts import Limits

        board = read_position(position, rules)
        if time_ms is depth is nodes is simulations is None:
            time_ms = DEFAULT_TIME_MS
        limits = Limits(time_ms=time_ms, depth=depth, nodes=nodes, simulations=simulations, threads=threads)
        with make_agent(agent) as player:
            check_plays(player, board.ruleset)
            _show(Console(highlight=False, markup=False), board, player.analyse(board, limits, lines))


def _show(console: Console, position: Position, snapshots: Iterator[Analysis]) -> None:
    """Redraw each snapshot in place on a terminal; otherwise print a line per depth and the last snapshot in full."""
    last: Analysis | None = None
    if console.is_terminal:
        from rich.live import Live

        with Live(console=console, auto_refresh=False) as live, contextlib.suppress(KeyboardInterrupt):
            for snapshot in snapshots:
                live.update(_picture(console, position, snapshot), refresh=True)
        return
    with contextlib.suppress(KeyboardInterrupt):
        for snapshot in snapshots:
            if last is None or snapshot.depth > last.depth:
                console.print(_one_line(snapshot), soft_wrap=True)
            last = snapshot
    if last is not None:
        console.print(_picture(console, position, last))


def _one_line(analysis: Analysis) -> str:
    best = analysis.lines[0]
    return f"depth {analysis.depth:>2}  {_value(best):>6}  {analysis.nodes:>12,} nodes  {_moves(best)}"


def _picture(console: Console, position: Position, analysis: Analysis) -> RenderableType:
    from rich.console import Group
    from rich.table import Table

    from tengen.cli.drawing import can_show_colour, draw_board

    marks = {line.move: str(number) for number, line in enumerate(analysis.lines, 1)}
    table = Table(box=None, pad_edge=False, expand=True)  # the last column takes the remaining width
    table.add_column("", justify="right", no_wrap=True)
    table.add_column("move", no_wrap=True)
    table.add_column("value", justify="right", no_wrap=True)
    table.add_column("loss … win", width=_BAR_WIDTH, no_wrap=True)
    table.add_column("depth", justify="right", no_wrap=True)
    table.add_column("line", overflow="ellipsis", no_wrap=True, ratio=1)
    for number, line in enumerate(analysis.lines, 1):
        depth = str(line.depth or analysis.depth or "")
        table.add_row(str(number), line.move, _value(line), _bar(line, console), depth, _moves(line))
    footer = (
        f"{position.to_move} to move, depth {analysis.depth}, {analysis.nodes:,} nodes, "
        f"{analysis.nodes_per_second:,.0f} nodes/s, {analysis.elapsed_ms / 1000:.1f} s"
    )
    return Group(draw_board(position, in_colour=can_show_colour(console), marks=marks), table, footer)


def _value(line: AnalysisLine) -> str:
    return str(line.proof) if line.proof is not None else f"{line.value_to_move:+.2f}"


def _bar(line: AnalysisLine, console: Console) -> str:
    """Draw the value as a bar from loss (empty) to win (full)."""
    full, empty = ("█", "░") if console.encoding.lower().startswith("utf") else ("#", "-")
    filled = round((line.value_to_move + 1) / 2 * _BAR_WIDTH)
    return full * filled + empty * (_BAR_WIDTH - filled)


def _moves(line: AnalysisLine) -> str:
    more = " …" if len(line.line) > _MOVES_SHOWN else ""
    reason = f" ({line.reason})" if line.reason else ""
    return " ".join(line.line[:_MOVES_SHOWN]) + more + reason
