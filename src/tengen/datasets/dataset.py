"""A data set on disk: games as flat arrays that are mapped into memory, and batches of samples from them.

A folder holds `dataset.json` (what it was built from and how) and

    moves.npy      uint16 [M]    the points of all games in a row
    starts.npy     int64 [G+1]   game g has the moves from starts[g] to starts[g+1]
    results.npy    int8 [G]      +1 black won, -1 white won, 0 draw, `UNKNOWN`
    splits.npy     uint8 [G]     the number of the game's `Split`
    samples.npy    uint32 [N]    places in `moves`: the move there is what a network shall find

A sample costs four bytes and its game two a move. Planes are made when a batch is asked for (`encode_games`), so that
one data set serves every layout, every symmetry and every shift.
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
from tengen.core.planes import FloatPlanes, encode_games
from tengen.core.symmetry import permutation, symmetries
from tengen.errors import InputError

DESCRIPTION_FILE = "dataset.json"
ARRAYS = {"moves": np.uint16, "starts": np.int64, "results": np.int8, "splits": np.uint8, "samples": np.uint32}
UNKNOWN = 2
"""In `results`: how the game ended is not known."""
_VERSION = 1


class Split(StrEnum):
    """What a game is used for."""

    TRAINING = "training"
    VALIDATION = "validation"
    TEST = "test"


@dataclass(frozen=True, slots=True, kw_only=True)
class Augmentation:
    """How samples are varied; the move goes along with the stones."""

    symmetry: bool = True
    """Turn and mirror the board at random."""
    shift: int = 0
    """Move all stones by up to so many points in each direction, as far as none leaves the board."""

    def __post_init__(self) -> None:
        if self.shift < 0:
            raise InputError(f"shift {self.shift} is negative")


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """B samples as a network sees them, A = area of the board."""

    planes: FloatPlanes
    """[B, C, H, W], seen by the side to move."""
    moves: npt.NDArray[np.int64]
    """[B]: the point that was played."""
    empty: npt.NDArray[np.bool_]
    """[B, A]: where no stone stands."""
    results: npt.NDArray[np.float32]
    """[B]: +1, 0, -1 as the game ended for the side to move; NaN where that is unknown."""
    plies: npt.NDArray[np.int64]
    """[B]: stones on the board."""

    def __len__(self) -> int:
        return len(self.moves)


class Dataset:
    """A data set that was built before; its arrays are read-only."""

    def __init__(self, description: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        """Use `open` instead."""
        self.description = description
        self.ruleset = Ruleset.parse(description["ruleset"])
        self.opening_moves = int(description["opening_moves"])
        """So many first moves of each game count as its opening."""
        self.moves: npt.NDArray[np.uint16] = arrays["moves"]
        self.starts: npt.NDArray[np.int64] = arrays["starts"]
        self.results: npt.NDArray[np.int8] = arrays["results"]
        self.splits: npt.NDArray[np.uint8] = arrays["splits"]
        self.samples: npt.NDArray[np.uint32] = arrays["samples"]
        self._turns = np.stack([permutation(symmetry, self.ruleset) for symmetry in symmetries(self.ruleset)])

    @classmethod
    def open(cls, folder: Path) -> Dataset:
        """Map a data set into memory; `InputError` when it is not one."""
        try:
            description = json.loads((folder / DESCRIPTION_FILE).read_text(encoding="utf-8"))
            if description.get("version") != _VERSION:
                raise ValueError(f"version {description.get('version')!r} is not {_VERSION}")
            arrays = {name: np.load(folder / f"{name}.npy", mmap_mode="r", allow_pickle=False) for name in ARRAYS}
            for name, kind in ARRAYS.items():
                if arrays[name].dtype != kind or arrays[name].ndim != 1:
                    raise ValueError(f"{name}.npy holds something else")
            return cls(description, arrays)
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise InputError(f"{folder} is not a data set of `tengen data build`: {error}") from None

    @staticmethod
    def write(folder: Path, description: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        """Write a data set; the description comes last, so that half of one is none."""
        try:
            folder.mkdir(parents=True, exist_ok=True)
            for name, kind in ARRAYS.items():
                np.save(folder / f"{name}.npy", arrays[name].astype(kind, copy=False), allow_pickle=False)
            text = json.dumps({"version": _VERSION, **description}, indent=2, ensure_ascii=False) + "\n"
            (folder / DESCRIPTION_FILE).write_text(text, encoding="utf-8")
        except OSError as error:
            raise InputError(f"cannot write {folder}: {error.strerror or error}") from None

    def __len__(self) -> int:
        return len(self.samples)

    def find(self, split: Split, *, openings: bool | None = None) -> npt.NDArray[np.int64]:
        """The numbers of the samples of a split; only those of openings, or only the others, if asked."""
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
        """The samples with these numbers [B]; with an augmentation each is varied by choices of `rng`."""
        places = self.samples[numbers].astype(np.int64)
        games = self._games(places)
        begins = self.starts[games]
        plies = places - begins
        columns = np.arange(int(plies.max()) + 1)
        # What stands after the sample's own move belongs to other moves and is never looked at.
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
    """[B]: a shift of each row that leaves its counted places [B, L] within 0 … size - 1."""
    low = np.where(counted, places, size).min(axis=1)
    high = np.where(counted, places, -1).max(axis=1)
    drawn: npt.NDArray[np.int64] = rng.integers(
        np.maximum(-low, -largest), np.minimum(size - 1 - high, largest) + 1, dtype=np.int64
    )
    return drawn
