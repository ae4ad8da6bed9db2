"""Fits of the evaluation: features that fit their games, fits that find what was planted."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tengen import _native
from tengen.core.contracts import Colour, Ruleset
from tengen.core.position import Position
from tengen.errors import InputError
from tengen.search.weights import load_weights
from tengen.tuning import evaluation_fit
from tengen.tuning.engine_games import EngineGamesConfig, generate_games, read_games
from tengen.tuning.evaluation_fit import (
    FitConfig,
    collect_samples,
    fit_files,
    fit_weights,
    shape_parts,
    threat_parts,
)

FREESTYLE = Ruleset(9, 9)
RENJU = Ruleset.parse("9x9:5:renju")
FAST = FitConfig(iterations=30, ordering_iterations=8, validation=0.2)


@pytest.fixture(scope="module")
def freestyle_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("games") / "freestyle.jsonl"
    generate_games(path, EngineGamesConfig(ruleset=FREESTYLE, games=40, nodes=60))
    return path


@pytest.fixture(scope="module")
def renju_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("games") / "renju.jsonl"
    generate_games(path, EngineGamesConfig(ruleset=RENJU, games=40, nodes=60))
    return path


# -- samples ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("by_colour", [False, True])
def test_samples_fit_their_games(freestyle_file, by_colour):
    games = list(read_games(freestyle_file))
    samples = collect_samples(games, FitConfig(by_colour=by_colour, result_weight=0.25))
    assert len(samples) > 100
    arrays = features_of(games, by_colour)
    rows = samples.rows.toarray()
    for sample in range(0, len(samples), 17):
        game = games[samples.games[sample]]
        move = int(arrays["move_indices"][sample])
        position = Position.start(game.ruleset)
        for played in game.moves[:move]:
            position = position.play(played)
        mover = position.to_move
        assert samples.colours[sample] == (0 if mover is Colour.BLACK else 1)
        # Target: a quarter of the result, the rest what the search thought.
        score = 0.5 if game.outcome.winner is None else float(game.outcome.winner is mover)
        value = np.clip(game.values[move - game.first], -2000, 2000)
        expected = 1 / (1 + np.exp(-value / _native.LOGISTIC_UNIT))
        assert samples.targets[sample] == pytest.approx(0.25 * score + 0.75 * expected)
        # Every empty point counts once for each colour.
        own, other = (rows[sample][rows[sample] > 0].sum(), rows[sample][rows[sample] < 0].sum())
        empties = game.ruleset.area - position.stones
        assert own == -other
        assert own == empties if by_colour else own <= empties
        # The candidate that was played.
        begin, end = samples.move_starts[sample : sample + 2]
        assert begin + samples.played[sample] < end
        assert samples.played[sample] >= 0


def features_of(games, by_colour):
    features = _native.PositionFeatures(by_colour)
    for game in games:
        features.add(Position.start(game.ruleset).native, game.moves, game.first)
    assert len(features) > 0
    arrays = features.take()
    assert len(features) == 0
    return arrays


def test_forced_positions_are_left_out():
    # Black's three stones in a row are an open three: black to move needs no evaluation, white does.
    moves = [7 * 15 + x for x in (7, 0, 8, 1, 9, 2)] + [14, 13]
    features = _native.PositionFeatures()
    features.add(Position.start(Ruleset(15, 15)).native, moves, 0)
    assert list(features.take()["move_indices"]) == [0, 1, 2, 3, 4, 5, 7]
    features.add(Position.start(Ruleset(15, 15)).native, moves, 5)
    assert list(features.take()["move_indices"]) == [5, 7]


def test_impossible_moves_end_a_game():
    features = _native.PositionFeatures()
    board = Position.start(FREESTYLE).native
    features.add(board, [40, 40, 41], 0)
    features.add(board, [40, 81], 0)
    features.add(board, [40, -1], 0)
    arrays = features.take()
    assert list(arrays["games"]) == [0, 1, 2]
    assert list(arrays["move_indices"]) == [0, 0, 0]


def test_games_of_different_rules_are_not_mixed(freestyle_file, renju_file):
    with pytest.raises(InputError, match="9x9:5:freestyle, 9x9:5:renju"):
        collect_samples([*read_games(freestyle_file), *read_games(renju_file)], FitConfig())


# -- fits -------------------------------------------------------------------------------------------------------------


def test_parts_describe_the_codes():
    codes, parts = np.array(_native.shape_codes()), shape_parts()
    assert parts.shape[0] == len(codes)
    assert (parts[:, :14].sum(axis=1) == 4).all()
    assert (parts[:, 14:].sum(axis=1) == 6).all()
    assert len(np.unique(parts, axis=0)) == len(codes)
    assert threat_parts().shape == (512, 10)
    assert list(threat_parts()[0b101]) == [1, 1, 0, 1, 0, 0, 0, 0, 0, 0]


def test_gradients_are_those_of_the_losses(renju_file, monkeypatch):
    samples = collect_samples(list(read_games(renju_file)), FitConfig())
    rng = np.random.default_rng(1)
    checked = []

    def check(loss, ridge, iterations):
        vector = 0.1 * rng.standard_normal(len(ridge))
        _, gradient = loss(vector)
        for _ in range(6):
            direction = rng.standard_normal(len(ridge))
            step = 1e-5
            slope = (loss(vector + step * direction)[0] - loss(vector - step * direction)[0]) / (2 * step)
            assert slope == pytest.approx(gradient @ direction, rel=1e-4, abs=1e-7)
        checked.append(len(ridge))
        return np.zeros(len(ridge))

    monkeypatch.setattr(evaluation_fit, "_minimise", check)
    monkeypatch.setattr(evaluation_fit, "_ROWS_AT_ONCE", 3000)
    fit_weights(list(read_games(renju_file)), FitConfig(validation=0.2))
    assert len(checked) == 3
    assert len(samples) > 0


@pytest.mark.parametrize("name", ["freestyle", "renju"])
def test_fits_learn_something(name, freestyle_file, renju_file, tmp_path):
    path = {"freestyle": freestyle_file, "renju": renju_file}[name]
    said: list[str] = []
    target = tmp_path / "weights.npz"
    report = fit_files([path], target, FAST, said.append)
    assert report.evaluation.train < report.evaluation.base
    for ordering in report.ordering:
        assert max(ordering.train, ordering.validation) < ordering.base
        assert ordering.top > 0.05
    assert [ordering.colour for ordering in report.ordering] == (["black", "white"] if name == "renju" else ["both"])
    weights = load_weights(target)
    for table in (weights.points, weights.threats, weights.attack, weights.defence):
        assert table.any()
        if name == "freestyle":
            assert np.array_equal(table[0], table[1])
    # The weights of the threats are small after so few games and may be rounded to the same numbers for both colours.
    for table in (weights.points, weights.attack, weights.defence):
        assert np.array_equal(table[0], table[1]) == (name == "freestyle")
    log = json.loads((tmp_path / "weights.json").read_text(encoding="utf-8"))
    assert log["games"] == 40
    assert log["config"]["seed"] == FAST.seed
    assert log["positions"] == report.positions
    assert log["evaluation"]["validation"] == report.evaluation.validation
    assert len(log["commit"]) in (7, 40)
    assert len(said) == 2 + len(report.ordering)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["weights.json", "weights.npz"]


def test_a_fit_repeats(freestyle_file):
    games = list(read_games(freestyle_file))
    (one, _), (two, _) = fit_weights(games, FAST), fit_weights(games, FAST)
    assert np.array_equal(one.points, two.points)
    assert np.array_equal(one.attack, two.attack)


def test_regularisation_shrinks(freestyle_file):
    games = list(read_games(freestyle_file))
    loose, tight = (fit_weights(games, replace(FAST, regularisation=factor))[0] for factor in (0.1, 1000.0))
    for name in ("points", "threats", "attack", "defence"):
        assert np.abs(getattr(tight, name)).sum() < np.abs(getattr(loose, name)).sum()


def test_validation_keeps_whole_games_out(freestyle_file):
    samples = collect_samples(list(read_games(freestyle_file)), FAST)
    training, validation = samples.split(FAST)
    assert set(samples.games[training]) & set(samples.games[validation]) == set()
    assert len(set(samples.games[validation])) <= 8
    other = samples.split(replace(FAST, seed=2))[1]
    assert not np.array_equal(validation, other)


def test_bad_fits_are_refused(freestyle_file, tmp_path):
    empty = tmp_path / "empty.jsonl"
    empty.write_text("", encoding="ascii")
    with pytest.raises(InputError, match="no games"):
        fit_files([empty], tmp_path / "w.npz", FAST)
    with pytest.raises(InputError, match=r"\.npz"):
        fit_files([freestyle_file], tmp_path / "weights", FAST)
    with pytest.raises(InputError, match="too few"):
        fit_weights(list(read_games(freestyle_file))[:1], FAST)
    for setting in ({"result_weight": 1.5}, {"validation": 0.0}, {"iterations": 0}):
        with pytest.raises(InputError):
            FitConfig(**setting)


def test_fitted_weights_play(freestyle_file, tmp_path):
    target = Path(tmp_path / "weights.npz")
    fit_files([freestyle_file], target, FAST)
    path = tmp_path / "again.jsonl"
    generate_games(path, EngineGamesConfig(ruleset=FREESTYLE, games=1, nodes=40, weights=target))
    assert len(next(iter(read_games(path))).moves) > 2
