"""Tuning: games that resume, features that fit their games, fits that find what was planted."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tengen import _native
from tengen.core.contracts import Colour, Outcome, Ruleset
from tengen.core.position import Position
from tengen.errors import InputError, RecordError
from tengen.search.weights import load_weights, save_weights, weights_for
from tengen.tuning import evaluation_fit
from tengen.tuning.engine_games import EngineGame, EngineGamesConfig, generate_games, read_games
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


# -- games ------------------------------------------------------------------------------------------------------------


def replay(game: EngineGame) -> Position:
    position = Position.start(game.ruleset)
    for move in game.moves:
        position = position.play(move)
    return position


@pytest.mark.parametrize("text", ["9x9:5:freestyle", "9x9:5:renju", "6x6:4:freestyle", "8x11:5:caro"])
def test_games_are_legal_and_have_values(tmp_path, text):
    path = tmp_path / "games.jsonl"
    config = EngineGamesConfig(ruleset=Ruleset.parse(text), games=4, nodes=50)
    assert generate_games(path, config) == 0
    games = list(read_games(path))
    assert [game.number for game in games] == [0, 1, 2, 3]
    for game in games:
        end = replay(game)
        assert 1 <= game.first < len(game.moves)
        assert len(game.values) == len(game.moves) - game.first
        assert game.outcome is not Outcome.ONGOING
        if end.is_over:
            assert end.outcome is game.outcome
        elif game.outcome is not Outcome.DRAW:
            # The last search proved it.
            mover = end.to_move.opponent
            assert abs(game.values[-1]) >= _native.MATE_BOUND
            assert game.outcome.winner is (mover if game.values[-1] > 0 else mover.opponent)


def test_games_can_be_played_to_the_end(tmp_path):
    proved, ended, noisy = (tmp_path / name for name in ("proved.jsonl", "ended.jsonl", "noisy.jsonl"))
    config = EngineGamesConfig(ruleset=FREESTYLE, games=6, nodes=40)
    generate_games(proved, config)
    generate_games(ended, replace(config, to_the_end=True, begun=proved))
    for begun, game in zip(read_games(proved), read_games(ended), strict=True):
        assert game.moves[: len(begun.moves)] == begun.moves
        assert game.first == begun.first
        end = replay(game)
        assert end.is_over or game.outcome is Outcome.DRAW
        assert len(game.values) == len(game.moves) - game.first
    generate_games(noisy, replace(config, to_the_end=True, noise=1.0))
    assert [game.moves for game in read_games(noisy)] != [game.moves for game in read_games(ended)]
    with pytest.raises(InputError, match="only be played to the end"):
        replace(config, begun=proved)
    with pytest.raises(InputError, match=r"9x9:5:freestyle, not 9x9:5:renju"):
        generate_games(tmp_path / "other.jsonl", replace(config, ruleset=RENJU, to_the_end=True, begun=proved))


def test_a_run_goes_on_where_it_was(tmp_path):
    config = EngineGamesConfig(ruleset=FREESTYLE, games=5, nodes=40)
    whole, cut = tmp_path / "whole.jsonl", tmp_path / "cut.jsonl"
    generate_games(whole, config)
    generate_games(cut, replace(config, games=2))
    # A killed run leaves part of a line behind.
    with open(cut, "ab") as file:
        file.write(b'{"game":2,"rule')
    heard = []
    assert generate_games(cut, config, on_game=lambda game: heard.append(game.number)) == 2
    assert heard == [2, 3, 4]
    assert cut.read_bytes() == whole.read_bytes()
    assert generate_games(cut, config) == 5


def test_workers_play_the_same_games(tmp_path):
    config = EngineGamesConfig(ruleset=FREESTYLE, games=5, nodes=40)
    alone, together = tmp_path / "alone.jsonl", tmp_path / "together.jsonl"
    generate_games(alone, config)
    generate_games(together, config, workers=2)
    assert sorted(alone.read_bytes().splitlines()) == sorted(together.read_bytes().splitlines())


def test_another_seed_gives_other_games(tmp_path):
    paths = [tmp_path / f"{seed}.jsonl" for seed in (1, 2)]
    for seed, path in enumerate(paths, 1):
        generate_games(path, EngineGamesConfig(ruleset=FREESTYLE, games=2, nodes=40, seed=seed))
    assert [game.moves for game in read_games(paths[0])] != [game.moves for game in read_games(paths[1])]


@pytest.mark.parametrize(
    ("setting", "named"),
    [
        ({"nodes": 41}, "nodes 40, not 41"),
        ({"seed": 9}, "seed 1, not 9"),
        ({"to_the_end": True}, "end None, not True"),
        ({"noise": 0.5}, "noise None, not 0.5"),
        ({"max_opening_value": 300}, "opening None, not 300"),
    ],
)
def test_runs_are_not_mixed(tmp_path, setting, named):
    config = EngineGamesConfig(ruleset=FREESTYLE, games=1, nodes=40)
    first, second = tmp_path / "first.jsonl", tmp_path / "second.jsonl"
    generate_games(first, config)
    with pytest.raises(InputError, match=named):
        generate_games(first, replace(config, games=2, **setting))
    generate_games(second, replace(config, **setting))
    with pytest.raises(InputError, match=f"{named.split()[0]} .*, not "):
        generate_games(second, replace(config, games=2))


def test_games_of_another_network_are_not_gone_on_with(tmp_path):
    path, whole, linear = tmp_path / "games.jsonl", tmp_path / "whole.npz", tmp_path / "linear.npz"
    weights = weights_for(FREESTYLE)
    assert weights.net is not None
    save_weights(whole, weights)
    save_weights(linear, _native.Weights(weights.points, weights.threats, weights.attack, weights.defence))
    config = EngineGamesConfig(ruleset=FREESTYLE, games=1, nodes=40)
    generate_games(path, config)
    assert generate_games(path, replace(config, weights=whole)) == 1
    with pytest.raises(InputError, match="played with weights"):
        generate_games(path, replace(config, weights=linear))


def test_games_of_another_beginning_are_not_gone_on_with(tmp_path):
    begun, ended = tmp_path / "begun.jsonl", tmp_path / "ended.jsonl"
    config = EngineGamesConfig(ruleset=FREESTYLE, games=1, nodes=40)
    generate_games(begun, config)
    generate_games(ended, replace(config, to_the_end=True, begun=begun))
    begun.unlink()
    generate_games(begun, replace(config, seed=2))
    with pytest.raises(InputError, match="line 1 does not continue a game"):
        generate_games(ended, replace(config, to_the_end=True, begun=begun))


def test_a_folder_that_is_not_there_is_found_out_before_a_game(tmp_path):
    with pytest.raises(InputError, match=r"cannot write .*games\.jsonl: No such file"):
        generate_games(
            tmp_path / "none" / "games.jsonl",
            EngineGamesConfig(ruleset=FREESTYLE, games=1, nodes=40),
            on_game=lambda _: pytest.fail("a game was played"),
        )


@pytest.mark.parametrize(
    ("line", "named"),
    [
        ("nonsense", "line 1 is not an engine game"),
        ('{"game":0,"ruleset":"9x9:5:freestyle","first":1,"moves":"e5e6","values":[1,2],"outcome":"draw"}', "2 values"),
        ('{"game":0,"ruleset":"9x9:5:freestyle","first":0,"moves":"","values":[],"outcome":"lost"}', "lost"),
        ("[" * 10_000, "line 1 is not an engine game"),
    ],
)
def test_damaged_lines_are_refused(tmp_path, line, named):
    path = tmp_path / "games.jsonl"
    path.write_text(line + "\n", encoding="ascii")
    with pytest.raises(RecordError, match=named):
        list(read_games(path))


def test_bad_settings_are_refused(tmp_path):
    with pytest.raises(InputError, match="3x3:3:freestyle"):
        EngineGamesConfig(ruleset=Ruleset(3, 3, 3), games=1)
    with pytest.raises(InputError, match="at least 1"):
        EngineGamesConfig(ruleset=FREESTYLE, games=0)
    with pytest.raises(RecordError, match="nowhere"):
        list(read_games(tmp_path / "nowhere.jsonl"))


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
    assert replay(next(iter(read_games(path)))).stones > 2
