"""Building a data set from game files."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from tengen.core.contracts import Colour, Outcome, Ruleset
from tengen.core.position import Position
from tengen.datasets.dataset import DESCRIPTION_FILE, UNKNOWN, Dataset, Split
from tengen.datasets.duplicates import sample_keys
from tengen.errors import ForbiddenPointError, IllegalMoveError, InputError, RecordError
from tengen.records import FORMATS, GameRecord, ReadReport, iterate

_GIVEN = "FIRST"
"""Property written by `tengen data generate`: number of opening stones that the engine did not choose."""
_RESULTS = {Outcome.BLACK: 1, Outcome.WHITE: -1, Outcome.DRAW: 0}
_NOTES_KEPT = 10

OnProgress = Callable[[float, int, int], None]
"""Called with the fraction of the files read so far, and the number of games and moves kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildConfig:
    """Settings that decide which games and samples a data set contains."""

    ruleset: Ruleset
    """Ruleset; games with a different board, win length or rule are skipped. The opening procedure does not matter."""
    opening_moves: int = 0
    """Number of moves at the start of each game that are marked as its opening."""
    skips_openings: bool = False
    """Exclude opening moves from the samples."""
    results: tuple[str, ...] = ()
    """Results to keep: black, white, draw; empty keeps all games, including those with an unknown result."""
    player: str = ""
    """Keep only games in which a player's name contains this string."""
    min_moves: int = 1
    """Skip games with fewer moves."""
    keeps_duplicates: bool = False
    """Keep duplicate samples, which are equal up to a symmetry of the board."""
    shares: tuple[int, ...] = (8, 1, 1)
    """Proportions of games for training, validation and test."""
    seed: int = 0
    """Seed for the split."""

    def __post_init__(self) -> None:
        unknown = set(self.results) - {str(outcome) for outcome in _RESULTS}
        if unknown:
            raise InputError(f"unknown results {', '.join(sorted(unknown))} (known: black, white, draw)")
        if len(self.shares) != len(Split) or min(self.shares) < 0 or not self.shares[0]:
            raise InputError(
                f"shares must be three numbers, the first above 0 and the others at least 0, not {self.shares}"
            )
        if self.opening_moves < 0 or self.min_moves < 0:
            raise InputError(f"opening_moves={self.opening_moves} and min_moves={self.min_moves} must not be negative")


def build_dataset(
    sources: Sequence[Path], target: Path, config: BuildConfig, on_progress: OnProgress | None = None
) -> Dataset:
    """Read games in any format, write a data set to `target` and return it.

    A source is a file, or a folder whose game files are all read. Damaged records, illegal moves and games without
    moves are skipped and counted in `description["skipped"]`; `description["damaged_files"]` names the first damaged
    files. Raises `InputError` if a source does not exist or no game is left.
    """
    if (target / DESCRIPTION_FILE).exists():
        raise InputError(f"{target} already holds a data set: choose another folder")
    files = _find_files(sources)
    report = ReadReport()
    damaged: list[str] = []
    games = list(_read_games(files, config, report, damaged, on_progress))
    if not games:
        reasons = "; ".join([*report.summary(), *damaged[:1]]) or "the files are empty"
        raise InputError(f"no usable {config.ruleset} games in {', '.join(map(str, sources))}: {reasons}")
    lengths = np.array([len(game.moves) for game in games])
    starts = np.concatenate(([0], np.cumsum(lengths))).astype(np.int64)
    moves = np.fromiter(chain.from_iterable(game.moves for game in games), np.uint16, int(starts[-1]))
    skipped_plies = np.array([game.given for game in games])
    if config.skips_openings:
        skipped_plies = np.maximum(skipped_plies, config.opening_moves)
    plies = np.arange(len(moves)) - np.repeat(starts[:-1], lengths)
    samples = np.flatnonzero(plies >= np.repeat(skipped_plies, lengths))
    duplicates = 0
    if not config.keeps_duplicates:
        keys = sample_keys(moves, starts, config.ruleset)[samples]
        first = np.sort(np.unique(keys, return_index=True)[1])
        duplicates = len(samples) - len(first)
        samples = samples[first]
    arrays: dict[str, npt.NDArray[Any]] = {
        "moves": moves,
        "starts": starts,
        "results": np.array([game.result for game in games]),
        "splits": _split(len(games), config),
        "samples": samples,
    }
    description: dict[str, Any] = {
        "ruleset": str(config.ruleset),
        "sources": [path.name for path in files[:100]],
        "opening_moves": config.opening_moves,
        "skips_openings": config.skips_openings,
        "keeps_duplicates": config.keeps_duplicates,
        "duplicates_removed": duplicates,
        "shares": list(config.shares),
        "seed": config.seed,
        "skipped": dict(report.skipped),
        "damaged_files": damaged[:_NOTES_KEPT],
        "notes": report.notes[:_NOTES_KEPT],
    }
    Dataset.write(target, description, arrays)
    return Dataset.open(target)


class _UnusableError(Exception):
    """Raised to skip a game. Skipped games are counted by `reason`; `note` identifies the game."""

    def __init__(self, reason: str, note: str) -> None:
        super().__init__(reason)
        self.reason = reason
        self.note = note


@dataclass(frozen=True, slots=True)
class _Game:
    moves: list[int]
    result: int
    given: int
    """Number of initial stones that are not samples."""


def _find_files(sources: Sequence[Path]) -> list[Path]:
    endings = tuple(ending + packed for one in FORMATS.values() for ending in one.endings for packed in ("", ".gz"))
    files: list[Path] = []
    for source in sources:
        if not source.exists():
            raise InputError(f"{source} does not exist")
        found = sorted(path for path in source.rglob("*") if path.name.endswith(endings)) if source.is_dir() else []
        files += found or [source]
    return files


def _read_games(
    files: Sequence[Path],
    config: BuildConfig,
    report: ReadReport,
    damaged: list[str],
    on_progress: OnProgress | None,
) -> Iterator[_Game]:
    """Yield the usable games from all files; append a message to `damaged` for each file that cannot be fully read."""
    counts = {"games": 0, "moves": 0}

    def show(files_read: int, share: float) -> None:
        if on_progress is not None:
            on_progress((files_read + share) / len(files), counts["games"], counts["moves"])

    for number, path in enumerate(files):
        on_read = partial(show, number)
        before = counts["games"]
        try:
            for record in iterate(path, ruleset=config.ruleset, report=report, skips_damage=True, on_progress=on_read):
                try:
                    game = _convert(record, config)
                except _UnusableError as error:
                    report.skip(error.reason, error.note)
                    continue
                counts["games"] += 1
                counts["moves"] += len(game.moves)
                yield game
        except RecordError as error:
            report.skip("damaged files", str(error))
            damaged.append(f"{error} (games read before the damage: {counts['games'] - before:,})")


def _convert(record: GameRecord, config: BuildConfig) -> _Game:
    """Convert a record to point indices. Raises `_UnusableError` if the game is invalid or not selected."""
    mine, theirs = config.ruleset, record.ruleset
    names = f"{record.black} – {record.white}"
    if (theirs.width, theirs.height, theirs.win_length, theirs.rule) != (
        mine.width,
        mine.height,
        mine.win_length,
        mine.rule,
    ):
        raise _UnusableError("games with other rules", f"{names}: {theirs}")
    if config.player and config.player.lower() not in names.lower():
        raise _UnusableError("games between other players", names)
    played = record.moves()
    if not played:
        raise _UnusableError("games without moves", names)
    alternates = all(
        move.colour is (Colour.WHITE if ply % 2 else Colour.BLACK) and move.point is not None
        for ply, move in enumerate(played)
    )
    if not alternates or any(node.setup for node in record.main_line()):
        raise _UnusableError("games with passes or set-up stones", names)
    position = Position.start(mine)
    moves: list[int] = []
    try:
        for move in played:
            assert move.point is not None
            position = position.play(move.point)
            moves.append(move.point.index(mine.width))
    except ForbiddenPointError as error:
        # A foul loses the game if it is the last move; anywhere else, it makes the record invalid.
        if len(moves) < len(played) - 1:
            raise _UnusableError(
                "games with an illegal move", f"{names}, move {len(moves) + 1}: {_first_line(error)}"
            ) from None
    except IllegalMoveError as error:
        raise _UnusableError(
            "games with an illegal move", f"{names}, move {len(moves) + 1}: {_first_line(error)}"
        ) from None
    if len(moves) < max(1, config.min_moves):
        raise _UnusableError("games that are too short", names)
    outcome = record.result if record.result in _RESULTS else position.outcome
    if config.results and str(outcome) not in config.results:
        raise _UnusableError("games with other results", names)
    return _Game(moves, _RESULTS.get(outcome, UNKNOWN), _given_stones(record))


def _given_stones(record: GameRecord) -> int:
    text = record.properties.get(_GIVEN, ("0",))[0]
    return int(text) if text.isdecimal() and len(text) <= 4 else 0


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0]


def _split(games: int, config: BuildConfig) -> npt.NDArray[np.uint8]:
    """Assign splits [G] at random, as close to the proportions as whole games allow."""
    ends = np.cumsum(config.shares) * games // sum(config.shares)
    splits = np.searchsorted(ends, np.arange(games), side="right").astype(np.uint8)
    return np.random.default_rng(config.seed).permutation(splits)
