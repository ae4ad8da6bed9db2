"""Write the pictures of the documentation: `python -m tools.docs_pictures`.

The analysis searches a fixed number of nodes, so the picture is the same on every machine.
"""

from __future__ import annotations

from pathlib import Path

from tengen import Limits, Position, Ruleset, make_agent
from tengen.core.board_picture import PictureOptions, PointMark, draw_svg
from tengen.core.contracts import AnalysisLine

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "images"
MOVES = "h8 h9 i8 g8 i9 i7 j10 g7 g10 h10"
NODES = 200_000
LINES = 5
_GOOD, _BAD = (46, 125, 50), (198, 40, 40)


def analysis_picture() -> str:
    """Draw a position with the engine's best moves, coloured and labelled by their winrates."""
    position = Position.from_moves(Ruleset.parse("15x15:5:freestyle"), MOVES)
    with make_agent("alphabeta") as engine:
        *_, last = engine.analyse(position, Limits(nodes=NODES), LINES)
    return draw_svg(position, PictureOptions(numbers=True), {line.move: _mark(line) for line in last.lines}) + "\n"


def _mark(line: AnalysisLine) -> PointMark:
    winrate = (line.value_to_move + 1) / 2
    red, green, blue = (round(bad + (good - bad) * winrate) for good, bad in zip(_GOOD, _BAD, strict=True))
    text = str(line.proof) if line.proof is not None else f"{100 * winrate:.0f}"
    return PointMark(text, f"#{red:02x}{green:02x}{blue:02x}")


def main() -> None:
    """Write the pictures."""
    FOLDER.mkdir(exist_ok=True)
    (FOLDER / "analysis.svg").write_text(analysis_picture(), encoding="utf-8")


if __name__ == "__main__":
    main()
