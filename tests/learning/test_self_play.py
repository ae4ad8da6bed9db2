"""What self-play hands to learning."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tengen.core.contracts import Ruleset
from tengen.learning.self_play import OpeningConfig, SelfPlayTask, make_samples, random_planes
from tengen.search.puct import PuctConfig, SelfPlay, SelfPlayGame, UniformEvaluator

RULES = Ruleset.parse("6x6:4")
SEARCH = PuctConfig(simulations=64, solve=True, tactics=True, vcf_nodes_leaf=50, discount=0.9, temperature=1.0)


@pytest.mark.parametrize("stop_when_proved", [False, True])
def test_results_fade_with_their_distance_as_the_values_of_the_search_do(stop_when_proved: bool) -> None:
    search = replace(SEARCH, stop_when_proved=stop_when_proved)
    task = SelfPlayTask(
        ruleset=RULES, layout="board", search=search, openings=OpeningConfig(), games=16, parallel=16, seed=1
    )
    play = SelfPlay(RULES, search, games=task.parallel, seed=task.seed, layout=task.layout)
    games: list[SelfPlayGame] = []
    while len(games) < task.games:
        play.step(UniformEvaluator())
        games += play.finished()
    assert any(game.plies_left > 0 for game in games) == stop_when_proved
    for game in games:
        samples = make_samples(game, task)
        # The last search has proved the result, so that both know the distance.
        assert samples.result[-1] == pytest.approx(samples.value_search[-1], abs=1e-5)
        np.testing.assert_allclose(np.abs(samples.result[:-1]), 0.9 * np.abs(samples.result[1:]), rtol=1e-5)


def test_random_planes_are_of_games_that_go_on() -> None:
    planes = random_planes(RULES, "own-other", 200, np.random.default_rng(1))
    stones = planes.sum(axis=(1, 2, 3))
    assert planes.shape == (200, 2, 6, 6)
    assert stones.min() == 0
    assert 12 < stones.max() < 18
    assert np.array_equal(planes, random_planes(RULES, "own-other", 200, np.random.default_rng(1)))
