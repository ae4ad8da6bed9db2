"""The defects of alphagomoku8: of its training data and of its search."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from tengen.core.contracts import Colour, Limits, Outcome, Ruleset
from tengen.core.geometry import parse_points
from tengen.core.position import Position
from tengen.errors import InputError
from tengen.learning.experience.replay import NO_MOVE, Samples
from tengen.learning.experience.self_play import Games, game_planes
from tengen.papers.alphagomoku8.defects import LAYOUT, Defect, corrupt
from tengen.papers.alphagomoku8.experiments import Defects, SignError, play_games
from tengen.papers.alphagomoku8.plain_search import choose_moves, count_visits
from tengen.papers.experiment import Lab
from tengen.search.evaluation import UniformEvaluator
from tengen.search.puct_config import PuctConfig
from tengen.search.puct_search import PuctSearch
from tests.search.networks import FixedEvaluator

THREES = Ruleset.parse("3x3:3")
FOURS = Ruleset.parse("6x6:4")
# Black wins with a1, b1, c1; then white wins with the diagonal a1, b2, c3.
MOVES = [(0, 3, 1, 4, 2), (1, 0, 2, 4, 3, 8)]


def games(moves: list[tuple[int, ...]], outcomes: list[Outcome]) -> Games:
    """Return games with correct samples."""
    parts = []
    for game, outcome in zip(moves, outcomes, strict=True):
        plies = np.arange(len(game))
        for_black = 1.0 if outcome is Outcome.BLACK else -1.0
        parts.append(
            Samples(
                planes=game_planes(THREES, game, plies, LAYOUT),
                policy=np.eye(9, dtype=np.float16)[list(game)],
                value_to_move=np.zeros(len(game), np.float32),
                result=np.where(plies % 2 == 0, for_black, -for_black).astype(np.float32),
                reply=np.array([*game[1:], NO_MOVE], np.int16),
                surprise=np.zeros(len(game), np.float32),
            )
        )
    return Games(Samples.concatenate(parts), moves, outcomes, [0] * len(moves), [""] * len(moves), 1)


CORRECT = games(MOVES, [Outcome.BLACK, Outcome.WHITE])


def planes_with(*defects: Defect) -> np.ndarray:
    return corrupt(CORRECT, THREES, defects).samples.planes.reshape(11, 4, 9)


def points(plane: np.ndarray) -> set[int]:
    return set(np.flatnonzero(plane).tolist())


def test_without_defects_nothing_changes() -> None:
    found = corrupt(CORRECT, THREES, ()).samples
    assert all(
        (getattr(found, name) == getattr(CORRECT.samples, name)).all() for name in ("planes", "result", "policy")
    )


def test_positions_are_stored_as_the_last_one_of_their_game() -> None:
    planes = planes_with(Defect.LAST_POSITION)
    for row in range(5):
        own, other = ({0, 1, 2}, {3, 4}) if row % 2 == 0 else ({3, 4}, {0, 1, 2})
        assert [points(plane) for plane in planes[row, :3]] == [own, other, {2}]
    assert points(planes[5, 0]) == {1, 2, 3}
    assert points(planes[5, 1]) == {0, 4, 8}
    assert (planes[:, 3] == CORRECT.samples.planes.reshape(11, 4, 9)[:, 3]).all(), "the colour stays"


def test_results_are_those_of_black() -> None:
    assert corrupt(CORRECT, THREES, [Defect.BLACK_RESULT]).samples.result.tolist() == 5 * [1.0] + 6 * [-1.0]


def test_the_last_move_plane_shows_the_move_to_predict() -> None:
    planes = planes_with(Defect.NEXT_MOVE)
    assert [points(planes[row, 2]) for row in range(11)] == [{move} for game in MOVES for move in game]
    assert (planes[:, :2] == CORRECT.samples.planes.reshape(11, 4, 9)[:, :2]).all()


def test_stones_of_earlier_games_stay() -> None:
    planes = planes_with(Defect.OLD_STONES)
    before = CORRECT.samples.planes.reshape(11, 4, 9)
    assert (planes[:5] == before[:5]).all(), "there is no earlier game"
    # The first position of the second game: black to move on an empty board, but with the first game's stones.
    assert [points(plane) for plane in planes[5, :2]] == [{0, 1, 2}, {3, 4}]
    assert [points(plane) for plane in planes[6, :2]] == [{3, 4}, {0, 1, 2}]


def test_samples_that_cannot_be_assigned_to_moves_are_refused() -> None:
    with pytest.raises(InputError, match="there are 10 samples for 11 moves"):
        corrupt(replace(CORRECT, samples=CORRECT.samples[:10]), THREES, [Defect.NEXT_MOVE])


TINY = ("ruleset=3x3:3", "iterations=1", "self_play.games=4", "self_play.parallel=4", "self_play.actors=1",
        "search.simulations=4", "strength.every=0", "learner.batch=8", "learner.epochs=1",
        "net.channels=4")  # fmt: skip


def test_defective_trainings_learn_from_defective_samples(tmp_path: Path) -> None:
    experiment = Defects(
        name="d",
        algorithm="alphazero",
        preset="alphagomoku8-6x6x4",
        settings=TINY,
        variants={"none": (), "all": ()},
        defects={"all": (Defect.BLACK_RESULT, Defect.NEXT_MOVE)},
        final=("losses.value",),
    )
    found = experiment.run(Lab(out=tmp_path, console=Console(quiet=True)))
    assert {"d/none/losses.value", "d/all/losses.value"} <= found.figures.keys()
    last_moves = {}
    for variant in ("none", "all"):
        arrays = np.load(tmp_path / "runs" / f"d-{variant}" / "1" / "replay" / "000001.npz")
        last_moves[variant] = arrays["planes"][:, 2].reshape(len(arrays["planes"]), 9).sum(axis=1)
    assert (last_moves["all"] == 1).all()
    assert (last_moves["none"] == 0).sum() == 4, "the first move of every game has no last move"
    with pytest.raises(InputError, match="unknown variant 'some'"):
        replace(experiment, defects={"some": ()})


# -- the sign error ---------------------------------------------------------------------------------------------------


def test_without_the_error_it_is_the_native_search() -> None:
    network = FixedEvaluator(LAYOUT)
    position = Position.from_moves(FOURS, "c3d3c4")
    config = PuctConfig(simulations=120, c_puct=5.0)
    native = PuctSearch(FOURS, network, config).search(position, Limits())
    (visits,) = count_visits([position], network, simulations=120, c_puct=5.0)
    assert sum(visits.values()) == 120
    assert native.policy is not None
    shares = {point: count / 120 for point, count in visits.items() if count}
    assert shares == pytest.approx({point: share for point, share in native.policy.items() if share})


def test_with_the_error_the_own_five_of_the_second_player_looks_lost() -> None:
    four = {"black": "b2c2d2", "white": "b4c4d4"}
    for colour, wins in ((Colour.BLACK, "a2e2"), (Colour.WHITE, "a4e4")):
        position = Position.from_stones(
            FOURS, black=parse_points(four["black"]), white=parse_points(four["white"]), to_move=colour
        )
        for sign_error in (False, True):
            (move,) = choose_moves(
                [position], UniformEvaluator(LAYOUT), simulations=200, c_puct=1.0, sign_error=sign_error
            )
            should_win = colour is Colour.BLACK or not sign_error
            assert (move in parse_points(wins)) is should_win, (colour, sign_error)


def test_games_are_played_from_the_empty_board_with_either_colour() -> None:
    for colour in Colour:
        won, drawn, lost = play_games(
            UniformEvaluator(LAYOUT), "random", colour, THREES, games=12, simulations=60, c_puct=1.0, sign_error=False
        )
        assert won + drawn + lost == 12
        assert won > 6


def test_the_experiment_keeps_its_parts(tmp_path: Path) -> None:
    experiment = SignError(
        name="s", rules=Ruleset.parse("6x6:4"), model="6x6x4", opponents={"r": "random"}, games=2, simulations=4
    )
    lab = Lab(out=tmp_path, console=Console(quiet=True))
    found = experiment.run(lab)
    assert {"s/right/r/first/won", "s/sign error/r/second/lost"} <= found.figures.keys()
    assert experiment.run(lab).figures == found.figures
    with pytest.raises(InputError, match="set either network or model"):
        replace(experiment, network="x")
