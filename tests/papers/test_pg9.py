"""The test and the skills of pg9."""

from __future__ import annotations

from tengen.core.contracts import Ruleset
from tengen.core.position import Position
from tengen.papers.pg9.experiments import play_from_start
from tengen.papers.pg9.skills import SKILLS, find_positions, strategies
from tengen.search.evaluation import UniformEvaluator
from tests.agents.test_simple import points, stones

NINE = Ruleset.parse("9x9")


def test_black_is_played_by_the_network_and_white_by_the_opponent() -> None:
    # Without knowledge all moves are equally likely, so black plays at random.
    won, drawn, lost = play_from_start(UniformEvaluator(), "random", games=100, seed=1)
    assert won + drawn + lost == 100
    assert 30 < won < 75
    assert play_from_start(UniformEvaluator(), "chains", games=50, seed=1) == (0, 0, 50)
    assert play_from_start(UniformEvaluator(), "tree", games=20, seed=1, as_white=True) == (0, 0, 20)
    # With the first stone, a random player is slightly better off.
    as_white, _, _ = play_from_start(UniformEvaluator(), "random", games=2000, seed=1, as_white=True)
    as_black, _, _ = play_from_start(UniformEvaluator(), "random", games=2000, seed=1)
    assert as_white < as_black


def test_strategies_are_those_of_the_naive_player() -> None:
    found = dict(strategies(stones(black="c5d5e5f5", white="c7d7e7a1")))
    assert found["S1"] == points("b5g5")
    assert found["S2"] == set()
    assert found["S3"] == points("b7f7")
    assert found["S5"] == set()


def test_every_skill_has_positions_in_which_its_strategy_is_the_first_that_applies() -> None:
    tests = find_positions(NINE, 5, seed=2)
    for skill in SKILLS:
        assert len(tests[skill]) == 5
        for position, allowed in tests[skill]:
            assert next(name for name, found in strategies(position) if found) == skill
            assert all(Position.is_legal(position, point) for point in allowed)
