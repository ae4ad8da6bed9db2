"""The strength of a run from all its measurements."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tengen.learning.run.history import whole_history
from tengen.learning.run.reading import StrengthPoint, strength_curve

OPPONENTS = {"rule-based": (0.0, 0.0), "chains": (200.0, 30.0)}
SCORES = ((0.2, 0.1), (0.3, 0.1), (0.5, 0.2), (0.6, 0.3), (0.7, 0.5))


def points(games_each: int = 20) -> list[StrengthPoint]:
    return [
        StrengthPoint(
            iteration=10 * number,
            elo=0.0,
            error=90.0,
            scores=dict(zip(OPPONENTS, scores, strict=True)),
            opponents=OPPONENTS,
            games_each=games_each,
        )
        for number, scores in enumerate(SCORES)
    ]


def test_all_measurements_count_together() -> None:
    rated = whole_history(points())
    elos = [elo for elo, _ in rated]
    assert elos == sorted(elos)
    assert elos[0] < -100 < 100 < elos[-1]
    # 40 games at one strength near the middle have an interval of about ±108.
    assert all(40 < error < 108 for _, error in rated[1:-1])


@pytest.mark.parametrize("left_out", ["games", "points", "scores"])
def test_older_and_short_runs_have_no_history(left_out: str) -> None:
    found = points(0 if left_out == "games" else 20)
    if left_out == "points":
        found = found[:2]
    if left_out == "scores":
        found[1] = replace(found[1], scores={})
    assert whole_history(found) == []


def test_the_number_of_games_is_read_from_the_metrics() -> None:
    measured = {"elo": 1.0, "error": 2.0, "games_each": 12}
    lines = [{"iteration": 1, "strength": measured}, {"iteration": 2, "strength": measured | {"games_each": "many"}}]
    assert [point.games_each for point in strength_curve(lines)] == [12, 0]
