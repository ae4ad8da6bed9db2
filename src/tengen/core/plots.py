"""The common style of all plots: figures, lines with error bars, heat maps, legends, colours and file output.

All code that draws with matplotlib uses these functions, so plots of runs, papers and tournaments look alike.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from tengen.core.extras import needs_extra
from tengen.core.files import replace_file, writing

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.image import AxesImage

MAIN = "#8b5a2b"
"""Colour of the main curve or bars of a plot."""
SECOND = "#2a6f97"
"""Colour of a second curve, shown for comparison with the main one."""
REFERENCE = "#b23a48"
"""Colour of an important reference line or mark."""
MUTED = "#666"
"""Colour of less important references and of error bars."""


def new_figure(width: float, height: float) -> Figure:
    """Return an empty figure, sized in inches. Raises `MissingExtraError` if matplotlib is not installed."""
    # pyplot is avoided because it keeps every figure in global state until the figure is closed.
    with needs_extra("drawing plots", "plots"):
        from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def new_plot(title: str = "", *, height: float = 4.0, grid: Literal["both", "x", "y"] = "both") -> tuple[Figure, Axes]:
    """Return a figure of the usual width with one plot, which has a light grid and no frame at the top and right."""
    figure = new_figure(7, height)
    axes = figure.subplots()
    axes.grid(axis=grid, alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
    set_title(axes, title)
    return figure, axes


def set_title(axes: Axes, title: str) -> None:
    """Set the title above the left edge."""
    axes.set_title(title, loc="left", fontsize="medium")


def add_legend(axes: Axes, place: Literal["best", "lower right"] = "best") -> None:
    """Add a small legend without a frame."""
    axes.legend(fontsize="small", frameon=False, loc=place)


def draw_line(
    axes: Axes, x: Sequence[float], y: Sequence[float], label: str, style: str = "-", **settings: Any
) -> None:
    """Draw a thin line; `style` is a matplotlib format string."""
    axes.plot(x, y, style, label=label, linewidth=1, **settings)


def draw_measurements(
    axes: Axes, x: Sequence[float], y: Sequence[float], errors: Sequence[float], label: str, colour: str | None = None
) -> None:
    """Draw measured points with symmetric error bars, joined by a line."""
    axes.errorbar(
        x,
        y,
        yerr=errors,
        fmt="o-",
        color=colour,
        ecolor=colour,
        linewidth=1,
        elinewidth=1,
        capsize=2,
        markersize=4,
        label=label,
    )


def draw_shares(
    axes: Axes,
    shares: npt.NDArray[np.float64],
    rows: Sequence[str],
    columns: Sequence[str],
    texts: Sequence[Sequence[str]] | None = None,
) -> AxesImage:
    """Draw shares from 0 to 1 as a heat map; NaN cells stay empty.

    Cells contain `texts` (default: the percentages) if there are at most 20 rows.
    """
    image = axes.imshow(shares, cmap="RdYlGn", vmin=0, vmax=1, aspect="auto")
    is_slanted = max((len(name) for name in columns), default=0) > 4
    axes.set_xticks(
        range(len(columns)), columns, rotation=30 if is_slanted else 0, ha="right" if is_slanted else "center"
    )
    axes.set_yticks(range(len(rows)), rows)
    if len(rows) <= 20:
        for (row, column), share in np.ndenumerate(shares):
            if not np.isnan(share):
                text = texts[row][column] if texts else f"{100 * share:.0f}"
                axes.text(column, row, text, ha="center", va="center", fontsize="small")
    return image


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
