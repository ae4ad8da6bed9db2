"""Positions to learn from: shards on disk, a window in memory, batches turned at random.

A shard is one npz file (no pickle) with the positions of one iteration, whole games in a row. The window holds the
newest positions; how many follows a power law of all that were ever made, as KataGo's does: few at first, when games
are soon outdated, more and more later.
"""

from __future__ import annotations

import io
import zlib
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Generic, Self, TypeVar
from zipfile import BadZipFile

import numpy as np
import numpy.typing as npt

from tengen.core.contracts import Ruleset
from tengen.core.symmetry import inverse, permutation, symmetries
from tengen.errors import InputError, RunError
from tengen.learning.checks import check_share
from tengen.learning.files import numbered_files, write_file, writing
from tengen.learning.run import KEPT_CHECKPOINTS

NO_MOVE = -1
"""In `Samples.reply` at the last move of a game."""


@dataclass(frozen=True, slots=True)
class Rows:
    """Arrays with one entry for each of N positions; derived dataclasses say which."""

    def __len__(self) -> int:
        return len(getattr(self, fields(self)[0].name))

    def __getitem__(self, index: npt.NDArray[np.intp] | slice) -> Self:
        return type(self)(**{one.name: getattr(self, one.name)[index] for one in fields(self)})

    @classmethod
    def concatenate(cls, parts: Sequence[Self]) -> Self:
        """Several as one."""
        return cls(**{one.name: np.concatenate([getattr(part, one.name) for part in parts]) for one in fields(cls)})


@dataclass(frozen=True, slots=True, kw_only=True)
class Samples(Rows):
    """N positions with what was learned about them; everything is seen by the side to move.

    P = area of the board, C = planes of the layout.
    """

    planes: npt.NDArray[np.int8]
    """[N, C, H, W]"""
    policy: npt.NDArray[np.float16]
    """[N, P]: what the search prefers."""
    value_search: npt.NDArray[np.float32]
    """[N]: the value that the search found, in [-1, 1]."""
    result: npt.NDArray[np.float32]
    """[N]: +1, 0, -1 as the game ended, discounted by the distance to its end."""
    reply: npt.NDArray[np.int16]
    """[N]: the point the opponent answered with, `NO_MOVE` at the end."""
    surprise: npt.NDArray[np.float32]
    """[N]: KL(policy ‖ the network's prior) in nats."""


def turn(samples: Samples, turns: npt.NDArray[np.intp], ruleset: Ruleset) -> Samples:
    """Each position seen through the symmetry of its number in `turns` [N]."""
    planes = samples.planes.reshape(len(samples), samples.planes.shape[1], ruleset.area)
    policy, reply = samples.policy, samples.reply
    turned_planes, turned_policy, turned_reply = planes.copy(), policy.copy(), reply.copy()
    for symmetry in symmetries(ruleset):
        rows = np.flatnonzero(turns == symmetry)
        if symmetry == 0 or not len(rows):
            continue
        goes_to = permutation(symmetry, ruleset)
        comes_from = permutation(inverse(symmetry), ruleset)
        turned_planes[rows] = planes[rows][:, :, comes_from]
        turned_policy[rows] = policy[rows][:, comes_from]
        moved = goes_to[reply[rows]].astype(np.int16)
        turned_reply[rows] = np.where(reply[rows] == NO_MOVE, np.int16(NO_MOVE), moved)
    return Samples(
        planes=turned_planes.reshape(samples.planes.shape),
        policy=turned_policy,
        value_search=samples.value_search,
        result=samples.result,
        reply=turned_reply,
        surprise=samples.surprise,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowConfig:
    """How many of the newest positions are learned from: `first · (total / first) ** exponent`, at most `largest`."""

    first: int = 10_000
    """Positions before the window begins to leave old ones out."""
    largest: int = 60_000
    """Positions it holds at most."""
    exponent: float = 0.65
    """0 keeps it at `first`, 1 keeps everything."""
    surprise_share: float = 0.5
    """Share of the sampling weight that goes by surprise; the rest is even."""

    def __post_init__(self) -> None:
        if not 1 <= self.first <= self.largest:
            raise InputError(f"a window of {self.first} positions first and {self.largest} at most")
        check_share(self, "exponent", "surprise_share")

    def size(self, total: int) -> int:
        """Positions in the window when `total` were ever made."""
        if total <= self.first:
            return total
        return min(self.largest, int(self.first * (total / self.first) ** self.exponent))


_ROWS_MOVED = 1024
"""At once when the window slides: numpy copies what overlaps, and the window shall not be held twice."""

R = TypeVar("R", bound=Rows)


class Shards(Generic[R]):
    """The newest rows of a run: a file for each iteration, a window in memory."""

    def __init__(self, folder: Path, kind: type[R], size: Callable[[int], int]) -> None:
        """`size` tells how many rows the window holds when so many were ever made."""
        self._folder = folder
        self._kind = kind
        self._size = size
        self._lengths: deque[int] = deque()
        """Rows of each shard of which some are in the window."""
        self._arrays: dict[str, npt.NDArray[Any]] = {}
        """The rows of those shards, field by field, with room behind them."""
        self._first_needed: deque[int] = deque(maxlen=KEPT_CHECKPOINTS)
        """The oldest shard in the window of each of the newest iterations."""
        self.window: R | None = None
        """The newest rows, until others are added; None before the first."""
        self.total = 0
        """Rows ever added."""

    def load(self, iteration: int, total: int) -> None:
        """Fill the window from disk as it was after an iteration; `total` rows had been made by then.

        `RunError` names a shard that is needed and damaged or not there.
        """
        self.total, size = total, self._size(total)
        self._lengths.clear()
        self._arrays, self.window = {}, None
        shards: deque[R] = deque()
        for number in range(iteration, 0, -1):
            if sum(map(len, shards)) >= size:
                break
            shards.appendleft(self._read(self._path(number)))
        count = sum(map(len, shards))
        if count < size:
            raise RunError(f"{self._folder} holds {count} of the newest {size} positions")
        while shards:
            self._append(shards.popleft(), size, room=count)
        # What is there is there for the checkpoints before this one.
        self._first_needed.extend(int(path.stem) for path in self._paths()[:1] * KEPT_CHECKPOINTS)
        self._show(size)

    def add(self, iteration: int, rows: R) -> None:
        """Write the rows of an iteration as a shard, take them into the window, forget shards that fell out."""
        buffer = io.BytesIO()
        np.savez_compressed(buffer, **{one.name: getattr(rows, one.name) for one in fields(rows)})
        with writing(self._folder):
            self._folder.mkdir(parents=True, exist_ok=True)
        write_file(self._path(iteration), buffer.getvalue())
        self.total += len(rows)
        size = self._size(self.total)
        self.window = None
        self._append(rows, size)
        self._first_needed.append(iteration + 1 - len(self._lengths))
        self._show(size)

    def remove_outdated(self) -> None:
        """Delete the files of shards that are in the window of no checkpoint that is kept; call it after one."""
        for path in self._paths():
            if int(path.stem) < self._first_needed[0]:
                with writing(path):
                    path.unlink()

    def __len__(self) -> int:
        return 0 if self.window is None else len(self.window)

    def _path(self, iteration: int) -> Path:
        return self._folder / f"{iteration:06}.npz"

    def _paths(self) -> list[Path]:
        return numbered_files(self._folder, "npz")

    def _append(self, rows: R, size: int, room: int = 0) -> None:
        """Put a shard behind the others and drop those that a window of that size does without."""
        held = sum(self._lengths)
        self._lengths.append(len(rows))
        while len(self._lengths) > 1 and sum(self._lengths) - self._lengths[0] >= size:
            self._lengths.popleft()
        kept = sum(self._lengths) - len(rows)
        for one in fields(rows):
            new = getattr(rows, one.name)
            self._arrays[one.name] = _slide(self._arrays.get(one.name, new[:0]), held, kept, new, room)

    def _show(self, size: int) -> None:
        """Let the newest `size` rows be the window."""
        end = sum(self._lengths)
        newest = slice(max(0, end - size), end)
        self.window = self._kind(**{name: array[newest] for name, array in self._arrays.items()}) if size else None

    def _read(self, path: Path) -> R:
        try:
            with np.load(path, allow_pickle=False) as arrays:
                return self._kind(**{one.name: arrays[one.name] for one in fields(self._kind)})
        except FileNotFoundError:
            raise RunError(f"{path} is not there") from None
        except (OSError, EOFError, KeyError, ValueError, BadZipFile, zlib.error) as error:
            raise RunError(f"{path} is not a shard of positions: {error}") from None


def _slide(array: npt.NDArray[Any], held: int, kept: int, new: npt.NDArray[Any], room: int = 0) -> npt.NDArray[Any]:
    """The last `kept` of the first `held` rows of an array, and the `new` ones behind them.

    They are moved to the front of it; if it is too short, of a longer one, with `room` for so many rows at least.
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
    """The window of AlphaZero, from which batches are drawn by surprise."""

    def __init__(self, folder: Path, ruleset: Ruleset, config: WindowConfig) -> None:
        super().__init__(folder, Samples, config.size)
        self._ruleset = ruleset
        self._config = config
        self._weights: npt.NDArray[np.float64] = np.empty(0)

    def sample(self, count: int, rng: np.random.Generator) -> Samples:
        """`count` positions of the window, drawn with replacement, each turned or mirrored at random."""
        assert self.window is not None
        chosen = np.searchsorted(self._weights, rng.random(count), side="right")
        turns = rng.integers(len(symmetries(self._ruleset)), size=count)
        return turn(self.window[np.minimum(chosen, len(self.window) - 1)], turns, self._ruleset)

    def _show(self, size: int) -> None:
        super()._show(size)
        if self.window is not None:
            surprise = np.maximum(self.window.surprise.astype(np.float64), 0.0)
            share = self._config.surprise_share if surprise.sum() > 0 else 0.0
            even = (1 - share) / len(surprise)
            weights = even + (share * surprise / surprise.sum() if share else 0.0)
            self._weights = np.cumsum(np.broadcast_to(weights, len(surprise)))
