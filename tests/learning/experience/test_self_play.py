"""Training samples from self-play games."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tengen.core.contracts import Outcome, Ruleset
from tengen.core.planes import encode
from tengen.core.position import Position
from tengen.errors import RunError
from tengen.learning.experience.replay import NO_MOVE
from tengen.learning.experience.self_play import make_samples, random_planes, save_games
from tengen.learning.experience.warm_start import make_samples as make_engine_samples
from tengen.records import load
from tengen.search.evaluation import UniformEvaluator
from tengen.search.puct_config import PuctConfig
from tengen.search.puct_self_play import Openings, SelfPlay, SelfPlayGame
from tengen.tuning.engine_games import EngineGame

RULES = Ruleset.parse("6x6:4")
SEARCH = PuctConfig(simulations=64, solve=True, tactics=True, vcf_nodes_leaf=50, discount=0.9, temperature=1.0)


@pytest.mark.parametrize("stop_when_proved", [False, True])
def test_results_fade_with_their_distance_as_the_values_of_the_search_do(stop_when_proved: bool) -> None:
    search = replace(SEARCH, stop_when_proved=stop_when_proved)
    play = SelfPlay(RULES, search, games=16, seed=1, layout="board")
    games: list[SelfPlayGame] = []
    while len(games) < 16:
        play.step(UniformEvaluator())
        games += play.finished()
    assert any(game.plies_left > 0 for game in games) == stop_when_proved
    for game in games:
        samples = make_samples(game, RULES, "board", search.discount)
        # The last search has proved the result, so that both know the distance.
        assert samples.result[-1] == pytest.approx(samples.value_to_move[-1], abs=1e-5)
        np.testing.assert_allclose(np.abs(samples.result[:-1]), 0.9 * np.abs(samples.result[1:]), rtol=1e-5)


@pytest.mark.parametrize(("rules", "layout"), [("6x6:4", "threats-last"), ("5x7:4", "stones")])
def test_planes_are_those_of_the_positions_with_a_full_search(rules: str, layout: str) -> None:
    ruleset = Ruleset.parse(rules)
    search = replace(SEARCH, simulations=16, full_fraction=0.5, fast_simulations=4)
    openings = Openings(fraction=1.0, random_stones=4)
    play = SelfPlay(ruleset, search, games=8, seed=1, layout=layout, openings=openings)
    games: list[SelfPlayGame] = []
    while len(games) < 8:
        play.step(UniformEvaluator())
        games += play.finished()
    assert any(game.opening_length for game in games)
    assert not all(game.full.all() for game in games)
    for game in games:
        moves = game.moves.tolist()
        plies = game.opening_length + np.flatnonzero(game.full)
        expected = [encode(Position.from_moves(ruleset, moves[:ply]), layout) for ply in plies]
        assert np.array_equal(make_samples(game, ruleset, layout, search.discount).planes, np.array(expected, np.int8))


def test_engine_games_become_samples_of_the_moves_the_engine_chose() -> None:
    games = [
        EngineGame(number=1, ruleset=RULES, moves=(0, 7, 1, 8, 2, 9, 3), first=2, values=(0, 5, 9, -9, 900),
                   outcome=Outcome.BLACK),
        EngineGame(number=2, ruleset=RULES, moves=(14, 15), first=2, values=(), outcome=Outcome.DRAW),
        EngineGame(number=3, ruleset=RULES, moves=(14, 15, 20), first=1, values=(3, 4), outcome=Outcome.WHITE),
    ]  # fmt: skip
    samples = make_engine_samples(games, RULES, "threats")
    rows = [(game, place) for game in games for place in range(game.first, len(game.moves))]
    planes = [encode(Position.from_moves(RULES, game.moves[:place]), "threats") for game, place in rows]
    assert np.array_equal(samples.planes, np.array(planes, np.int8))
    assert samples.policy.argmax(axis=1).tolist() == [game.moves[place] for game, place in rows]
    assert samples.policy.sum(axis=1).tolist() == [1.0] * len(rows)
    assert samples.result.tolist() == [1, -1, 1, -1, 1, 1, -1]
    assert samples.reply.tolist() == [8, 2, 9, 3, NO_MOVE, 20, NO_MOVE]
    assert np.sign(samples.value_to_move).tolist() == [0, 1, 1, -1, 1, 1, 1]


def test_games_that_cannot_be_written_give_an_error_message(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save_games(tmp_path, 1, [(0, 7)], [Outcome.DRAW], RULES)
    assert len(load(tmp_path / "games" / "000001.sgf")) == 1

    def fsync(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fsync)
    with pytest.raises(RunError, match=r"cannot write .*000002\.sgf: No space left on device; .* --resume"):
        save_games(tmp_path, 2, [(0, 7)], [Outcome.DRAW], RULES)
    assert [path.name for path in (tmp_path / "games").iterdir()] == ["000001.sgf"]


def test_random_planes_are_of_games_that_go_on() -> None:
    planes = random_planes(RULES, "own-other", 200, np.random.default_rng(1))
    stones = planes.sum(axis=(1, 2, 3))
    assert planes.shape == (200, 2, 6, 6)
    assert stones.min() == 0
    assert 12 < stones.max() < 18
    assert np.array_equal(planes, random_planes(RULES, "own-other", 200, np.random.default_rng(1)))
