"""The evaluation's small network: whole numbers as they should be, training that learns, files that come back."""

from __future__ import annotations

import itertools
import json

import numpy as np
import pytest
import torch

from tengen import _native
from tengen.core.contracts import Ruleset
from tengen.core.position import Position
from tengen.errors import InputError
from tengen.search.weights import load_weights, save_weights, weights_for
from tengen.tuning import evaluation_net
from tengen.tuning.engine_games import EngineGamesConfig, generate_games, read_games
from tengen.tuning.evaluation_fit import collect_samples
from tengen.tuning.evaluation_net import FEATURES, HIDDEN, NetFitConfig, TrainedNet, quantise, train_files, train_net

RULESETS = [Ruleset.parse(text) for text in ("9x9:5:freestyle", "9x9:5:renju", "7x7:4:freestyle")]
CODE_OF = {tuple(sorted(shapes)): code for code, shapes in enumerate(_native.shape_codes())}
THREAT_SETS = 1 << _native.THREAT_BITS


def random_net(seed: int) -> _native.EvaluationNet:
    random = np.random.default_rng(seed)

    def numbers(shape, limit, kind=np.int16):
        return random.integers(-limit, limit, shape, dtype=kind)

    return _native.EvaluationNet(
        own=numbers((2, _native.SHAPE_CODES, FEATURES), 60),
        other=numbers((2, _native.SHAPE_CODES, FEATURES), 60),
        first=numbers((2, HIDDEN, 2 * FEATURES), 300),
        threats=numbers((2, THREAT_SETS, HIDDEN), 200_000, np.int32),
        second=numbers((HIDDEN, HIDDEN), 300),
        second_bias=numbers((HIDDEN,), 200_000, np.int32),
        output=numbers((HIDDEN,), 300),
        output_bias=12_345,
    )


def with_net(net: _native.EvaluationNet) -> _native.Weights:
    prior = _native.Weights.prior()
    return _native.Weights(prior.points, prior.threats, prior.attack, prior.defence, net)


def reference_value(net: _native.EvaluationNet, position: Position, colour: int, threat_bits: int) -> int:
    """The network by its definition, in Python's own whole numbers."""

    def codes(board: _native.Board) -> list[tuple[int, ...]]:
        patterns = _native.PatternBoard(board)
        shapes = [patterns.shapes(side) for side in (0, 1)]
        return [
            tuple(CODE_OF[tuple(sorted(shapes[side][:, point].tolist()))] for side in (0, 1))
            for point in range(shapes[0].shape[1])
            if patterns.at(point) == 0
        ]

    now, bare = codes(position.native), codes(Position.start(position.ruleset).native)

    def features(side: int) -> np.ndarray:
        def total(codes: list[tuple[int, ...]]) -> np.ndarray:
            rows = [net.own[side, code[side]].astype(int) + net.other[side, code[1 - side]] for code in codes]
            return np.maximum(0, rows).sum(axis=0)

        return total(now) - total(bare)

    def rectified(sums: np.ndarray) -> np.ndarray:
        return np.clip(sums >> _native.EvaluationNet.SHIFT, 0, 32767)

    inputs = np.concatenate((features(colour), features(1 - colour)))
    hidden = rectified(net.threats[colour, threat_bits].astype(int) + net.first[colour].astype(int) @ inputs)
    hidden = rectified(net.second_bias.astype(int) + net.second.astype(int) @ hidden)
    total = net.output_bias + int(net.output.astype(int) @ hidden)
    return int(total / _native.EvaluationNet.OUTPUT_UNIT)


@pytest.fixture(scope="module")
def games(tmp_path_factory):
    files = {}
    for ruleset in RULESETS:
        path = tmp_path_factory.mktemp("games") / "games.jsonl"
        generate_games(path, EngineGamesConfig(ruleset=ruleset, games=60, nodes=60))
        files[ruleset] = path
    return files


@pytest.mark.parametrize("ruleset", RULESETS, ids=str)
def test_the_engine_computes_the_network_by_its_definition(games, ruleset):
    net = random_net(3)
    linear, whole = _native.Weights.prior(), with_net(net)
    compared = 0
    for game in list(read_games(games[ruleset]))[:10]:
        samples = collect_samples([game], NetFitConfig().fit)
        features = _native.PositionFeatures(False)
        features.add(Position.start(ruleset).native, game.moves, game.first)
        for index, bits in zip(features.take()["move_indices"], samples.threat_bits, strict=True):
            position = Position.start(ruleset)
            for move in game.moves[:index]:
                position = position.play(move)
            expected = reference_value(net, position, index % 2, int(bits))
            assert whole.evaluate(position.native) - linear.evaluate(position.native) == expected
            compared += 1
    assert compared > 20


@pytest.mark.parametrize("ruleset", RULESETS[:2], ids=str)
def test_training_learns_what_the_linear_evaluation_cannot_say(games, ruleset):
    config = NetFitConfig(epochs=16, batch=256, validation=0.2)
    samples = collect_samples(list(read_games(games[ruleset])), config.fit)
    net, before, after = train_net(samples, _native.Weights.prior(), config)
    assert after < before - 0.005
    again, _, same = train_net(samples, _native.Weights.prior(), config)
    assert same == after
    assert all(torch.equal(a, b) for a, b in zip(net.parameters(), again.parameters(), strict=True))


def test_whole_numbers_agree_with_the_trained_ones(games):
    ruleset = RULESETS[1]
    config = NetFitConfig(epochs=4, batch=256)
    recorded = list(read_games(games[ruleset]))
    samples = collect_samples(recorded, config.fit)
    trained, _, _ = train_net(samples, _native.Weights.prior(), config)
    net = quantise(trained)
    batches = evaluation_net._Batches(samples, np.zeros(len(samples), dtype=np.float32))
    differences = []
    with torch.no_grad():
        for sample in range(0, len(samples), 7):
            game = recorded[samples.games[sample]]
            features = _native.PositionFeatures(False)
            features.add(Position.start(ruleset).native, game.moves, game.first)
            index = features.take()["move_indices"][sample - int(np.searchsorted(samples.games, samples.games[sample]))]
            position = Position.start(ruleset)
            for move in game.moves[:index]:
                position = position.play(move)
            side = int(samples.colours[sample])
            exact = float(batches.logits(trained, side, np.array([sample]))[0]) * _native.LOGISTIC_UNIT
            whole = with_net(net).evaluate(position.native) - _native.Weights.prior().evaluate(position.native)
            differences.append(abs(exact - whole))
    assert max(differences) < 6
    assert np.mean(differences) < 2


def test_files_come_back(tmp_path, games):
    base, target = tmp_path / "base.npz", tmp_path / "net.npz"
    save_weights(base, _native.Weights.prior())
    said: list[str] = []
    report = train_files([games[RULESETS[0]]], base, target, NetFitConfig(epochs=1, batch=256), said.append)
    assert report.games == 60
    assert any("linear" in line for line in said)
    loaded = load_weights(target)
    assert loaded.net is not None
    assert loaded.net.own.any()
    assert np.array_equal(loaded.points, _native.Weights.prior().points)
    log = json.loads(target.with_suffix(".json").read_text())
    assert log["network"] == report.network
    assert load_weights(base).net is None

    again = tmp_path / "again.npz"
    save_weights(again, loaded)
    back = load_weights(again).net
    for name in ("own", "other", "first", "threats", "second", "second_bias", "output"):
        assert np.array_equal(getattr(back, name), getattr(loaded.net, name)), name
    assert back.output_bias == loaded.net.output_bias


def test_bad_input_is_named(tmp_path, games):
    base = tmp_path / "base.npz"
    save_weights(base, with_net(random_net(1)))
    with np.load(base) as tables:
        parts = dict(tables)
    damaged = tmp_path / "damaged.npz"
    np.savez(damaged, **parts | {"net_second": parts["net_second"][:, :7]})
    with pytest.raises(InputError, match=r"damaged.npz is not a weights file: second has the shape"):
        load_weights(damaged)
    with pytest.raises(InputError, match=r"must end in \.npz, not .*net\.txt"):
        train_files([games[RULESETS[0]]], base, tmp_path / "net.txt", NetFitConfig())
    with pytest.raises(InputError, match="epochs"):
        NetFitConfig(epochs=0)
    empty = tmp_path / "empty.jsonl"
    empty.write_text("")
    with pytest.raises(InputError, match=r"no games in .*empty\.jsonl"):
        train_files([empty], base, tmp_path / "net.npz", NetFitConfig())


def test_a_fresh_network_says_nothing():
    net = quantise(TrainedNet(1))
    position = Position.start(Ruleset(15, 15)).play(112)
    assert abs(with_net(net).evaluate(position.native) - _native.Weights.prior().evaluate(position.native)) <= 50


def test_a_larger_board_is_worth_the_same():
    """What lies beyond the reach of all stones does not count."""
    small, large = Ruleset(15, 15), Ruleset(20, 20)
    values = [
        weights_for(ruleset).evaluate(Position.from_moves(ruleset, centre).native)
        for ruleset, centre in ((small, "h8"), (large, "j10"))
    ]
    assert values[0] == values[1]


def test_the_shipped_network_has_room_on_the_largest_board():
    """Features are 16-bit sums over the empty points: they must fit however many points there are."""
    ruleset = Ruleset(22, 22)
    net = weights_for(ruleset).net
    assert net is not None
    random = np.random.default_rng(1)
    start = Position.start(ruleset).native
    largest = 0
    for _ in range(20):
        features = _native.PositionFeatures(False)
        features.add(start, random.permutation(ruleset.area)[: random.integers(2, 300)].tolist(), 0)
        arrays = features.take()
        for first, end in itertools.pairwise(arrays["pair_starts"]):
            own, other = np.divmod(arrays["pairs"][first:end], _native.SHAPE_CODES)
            points = np.maximum(0, net.own[0, own].astype(int) + net.other[0, other])
            largest = max(largest, int(np.abs((points * arrays["pair_counts"][first:end, None]).sum(axis=0)).max()))
    assert 1000 < largest < 24_000
