"""Plots of a supervised network: accuracy by move number, example policies, first-layer filters."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from torch import nn

from tengen.core.contracts import Evaluator
from tengen.core.plots import MAIN, add_legend, draw_line, new_figure, new_plot, save_figure
from tengen.datasets.dataset import Dataset
from tengen.learning.accuracy import Accuracy
from tengen.nets.architectures import Net

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PICTURES = {
    "by-move": "accuracy by move number",
    "policy": "example policies and the moves played",
    "filters": "first-layer filters",
}
"""Captions of the plots that `draw_supervised` draws, by file name."""

_FILTERS_SHOWN = 64
_FILTERS_IN_ROW = 16
_POSITIONS_SHOWN = 4
_LEAST_SAMPLES = 20
"""Minimum number of samples for a move number to appear in the curve."""


def draw_supervised(
    folder: Path,
    title: str,
    net: Net,
    evaluator: Evaluator,
    dataset: Dataset,
    numbers: npt.NDArray[np.int64],
    accuracy: Accuracy,
) -> None:
    """Draw `PICTURES` as SVG and PNG files in the folder; filters are drawn only for convolutional networks."""
    _draw_by_move(folder / "by-move", title, accuracy)
    middle = numbers[np.linspace(0, len(numbers) - 1, _POSITIONS_SHOWN + 2).astype(int)[1:-1]]
    _draw_policies(folder / "policy", title, evaluator, dataset, middle)
    stem = getattr(net, "stem", None)
    if isinstance(stem, nn.Conv2d):
        _draw_filters(folder / "filters", title, stem.weight.detach().numpy())


def _draw_by_move(path: Path, title: str, accuracy: Accuracy) -> None:
    """Draw top-1 and top-5 accuracy against the move number."""
    shown = np.flatnonzero(accuracy.samples >= _LEAST_SAMPLES)
    figure, axes = new_plot(title)
    for name, counts in (("first choice", accuracy.first), ("among the first five", accuracy.top)):
        shares = 100 * counts[shown] / accuracy.samples[shown]
        draw_line(axes, (shown + 1).tolist(), shares.tolist(), name)
    if accuracy.opening_moves:
        axes.axvspan(0.5, accuracy.opening_moves + 0.5, color=MAIN, alpha=0.12, label="opening")
    axes.set_xlabel("move number")
    axes.set_ylabel("% of moves predicted")
    axes.set_ylim(0, 100)
    add_legend(axes)
    save_figure(figure, path)


def _draw_policies(
    path: Path, title: str, evaluator: Evaluator, dataset: Dataset, numbers: npt.NDArray[np.int64]
) -> None:
    """Draw boards shaded by the policy, with the played move marked."""
    batch = dataset.batch(numbers, evaluator.plane_layout)
    stones = dataset.batch(numbers, "own-other").planes
    policy = np.where(batch.empty, np.exp(evaluator.evaluate(batch.planes)[0]), 0)
    policy /= policy.sum(axis=1, keepdims=True)
    height, width = dataset.ruleset.height, dataset.ruleset.width
    figure = new_figure(3.2 * len(numbers), 3.6)
    for axes, row, board, move, ply in zip(
        figure.subplots(1, len(numbers), squeeze=False)[0], policy, stones, batch.moves, batch.plies, strict=True
    ):
        axes.imshow(row.reshape(height, width), cmap="Oranges", vmin=0, vmax=max(0.3, row.max()), origin="lower")
        black_first = board if ply % 2 == 0 else board[::-1]
        for plane, colour in zip(black_first, ("black", "white"), strict=True):
            y, x = np.nonzero(plane)
            axes.scatter(x, y, s=70, c=colour, edgecolors="black", linewidths=0.6)
        axes.scatter([move % width], [move // width], s=90, marker="x", c="#1f77b4", linewidths=2)
        axes.set_title(f"move {ply + 1}: {100 * row[move]:.0f} %", fontsize="small")
        _clear_ticks(axes)
    figure.suptitle(f"{title}: shading is the policy, × the move played", x=0.01, ha="left", fontsize="medium")
    save_figure(figure, path)


def _draw_filters(path: Path, title: str, weights: npt.NDArray[np.float32]) -> None:
    """Draw first-layer filters [K, C, h, w] as own minus opponent weights, strongest first."""
    # A single plane marks own stones as +1 and opponent stones as -1; other layouts use the first two planes.
    seen = weights[:, 0] - weights[:, 1] if weights.shape[1] > 1 else weights[:, 0]
    strongest = np.argsort(-np.square(seen).sum(axis=(1, 2)))[:_FILTERS_SHOWN]
    rows = -(-len(strongest) // _FILTERS_IN_ROW)
    figure = new_figure(0.55 * _FILTERS_IN_ROW, 0.55 * rows + 0.5)
    grid = figure.subplots(rows, _FILTERS_IN_ROW, squeeze=False).ravel()
    for axes in grid:
        axes.axis("off")
    for axes, number in zip(grid, strongest, strict=False):
        largest = float(np.abs(seen[number]).max())
        axes.imshow(seen[number], cmap="RdBu_r", vmin=-largest, vmax=largest, origin="lower")
    figure.suptitle(f"{title}: first-layer filters, red for own stones", x=0.01, ha="left", fontsize="medium")
    save_figure(figure, path)


def _clear_ticks(axes: Axes) -> None:
    axes.set_xticks([])
    axes.set_yticks([])
