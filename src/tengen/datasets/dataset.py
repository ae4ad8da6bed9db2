"""A data set on disk: games as memory-mapped flat arrays, and batches of samples from them.

A folder holds `dataset.json` (sources and settings of the build) and

    moves.npy      uint16 [M]    point indices of all games, concatenated
    starts.npy     int64 [G+1]   game g has the moves starts[g] … starts[g+1] - 1
    results.npy    int8 [G]      +1 black won, -1 white won, 0 draw, `UNKNOWN`
    splits.npy     uint8 [G]     index of the game's `Split`
    samples.npy    uint32 [N]    indices into `moves`: the moves to predict

A sample takes four bytes and a move two. Planes are encoded when a batch is requested (`encode_games`), so one data set
serves every layout, symmetry and shift.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from tengen.core.contracts import Ruleset
from tengen.core.files import write_text, writing
from tengen.core.planes import FloatPlanes, encode_games
from tengen.core.symmetry import permutation, symmetries
from tengen.errors import InputError

DESCRIPTION_FILE = "dataset.json"
ARRAYS = {"moves": np.uint16, "starts": np.int64, "results": np.int8, "splits": np.uint8, "samples": np.uint32}
UNKNOWN = 2
"""Value in `results` of a game with unknown result."""
_VERSION = 1


class Split(StrEnum):
    """Purpose of a game."""

    TRAINING = "training"
    VALIDATION = "validation"
    TEST = "test"


@dataclass(frozen=True, slots=True, kw_only=True)
class Augmentation:
    """Random variation of samples; the move to predict is varied with the stones."""

    symmetry: bool = True
    """Apply a random symmetry of the board."""
    shift: int = 0
    """Maximum shift of all stones in each direction; no stone leaves the board."""

    def __post_init__(self) -> None:
        if self.shift < 0:
            raise InputError(f"shift {self.shift} is negative")


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """B samples as network input and targets; A = number of points."""

    planes: FloatPlanes
    """[B, C, H, W], from the perspective of the side to move."""
    moves: npt.NDArray[np.int64]
    """[B]: point that was played."""
    empty: npt.NDArray[np.bool_]
    """[B, A]: whether a point is empty."""
    results: npt.NDArray[np.float32]
    """[B]: result of the game (+1, 0, -1) for the side to move; NaN if unknown."""
    plies: npt.NDArray[np.int64]
    """[B]: number of stones on the board."""

    def __len__(self) -> int:
        return len(self.moves)


class Dataset:
    """An existing data set; its arrays are read-only."""

    def __init__(self, description: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        """Use `open` instead."""
        self.description = description
        self.ruleset = Ruleset.parse(description["ruleset"])
        self.opening_moves = int(description["opening_moves"])
        """Number of first moves of each game that count as its opening."""
        self.moves: npt.NDArray[np.uint16] = arrays["moves"]
        self.starts: npt.NDArray[np.int64] = arrays["starts"]
        self.results: npt.NDArray[np.int8] = arrays["results"]
        self.splits: npt.NDArray[np.uint8] = arrays["splits"]
        self.samples: npt.NDArray[np.uint32] = arrays["samples"]
        self._turns = np.stack([permutation(symmetry, self.ruleset) for symmetry in symmetries(self.ruleset)])

    @classmethod
    def open(cls, folder: Path) -> Dataset:
        """Map a data set into memory; `InputError` if the folder is not one."""
        try:
            description = json.loads((folder / DESCRIPTION_FILE).read_text(encoding="utf-8"))
            if description.get("version") != _VERSION:
                raise ValueError(f"version {description.get('version')!r} is not {_VERSION}")
            arrays = {name: np.load(folder / f"{name}.npy", mmap_mode="r", allow_pickle=False) for name in ARRAYS}
            for name, kind in ARRAYS.items():
                if arrays[name].dtype != kind or arrays[name].ndim != 1:
                    raise ValueError(f"{name}.npy has the wrong type or shape")
            return cls(description, arrays)
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise InputError(f"{folder} is not a data set of `tengen data build`: {error}") from None

    @staticmethod
    def write(folder: Path, description: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        """Write a data set. The description is written last, so an incomplete folder is not a data set."""
        with writing(folder):
            folder.mkdir(parents=True, exist_ok=True)
            for name, kind in ARRAYS.items():
                np.save(folder / f"{name}.npy", arrays[name].astype(kind, copy=False), allow_pickle=False)
        text = json.dumps({"version": _VERSION, **description}, indent=2, ensure_ascii=False) + "\n"
        write_text(folder / DESCRIPTION_FILE, text)

    def __len__(self) -> int:
        return len(self.samples)

    def find(self, split: Split, *, openings: bool | None = None) -> npt.NDArray[np.int64]:
        """Return the numbers of the samples of a split: all, only those in openings, or only the others."""
        games = self._games(self.samples)
        chosen = self.splits[games] == list(Split).index(split)
        if openings is not None:
            in_opening = self.samples - self.starts[games] < self.opening_moves
            chosen &= in_opening if openings else ~in_opening
        return np.flatnonzero(chosen)

    def batch(
        self,
        numbers: npt.NDArray[np.int64],
        layout: str,
        augmentation: Augmentation | None = None,
        rng: np.random.Generator | None = None,
    ) -> Batch:
        """Return the samples with these numbers [B]; with an augmentation, each is varied at random with `rng`."""
        places = self.samples[numbers].astype(np.int64)
        games = self._games(places)
        begins = self.starts[games]
        plies = places - begins
        columns = np.arange(int(plies.max()) + 1)
        # Entries after the sample's own move belong to later moves and are never used.
        stones = self.moves[np.minimum(begins[:, None] + columns, len(self.moves) - 1)]
        counted = columns <= plies[:, None]
        if augmentation is not None:
            assert rng is not None
            stones = self._augment(stones, counted, augmentation, rng)
        rows = np.arange(len(numbers))
        moves = stones[rows, plies].astype(np.int64)
        empty = np.ones((len(numbers), self.ruleset.area), np.bool_)
        row, column = np.nonzero(columns < plies[:, None])
        empty[row, stones[row, column]] = False
        results = self.results[games].astype(np.float32)
        results[results == UNKNOWN] = np.nan
        return Batch(
            planes=encode_games(self.ruleset, np.ascontiguousarray(stones), plies.astype(np.int32), layout),
            moves=moves,
            empty=empty,
            results=np.where(plies % 2 == 0, results, -results),
            plies=plies,
        )

    def _games(self, places: npt.NDArray[np.integer[Any]]) -> npt.NDArray[np.intp]:
        return np.searchsorted(self.starts, places, side="right") - 1

    def _augment(
        self,
        stones: npt.NDArray[np.uint16],
        counted: npt.NDArray[np.bool_],
        augmentation: Augmentation,
        rng: np.random.Generator,
    ) -> npt.NDArray[np.uint16]:
        count = len(stones)
        if augmentation.symmetry:
            stones = self._turns[rng.integers(len(self._turns), size=count)[:, None], stones].astype(np.uint16)
        if augmentation.shift:
            width, height = self.ruleset.width, self.ruleset.height
            y, x = np.divmod(stones.astype(np.int64), width)
            by_x = _draw_shift(x, counted, width, augmentation.shift, rng)
            by_y = _draw_shift(y, counted, height, augmentation.shift, rng)
            moved = stones + (by_y * width + by_x)[:, None]
            stones = np.where(counted, moved, 0).astype(np.uint16)
        return stones


def _draw_shift(
    places: npt.NDArray[np.int64], counted: npt.NDArray[np.bool_], size: int, largest: int, rng: np.random.Generator
) -> npt.NDArray[np.int64]:
    """Draw a shift [B] per row that keeps its counted places [B, L] within 0 … size - 1."""
    low = np.where(counted, places, size).min(axis=1)
    high = np.where(counted, places, -1).max(axis=1)
    drawn: npt.NDArray[np.int64] = rng.integers(
        np.maximum(-low, -largest), np.minimum(size - 1 - high, largest) + 1, dtype=np.int64
    )
    return drawn
