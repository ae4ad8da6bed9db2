"""A reviewed game as a self-contained HTML page: black's winrate, and a diagram for every bad move."""

from __future__ import annotations

import html
from collections.abc import Iterator, Sequence

from tengen.core.board_picture import PictureOptions, PointMark, draw_svg
from tengen.core.geometry import Point
from tengen.core.position import Position
from tengen.records.game import GameRecord
from tengen.review.judge import MoveReview, Quality
from tengen.review.summary import Phase, Review, positions_of

_COLOURS = {Quality.INACCURACY: "#c9a400", Quality.MISTAKE: "#e07b00", Quality.BLUNDER: "#c62828"}
_BETTER = "#2e7d32"
_LINE_SHOWN = 9
"""Maximum number of moves of a line that are drawn on a diagram."""
_GRAPH_WIDTH, _GRAPH_HEIGHT = 720, 160
_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #222; }
table { border-collapse: collapse; }
th, td { border-bottom: 1px solid #ddd; padding: 0.15rem 0.6rem; text-align: right; }
th:first-child, td:first-child { text-align: left; }
figure { display: flex; flex-wrap: wrap; gap: 1rem; margin: 1.5rem 0; break-inside: avoid; }
figcaption { flex: 1 1 18rem; }
svg { max-width: 100%; height: auto; }
figure svg { width: 22rem; }
@media (prefers-color-scheme: dark) { body { background: #1b1b1b; color: #ddd; } th, td { border-color: #444; } }
"""


def review_page(game: GameRecord, review: Review, header: Sequence[str]) -> str:
    """Return the page. The first line of `header` is its title."""
    positions = positions_of(game)[: review.given + len(review.moves) + 1]
    title, *others = [html.escape(line) for line in header]
    parts = [
        "<!doctype html>",
        f'<html lang="en"><head><meta charset="utf-8"><title>{title}</title>',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<style>{_STYLE}</style></head><body>",
        f"<h1>{title}</h1><p>{'<br>'.join(filter(None, (*others, review.given_sentence)))}</p>",
        "<h2>Black's winrate</h2>",
        winrate_graph(review),
        "<h2>Accuracy</h2>",
        *_summary_table(review),
        "<h2>Bad moves</h2>",
        *_diagrams(positions, review),
        "<h2>The game</h2>",
        f"<figure>{draw_svg(positions[-1], PictureOptions(numbers=True))}</figure>",
        "</body></html>",
    ]
    return "\n".join(parts) + "\n"


def winrate_graph(review: Review) -> str:
    """Draw black's winrate after each move as SVG, with a dot on every bad move."""
    values = [review.root_black_value, *(move.black_value_after for move in review.moves)]
    step = _GRAPH_WIDTH / max(1, len(values) - 1)

    def place(number: int) -> tuple[float, float]:
        return number * step, (1 - values[number]) / 2 * _GRAPH_HEIGHT

    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in map(place, range(len(values))))
    dots = "".join(
        f'<circle cx="{place(number)[0]:.1f}" cy="{place(number)[1]:.1f}" r="4"'
        f' fill="{_COLOURS[move.quality]}"><title>{html.escape(_headline(move))}</title></circle>'
        for number, move in enumerate(review.moves, start=1)
        if move.quality.is_bad
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="-6 -6 {_GRAPH_WIDTH + 12} {_GRAPH_HEIGHT + 12}"'
        f' width="{_GRAPH_WIDTH}" role="img" aria-label="Black\'s winrate after each move">'
        f'<rect width="{_GRAPH_WIDTH}" height="{_GRAPH_HEIGHT}" fill="#f7f7f2"/>'
        f'<polygon points="0,{_GRAPH_HEIGHT} {line} {_GRAPH_WIDTH},{_GRAPH_HEIGHT}" fill="#555"/>'
        f'<path d="M0 {_GRAPH_HEIGHT / 2}H{_GRAPH_WIDTH}" stroke="#c62828" stroke-dasharray="4"/>{dots}</svg>'
    )


def _summary_table(review: Review) -> Iterator[str]:
    columns = ["", "accuracy", *Phase, *Quality]
    yield "<table><tr>" + "".join(f"<th>{column}" for column in columns)
    for colour, side in review.sides.items():
        accuracies = [side.accuracy, *(side.accuracy_by_phase[phase] for phase in Phase)]
        cells = [*("–" if value is None else f"{value:.0f}" for value in accuracies), *side.counts.values()]
        yield f"<tr><td>{colour}" + "".join(f"<td>{cell}" for cell in cells)
    yield "</table>"


def _diagrams(positions: Sequence[Position], review: Review) -> Iterator[str]:
    bad = [move for move in review.moves if move.quality.is_bad]
    if not bad:
        yield "<p>No bad moves.</p>"
    for move in bad:
        picture = draw_svg(positions[move.turn_number - 1], marks=_marks(move))
        sentences = "".join(f"<p>{html.escape(sentence)}</p>" for sentence in explanation(move))
        yield f"<figure>{picture}<figcaption><h3>{html.escape(_headline(move))}</h3>{sentences}</figcaption></figure>"


def _marks(move: MoveReview) -> dict[Point, PointMark]:
    """Return a cross on the move that was played, and numbers on the better line."""
    better = {
        point: PointMark(str(number), _BETTER if number % 2 else "#555555")
        for number, point in enumerate(move.better[:_LINE_SHOWN], start=1)
    }
    return {**better, move.move: PointMark("×", _COLOURS[move.quality])}


def _headline(move: MoveReview) -> str:
    key = ", turning point" if move.is_key else ""
    return f"{move.turn_number}. {move.colour} {move.move}: {move.quality}, −{100 * move.winrate_loss:.0f} %{key}"


def explanation(move: MoveReview) -> list[str]:
    """Return the sentences about a bad move: the reason why it is bad, the better move, and the refutation."""
    sentences = [move.sentence]
    reason = "" if move.better_reason is None else f", which {move.better_reason.sentence}"
    better = f"{move.better[0]}{reason}."
    if not move.sentence.endswith(better):
        sentences.append(f"Better: {better}")
    if len(move.better) > 1:
        sentences.append(f"Better line: {_line(move.better)}")
    if move.refutation:
        sentences.append(f"Refutation: {_line(move.refutation)}")
    return [sentence for sentence in sentences if sentence]


def _line(points: Sequence[Point]) -> str:
    return " ".join(points[:_LINE_SHOWN]) + (" …" if len(points) > _LINE_SHOWN else "")
