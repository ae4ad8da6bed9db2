"""Statistics of a data set."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tengen.datasets.dataset import UNKNOWN, Dataset, Split

_RESULTS = {"won by black": 1, "won by white": -1, "drawn": 0, "of unknown result": UNKNOWN}


def describe_dataset(dataset: Dataset) -> Iterator[tuple[str, str]]:
    """Yield the statistics to print as pairs of name and value."""
    games, moves, samples = len(dataset.results), len(dataset.moves), len(dataset)
    yield "rules", str(dataset.ruleset)
    yield "games", f"{games:,}"
    for name, number in _RESULTS.items():
        yield f"  {name}", _part(int((dataset.results == number).sum()), games)
    lengths = np.diff(dataset.starts)
    low, middle, high = np.percentile(lengths, (5, 50, 95))
    yield "moves", f"{moves:,}; median {middle:.0f} per game, 90 % of games between {low:.0f} and {high:.0f}"
    yield "samples", _part(samples, moves)
    for split in Split:
        yield f"  for {split}", _part(len(dataset.find(split)), samples)
    openings = sum(len(dataset.find(split, openings=True)) for split in Split)
    yield f"  in openings (first {dataset.opening_moves} moves)", _part(openings, samples)
    yield "duplicates removed", f"{dataset.description.get('duplicates_removed', 0):,}"
    for reason, count in dataset.description.get("skipped", {}).items():
        yield f"skipped {reason}", f"{count:,}"


def _part(count: int, whole: int) -> str:
    return f"{count:,} ({100 * count / max(1, whole):.1f} %)"
