"""Plots for papers: lines, heat maps and filters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from tengen.core.files import writing
from tengen.core.plots import (
    add_legend,
    draw_line,
    draw_measurements,
    draw_shares,
    new_figure,
    new_plot,
    save_figure,
    set_title,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure


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
    figure, axes = new_plot(title)
    for name, points in lines.items():
        columns = list(zip(*points, strict=True)) or [(), ()]
        if len(columns) == 3:
            x, y, errors = columns
            draw_measurements(axes, x, y, errors, name)
        else:
            x, y = columns
            draw_line(axes, x, y, name, style)
    axes.set_xlabel(horizontal)
    axes.set_ylabel(vertical)
    add_legend(axes)
    _save(figure, path)


def draw_heat_map(
    rows: Sequence[str],
    columns: Sequence[str],
    values: Sequence[Sequence[float]],
    path: Path,
    title: str,
    *,
    texts: Sequence[Sequence[str]] | None = None,
    axes_names: tuple[str, str] = ("", ""),
) -> None:
    """Draw shares from 0 to 1 as a heat map, with `texts` (default: the percentages) in its cells.

    NaN marks a cell without a value. `axes_names` are the titles of the column axis and of the row axis.
    """
    width = max((len(text) for line in texts for text in line), default=0) if texts else 3
    figure = new_figure(2.5 + max(0.5, 0.14 * width) * len(columns), 1.4 + 0.35 * len(rows))
    axes = figure.subplots()
    draw_shares(axes, np.array(values, dtype=float), rows, columns, texts)
    axes.set_xlabel(axes_names[0])
    axes.set_ylabel(axes_names[1])
    set_title(axes, title)
    _save(figure, path)


def draw_filters(filters: npt.NDArray[np.float32], path: Path, title: str) -> None:
    """Draw filters [K, h, w] as one picture, strongest first, each scaled to its largest weight."""
    count, height, width = filters.shape
    columns = int(np.ceil(np.sqrt(count)))
    rows = -(-count // columns)
    picture = np.full((rows * (height + 1) + 1, columns * (width + 1) + 1), np.nan)
    for place, number in enumerate(np.argsort(-np.square(filters).sum(axis=(1, 2)), kind="stable")):
        y, x = 1 + place // columns * (height + 1), 1 + place % columns * (width + 1)
        # The first row of a filter is the bottom row of the board; in a picture, the bottom row comes last.
        picture[y : y + height, x : x + width] = filters[number][::-1] / max(
            1e-12, float(np.abs(filters[number]).max())
        )
    figure = new_figure(9.0, 9.0 * rows / columns + 0.5)
    axes = figure.subplots()
    axes.imshow(picture, cmap="RdBu_r", vmin=-1, vmax=1, interpolation="nearest")
    axes.axis("off")
    set_title(axes, title)
    _save(figure, path)


def _save(figure: Figure, path: Path) -> None:
    with writing(path.parent):
        path.parent.mkdir(parents=True, exist_ok=True)
    save_figure(figure, path)
