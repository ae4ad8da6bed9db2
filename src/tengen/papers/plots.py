"""Plots of papers: lines and heat maps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from tengen.arena.pictures import new_figure, save_figure
from tengen.core.files import writing


def draw_lines(
    lines: Mapping[str, Sequence[Sequence[float]]],
    path: Path,
    horizontal: str,
    vertical: str,
    title: str = "",
    *,
    style: str = "-",
) -> None:
    """Draw lines by name, each a list of points (x, y) or (x, y, error), as PATH.svg and PATH.png."""
    figure = new_figure(7, 4)
    axes = figure.subplots()
    for name, points in lines.items():
        columns = list(zip(*points, strict=True)) or [(), ()]
        if len(columns) == 3:
            x, y, error = columns
            axes.errorbar(x, y, yerr=error, fmt="o-", label=name, capsize=2, markersize=3, linewidth=1)
        else:
            axes.plot(*columns, style, label=name, linewidth=1)
    axes.set_xlabel(horizontal)
    axes.set_ylabel(vertical)
    axes.set_title(title, loc="left", fontsize="medium")
    axes.legend(fontsize="small", frameon=False)
    axes.grid(alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
    _save(figure, path)


def draw_heat_map(
    rows: Sequence[str], columns: Sequence[str], values: Sequence[Sequence[float]], path: Path, title: str
) -> None:
    """Draw shares from 0 to 1 as a heat map with the percentages in its cells."""
    figure = new_figure(2.5 + 0.5 * len(columns), 1.4 + 0.35 * len(rows))
    axes = figure.subplots()
    table = np.array(values, dtype=float)
    axes.imshow(table, cmap="RdYlGn", vmin=0, vmax=1, aspect="auto")
    axes.set_xticks(range(len(columns)), columns)
    axes.set_yticks(range(len(rows)), rows)
    for (row, column), share in np.ndenumerate(table):
        axes.text(column, row, f"{100 * share:.0f}", ha="center", va="center", fontsize="small")
    axes.set_title(title, loc="left", fontsize="medium")
    _save(figure, path)


def _save(figure: object, path: Path) -> None:
    with writing(path.parent):
        path.parent.mkdir(parents=True, exist_ok=True)
    save_figure(figure, path)  # type: ignore[arg-type]
