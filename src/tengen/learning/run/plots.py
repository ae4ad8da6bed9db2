"""Plots of a run: losses, accuracy and strength over time, from the metrics."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tengen.arena.pictures import new_figure, save_figure
from tengen.learning.run.reading import strength_curve

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Metrics = Sequence[Mapping[str, Any]]


def draw_run(metrics: Metrics, folder: Path, title: str) -> list[Path]:
    """Draw `losses`, `accuracy` and `strength` into the folder as SVG and PNG; return the PNG files.

    Plots without data in the metrics are skipped.
    """
    drawings = {
        "losses": (draw_losses, [line for line in metrics if line.get("losses")]),
        "accuracy": (draw_accuracy, [line for line in metrics if line.get("accuracy")]),
        "strength": (draw_strength, [line for line in metrics if line.get("strength")]),
    }
    return [_draw(draw, lines, folder / name, title) for name, (draw, lines) in drawings.items() if lines]


def draw_losses(axes: Axes, metrics: Metrics) -> None:
    """Draw every loss over time."""
    for name in metrics[-1]["losses"]:
        axes.plot(
            [_minutes(line) for line in metrics],
            [line["losses"].get(name) for line in metrics],
            label=name.replace("_", " "),
            linewidth=1,
        )
    axes.set_ylabel("loss")
    axes.set_yscale("log")
    axes.legend(fontsize="small", frameon=False)


def draw_accuracy(axes: Axes, metrics: Metrics) -> None:
    """Draw how often the move played is the network's first choice, and how often it is among its first five."""
    for name, label in (("top1", "first choice"), ("top5", "among the first five")):
        for part, style in (("", "-"), ("_without_openings", ":")):
            axes.plot(
                [_minutes(line) for line in metrics],
                [100 * line["accuracy"][name + part] for line in metrics],
                style,
                label=label + part.replace("_", " "),
                linewidth=1,
            )
    axes.set_ylabel("% of validation moves")
    axes.legend(fontsize="small", frameon=False)


def draw_strength(axes: Axes, metrics: Metrics) -> None:
    """Draw the rating on the ladder with its 95 % interval."""
    points = strength_curve(metrics)
    axes.errorbar(
        [point.seconds / 60 for point in points],
        [point.elo for point in points],
        yerr=[point.error for point in points],
        fmt="o-",
        color="#8b5a2b",
        ecolor="#999",
        capsize=2,
        markersize=3,
    )
    axes.axhline(0, color="#555", linewidth=0.8, linestyle=":")
    axes.set_ylabel("Elo above the anchor, 95 % interval")


def _minutes(line: Mapping[str, Any]) -> float:
    return float(line["seconds"]) / 60


def _draw(draw: Callable[[Axes, Metrics], None], metrics: Metrics, path: Path, title: str) -> Path:
    figure = new_figure(7, 4)
    axes = figure.subplots()
    draw(axes, metrics)
    axes.set_xlabel("minutes of training")
    axes.set_title(title, loc="left", fontsize="medium")
    axes.grid(alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
    save_figure(figure, path)
    return path.with_name(f"{path.name}.png")
