"""Plots of a run: losses, accuracy and strength over time, from the metrics."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tengen.core.plots import (
    MAIN,
    MUTED,
    REFERENCE,
    SECOND,
    add_legend,
    draw_line,
    draw_measurements,
    new_plot,
    save_figure,
)
from tengen.learning.run.history import whole_history
from tengen.learning.run.reading import StrengthPoint, is_uniform, opponent_label, strength_curve

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
        losses = [line["losses"].get(name) for line in metrics]
        draw_line(axes, [_minutes(line) for line in metrics], losses, name.replace("_", " "))
    axes.set_ylabel("loss")
    axes.set_yscale("log")
    add_legend(axes)


def draw_accuracy(axes: Axes, metrics: Metrics) -> None:
    """Draw how often the move played is the network's first choice, and how often it is among its first five."""
    for name, label in (("top1", "first choice"), ("top5", "among the first five")):
        for part, style in (("", "-"), ("_without_openings", ":")):
            shares = [100 * line["accuracy"][name + part] for line in metrics]
            draw_line(axes, [_minutes(line) for line in metrics], shares, label + part.replace("_", " "), style)
    axes.set_ylabel("% of validation moves")
    add_legend(axes)


def draw_strength(axes: Axes, metrics: Metrics) -> None:
    """Draw the ratings of the player, of the network alone and of the opponents, with 95 % intervals."""
    points = strength_curve(metrics)
    minutes = [point.seconds / 60 for point in points]
    curves = [("with search", MAIN, [(point.elo, point.error) for point in points])]
    if all(point.policy is not None for point in points):
        curves.append(("network alone", SECOND, [point.policy or (0.0, 0.0) for point in points]))
    for label, colour, ratings in curves:
        elos, errors = [elo for elo, _ in ratings], [error for _, error in ratings]
        draw_measurements(axes, minutes, elos, errors, label, colour)
    _draw_whole_history(axes, points)
    if points and points[-1].opponents:
        _draw_opponents(axes, points[-1].opponents)
        add_legend(axes, "lower right")
    else:
        axes.axhline(0, color=MUTED, linewidth=0.8, linestyle=":")
    axes.set_ylabel("Elo above the anchor, 95 % interval")


def _draw_whole_history(axes: Axes, points: Sequence[StrengthPoint]) -> None:
    """Draw the rating with search estimated from all measurements together, with its interval as a band."""
    rated = whole_history(points)
    if not rated:
        return
    minutes = [point.seconds / 60 for point in points]
    elos, errors = ([pair[0] for pair in rated], [pair[1] for pair in rated])
    low = [elo - error for elo, error in zip(elos, errors, strict=True)]
    high = [elo + error for elo, error in zip(elos, errors, strict=True)]
    axes.fill_between(minutes, low, high, color=MAIN, alpha=0.15, linewidth=0)
    draw_line(axes, minutes, elos, "from all measurements", "--", color=MAIN)


def _draw_opponents(axes: Axes, opponents: Mapping[str, tuple[float, float]]) -> None:
    """Draw a labelled line for each opponent; for the uniform network, also draw its interval as a band."""
    low, high = axes.get_ylim()
    low, high = min(low, *(elo for elo, _ in opponents.values())), max(high, *(elo for elo, _ in opponents.values()))
    axes.set_ylim(low - 0.05 * (high - low), high + 0.05 * (high - low))
    height = 0.045 * (high - low)
    at = -float("inf")
    for name, (elo, error) in sorted(opponents.items(), key=lambda item: item[1]):
        uniform = is_uniform(name)
        colour = REFERENCE if uniform else MUTED
        axes.axhline(elo, color=colour, linewidth=1.2 if uniform else 0.8, linestyle="--" if uniform else ":")
        if uniform:
            axes.axhspan(elo - error, elo + error, color=colour, alpha=0.12, linewidth=0)
        at = max(elo, at + height)
        label = opponent_label(name)
        axes.text(1.01, at, label, transform=axes.get_yaxis_transform(), fontsize="x-small", color=colour, va="center")


def _minutes(line: Mapping[str, Any]) -> float:
    return float(line["seconds"]) / 60


def _draw(draw: Callable[[Axes, Metrics], None], metrics: Metrics, path: Path, title: str) -> Path:
    figure, axes = new_plot(title)
    draw(axes, metrics)
    axes.set_xlabel("minutes of training")
    save_figure(figure, path)
    return path.with_name(f"{path.name}.png")
