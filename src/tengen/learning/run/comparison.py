"""Compare runs: a table of settings and results, a plot of their strength, and metrics as CSV."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from tengen.core.plots import add_legend, draw_measurements, new_plot, save_figure
from tengen.learning.run.reading import Metrics, RunReader, StrengthPoint, finite, strength_curve


@dataclass(frozen=True, slots=True)
class Comparison:
    """Settings, results and strength of several runs."""

    names: tuple[str, ...]
    """Names of the runs."""
    settings: tuple[tuple[str, tuple[str, ...]], ...]
    """Settings that differ: the key and its value in each run, which is empty if a run has no such key."""
    results: tuple[tuple[str, tuple[str, ...]], ...]
    """Title of each result, and its value in each run."""
    curves: tuple[tuple[StrengthPoint, ...], ...]
    """Strength of each run over time."""


def compare_runs(runs: Sequence[RunReader]) -> Comparison:
    """Compare runs by their settings, lengths, speeds and strength. Raises `RunError` if metrics cannot be read."""
    metrics = [list(run.readable_metrics()) for run in runs]
    flat = [{"algorithm": run.header.algorithm, **dict(_flatten(run.config_table))} for run in runs]
    keys = dict.fromkeys(key for table in flat for key in table)
    settings = [(key, tuple(_text(table.get(key)) for table in flat)) for key in keys]
    curves = [strength_curve(lines) for lines in metrics]
    last = [lines[-1] if lines else {} for lines in metrics]
    results = [
        ("state", [str(run.state()) for run in runs]),
        ("iterations", [_text(line.get("iteration")) for line in last]),
        ("minutes", [f"{finite(line.get('seconds')) / 60:.1f}" for line in last]),
        ("games", [_text(line.get("games")) for line in last]),
        ("positions/s", [_speed(line) for line in last]),
        ("last Elo", [_elo(curve[-1]) if curve else "" for curve in curves]),
        ("best Elo", [_elo(max(curve, key=lambda point: point.elo)) if curve else "" for curve in curves]),
        *_last_losses(last),
    ]
    return Comparison(
        names=_short_names([run.folder for run in runs]),
        settings=tuple((key, values) for key, values in settings if len(set(values)) > 1),
        results=tuple((title, tuple(values)) for title, values in results),
        curves=tuple(map(tuple, curves)),
    )


def draw_comparison(comparison: Comparison, path: Path) -> None:
    """Draw the strength of all runs over time to PATH.svg and PATH.png, with 95 % intervals."""
    figure, axes = new_plot()
    for name, curve in zip(comparison.names, comparison.curves, strict=True):
        if curve:
            minutes = [point.seconds / 60 for point in curve]
            elos, errors = [point.elo for point in curve], [point.error for point in curve]
            draw_measurements(axes, minutes, elos, errors, name)
    axes.set_xlabel("minutes of training")
    axes.set_ylabel("Elo above the anchor, 95 % interval")
    if any(comparison.curves):
        add_legend(axes)
    save_figure(figure, path)


def write_csv(metrics: Metrics, file: TextIO) -> None:
    """Write metrics as CSV: one row per iteration, one column per metric; nested names are joined by dots."""
    rows = [dict(_flatten(line)) for line in metrics]
    columns = list(dict.fromkeys(key for row in rows for key in row))
    writer = csv.DictWriter(file, columns, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)


def _flatten(table: Mapping[str, Any], place: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the values of nested tables with their dotted names."""
    for key, value in table.items():
        if isinstance(value, Mapping):
            yield from _flatten(value, f"{place}{key}.")
        else:
            yield f"{place}{key}", value


def _short_names(folders: Sequence[Path]) -> tuple[str, ...]:
    """Return the names of the folders, or their paths if two names are equal."""
    names = tuple(folder.name for folder in folders)
    return names if len(set(names)) == len(names) else tuple(map(str, folders))


def _text(value: Any) -> str:
    if value is None:
        return ""
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _speed(line: Mapping[str, Any]) -> str:
    seconds = finite(line.get("seconds"))
    return f"{finite(line.get('positions')) / seconds:.0f}" if seconds else ""


def _elo(point: StrengthPoint) -> str:
    return f"{point.elo:+.0f} ±{point.error:.0f}"


def _last_losses(last: Sequence[Mapping[str, Any]]) -> list[tuple[str, list[str]]]:
    losses = [line.get("losses") for line in last]
    tables = [loss if isinstance(loss, Mapping) else {} for loss in losses]
    names = dict.fromkeys(name for table in tables for name in table)
    return [(f"loss {name}", [_text(table.get(name)) for table in tables]) for name in names]
