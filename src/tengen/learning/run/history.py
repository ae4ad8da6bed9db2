"""The strength of a run, estimated from all its measurements together."""

from __future__ import annotations

from collections.abc import Sequence

from tengen.arena.whole_history import TimedResult, fit_drift, rate_history
from tengen.learning.run.reading import StrengthPoint

_PLAYER = "the player in training"
_FEWEST_POINTS = 3


def whole_history(points: Sequence[StrengthPoint]) -> list[tuple[float, float]]:
    """Return the rating at each measurement and half the width of its 95 % interval, estimated from all games.

    The opponents keep the ratings of the last measurement, and the drift is fitted to the run. Returns an empty list
    for runs with fewer than three measurements, and for older runs, whose metrics lack the numbers of games.
    """
    if len(points) < _FEWEST_POINTS or not all(point.games_each for point in points):
        return []
    fixed = {name: elo for name, (elo, _) in points[-1].opponents.items()}
    results = [
        TimedResult(point.iteration, _PLAYER, name, score * point.games_each, (1 - score) * point.games_each)
        for point in points
        for name, score in point.scores.items()
        if name in fixed
    ]
    if {result.time for result in results} != {point.iteration for point in points}:
        return []
    rated = rate_history(results, drift=fit_drift(results, fixed=fixed), fixed=fixed)[_PLAYER]
    by_time = {one.time: (one.elo, one.error) for one in rated}
    return [by_time[point.iteration] for point in points]
