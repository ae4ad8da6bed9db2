"""Whole-history ratings: the published example, known limits of the model, and a simulated player that learns."""

from __future__ import annotations

import random

import pytest

from tengen.arena.elo import expected_score
from tengen.arena.whole_history import DRIFTS, TimedResult, fit_drift, rate_history
from tengen.errors import InputError


def games(winners: str) -> list[TimedResult]:
    """Return a game per day between Shusaku (black) and Shusai; the letters name the winner."""
    return [
        TimedResult(day, "shusaku", "shusai", float(letter == "B"), float(letter == "W"))
        for day, letter in enumerate(winners, start=1)
    ]


@pytest.mark.parametrize(
    ("winners", "prior", "published"),
    [
        # The example in the documentation of the package `whole-history-rating`, which follows Coulom's paper; the
        # other rows are what its version 3.7.1 computes without damping.
        ("BWW", 1.0, [-43, -45, -45]),
        ("BWW", 0.5, [-50, -51, -52]),
        ("BBB", 1.0, [157, 157, 157]),
        ("BBB", 0.5, [203, 203, 204]),
    ],
)
def test_the_published_example(winners: str, prior: float, published: list[int]) -> None:
    ratings = rate_history(games(winners), drift=300, prior_points=prior)
    assert [round(one.elo) for one in ratings["shusaku"]] == published
    assert [round(one.elo) for one in ratings["shusai"]] == [-elo for elo in published]
    assert [one.time for one in ratings["shusaku"]] == [1, 2, 3]


def test_without_drift_all_times_are_one() -> None:
    stiff = rate_history(games("BWBB"), drift=1e-6)["shusaku"]
    assert max(one.elo for one in stiff) - min(one.elo for one in stiff) < 0.01
    loose = rate_history(games("BWBB"), drift=1e9)["shusaku"]
    assert loose[1].elo < loose[0].elo - 100


def test_games_against_fixed_players_measure_a_rating() -> None:
    ratings = rate_history([TimedResult(0, "new", "anchor", 75, 25)], fixed={"anchor": 1000.0}, prior_points=1e-6)
    assert set(ratings) == {"new"}
    assert ratings["new"][0].elo == pytest.approx(1190.85, abs=0.01)
    assert ratings["new"][0].error == pytest.approx(1.96 * 173.72 / (100 * 0.75 * 0.25) ** 0.5, rel=0.001)


def test_no_games_have_no_ratings() -> None:
    assert rate_history([]) == {}
    assert rate_history([TimedResult(0, "a", "b", 1, 0)], fixed={"a": 0, "b": 0}) == {}


def test_bad_settings_are_rejected() -> None:
    with pytest.raises(InputError, match="drift=0"):
        rate_history(games("B"), drift=0)
    with pytest.raises(InputError, match="pairs of player and time"):
        rate_history([TimedResult(day, "a", "b", 1, 0) for day in range(2_001)])


def simulate(strength: list[float], seed: int) -> list[TimedResult]:
    """Return ten games per time against each of three fixed players."""
    rng = random.Random(seed)
    results = []
    for time, elo in enumerate(strength):
        for name, other in (("weak", -200.0), ("middle", 0.0), ("strong", 200.0)):
            wins = sum(rng.random() < expected_score(elo - other) for _ in range(10))
            results.append(TimedResult(time, "learner", name, wins, 10 - wins))
    return results


FIXED = {"weak": -200.0, "middle": 0.0, "strong": 200.0}


def test_a_learning_player_is_followed_more_closely_than_by_single_measurements() -> None:
    truth = [-300 + 20.0 * time for time in range(30)]
    error, single = 0.0, 0.0
    for seed in range(5):
        results = simulate(truth, seed)
        drift = fit_drift(results, fixed=FIXED)
        rated = rate_history(results, drift=drift, fixed=FIXED)["learner"]
        error += sum((one.elo - elo) ** 2 for one, elo in zip(rated, truth, strict=True))
        for time, elo in enumerate(truth):
            (alone,) = rate_history([one for one in results if one.time == time], fixed=FIXED)["learner"]
            single += (alone.elo - elo) ** 2
    assert error < 0.5 * single


def test_the_drift_follows_the_results() -> None:
    constant = fit_drift(simulate([0.0] * 20, 1), fixed=FIXED)
    jumping = fit_drift(simulate([-400.0, 400.0] * 10, 1), fixed=FIXED)
    assert constant < 300
    assert jumping > 100_000
    assert {constant, jumping} <= set(DRIFTS)
