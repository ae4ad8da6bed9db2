"""Elo, sequential tests and ratings, against published numbers and in simulation."""

from __future__ import annotations

import math
import random
import tracemalloc
from collections import defaultdict

import numpy as np
import pytest
from scipy import special
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from tengen.arena.distributions import find_root, normal_cdf, t_cdf, t_quantile_975
from tengen.arena.elo import ELO_UNIT, elo_of, estimate_elo, expected_score, likeliest_with_mean, sample_of
from tengen.arena.match import Ending
from tengen.arena.ratings import Ratings, rate, zero9_score
from tengen.arena.sprt import EloModel, Hypothesis, Sprt
from tengen.arena.store import Score
from tengen.arena.tally import Tally, Wdl
from tengen.core.contracts import Outcome
from tengen.errors import InputError

LOGISTIC, NORMALISED = EloModel.LOGISTIC, EloModel.NORMALISED


def games(wins: int, losses: int, draws: int) -> list[int]:
    return [losses, draws, wins]


def pairs(ll: int, ld: int, wl: int, dd: int, wd: int, ww: int) -> list[int]:
    return [ll, ld, wl + dd, wd, ww]


# -- published numbers -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("counts", "elo0", "elo1", "model", "llr"),
    [
        # Values from the tests of fastchess (app/tests/sprt_test.cpp).
        (games(36433, 36027, 68692), 0, 2, NORMALISED, 0.92),
        (games(10871, 10650, 20431), -1.75, 0.25, NORMALISED, 2.30),
        (games(4250, 0, 0), 0, 10, NORMALISED, 120.56),
        (games(21404, 21184, 40708), 0.5, 2.5, LOGISTIC, -1.57),
        (games(57433, 57030, 106593), 0, 2, LOGISTIC, -2.59),
        (pairs(365, 16618, 36029, 200, 16974, 390), 0, 2, NORMALISED, 2.25),
        (pairs(127, 4883, 10311, 401, 5150, 104), -1.75, 0.25, NORMALISED, 3.01),
        (pairs(0, 0, 0, 0, 0, 5550), 0, 5, NORMALISED, 111.82),
        (pairs(223, 9863, 20279, 1000, 10037, 246), 0.5, 2.5, LOGISTIC, -3.07),
        (pairs(871, 26175, 55003, 980, 26678, 821), 0, 2, LOGISTIC, -4.98),
    ],
)
def test_llr_equals_published_values(counts: list[int], elo0: float, elo1: float, model: EloModel, llr: float) -> None:
    assert Sprt(elo0=elo0, elo1=elo1, model=model).llr(counts) == pytest.approx(llr, abs=0.006, rel=3e-4)


@pytest.mark.parametrize("counts", [games(600, 500, 900), games(60, 50, 90), pairs(20, 90, 150, 10, 110, 30)])
def test_llr_agrees_with_its_approximation(counts: list[int]) -> None:
    # N (s1 - s0)(2 s - s0 - s1) / (2 var), as c-gomoku-cli computes it.
    sample = sample_of(counts)
    s0, s1 = expected_score(0), expected_score(5)
    approximation = sample.total * (s1 - s0) * (2 * sample.mean - s0 - s1) / (2 * sample.variance)
    assert Sprt(elo0=0, elo1=5).llr(counts) == pytest.approx(approximation, rel=0.02)


@pytest.mark.parametrize(
    ("counts", "normalised", "elo", "error", "superiority"),
    [
        # fastchess, app/tests/elo_test.cpp.
        (games(76, 89, 123), -20.76, None, None, 0.1553),
        (games(136, 96, 111), 49.77, 40.70, 30.43, 0.9960),
        (games(34, 356, 0), -508.44, None, None, 0.0),
        (pairs(34, 54, 31, 32, 64, 75), 57.94, 55.58, 27.65, 1.0),
        (pairs(332, 433, 457, 41, 333, 334), -9.17, -8.64, 10.33, 0.0505),
        (pairs(7895, 8757, 5485, 200, 568, 9999), -19.01, -21.04, 2.95, 0.0),
    ],
)
def test_elo_equals_published_values(
    counts: list[int], normalised: float, elo: float | None, error: float | None, superiority: float
) -> None:
    estimate = estimate_elo(counts)
    assert estimate.normalised == pytest.approx(normalised, abs=0.01)
    assert estimate.superiority == pytest.approx(superiority, abs=1e-4)
    if elo is not None:
        assert estimate.elo == pytest.approx(elo, abs=0.01)
        assert (estimate.high - estimate.low) / 2 == pytest.approx(error, rel=0.01)


def test_bounds_of_a_test() -> None:
    sprt = Sprt(elo0=0, elo1=10)
    assert sprt.lower == pytest.approx(-2.944, abs=1e-3)
    assert sprt.upper == pytest.approx(2.944, abs=1e-3)
    uneven = Sprt(elo0=0, elo1=10, alpha=0.01, beta=0.2)
    assert uneven.lower == pytest.approx(math.log(0.2 / 0.99))
    assert uneven.upper == pytest.approx(math.log(0.8 / 0.01))


def test_scores_and_elo() -> None:
    assert expected_score(0) == 0.5
    assert expected_score(400) == pytest.approx(10 / 11)
    assert elo_of(expected_score(-123.4)) == pytest.approx(-123.4)


# -- small and lopsided samples --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "counts", [[0, 0, 1], [0, 0, 0, 0, 1], [20, 0, 0, 0, 0], [0, 0, 7, 0, 0], [0, 3, 0], [1, 0, 1]]
)
def test_every_result_has_a_finite_estimate(counts: list[int]) -> None:
    estimate = estimate_elo(counts)
    assert -math.inf < estimate.low <= estimate.elo <= estimate.high < math.inf
    mirrored = estimate_elo(counts[::-1])
    assert mirrored.elo == pytest.approx(-estimate.elo)
    assert mirrored.low == pytest.approx(-estimate.high, abs=0.1)
    for model in EloModel:
        assert math.isfinite(Sprt(elo0=0, elo1=10, model=model).llr(counts))


def test_a_clean_sweep_is_not_certainty() -> None:
    estimate = estimate_elo([0, 0, 0, 0, 20])
    # 20 of 20 pairs: with a true score of 0.9 this happens one time in eight.
    assert 250 < estimate.low < 450 < estimate.elo < estimate.high
    assert estimate.low < estimate_elo([0, 0, 0, 0, 200]).low


@pytest.mark.parametrize(
    ("counts", "superiority"),
    [
        ([0, 0, 1], 0.775),
        ([0, 0, 0, 0, 1], 0.775),
        ([0, 0, 0, 0, 2], 0.827),
        ([0, 0, 0, 1, 1], 0.811),
        ([0, 0, 0, 0, 4], 0.950),
        ([0, 0, 0, 0, 19], 1.0),
        ([0, 0, 0, 0, 20], 1.0),
        ([0, 3, 0], 0.5),
        ([0, 0, 30, 0, 0], 0.5),
        ([1, 0, 0, 2, 0], 0.5),
    ],
)
def test_a_few_results_are_little_evidence(counts: list[int], superiority: float) -> None:
    # A uniform prior on the win rate gives 0.75, 0.875 and 0.969 for sweeps of one, two and four.
    assert estimate_elo(counts).superiority == pytest.approx(superiority, abs=1e-3)
    assert estimate_elo(counts[::-1]).superiority == pytest.approx(1 - superiority, abs=1e-3)


def test_superiority_agrees_with_the_interval_and_grows_with_points() -> None:
    found = {
        (losses, draws, results - losses - draws): estimate_elo([losses, draws, results - losses - draws])
        for results in range(1, 13)
        for losses in range(results + 1)
        for draws in range(results + 1 - losses)
    }
    for (losses, draws, wins), estimate in found.items():
        assert (estimate.superiority > 0.975) == (estimate.low > 0)
        assert (estimate.superiority < 0.025) == (estimate.high < 0)
        if draws:
            assert estimate.superiority < found[losses, draws - 1, wins + 1].superiority
            assert estimate.superiority > found[losses + 1, draws - 1, wins].superiority


@pytest.mark.parametrize("counts", [[1, 0, 0], [0, 0, 0, 0, 1], [0, 0, 0, 20, 0], [0, 3, 0], [0, 0, 0]])
def test_equal_results_have_no_normalised_elo(counts: list[int]) -> None:
    assert math.isnan(estimate_elo(counts).normalised)


def test_no_games_give_no_information() -> None:
    estimate = estimate_elo([0, 0, 0])
    assert (estimate.elo, estimate.low, estimate.high) == (0.0, -math.inf, math.inf)
    assert estimate.superiority == 0.5
    assert Sprt(elo0=0, elo1=10).llr([0] * 5) == 0
    assert Sprt(elo0=0, elo1=10).decide([0] * 5) is None


def test_constrained_distributions_keep_their_promise() -> None:
    sample = sample_of([3, 10, 40, 20, 9])
    for mean in (0.2, 0.5, 0.61):
        found = likeliest_with_mean(sample, mean)
        assert found.sum() == pytest.approx(1)
        assert found @ sample.scores == pytest.approx(mean)
    assert likeliest_with_mean(sample, sample.mean) == pytest.approx(sample.probabilities)


def test_wrong_counts_are_refused() -> None:
    with pytest.raises(InputError, match="three or five"):
        estimate_elo([1, 2])
    with pytest.raises(InputError, match="three or five"):
        Sprt(elo0=0, elo1=1).llr([-1, 2, 3])


@pytest.mark.parametrize("text", ["", "5", "1,2,3", "a,b", "nan,1", "10,0", "0,10,0.6,0.6", "0,10,0,0.1"])
def test_wrong_tests_are_refused(text: str) -> None:
    with pytest.raises(InputError):
        Sprt.parse(text)


def test_tests_are_parsed() -> None:
    assert Sprt.parse("0,10") == Sprt(elo0=0, elo1=10)
    assert Sprt.parse("-3, 1.5, 0.1, 0.2", NORMALISED) == Sprt(elo0=-3, elo1=1.5, alpha=0.1, beta=0.2, model=NORMALISED)


# -- simulation ------------------------------------------------------------------------------------------------------


def simulate_test(sprt: Sprt, probabilities: list[float], rng: np.random.Generator) -> tuple[Hypothesis, int]:
    """Play pairs until the test is decided, checking it after every second pair."""
    counts = np.zeros(5, dtype=int)
    while True:
        counts += rng.multinomial(2, probabilities)
        verdict = sprt.decide(counts.tolist())
        if verdict is not None:
            return verdict, int(counts.sum())


def pair_distribution(score: float) -> list[float]:
    """Return the distribution of pairs of independent games with 40 % draws."""
    win, draw = score - 0.2, 0.4
    loss = 1 - win - draw
    return [loss * loss, 2 * loss * draw, 2 * loss * win + draw * draw, 2 * win * draw, win * win]


@pytest.mark.parametrize(("truth", "wrong"), [(0.0, Hypothesis.H1), (60.0, Hypothesis.H0)])
def test_sequential_tests_keep_their_error_rates(truth: float, wrong: Hypothesis) -> None:
    sprt = Sprt(elo0=0, elo1=60)
    rng = np.random.default_rng(3)
    distribution = pair_distribution(expected_score(truth))
    runs = 200
    mistakes = sum(simulate_test(sprt, distribution, rng)[0] is wrong for _ in range(runs))
    # 5 % of 200 is 10; 17 or more happens one time in fifty.
    assert mistakes <= 17


def simulate_pool(
    strengths: np.ndarray, first_move: float, draw: float, each: int, rng: np.random.Generator
) -> dict[tuple[int, int], Wdl]:
    results = {}
    for black in range(len(strengths)):
        for white in range(len(strengths)):
            if black != white:
                b, w = (strengths[black] + first_move) / ELO_UNIT, strengths[white] / ELO_UNIT
                weights = np.exp([b, draw + (b + w) / 2, w])
                wins, draws, losses = rng.multinomial(each, weights / weights.sum())
                results[black, white] = Wdl(int(wins), int(draws), int(losses))
    return results


def test_ratings_recover_the_truth() -> None:
    rng = np.random.default_rng(11)
    inside = total = first_inside = 0
    for _ in range(200):
        strengths = rng.normal(0, 200, 5)
        strengths -= strengths.mean()
        ratings = rate(5, simulate_pool(strengths, 70, -0.5, 12, rng))
        for player, truth in enumerate(strengths):
            low, high = ratings.interval(player)
            inside += bool(low <= truth <= high)
            total += 1
        first_inside += abs(ratings.first_move_elo - 70) <= ratings.first_move_error
    assert inside / total >= 0.93
    assert first_inside / 200 >= 0.90


def test_many_games_give_the_truth_itself() -> None:
    strengths = np.array([250.0, 50.0, -100.0, -200.0])
    ratings = rate(4, simulate_pool(strengths, 40, -1.0, 200_000, np.random.default_rng(0)))
    assert ratings.elo == pytest.approx(strengths, abs=3)
    assert ratings.first_move_elo == pytest.approx(40, abs=2)
    assert ratings.draw_rate == pytest.approx(math.exp(-1) / (2 + math.exp(-1)), abs=0.002)


# -- ratings ---------------------------------------------------------------------------------------------------------


def two(wins: int, draws: int, losses: int) -> Ratings:
    """Return results of player 0 against player 1, the same with both colours."""
    return rate(2, {(0, 1): Wdl(wins, draws, losses), (1, 0): Wdl(losses, draws, wins)})


def test_two_players_without_draws_are_plain_elo() -> None:
    ratings = two(3000, 0, 1000)
    difference, error = ratings.difference(0, 1)
    assert difference == pytest.approx(elo_of(0.75), abs=1)
    assert ratings.elo.sum() == pytest.approx(0, abs=1e-6)
    # The variance of log odds is 1 / (n p q).
    assert error == pytest.approx(1.96 * ELO_UNIT / math.sqrt(8000 * 0.75 * 0.25), rel=0.02)
    assert ratings.superiority(0, 1) > 0.999
    assert ratings.superiority(1, 0) == pytest.approx(1 - ratings.superiority(0, 1))


def test_equal_results_are_equal_ratings() -> None:
    ratings = two(10, 5, 10)
    assert ratings.elo == pytest.approx([0, 0], abs=1e-3)
    assert ratings.superiority(0, 1) == pytest.approx(0.5, abs=1e-4)


def test_a_player_who_wins_everything_stays_finite() -> None:
    ratings = two(20, 0, 0)
    difference, error = ratings.difference(0, 1)
    assert 400 < difference < 2000
    assert error > 300
    assert two(200, 0, 0).difference(0, 1)[0] > difference


def test_anchors_stay_where_they_are() -> None:
    results = {(0, 1): Wdl(30, 10, 20), (1, 2): Wdl(30, 10, 20), (2, 0): Wdl(10, 5, 40)}
    free = rate(3, results)
    anchored = rate(3, results, anchors={1: 1500.0})
    assert anchored.elo[1] == 1500
    assert anchored.error(1) == 0
    assert anchored.elo - 1500 == pytest.approx(free.elo - free.elo[1], abs=3)
    assert anchored.error(0) > 0
    both = rate(3, results, anchors={0: 1600.0, 1: 1500.0})
    assert list(both.elo[:2]) == [1600, 1500]
    with pytest.raises(InputError, match="player 7 does not exist"):
        rate(3, results, anchors={7: 0.0})


def test_groups_without_games_between_them_are_told_apart() -> None:
    ratings = rate(5, {(0, 1): Wdl(5, 0, 5), (2, 3): Wdl(5, 0, 5)})
    assert ratings.groups[0] == ratings.groups[1] != ratings.groups[2] == ratings.groups[3]
    assert ratings.games == (10, 10, 10, 10, 0)


def test_the_score_of_the_paper() -> None:
    tally = Tally()
    number = 0
    # Model II after 10 iterations wins .95 with black and .7 with white and never loses: score 1.65.
    for place in range(20):
        black = Outcome.BLACK if place < 19 else Outcome.DRAW
        white = Outcome.WHITE if place < 14 else Outcome.DRAW
        for first, outcome in ((0, black), (1, white)):
            tally.add(Score(number, "9x9:5:freestyle", first, 1 - first, 0, outcome, Ending.FIVE))
            number += 1
    assert zero9_score(tally, 0, 1) == pytest.approx(1.65)
    assert zero9_score(tally, 1, 0) == pytest.approx(-1.65)
    assert zero9_score(tally, 0, 2) is None


# -- counting --------------------------------------------------------------------------------------------------------


def test_pairs_are_counted_for_the_earlier_player() -> None:
    tally = Tally()
    results = [
        (Outcome.BLACK, Outcome.WHITE),  # 0 wins both
        (Outcome.WHITE, Outcome.BLACK),  # 0 loses both
        (Outcome.DRAW, Outcome.WHITE),  # 1½
        (Outcome.BLACK, Outcome.BLACK),  # 1
        (Outcome.DRAW, Outcome.DRAW),  # 1
        (Outcome.DRAW, Outcome.BLACK),  # ½
    ]
    for pair, (one, other) in enumerate(results):
        # Results come in any order.
        tally.add(Score(2 * pair + 1, "r", 1, 0, 0, other, Ending.FIVE))
        assert tally.add(Score(2 * pair, "r", 0, 1, 0, one, Ending.FIVE))
    assert tally.pairs_of(0, 1) == [1, 1, 2, 1, 1]
    assert tally.match_counts(0, 1) == [1, 1, 2, 1, 1]
    assert str(tally.as_black(0, 1)) == "+2 =3 -1"
    assert str(tally.as_white(0, 1)) == "+2 =1 -3"
    tally.add(Score(12, "r", 0, 1, 0, Outcome.BLACK, Ending.TIMEOUT))
    assert tally.forfeits == {(1, Ending.TIMEOUT): 1}
    assert tally.match_counts(0, 1) == [1, 1, 2, 1, 1]  # a game without its pair does not count yet
    tally.add(Score(14, "r", 0, 1, 0, Outcome.BLACK, Ending.FIVE))
    assert tally.match_counts(0, 1) == [4, 4, 6]  # with two of fourteen games unpaired, games are counted singly


def test_seats_of_a_swapped_opening_are_counted_by_player() -> None:
    tally = Tally()
    # Player 0 proposes and gets white; white wins.
    tally.add(Score(0, "r", 0, 1, 1, Outcome.WHITE, Ending.FIVE))
    tally.add(Score(1, "r", 1, 0, 1, Outcome.WHITE, Ending.FIVE))
    assert str(tally.as_white(0)) == "+1 =0 -0"
    assert str(tally.as_black(0)) == "+0 =0 -1"
    assert tally.pairs_of(0, 1) == [0, 0, 1, 0, 0]


def test_the_memory_of_a_fit_grows_with_meetings_and_not_with_their_product_with_players():
    rng = random.Random(4)
    players, meetings = 300, 10_000
    results = {}
    while len(results) < meetings:
        one, other = rng.sample(range(players), 2)
        results[one, other] = Wdl(rng.randrange(1, 5), rng.randrange(3), rng.randrange(1, 5))
    tracemalloc.start()
    try:
        rate(players, results)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    # A dense gradient table alone would have meetings · 3 · players numbers: 72 MB.
    assert peak < 30e6


def test_a_tally_looks_up_results_without_going_through_all_meetings():
    class Counting(defaultdict):
        def items(self):
            raise AssertionError("a scan of all meetings")

        def __iter__(self):
            raise AssertionError("a scan of all meetings")

    tally = Tally()
    tally.add_all(Score(k, "9x9:5:freestyle", k % 2, 1 - k % 2, 0, Outcome.BLACK, Ending.FIVE) for k in range(6))
    tally.by_colour = Counting(Wdl, tally.by_colour)
    assert tally.of(0, 1).games == tally.of(0).games == tally.of(0, ruleset="9x9:5:freestyle").games == 6
    assert tally.match_counts(0, 1) == [0, 0, 3, 0, 0]


# -- distributions, against SciPy --------------------------------------------------------------------------------------


def test_distributions_agree_with_scipy() -> None:
    points = np.linspace(-12, 12, 97)
    for x in points:
        assert normal_cdf(x) == pytest.approx(special.ndtr(x), rel=1e-12)
    for degrees in range(1, 40):
        for t in points:
            assert t_cdf(degrees, t) == pytest.approx(special.stdtr(degrees, t), abs=1e-14)
    for degrees in (*range(1, 300), 1_000, 100_000, 10_000_000):
        assert t_quantile_975(degrees) == pytest.approx(special.stdtrit(degrees, 0.975), abs=1e-11)


@pytest.mark.parametrize(
    ("function", "low", "high", "root"),
    [
        (lambda x: math.exp(x) - 5, 0.0, 30.0, math.log(5)),
        (lambda x: 5 - math.exp(x), 30.0, 0.0, math.log(5)),
        (lambda x: x**3, -1.0, 2.0, 0.0),
        (lambda x: x, 0.0, 1.0, 0.0),
        (lambda x: 1 / (x - 3) if x != 3 else 0.0, 0.0, 4.0, 3.0),
        (lambda x: 1e9 * (x - 1e-7), 0.0, 1.0, 1e-7),
    ],
)
def test_roots_are_found(function, low: float, high: float, root: float) -> None:
    assert find_root(function, low, high) == pytest.approx(root, abs=1e-4 if root == 0 else 1e-12)


def test_groups_are_those_of_a_graph_search() -> None:
    rng = random.Random(5)
    for _ in range(20):
        players = rng.randrange(2, 60)
        met = [(rng.randrange(players), rng.randrange(players)) for _ in range(rng.randrange(players))]
        met = [(one, other) for one, other in met if one != other]
        ratings = rate(players, {meeting: Wdl(1, 1, 1) for meeting in met})
        edges = np.array(met, dtype=int).reshape(-1, 2)
        graph = coo_array((np.ones(len(edges)), (edges[:, 0], edges[:, 1])), shape=(players, players))
        assert list(ratings.groups) == connected_components(graph, directed=False)[1].tolist()
    chain = rate(1000, {(one, one + 1): Wdl(1, 1, 1) for one in range(999)})
    assert set(chain.groups) == {0}
