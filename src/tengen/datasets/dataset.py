"""A data set on disk: games as memory-mapped flat arrays, and batches of samples from them.

A folder holds `dataset.json` (sources and settings of the build) and

    moves.npy      uint16 [M]    point indices of all games, concatenated
    starts.npy     int64 [G+1]   game g has the moves starts[g] … starts[g+1] - 1
    results.npy    int8 [G]      +1 black won, -1 white won, 0 draw, `UNKNOWN`
    splits.npy     uint8 [G]     index of the game's `Split`
    samples.npy    uint32 [N]    indices into `moves`: the moves to predict

`dataset.json` contains the sha256 of each file, which `tengen check` verifies. A sample takes four bytes, a move two.
Planes are encoded when a batch is requested (`encode_games`), so one data set serves every layout, symmetry and shift.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from tengen.core.checked_files import map_array, read_json
from tengen.core.contracts import Ruleset
from tengen.core.files import write_text, writing
from tengen.core.planes import FloatPlanes, encode_games
from tengen.core.symmetry import permutation, symmetries
from tengen.errors import InputError

DESCRIPTION_FILE = "dataset.json"
ARRAYS = {"moves": np.uint16, "starts": np.int64, "results": np.int8, "splits": np.uint8, "samples": np.uint32}
UNKNOWN = 2
"""Value in `results` for a game whose result is unknown."""
_VERSION = 1
_GAMES_CHECKED = 1024
_CHECKSUMS = "sha256"
"""Key in the description: maps each file name to its sha256 checksum."""


class Split(StrEnum):
    """Part of the data set that a game belongs to."""

    TRAINING = "training"
    VALIDATION = "validation"
    TEST = "test"


@dataclass(frozen=True, slots=True, kw_only=True)
class Augmentation:
    """Random transformation of samples; the move to predict is transformed with the stones."""

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

    def __init__(self, description: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]], place: str) -> None:
        """Use `open` instead."""
        self.place = place
        """Folder, for error messages."""
        self.description = description
        self.ruleset = Ruleset.parse(description["ruleset"])
        self.opening_moves = int(description["opening_moves"])
        """Number of moves at the start of each game that count as its opening."""
        self.moves: npt.NDArray[np.uint16] = arrays["moves"]
        self.starts: npt.NDArray[np.int64] = arrays["starts"]
        self.results: npt.NDArray[np.int8] = arrays["results"]
        self.splits: npt.NDArray[np.uint8] = arrays["splits"]
        self.samples: npt.NDArray[np.uint32] = arrays["samples"]
        self._turns = np.stack([permutation(symmetry, self.ruleset) for symmetry in symmetries(self.ruleset)])

    @classmethod
    def open(cls, folder: Path) -> Dataset:
        """Memory-map a data set. Raises `InputError` if the folder is not a data set or contains invalid numbers."""
        if not (folder / DESCRIPTION_FILE).exists():
            raise InputError(f"{folder} is not a data set built by `tengen data build`: it has no {DESCRIPTION_FILE}")
        description = read_json(folder / DESCRIPTION_FILE)
        arrays = {name: map_array(folder / f"{name}.npy", kind) for name, kind in ARRAYS.items()}
        try:
            if not isinstance(description, dict) or description.get("version") != _VERSION:
                raise ValueError(f"{DESCRIPTION_FILE} is not version {_VERSION}")
            dataset = cls(description, arrays, str(folder))
            dataset._check()
        except (ValueError, KeyError, TypeError, OverflowError) as error:
            raise InputError(f"{folder} is damaged or was not built by `tengen data build`: {error}") from None
        return dataset

    def _check(self) -> None:
        """Raise `ValueError` if a number is out of range; reads every array once."""
        games, area = len(self.results), self.ruleset.area
        if not 0 <= self.opening_moves <= area:
            raise ValueError(f"opening_moves must be between 0 and {area}, not {self.opening_moves}")
        if len(self.starts) != games + 1 or len(self.splits) != games or not games:
            raise ValueError(
                f"the numbers of results ({games}), splits ({len(self.splits)}) and offsets ({len(self.starts)})"
                " do not match"
            )
        if self.starts[0] != 0 or self.starts[-1] != len(self.moves):
            raise ValueError(f"the game offsets do not match the {len(self.moves)} moves")
        lengths = np.diff(self.starts)
        if lengths.min() < 1 or lengths.max() > area:
            raise ValueError(
                f"a game has {lengths.min() if lengths.min() < 1 else lengths.max()} moves, but must have 1–{area}"
            )
        if self.moves.max() >= area:
            raise ValueError(f"a move is on point {self.moves.max()}, but the board has {area} points")
        if self.splits.max() >= len(Split):
            raise ValueError(f"a game belongs to the unknown split {self.splits.max()}")
        if self.results.min() < -1 or self.results.max() > UNKNOWN:
            raise ValueError("a game has an invalid result")
        if len(self.samples) and self.samples.max() >= len(self.moves):
            raise ValueError(
                f"a sample in samples.npy has move index {self.samples.max()}, but there are only"
                f" {len(self.moves)} moves"
            )

    def check_games(self) -> None:
        """Replay all games. Raises `InputError` if one has an illegal move. Takes about 5 µs per move."""
        for begin in range(0, len(self.results), _GAMES_CHECKED):
            starts = self.starts[begin : begin + _GAMES_CHECKED + 1]
            plies = np.diff(starts) - 1
            columns = np.arange(int(plies.max()) + 1)
            stones = self.moves[np.minimum(starts[:-1, None] + columns, len(self.moves) - 1)]
            self._encode(stones, plies, "board")

    def check_checksums(self) -> None:
        """Verify the checksums in the description, if there are any. Raises `InputError` on a mismatch."""
        for name, wanted in self._checksums().items():
            path = Path(self.place) / name
            if _sha256(path) != wanted:
                raise InputError(f"{path} is damaged: it does not match its sha256 in {DESCRIPTION_FILE}")

    @property
    def has_checksums(self) -> bool:
        """Whether the description has checksums; data sets from earlier versions have none."""
        return bool(self._checksums())

    def _checksums(self) -> dict[str, Any]:
        found = self.description.get(_CHECKSUMS, {})
        return {f"{name}.npy": found.get(f"{name}.npy") for name in ARRAYS} if isinstance(found, dict) and found else {}

    @staticmethod
    def write(folder: Path, description: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        """Write a data set. The description comes last, so an interrupted write leaves no valid data set."""
        with writing(folder):
            folder.mkdir(parents=True, exist_ok=True)
            for name, kind in ARRAYS.items():
                with open(folder / f"{name}.npy", "wb") as file:
                    np.save(file, arrays[name].astype(kind, copy=False), allow_pickle=False)
            checksums = {f"{name}.npy": _sha256(folder / f"{name}.npy") for name in ARRAYS}
        table = {"version": _VERSION, **description, _CHECKSUMS: checksums}
        text = json.dumps(table, indent=2, ensure_ascii=False) + "\n"
        write_text(folder / DESCRIPTION_FILE, text)

    def __len__(self) -> int:
        return len(self.samples)

    def find(self, split: Split, *, openings: bool | None = None) -> npt.NDArray[np.int64]:
        """Return the sample numbers of a split: all (None), only those in openings (True), or only the rest (False)."""
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
        """Return the samples with these numbers [B]; `augmentation` transforms each one at random using `rng`."""
        places = self.samples[numbers].astype(np.int64)
        games = self._games(places)
        begins = self.starts[games]
        plies = places - begins
        columns = np.arange(int(plies.max()) + 1)
        # Entries after the move to predict belong to later moves and are never used.
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
            planes=self._encode(stones, plies, layout),
            moves=moves,
            empty=empty,
            results=np.where(plies % 2 == 0, results, -results),
            plies=plies,
        )

    def _encode(self, stones: npt.NDArray[np.uint16], plies: npt.NDArray[np.int64], layout: str) -> FloatPlanes:
        try:
            return encode_games(self.ruleset, np.ascontiguousarray(stones), plies.astype(np.int32), layout)
        except InputError as error:
            raise InputError(f"{self.place} is damaged: {error}") from None

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


def _sha256(path: Path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _draw_shift(
    places: npt.NDArray[np.int64], counted: npt.NDArray[np.bool_], size: int, largest: int, rng: np.random.Generator
) -> npt.NDArray[np.int64]:
    """Draw a random shift for each row [B] that keeps the `counted` entries of `places` [B, L] within 0 … size - 1."""
    low = np.where(counted, places, size).min(axis=1)
    high = np.where(counted, places, -1).max(axis=1)
    drawn: npt.NDArray[np.int64] = rng.integers(
        np.maximum(-low, -largest), np.minimum(size - 1 - high, largest) + 1, dtype=np.int64
    )
    return drawn
