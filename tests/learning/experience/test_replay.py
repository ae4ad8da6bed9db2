"""The replay window: contents, sampling, symmetries, and its shards on disk."""

from __future__ import annotations

import tracemalloc
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest

from tengen.core.contracts import Ruleset
from tengen.core.planes import encode
from tengen.core.symmetry import symmetries, transform_array, transform_position
from tengen.errors import RunError
from tengen.learning.experience.replay import NO_MOVE, Replay, Samples, WindowConfig, transform_samples
from tests.nets.positions import random_positions

FIVE = Ruleset.parse("5x5:4")
LAYOUT = "own-other-last-colour"


def make_samples(count: int, value: float = 0.0, surprise: float = 1.0, seed: int = 0) -> Samples:
    rng = np.random.default_rng(seed)
    policy = rng.random((count, FIVE.area))
    return Samples(
        planes=rng.integers(0, 2, (count, 4, 5, 5)).astype(np.int8),
        policy=(policy / policy.sum(axis=1, keepdims=True)).astype(np.float16),
        value_to_move=np.full(count, value, np.float32),
        result=np.zeros(count, np.float32),
        reply=rng.integers(-1, FIVE.area, count).astype(np.int16),
        surprise=np.full(count, surprise, np.float32),
    )


def test_turned_samples_are_those_of_the_turned_position() -> None:
    for position in random_positions(FIVE, 10, seed=4):
        planes = encode(position, "own-other-last-colour")
        policy = np.random.default_rng(position.stones).random((1, 25)).astype(np.float16)
        reply = position.legal_points()[0]
        sample = Samples(
            planes=planes[None].astype(np.int8),
            policy=policy,
            value_to_move=np.zeros(1, np.float32),
            result=np.zeros(1, np.float32),
            reply=np.array([reply.index(5)], np.int16),
            surprise=np.zeros(1, np.float32),
        )
        for symmetry in symmetries(FIVE):
            turned = transform_samples(sample, np.array([symmetry]), FIVE)
            expected = transform_position(position, symmetry)
            assert np.array_equal(turned.planes[0], encode(expected, "own-other-last-colour"))
            assert np.array_equal(turned.policy.reshape(5, 5), transform_array(policy.reshape(5, 5), symmetry))
            assert expected.is_legal(int(turned.reply[0]))
            assert turned.policy[0, turned.reply[0]] == policy[0, reply.index(5)]


def test_turning_leaves_a_missing_reply_missing() -> None:
    samples = make_samples(8)
    samples.reply[:] = NO_MOVE
    assert (transform_samples(samples, np.arange(8), FIVE).reply == NO_MOVE).all()


def test_window_grows_by_its_power_law_and_holds_the_newest(tmp_path: Path) -> None:
    config = WindowConfig(first=100, largest=250, exponent=0.5, surprise_share=0.0)
    assert [config.size(total) for total in (50, 100, 400, 10_000)] == [50, 100, 200, 250]
    replay = Replay(tmp_path, FIVE, LAYOUT, config)
    for iteration in range(1, 9):
        replay.add(iteration, make_samples(50, value=iteration / 10))
    assert len(replay) == config.size(400) == 200
    values = set(np.round(replay.sample(2000, np.random.default_rng(1)).value_to_move * 10))
    assert values == {5, 6, 7, 8}


def test_window_read_back_from_disk_gives_the_same_batches(tmp_path: Path) -> None:
    config = WindowConfig(first=60, largest=1000, exponent=0.7)
    replay = Replay(tmp_path, FIVE, LAYOUT, config)
    for iteration in range(1, 7):
        replay.add(iteration, make_samples(40, value=iteration / 10, surprise=iteration, seed=iteration))
        replay.remove_outdated()
    again = Replay(tmp_path, FIVE, LAYOUT, config)
    again.load(6, replay.total)
    one, other = (one.sample(64, np.random.default_rng(3)) for one in (replay, again))
    assert len(again) == len(replay)
    for name in ("planes", "policy", "value_to_move", "reply"):
        assert np.array_equal(getattr(one, name), getattr(other, name))


def test_surprising_positions_are_drawn_more_often(tmp_path: Path) -> None:
    replay = Replay(tmp_path, FIVE, LAYOUT, WindowConfig(surprise_share=0.5))
    replay.add(1, Samples.concatenate([make_samples(90, value=0.0, surprise=0.0), make_samples(10, 1.0, surprise=2.0)]))
    drawn = replay.sample(20_000, np.random.default_rng(0)).value_to_move.mean()
    # Half the weight is even, half goes to the ten surprising positions of a hundred.
    assert abs(drawn - (0.5 * 0.1 + 0.5)) < 0.02


def test_damaged_shard_is_named(tmp_path: Path) -> None:
    replay = Replay(tmp_path, FIVE, LAYOUT, WindowConfig())
    replay.add(1, make_samples(5))
    shard = tmp_path / "000001.npz"
    shard.write_bytes(shard.read_bytes()[:100])
    with pytest.raises(RunError, match=r"000001\.npz is damaged"):
        Replay(tmp_path, FIVE, LAYOUT, WindowConfig()).load(1, 5)


def test_a_shard_of_an_earlier_version_is_read(tmp_path: Path) -> None:
    Replay(tmp_path, FIVE, LAYOUT, WindowConfig()).add(1, make_samples(5, value=0.3))
    with np.load(tmp_path / "000001.npz") as arrays:
        earlier = {"value_search" if name == "value_to_move" else name: arrays[name] for name in arrays}
    np.savez_compressed(tmp_path / "000001.npz", **earlier)
    replay = Replay(tmp_path, FIVE, LAYOUT, WindowConfig())
    replay.load(1, 5)
    assert replay.window is not None
    np.testing.assert_allclose(replay.window.value_to_move, 0.3, rtol=1e-6)


def test_a_missing_shard_is_named_if_the_window_needs_it(tmp_path: Path) -> None:
    config = WindowConfig(first=20, largest=20)
    replay = Replay(tmp_path, FIVE, LAYOUT, config)
    for iteration in range(1, 5):
        replay.add(iteration, make_samples(10))
    again = Replay(tmp_path, FIVE, LAYOUT, config)
    (tmp_path / "000002.npz").unlink()
    again.load(4, 40)
    (tmp_path / "000003.npz").unlink()
    with pytest.raises(RunError, match=r"000003\.npz is missing"):
        again.load(4, 40)


def test_a_window_as_of_an_earlier_iteration_can_be_loaded(tmp_path: Path) -> None:
    config = WindowConfig(first=20, largest=20)
    replay = Replay(tmp_path, FIVE, LAYOUT, config)
    for iteration in range(1, 5):
        replay.add(iteration, make_samples(10, value=iteration / 10))
    replay.load(3, 30)
    assert replay.window is not None
    assert np.round(replay.window.value_to_move * 10).tolist() == [2] * 10 + [3] * 10


def test_a_shard_with_too_few_positions_is_refused(tmp_path: Path) -> None:
    replay = Replay(tmp_path, FIVE, LAYOUT, WindowConfig())
    replay.add(1, make_samples(5))
    with pytest.raises(RunError, match="holds only 5 of the newest 7 positions"):
        replay.load(1, 7)


@pytest.mark.parametrize("moved", [3, 1024])
def test_the_window_holds_the_newest_rows_in_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moved: int) -> None:
    monkeypatch.setattr("tengen.learning.experience.replay._ROWS_MOVED", moved)
    config = WindowConfig(first=30, largest=60, exponent=0.8)
    replay = Replay(tmp_path, FIVE, LAYOUT, config)
    shards = [make_samples(count, seed=count) for count in (7, 20, 1, 40, 13, 70, 5, 5)]
    for iteration, shard in enumerate(shards, start=1):
        replay.add(iteration, shard)
        everything = Samples.concatenate(shards[:iteration])
        size = config.size(len(everything))
        again = Replay(tmp_path, FIVE, LAYOUT, config)
        again.load(iteration, len(everything))
        for window in (replay.window, again.window):
            assert window is not None
            for one in fields(Samples):
                assert np.array_equal(getattr(window, one.name), getattr(everything[-size:], one.name))


def test_a_full_window_takes_new_rows_without_a_second_one(tmp_path: Path) -> None:
    replay = Replay(tmp_path, FIVE, LAYOUT, WindowConfig(first=20_000, largest=20_000))
    for iteration in range(1, 23):
        replay.add(iteration, make_samples(1000))
    assert replay.window is not None
    size = replay.window.planes.nbytes + replay.window.policy.nbytes
    new = make_samples(1000)
    tracemalloc.start()
    try:
        replay.add(23, new)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert most < size / 2


def test_a_window_of_the_newest_iteration_holds_exactly_its_positions(tmp_path: Path) -> None:
    replay = Replay(tmp_path, FIVE, LAYOUT, WindowConfig(only_newest=True))
    for iteration, count in enumerate((30, 50, 20), start=1):
        replay.add(iteration, make_samples(count, value=iteration / 10))
        assert len(replay) == count
        assert set(replay.sample(100, np.random.default_rng(1)).value_to_move) == {np.float32(iteration / 10)}
    again = Replay(tmp_path, FIVE, LAYOUT, WindowConfig(only_newest=True))
    again.load(2, 80)
    assert len(again) == 50
    assert set(again.sample(100, np.random.default_rng(1)).value_to_move) == {np.float32(0.2)}
