"""Pictures of a tournament: ratings with intervals, and the crosstable as a heat map."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from tengen.arena.report import compared_players
from tengen.arena.standings import Standings
from tengen.core.plots import MAIN, MUTED, draw_shares, new_figure, new_plot, save_figure, set_title

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw_pictures(standings: Standings, folder: Path) -> dict[str, str]:
    """Save the pictures for each ruleset as NAME.svg and NAME.png in the folder. Return the SVG documents by name."""
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
    figure, axes = new_plot(f"Ratings, {ruleset}", height=1.2 + 0.32 * len(order), grid="x")
    places = np.arange(len(order))[::-1]
    elo = [float(ratings.elo[player]) for player in order]
    errors = [ratings.error(player) for player in order]
    axes.errorbar(elo, places, xerr=errors, fmt="o", color=MAIN, ecolor=MUTED, capsize=3)
    axes.set_yticks(places, [_short(standings.names[player]) for player in order])
    axes.set_xlabel("Elo with 95 % interval")
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
    rows = [f"{rank} {_short(standings.names[player])}" for rank, player in enumerate(order, 1)]
    image = draw_shares(axes, scores, rows, [str(rank) for rank in range(1, size + 1)])
    set_title(axes, f"Score in % of the row\nagainst the column, {ruleset}")
    figure.colorbar(image, ax=axes, shrink=0.8)
    return figure


def _short(name: str) -> str:
    # matplotlib would interpret $…$ as a formula.
    return (name if len(name) <= 40 else name[:39] + "…").replace("$", r"\$")
