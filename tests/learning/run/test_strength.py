"""The strength curve: the choice of opponents, and ratings that order players by strength."""

from __future__ import annotations

from pathlib import Path

import pytest

from tengen.agents.registry import make_agent, parse_agent
from tengen.core.contracts import Ruleset
from tengen.errors import InputError
from tengen.learning.algorithms.registry import algorithm_names
from tengen.learning.run.strength import LADDER, Ladder, StrengthConfig

SMALL = Ruleset.parse("3x3:3:freestyle")
FOURS = Ruleset.parse("6x6:4:freestyle")


def test_a_better_player_is_rated_higher() -> None:
    config = StrengthConfig(games=6, ladder_games=2, opponents=("random", "naive:level=1", "rule-based"))
    with Ladder(FOURS, config, seed=1) as ladder, make_agent("chains") as better, make_agent("naive:level=0") as worse:
        strong, weak = ladder.measure(better, 1), ladder.measure(worse, 1)
    assert strong.elo - weak.elo > strong.error / 2
    assert set(strong.to_json()["scores"]) == set(config.opponents)


def test_the_same_measurement_gives_the_same_rating() -> None:
    config = StrengthConfig(games=2, ladder_games=2, opponents=("random", "rule-based"))
    ratings = []
    for _ in range(2):
        with Ladder(FOURS, config, seed=3) as ladder, make_agent("naive:level=2") as agent:
            ratings.append(ladder.measure(agent, 5).to_json())
    assert ratings[0] == ratings[1]


def test_opponents_that_do_not_play_the_ruleset_are_left_out_unless_they_were_asked_for() -> None:
    config = StrengthConfig(games=2, ladder_games=2)
    with Ladder(SMALL, config, seed=1) as ladder, make_agent("random") as agent:
        scores = ladder.measure(agent, 1).to_json()["scores"]
    assert list(scores) == [text for text in LADDER if not text.startswith("alphabeta")]
    with pytest.raises(InputError, match="alphabeta does not play 3x3:3:freestyle"):
        Ladder(SMALL, StrengthConfig(opponents=("rule-based", "alphabeta")), seed=1)


def test_an_anchor_that_does_not_play_the_ruleset_is_refused_unless_nothing_is_measured() -> None:
    anchor = "alphabeta:nodes=30,hash-mb=2"
    with pytest.raises(InputError, match=f"the anchor {anchor} does not play 3x3:3:freestyle: set strength.anchor"):
        Ladder(SMALL, StrengthConfig(anchor=anchor), seed=1)
    with Ladder(SMALL, StrengthConfig(anchor=anchor, every=0), seed=1):
        pass


@pytest.mark.parametrize("algorithm", algorithm_names())
def test_the_measured_player_is_the_agent_of_the_algorithm(algorithm: str) -> None:
    folder = Path("runs") / "one, two"
    text = StrengthConfig().player_text(algorithm, folder)
    assert parse_agent(text)[1].run == str(folder)
    with pytest.raises(InputError, match=r"strength\.player = 'speed=3': .*has no parameter 'speed'"):
        StrengthConfig(player="speed=3").player_text(algorithm, folder)


def test_the_measured_player_takes_further_parameters() -> None:
    folder = Path("runs") / "one"
    parameters = parse_agent(StrengthConfig(player="preset=zero9,c=3").player_text("alphazero", folder))[1]
    assert (parameters.run, parameters.preset, parameters.c) == (str(folder), "zero9", 3.0)
    for player in ("preset=zero", "zero9", "run=other", "model=9x9", "resist=-1", 'preset="zero9'):
        with pytest.raises(InputError, match=r"strength\.player = "):
            StrengthConfig(player=player).player_text("alphazero", folder)


def test_the_anchor_is_one_of_the_opponents() -> None:
    with pytest.raises(InputError, match="the anchor 'chains' is not one of the opponents random, rule-based"):
        StrengthConfig(opponents=("random", "rule-based"), anchor="chains")
