"""Batches: the planes, moves and results of the games, also when turned and shifted."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from tengen.core.contracts import Ruleset
from tengen.core.geometry import Point
from tengen.core.planes import encode, encode_games, layouts
from tengen.core.position import Position
from tengen.datasets.build import BuildConfig, build_dataset
from tengen.datasets.dataset import ARRAYS, Augmentation, Dataset
from tengen.errors import InputError
from tests.datasets.test_build import random_games, write_games

NINE = Ruleset(9, 9)


@pytest.fixture(scope="module")
def dataset(tmp_path_factory) -> Dataset:
    folder = tmp_path_factory.mktemp("data")
    write_games(folder / "games.jsonl", random_games(12))
    return build_dataset([folder / "games.jsonl"], folder / "set", BuildConfig(ruleset=NINE))


def position_before(dataset: Dataset, number: int) -> tuple[Position, int]:
    place = int(dataset.samples[number])
    game = int(np.searchsorted(dataset.starts, place, side="right")) - 1
    before = dataset.moves[dataset.starts[game] : place]
    return Position.from_moves(NINE, [int(move) for move in before]), int(dataset.moves[place])


@pytest.mark.parametrize("layout", layouts())
def test_batches_are_the_positions_of_the_games(dataset, layout):
    numbers = np.arange(0, len(dataset), 7)
    batch = dataset.batch(numbers, layout)
    for row, number in enumerate(numbers):
        position, move = position_before(dataset, number)
        np.testing.assert_array_equal(batch.planes[row], encode(position, layout))
        np.testing.assert_array_equal(batch.empty[row], position.legal_mask())
        assert batch.moves[row] == move
        assert batch.plies[row] == position.stones


def test_results_are_those_of_the_side_to_move(dataset):
    numbers = np.arange(len(dataset))
    batch = dataset.batch(numbers, "board")
    games = np.searchsorted(dataset.starts, dataset.samples, side="right") - 1
    signs = np.where(batch.plies % 2 == 0, 1, -1)
    known = dataset.results[games] != 2
    assert np.isnan(batch.results[~known]).all()
    np.testing.assert_array_equal(batch.results[known], (signs * dataset.results[games])[known])


@pytest.mark.parametrize("shift", [0, 3])
@pytest.mark.parametrize("symmetry", [False, True])
def test_augmented_samples_are_the_same_up_to_motion(dataset, symmetry, shift):
    """Distances between stones, colours and the move do not change."""
    numbers = np.arange(0, len(dataset), 5)
    plain = dataset.batch(numbers, "own-other")
    augmentation = Augmentation(symmetry=symmetry, shift=shift)
    varied = dataset.batch(numbers, "own-other", augmentation, np.random.default_rng(1))
    assert symmetry or shift or np.array_equal(plain.planes, varied.planes)
    moved = 0
    for row in range(len(numbers)):
        np.testing.assert_array_equal(distances(plain, row), distances(varied, row))
        assert varied.empty[row, varied.moves[row]]
        moved += not np.array_equal(plain.planes[row], varied.planes[row])
    assert (moved > len(numbers) // 2) == bool(symmetry or shift)


def distances(batch, row: int) -> list[tuple[int, int]]:
    """Of every stone from the move, with its colour."""
    move = Point.from_index(int(batch.moves[row]), 9)
    return sorted(
        (colour, (x - move.x) ** 2 + (y - move.y) ** 2)
        for colour, plane in enumerate(batch.planes[row])
        for y, x in zip(*np.nonzero(plane), strict=True)
    )


def test_games_that_cannot_be_played_are_refused():
    moves = np.array([[40, 40]], np.uint16)
    with pytest.raises(InputError, match="cannot be played"):
        encode_games(NINE, moves, np.array([2], np.int32), "board")
    with pytest.raises(InputError, match="fewer moves"):
        encode_games(NINE, moves, np.array([3], np.int32), "board")
    with pytest.raises(InputError, match="cannot be played"):
        encode_games(NINE, np.array([[81]], np.uint16), np.array([1], np.int32), "threats")


def test_a_damaged_data_set_is_refused(dataset, tmp_path):
    with pytest.raises(InputError, match="not a data set"):
        Dataset.open(tmp_path)
    Dataset.write(
        tmp_path,
        {"ruleset": "9x9", "opening_moves": 0},
        {name: getattr(dataset, name) for name in ("moves", "starts", "results", "splits", "samples")},
    )
    assert len(Dataset.open(tmp_path)) == len(dataset)
    (tmp_path / "moves.npy").write_bytes(b"nonsense")
    with pytest.raises(InputError, match=r"moves\.npy is damaged"):
        Dataset.open(tmp_path)


def write_changed(dataset: Dataset, folder: Path, **changes: object) -> None:
    """Write a data set with other arrays, as somebody else might."""
    arrays = {name: np.array(getattr(dataset, name)) for name in ARRAYS}
    Dataset.write(folder, {"ruleset": "9x9", "opening_moves": 0}, {**arrays, **changes})  # type: ignore[dict-item]


def changed(array: np.ndarray, place: int, value: int) -> np.ndarray:
    array = np.array(array)
    array[place] = value
    return array


@pytest.mark.parametrize(
    ("name", "place", "value", "message"),
    [
        ("moves", 5, 81, "a move is on point 81, but the board has 81"),
        ("starts", 0, 1, "the game offsets do not match"),
        ("starts", -1, 1 << 40, "the game offsets do not match"),
        ("starts", 1, -5, "a game has -5 moves"),
        ("starts", 1, 1 << 30, r"a game has -\d+ moves"),
        ("results", 0, 7, "invalid result"),
        ("splits", 0, 3, "unknown split 3"),
        ("samples", 0, 4_000_000_000, "a sample in samples.npy has move index 4000000000"),
    ],
)
def test_numbers_out_of_range_are_refused_before_use(dataset, tmp_path, name, place, value, message):
    write_changed(dataset, tmp_path, **{name: changed(getattr(dataset, name), place, value)})
    with pytest.raises(InputError, match=rf"{re.escape(str(tmp_path))} is damaged .*{message}"):
        Dataset.open(tmp_path)


def test_a_game_longer_than_the_board_does_not_ask_for_gigabytes(dataset, tmp_path):
    """Before, one batch of such a data set needed an array of a million moves for each sample."""
    length = 1_000_000
    write_changed(
        dataset,
        tmp_path,
        moves=np.zeros(length, np.uint16),
        starts=np.array([0, length]),
        results=np.zeros(1, np.int8),
        splits=np.zeros(1, np.uint8),
        samples=np.full(4096, length - 1, np.uint32),
    )
    with pytest.raises(InputError, match="a game has 1000000 moves"):
        Dataset.open(tmp_path)


def test_arrays_of_different_lengths_are_refused(dataset, tmp_path):
    write_changed(dataset, tmp_path, splits=dataset.splits[:-1])
    with pytest.raises(InputError, match="do not match"):
        Dataset.open(tmp_path)


def test_a_game_with_two_stones_on_one_point_is_refused_by_name(dataset, tmp_path):
    write_changed(dataset, tmp_path, moves=changed(dataset.moves, 1, int(dataset.moves[0])))
    damaged = Dataset.open(tmp_path)
    with pytest.raises(InputError, match=rf"{re.escape(str(tmp_path))} is damaged: .*cannot be played"):
        damaged.check_games()
    with pytest.raises(InputError, match=rf"{re.escape(str(tmp_path))} is damaged: .*cannot be played"):
        damaged.batch(np.arange(len(damaged)), "board")


def test_a_changed_move_does_not_match_its_checksum(dataset, tmp_path):
    write_changed(dataset, tmp_path)
    whole = Dataset.open(tmp_path)
    assert whole.has_checksums
    whole.check_games()
    whole.check_checksums()
    data = bytearray((tmp_path / "splits.npy").read_bytes())
    data[-1] = (data[-1] + 1) % 3
    (tmp_path / "splits.npy").write_bytes(bytes(data))
    with pytest.raises(InputError, match=r"splits\.npy is damaged: it does not match its sha256"):
        Dataset.open(tmp_path).check_checksums()


@pytest.mark.parametrize("text", ["[]", "3", '{"version": 1}', "[" * 100_000, '{"version": 1, "ruleset": 3}'])
def test_a_description_that_is_none_is_refused(dataset, tmp_path, text):
    write_changed(dataset, tmp_path)
    (tmp_path / "dataset.json").write_text(text)
    with pytest.raises(InputError, match="is damaged"):
        Dataset.open(tmp_path)
