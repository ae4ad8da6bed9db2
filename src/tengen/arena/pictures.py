"""Pictures of a tournament: ratings with intervals, and the crosstable as a heat map."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tengen.arena.report import compared_players
from tengen.arena.standings import Standings
from tengen.core.files import replace_file, writing
from tengen.errors import MissingExtraError

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw_pictures(standings: Standings, folder: Path) -> dict[str, str]:
    """Save the pictures for each ruleset as NAME.svg and NAME.png in the folder. Return the SVG texts by name."""
    drawings: dict[str, str] = {}
    for ruleset in standings.ratings:
        tail = ruleset.replace(":", "-")
        for name, draw in (("ratings", rating_figure), ("crosstable", crosstable_figure)):
            drawings[f"{name}-{tail}"] = save_figure(draw(standings, ruleset), folder / f"{name}-{tail}")
    return drawings


def rating_figure(standings: Standings, ruleset: str) -> Figure:
    """Draw each player's rating with its 95 % interval, strongest at the top."""
    ratings = standings.ratings[ruleset]
    order = compared_players(standings, ruleset)
    figure = new_figure(7, 1.2 + 0.32 * len(order))
    axes = figure.subplots()
    places = np.arange(len(order))[::-1]
    elo = [float(ratings.elo[player]) for player in order]
    errors = [ratings.error(player) for player in order]
    axes.errorbar(elo, places, xerr=errors, fmt="o", color="#8b5a2b", ecolor="#555", capsize=3)
    axes.set_yticks(places, [_short(standings.names[player]) for player in order])
    axes.set_xlabel("Elo with 95 % interval")
    axes.set_title(f"Ratings, {ruleset}", loc="left", fontsize="medium")
    axes.grid(axis="x", alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
    return figure


def crosstable_figure(standings: Standings, ruleset: str) -> Figure:
    """Draw the score of each player (row) against every other player (column)."""
    order = compared_players(standings, ruleset)
    size = len(order)
    scores = np.full((size, size), np.nan)
    for row, player in enumerate(order):
        for column, other in enumerate(order):
            wdl = standings.tally.of(player, other, ruleset)
            if player != other and wdl.games:
                scores[row, column] = wdl.score
    figure = new_figure(3 + 0.5 * size, 1.6 + 0.45 * size)
    axes = figure.subplots()
    image = axes.imshow(scores, cmap="RdYlGn", vmin=0, vmax=1)
    axes.set_xticks(range(size), [str(rank) for rank in range(1, size + 1)])
    axes.set_yticks(range(size), [f"{rank} {_short(standings.names[player])}" for rank, player in enumerate(order, 1)])
    if size <= 20:
        for (row, column), score in np.ndenumerate(scores):
            if not np.isnan(score):
                axes.text(column, row, f"{100 * score:.0f}", ha="center", va="center", fontsize="small")
    axes.set_title(f"Score in % of the row\nagainst the column, {ruleset}", loc="left", fontsize="medium")
    figure.colorbar(image, ax=axes, shrink=0.8)
    return figure


def new_figure(width: float, height: float) -> Figure:
    """Return an empty figure; the size is in inches. Raises `MissingExtraError` if matplotlib is not installed."""
    # pyplot would keep global state and figures that must be closed.
    try:
        from matplotlib.figure import Figure
    except ModuleNotFoundError:
        raise MissingExtraError("plots need matplotlib: pip install 'tengen[plots]'") from None

    return Figure(figsize=(width, height), layout="constrained")


def save_figure(figure: Figure, path: Path) -> str:
    """Write a figure to PATH.svg and PATH.png, each atomically. Return the SVG text."""
    import matplotlib

    # Without the date and random ids, the same results produce the same files.
    pixels, text = io.BytesIO(), io.StringIO()
    with matplotlib.rc_context({"svg.hashsalt": "tengen", "svg.fonttype": "none"}):
        figure.savefig(pixels, format="png", dpi=120)
        metadata: dict[str, Any] = {"Date": None}
        figure.savefig(text, format="svg", metadata=metadata)
    drawing = text.getvalue()
    for ending, data in (("png", pixels.getvalue()), ("svg", drawing.encode("utf-8"))):
        file = path.with_name(f"{path.name}.{ending}")
        with writing(file):
            replace_file(file, data)
    return drawing[drawing.index("<svg") :]


def _short(name: str) -> str:
    # matplotlib would read $…$ as a formula.
    return (name if len(name) <= 40 else name[:39] + "…").replace("$", r"\$")
