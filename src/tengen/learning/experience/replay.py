"""Replay buffer: shards on disk, a window in memory, and batches with random symmetries.

A shard is an npz file (without pickle) with the positions of one iteration, ordered by game. The window holds the
newest positions. As in KataGo, its size grows as a power of the number of positions produced: it is small at first,
when games quickly become outdated.
"""

from __future__ import annotations

import io
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Generic, Self, TypeVar

import numpy as np
import numpy.typing as npt

from tengen.core.checked_files import MAX_ARRAY_BYTES, parse_arrays, read_bytes
from tengen.core.contracts import Ruleset
from tengen.core.planes import plane_count
from tengen.core.symmetry import inverse, permutation, symmetries
from tengen.errors import InputError, RunError
from tengen.learning.checks import check_share
from tengen.learning.run.folder import KEPT_CHECKPOINTS, check_sha256, write_run_file, writing_run
from tengen.learning.run.manifest import sha256
from tengen.learning.run.reading import numbered_files

NO_MOVE = -1
"""Value of `Samples.reply` after the last move of a game."""
_SLACK = 1.05
"""Largest accepted value in a shard; rounding may push values above 1."""
_MAX_SURPRISE = 1e6
_OLD_NAMES = {"value_to_move": "value_search"}
"""Field names in shards written by earlier versions."""


@dataclass(frozen=True, slots=True)
class Rows(ABC):
    """Arrays with one entry per position, declared by subclasses. The first is `planes` [N, C, H, W]."""

    def __len__(self) -> int:
        return len(getattr(self, fields(self)[0].name))

    def __getitem__(self, index: npt.NDArray[np.intp] | slice) -> Self:
        return type(self)(**{one.name: getattr(self, one.name)[index] for one in fields(self)})

    @abstractmethod
    def check(self, planes: tuple[int, int, int]) -> None:
        """Raise `ValueError` unless types, shapes and ranges are valid for positions with `planes` (C, H, W)."""

    def check_array(
        self, name: str, kind: npt.DTypeLike, *shape: int, within: tuple[float, float] | None = None
    ) -> None:
        """Raise `ValueError` unless an array has type `kind`, shape [N, *shape] and entries in `within` (inclusive)."""
        array = getattr(self, name)
        if array.dtype != kind or array.shape != (len(self), *shape):
            raise ValueError(f"{name} is {array.dtype} {list(array.shape)}, not {np.dtype(kind)} {[len(self), *shape]}")
        if within is not None and array.size and not (within[0] <= array.min() and array.max() <= within[1]):
            raise ValueError(f"{name} has values outside the range {within[0]:g} to {within[1]:g}")

    @classmethod
    def concatenate(cls, parts: Sequence[Self]) -> Self:
        """Join several sets of rows, in order."""
        return cls(**{one.name: np.concatenate([getattr(part, one.name) for part in parts]) for one in fields(cls)})


@dataclass(frozen=True, slots=True, kw_only=True)
class Samples(Rows):
    """N positions with their training targets, all from the perspective of the side to move.

    P = number of points, C = number of planes.
    """

    planes: npt.NDArray[np.int8]
    """[N, C, H, W]: input planes."""
    policy: npt.NDArray[np.float16]
    """[N, P]: policy target from the search."""
    value_to_move: npt.NDArray[np.float32]
    """[N]: value from the search, in [-1, 1]."""
    result: npt.NDArray[np.float32]
    """[N]: result of the game (+1, 0, -1), discounted by the distance to its end."""
    reply: npt.NDArray[np.int16]
    """[N]: the opponent's next move; `NO_MOVE` at the end of the game."""
    surprise: npt.NDArray[np.float32]
    """[N]: KL(policy ‖ the network's prior) in nats."""

    def check(self, planes: tuple[int, int, int]) -> None:
        area = planes[1] * planes[2]
        self.check_array("planes", np.int8, *planes)
        self.check_array("policy", np.float16, area, within=(0, 1))
        self.check_array("value_to_move", np.float32, within=(-_SLACK, _SLACK))
        self.check_array("result", np.float32, within=(-_SLACK, _SLACK))
        self.check_array("reply", np.int16, within=(NO_MOVE, area - 1))
        self.check_array("surprise", np.float32, within=(-_MAX_SURPRISE, _MAX_SURPRISE))


def transform_samples(samples: Samples, chosen: npt.NDArray[np.intp], ruleset: Ruleset) -> Samples:
    """Return the samples with the symmetry `chosen[i]` applied to position i; `chosen` has shape [N]."""
    planes = samples.planes.reshape(len(samples), samples.planes.shape[1], ruleset.area)
    policy, reply = samples.policy, samples.reply
    new_planes, new_policy, new_reply = planes.copy(), policy.copy(), reply.copy()
    for symmetry in symmetries(ruleset):
        rows = np.flatnonzero(chosen == symmetry)
        if symmetry == 0 or not len(rows):
            continue
        goes_to = permutation(symmetry, ruleset)
        comes_from = permutation(inverse(symmetry), ruleset)
        new_planes[rows] = planes[rows][:, :, comes_from]
        new_policy[rows] = policy[rows][:, comes_from]
        moved = goes_to[reply[rows]].astype(np.int16)
        new_reply[rows] = np.where(reply[rows] == NO_MOVE, np.int16(NO_MOVE), moved)
    return Samples(
        planes=new_planes.reshape(samples.planes.shape),
        policy=new_policy,
        value_to_move=samples.value_to_move,
        result=samples.result,
        reply=new_reply,
        surprise=samples.surprise,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowConfig:
    """Size of the replay window: the newest `first · (total / first) ** exponent` positions, at most `largest`."""

    first: int = 10_000
    """Until this many positions have been produced, the window holds all of them."""
    largest: int = 60_000
    """Maximum number of positions."""
    exponent: float = 0.65
    """Growth of the window: 0 keeps it at `first`, 1 keeps everything."""
    surprise_share: float = 0.5
    """Share of the sampling weight that is proportional to surprise; the rest is uniform."""
    only_newest: bool = False
    """Whether the window holds exactly the positions of the newest iteration, regardless of the sizes above."""

    def __post_init__(self) -> None:
        if not 1 <= self.first <= self.largest:
            raise InputError(f"window.first={self.first} must be at least 1 and at most window.largest={self.largest}")
        check_share(self, "exponent", "surprise_share")

    def size(self, total: int) -> int:
        """Return the number of positions in the window after `total` have been produced."""
        if total <= self.first:
            return total
        return min(self.largest, int(self.first * (total / self.first) ** self.exponent))


_ROWS_MOVED = 1024
"""Number of rows moved at a time. NumPy buffers overlapping copies, so a single copy would hold the window in memory
twice."""

R = TypeVar("R", bound=Rows)


class Shards(Generic[R]):
    """Replay window of a run: one file of rows per iteration, with the newest rows in memory."""

    def __init__(self, folder: Path, kind: type[R], size: Callable[[int], int], ruleset: Ruleset, layout: str) -> None:
        """Set the folder, the row type and `size`, which maps the number of rows produced to the window size.

        Rows read from disk must match the ruleset and the plane layout.
        """
        self._folder = folder
        self._kind = kind
        self._planes = (plane_count(layout), ruleset.height, ruleset.width)
        self._size = size
        self._lengths: deque[int] = deque()
        """Number of rows in each shard that overlaps the window."""
        self._arrays: dict[str, npt.NDArray[Any]] = {}
        """Rows in these shards by field, with spare capacity at the end."""
        self._first_needed: deque[int] = deque(maxlen=KEPT_CHECKPOINTS)
        """Oldest shard that the window needed after each of the latest iterations."""
        self._checksums: dict[int, str] = {}
        """sha256 of each shard by iteration."""
        self.window: R | None = None
        """The newest rows, valid until the next `add`; None while there are no rows."""
        self.total = 0
        """Number of rows added so far."""

    def load(self, iteration: int, total: int, checksums: Mapping[str, str] | None = None) -> None:
        """Restore the window as it was after an iteration; `total` is the number of rows added by then.

        `checksums` come from the checkpoint; None skips their verification. Raises `RunError` if a shard is missing or
        damaged.
        """
        self.total, size = total, self._size(total)
        self._lengths.clear()
        self._arrays, self.window, self._checksums = {}, None, {}
        shards: deque[R] = deque()
        for number in range(iteration, 0, -1):
            if sum(map(len, shards)) >= size:
                break
            shards.appendleft(self._read(number, checksums))
        count = sum(map(len, shards))
        if count < size:
            raise RunError(f"{self._folder} holds only {count} of the newest {size} positions")
        while shards:
            self._append(shards.popleft(), size, room=count)
        # Earlier checkpoints need the shards on disk.
        self._first_needed.extend(int(path.stem) for path in self._paths()[:1] * KEPT_CHECKPOINTS)
        self._update_window(size)

    def add(self, iteration: int, rows: R) -> None:
        """Write the rows from an iteration as a shard, add them to the window and drop shards outside the window."""
        buffer = io.BytesIO()
        np.savez_compressed(buffer, **{one.name: getattr(rows, one.name) for one in fields(rows)})
        with writing_run(self._folder):
            self._folder.mkdir(parents=True, exist_ok=True)
        write_run_file(self._path(iteration), buffer.getvalue())
        self._checksums[iteration] = sha256(buffer.getvalue())
        self.total += len(rows)
        size = self._size(self.total)
        self.window = None
        self._append(rows, size)
        self._first_needed.append(iteration + 1 - len(self._lengths))
        self._update_window(size)

    def checksums(self) -> dict[str, str]:
        """Return the sha256 of the shards that the window needs, by their path in the run, for a checkpoint."""
        return {
            self._name(number): checksum
            for number, checksum in self._checksums.items()
            if number >= self._first_needed[-1]
        }

    def remove_outdated(self) -> None:
        """Delete shards that no remaining checkpoint needs; call this after writing a checkpoint."""
        for path in self._paths():
            if int(path.stem) < self._first_needed[0]:
                with writing_run(path):
                    path.unlink()
                self._checksums.pop(int(path.stem), None)

    def __len__(self) -> int:
        return 0 if self.window is None else len(self.window)

    def _path(self, iteration: int) -> Path:
        return self._folder / f"{iteration:06}.npz"

    def _name(self, iteration: int) -> str:
        """Return the path of a shard in the run folder."""
        return f"{self._folder.name}/{self._path(iteration).name}"

    def _paths(self) -> list[Path]:
        return numbered_files(self._folder, "npz")

    def _append(self, rows: R, size: int, room: int = 0) -> None:
        """Append a shard and drop the oldest shards that a window of `size` rows does not need."""
        held = sum(self._lengths)
        self._lengths.append(len(rows))
        while len(self._lengths) > 1 and sum(self._lengths) - self._lengths[0] >= size:
            self._lengths.popleft()
        kept = sum(self._lengths) - len(rows)
        for one in fields(rows):
            new = getattr(rows, one.name)
            self._arrays[one.name] = _slide(self._arrays.get(one.name, new[:0]), held, kept, new, room)

    def _update_window(self, size: int) -> None:
        """Set the window to the newest `size` rows."""
        end = sum(self._lengths)
        newest = slice(max(0, end - size), end)
        self.window = self._kind(**{name: array[newest] for name, array in self._arrays.items()}) if size else None

    def _read(self, number: int, checksums: Mapping[str, str] | None) -> R:
        path = self._path(number)
        try:
            data = read_bytes(path, MAX_ARRAY_BYTES)
            if checksums is not None:
                check_sha256(data, path, self._name(number), checksums)
            arrays = parse_arrays(data, str(path))
        except InputError as error:
            raise RunError(str(error)) from None
        try:
            names = {one.name: _OLD_NAMES.get(one.name, one.name) for one in fields(self._kind)}
            rows = self._kind(**{name: arrays[name if name in arrays else old] for name, old in names.items()})
            rows.check(self._planes)
        except (KeyError, ValueError) as error:
            raise RunError(f"{path} is damaged: {error}") from None
        self._checksums[number] = sha256(data)
        return rows


def _slide(array: npt.NDArray[Any], held: int, kept: int, new: npt.NDArray[Any], room: int = 0) -> npt.NDArray[Any]:
    """Move the last `kept` of the first `held` rows to the front of an array and append `new`; return the array.

    If the array is too short, a longer one with space for at least `room` rows replaces it.
    """
    count = kept + len(new)
    target = array
    if len(array) < count:
        target = np.empty((max(count, room, len(array) * 3 // 2), *new.shape[1:]), new.dtype)
    if target is not array or kept < held:
        old = array[held - kept : held]
        for begin in range(0, kept, _ROWS_MOVED):
            moved = old[begin : begin + _ROWS_MOVED]
            target[begin : begin + len(moved)] = moved
    target[kept:count] = new
    return target


class Replay(Shards[Samples]):
    """AlphaZero's replay window; surprising positions are sampled more often."""

    def __init__(self, folder: Path, ruleset: Ruleset, layout: str, config: WindowConfig) -> None:
        super().__init__(folder, Samples, self._window_size, ruleset, layout)
        self._ruleset = ruleset
        self._config = config
        self._weights: npt.NDArray[np.float64] = np.empty(0)
        self._newest = 0
        """Number of positions in the newest iteration."""

    def load(self, iteration: int, total: int, checksums: Mapping[str, str] | None = None) -> None:
        """Restore the window as it was after an iteration; see `Shards.load`."""
        self._newest = min(1, total)  # `Shards.load` then reads only the newest shard
        super().load(iteration, total, checksums)
        if self._config.only_newest and self._lengths:
            self._newest = self._lengths[-1]
            self._update_window(self._newest)

    def add(self, iteration: int, rows: Samples) -> None:
        """Add the positions from an iteration; see `Shards.add`."""
        self._newest = len(rows)
        super().add(iteration, rows)

    def _window_size(self, total: int) -> int:
        return self._newest if self._config.only_newest else self._config.size(total)

    def sample(self, count: int, rng: np.random.Generator) -> Samples:
        """Sample `count` positions from the window with replacement, each under a random symmetry."""
        assert self.window is not None
        chosen = np.searchsorted(self._weights, rng.random(count), side="right")
        turns = rng.integers(len(symmetries(self._ruleset)), size=count)
        return transform_samples(self.window[np.minimum(chosen, len(self.window) - 1)], turns, self._ruleset)

    def _update_window(self, size: int) -> None:
        super()._update_window(size)
        if self.window is not None:
            surprise = np.maximum(self.window.surprise.astype(np.float64), 0.0)
            share = self._config.surprise_share if surprise.sum() > 0 else 0.0
            even = (1 - share) / len(surprise)
            weights = even + (share * surprise / surprise.sum() if share else 0.0)
            self._weights = np.cumsum(np.broadcast_to(weights, len(surprise)))
