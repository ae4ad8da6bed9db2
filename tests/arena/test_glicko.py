"""Glicko-2 against the worked example of its paper, and its properties."""

from __future__ import annotations

import pytest

from tengen.arena.glicko import MAX_DEVIATION, Glicko


def test_the_example_of_the_paper() -> None:
    player = Glicko(1500, 200, 0.06)
    results = [(Glicko(1400, 30), 1.0), (Glicko(1550, 100), 0.0), (Glicko(1700, 300), 0.0)]
    after = player.after(results)
    assert after.rating == pytest.approx(1464.06, abs=0.01)
    assert after.deviation == pytest.approx(151.52, abs=0.01)
    assert after.volatility == pytest.approx(0.05999, abs=1e-5)


def test_the_expected_score_of_a_difference_of_400_is_ten_elevenths() -> None:
    assert Glicko(1000).expected_score(Glicko(600, 0)) == pytest.approx(10 / 11)
    assert Glicko(600).expected_score(Glicko(1000, 0)) == pytest.approx(1 / 11)


def test_only_differences_between_ratings_matter() -> None:
    low = Glicko(0, 120).after([(Glicko(100, 0), 1.0)])
    high = Glicko(2000, 120).after([(Glicko(2100, 0), 1.0)])
    assert high.rating - 2000 == pytest.approx(low.rating)
    assert high.deviation == pytest.approx(low.deviation)


def test_a_rating_approaches_the_strength_that_the_results_show() -> None:
    player = Glicko(600)
    for _ in range(60):
        # Half the points against 1400: the player is about as strong.
        player = player.after([(Glicko(1400, 0), 1.0)]).after([(Glicko(1400, 0), 0.0)])
    assert player.rating == pytest.approx(1400, abs=40)
    assert player.deviation < 80


def test_a_win_against_an_equal_opponent_raises_the_rating_as_much_as_a_loss_lowers_it() -> None:
    equal = Glicko(800, 0)
    won, lost, drawn = (Glicko(800).after([(equal, score)]).rating for score in (1.0, 0.0, 0.5))
    assert won - 800 == pytest.approx(800 - lost)
    assert drawn == pytest.approx(800)


def test_without_games_the_deviation_grows_up_to_that_of_a_new_player() -> None:
    rested = Glicko(900, 50).after([])
    assert rested.rating == 900
    assert rested.deviation > 50
    assert Glicko(900).after([]).deviation == MAX_DEVIATION


def test_surprising_results_raise_the_volatility() -> None:
    player = Glicko(1500, 60)
    expected = player.after([(Glicko(900, 0), 1.0)] * 5)
    surprising = player.after([(Glicko(900, 0), 0.0)] * 5)
    assert surprising.volatility > player.volatility > expected.volatility
