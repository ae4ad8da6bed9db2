"""Batches: the planes, moves and results of the games, also when turned and shifted."""

from __future__ import annotations

import numpy as np
import pytest

from tengen.core.contracts import Ruleset
from tengen.core.geometry import Point
from tengen.core.planes import encode, encode_games, layouts
from tengen.core.position import Position
from tengen.datasets.build import BuildConfig, build_dataset
from tengen.datasets.dataset import Augmentation, Dataset
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
