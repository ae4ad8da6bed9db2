"""Checks for everything Tengen writes: training runs, data sets, networks, game stores, game files, puzzles, weights.

A check reads the whole item, verifies checksums if there are any, and reports what can be recovered from a damaged
item. It writes nothing and does not need torch.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from tengen.core.checked_files import MAX_ARRAY_BYTES, parse_arrays, read_bytes
from tengen.errors import InputError, TengenError

if TYPE_CHECKING:
    from tengen.arena.store import GameStore

_SQLITE_MAGIC = b"SQLite format 3\0"
_DATABASE_ENDINGS = (".db", ".sqlite", ".sqlite3")
_GAME_ENDINGS = (".sgf", ".psq", ".rif", ".lib", ".pos")
"""Extensions of game files that are checked in folders. Others, such as .txt, are checked only if given explicitly."""
_MAX_DEPTH = 12
_MAX_WEIGHTS_BYTES = 1 << 30
_FIRST_LINE_BYTES = 1 << 16


@dataclass
class Findings:
    """Result of a check."""

    kind: str
    facts: list[str] = field(default_factory=list)
    damage: list[str] = field(default_factory=list)
    saved: str = ""
    """The part of a damaged item that is still usable."""

    def line(self, path: Path) -> str:
        """Return the findings in one line."""
        state = "damaged" if self.damage else "ok"
        parts = [self.kind, *(self.damage or self.facts), *([self.saved] if self.damage and self.saved else [])]
        return f"{state:<8} {path}: {'; '.join(parts)}".replace("\n", " ")


@dataclass(frozen=True)
class Item:
    """A file or folder that can be checked."""

    path: Path
    check: Callable[[Path], Findings]


def find_items(path: Path) -> Iterator[Item]:
    """Yield the items at or below a path, sorted. Raises `InputError` if it does not exist or is of an unknown kind."""
    if not path.exists():
        raise InputError(f"{path} does not exist")
    if path.is_dir():
        yield from _find_in_folder(path, _MAX_DEPTH)
        return
    check = _check_of(path, is_named=True)
    if check is None:
        raise InputError(
            f"{path} is not a file that can be checked; supported: networks (.onnx, .safetensors), game stores,"
            " engine weights (.npz), puzzles and engine games (.jsonl), and game files that `tengen convert` can read"
        )
    yield Item(path, check)


def _find_in_folder(folder: Path, depth: int) -> Iterator[Item]:
    from tengen.datasets.dataset import DESCRIPTION_FILE
    from tengen.learning.run.reading import CONFIG_FILE, looks_like_run

    if looks_like_run(folder / CONFIG_FILE):
        yield Item(folder, check_run)
        return
    if (folder / DESCRIPTION_FILE).exists():
        yield Item(folder, check_dataset)
        return
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError as error:
        raise InputError(f"cannot read {folder}: {error.strerror}") from None
    for entry in entries:
        path = folder / entry.name
        if entry.name.startswith(".") or entry.is_symlink():
            continue
        if entry.is_dir():
            if depth:
                yield from _find_in_folder(path, depth - 1)
        elif entry.is_file():
            check = _check_of(path, is_named=False)
            if check is not None:
                yield Item(path, check)


def _check_of(path: Path, *, is_named: bool) -> Callable[[Path], Findings] | None:
    """Return the check for a file; None for an unknown kind."""
    name = path.name.lower().removesuffix(".gz")
    if name.endswith(".onnx"):
        return check_network_file
    if name.endswith(".safetensors"):
        return check_weights
    if name.endswith(".npz"):
        return check_engine_weights
    if name.endswith(_DATABASE_ENDINGS) or _starts_with(path, _SQLITE_MAGIC):
        return check_database
    if name.endswith(".jsonl"):
        return _check_of_lines(path)
    if name.endswith(_GAME_ENDINGS) or (is_named and name.endswith((".txt", ".json", ".xml"))):
        return check_games
    return None


def _starts_with(path: Path, magic: bytes) -> bool:
    with suppress(OSError), open(path, "rb") as file:
        return file.read(len(magic)) == magic
    return False


def _check_of_lines(path: Path) -> Callable[[Path], Findings] | None:
    """Return the check for a JSON Lines file, chosen by the keys of its first line; None for metrics."""
    keys: set[str] = set()
    with suppress(OSError, ValueError, RecursionError), open(path, "rb") as file:
        keys = set(json.loads(file.readline(_FIRST_LINE_BYTES)))
    if {"solution", "grade"} <= keys:
        return check_puzzles
    if {"game", "first", "values"} <= keys:
        return check_engine_games
    return None if "iteration" in keys else check_games


# -- training runs ----------------------------------------------------------------------------------------------------


def check_run(folder: Path) -> Findings:
    """Check the configuration, metrics, checkpoints, positions, network and games of a training run."""
    from tengen.learning.run.reading import LeftOut, RunReader

    findings = Findings("training run")
    try:
        run = RunReader.open(folder)
    except InputError as error:
        findings.damage.append(str(error))
        return findings
    left_out = LeftOut()
    try:
        lines = run.metrics(left_out)
        findings.facts.append(f"{len(lines)} iterations")
    except TengenError as error:
        findings.damage.append(str(error))
    if left_out.damaged_lines:
        findings.damage.append(str(left_out))
    good: list[str] = []
    unverified = 0
    folders = run.checkpoint_folders()
    for checkpoint in folders:
        try:
            unverified += not _check_checkpoint(checkpoint)
            good.append(str(int(checkpoint.name)))
        except InputError as error:
            findings.damage.append(str(error))
    findings.facts.append(f"checkpoints {', '.join(good)}" if good else "no checkpoint yet")
    if unverified:
        findings.facts.append(f"{unverified} checkpoints without checksums, so only their structure was checked")
    networks = (*folder.glob("model*.onnx"), *folder.glob("*.safetensors"), *folder.glob("milestones/*/model.*"))
    for file in sorted((*networks, *run.game_files())):
        check = _check_of(file, is_named=False)
        if check is not None:
            findings.damage += check(file).damage
    if good:
        findings.saved = f"--resume continues after iteration {good[-1]}"
    elif folders:
        findings.saved = f"another run can start from its network with --init-from {folder}"
    return findings


def _check_checkpoint(folder: Path) -> bool:
    """Check a checkpoint and the positions it needs; return whether it has checksums."""
    from tengen.learning.run.folder import check_sha256, read_checkpoint_files

    checksums = read_checkpoint_files(folder).checksums
    run = folder.parent.parent
    for name in checksums or ():
        path = run / name
        if path.parent == folder:
            continue
        if path.parent.parent != run or path.suffix != ".npz":
            raise InputError(f"{folder} lists the file {name!r:.80}, which does not belong to the run")
        data = read_bytes(path, MAX_ARRAY_BYTES)
        check_sha256(data, path, name, checksums or {})
        parse_arrays(data, str(path))
    return checksums is not None


# -- networks and weights ---------------------------------------------------------------------------------------------


def check_network_file(path: Path) -> Findings:
    """Check a network file and run it once."""
    from tengen.nets.models import load_network_file

    findings = Findings("network")
    try:
        _, info = load_network_file(path)
        findings.facts.append(f"{info.ruleset}, {info.precision}")
    except TengenError as error:
        findings.damage.append(str(error))
    return findings


def check_weights(path: Path) -> Findings:
    """Check a safetensors file: a critic, or the weights of a network."""
    from tengen.core.checked_files import parse_tensor_header
    from tengen.search.critic import Critic

    findings = Findings("weights")
    try:
        data = read_bytes(path, _MAX_WEIGHTS_BYTES)
        header = parse_tensor_header(data, str(path))
        if '"critic"' in header.metadata.get("tengen", ""):
            findings.kind = "critic"
            findings.facts.append(str(Critic.from_bytes(data, str(path)).ruleset))
            return findings
        findings.facts.append(f"{len(header.shapes)} tensors")
        try:
            from tengen.nets.architectures import load_net
        except ImportError:
            findings.facts.append("not compared with the network, because torch is not installed")
        else:
            load_net(path)
    except TengenError as error:
        findings.damage.append(str(error))
    return findings


def check_engine_weights(path: Path) -> Findings:
    """Check the weights file of the alpha-beta engine."""
    from tengen.search.weights import load_weights

    findings = Findings("engine weights")
    try:
        load_weights(path)
    except TengenError as error:
        findings.damage.append(str(error))
    return findings


# -- data sets and games ----------------------------------------------------------------------------------------------


def check_dataset(folder: Path) -> Findings:
    """Check the arrays of a data set, verify their checksums and replay every game."""
    from tengen.datasets.dataset import Dataset

    findings = Findings("data set")
    try:
        dataset = Dataset.open(folder)
        findings.facts.append(f"{len(dataset.results):,} games, {len(dataset):,} samples")
        if dataset.has_checksums:
            dataset.check_checksums()
        else:
            findings.facts.append("without checksums, so only its structure was checked")
        dataset.check_games()
    except TengenError as error:
        findings.damage.append(str(error))
        findings.saved = "build it again with `tengen data build`"
    return findings


def check_database(path: Path) -> Findings:
    """Check an SQLite file: the games of tournaments, or another Tengen database."""
    from tengen.arena.store import GameStore

    findings = Findings("game store")
    try:
        with GameStore(path, is_writer=False) as store:
            is_sound = store.is_sound()
            numbers = sorted(store.numbers())
            readable = sum(_is_readable(store, number) for number in numbers)
    except TengenError as error:
        if "but not a game store" not in str(error):
            findings.damage.append(str(error))
            return findings
        return _check_other_database(path)
    findings.facts.append(f"{len(numbers):,} games")
    if not is_sound:
        findings.damage.append("SQLite's integrity check failed")
    if readable < len(numbers):
        findings.damage.append(f"{len(numbers) - readable:,} games cannot be read")
    findings.saved = f"{readable:,} of {len(numbers):,} games can be read"
    return findings


def _is_readable(store: GameStore, number: int) -> bool:
    try:
        return store.game(number) is not None
    except TengenError:
        return False


def _check_other_database(path: Path) -> Findings:
    findings = Findings("database")
    try:
        address = f"{path.resolve().as_uri()}?mode=ro"
        with closing(sqlite3.connect(address, uri=True)) as database:
            (answer,) = database.execute("PRAGMA integrity_check(1)").fetchone()
    except sqlite3.Error as error:
        answer = str(error)
    if answer != "ok":
        findings.damage.append(str(answer))
    return findings


def check_games(path: Path) -> Findings:
    """Check a game file of any format."""
    from tengen.records import ReadReport, iterate

    findings = Findings("game file")
    report = ReadReport()
    games = 0
    try:
        for record in iterate(path, report=report, skips_damage=True):
            record.check()
            games += 1
    except TengenError as error:
        findings.damage.append(str(error))
    findings.damage += report.notes[:1] if report.skipped else []
    if report.skipped:
        findings.damage += report.summary()
    findings.facts.append(f"{games:,} games")
    findings.saved = f"{games:,} games can be read"
    return findings


def check_puzzles(path: Path) -> Findings:
    """Check a puzzle file and replay every solution."""
    from tengen.puzzles.puzzle import parse_puzzles
    from tengen.records.limits import MAX_FILE_BYTES

    findings = Findings("puzzles")
    good = 0
    try:
        lines = read_bytes(path, MAX_FILE_BYTES).decode("utf-8").splitlines()
    except (TengenError, UnicodeDecodeError) as error:
        findings.damage.append(f"{path}: {error}")
        return findings
    for number, line in enumerate(lines, start=1):
        try:
            (puzzle,) = parse_puzzles(line)
            position = puzzle.position()
            for move in puzzle.line():
                position = position.play(move)
            good += 1
        except (TengenError, ValueError) as error:
            findings.damage += [f"line {number} is not a puzzle: {error}"] if len(lines) - good < 4 else []
    if good < len(lines):
        findings.damage.append(f"{len(lines) - good} damaged lines")
    findings.facts.append(f"{good} puzzles")
    findings.saved = f"{good} puzzles can be read"
    return findings


def check_engine_games(path: Path) -> Findings:
    """Check the engine games from `tengen data generate`."""
    from tengen.tuning.engine_games import read_games

    findings = Findings("engine games")
    games = 0
    try:
        for _ in read_games(path):
            games += 1
    except TengenError as error:
        findings.damage.append(str(error))
        findings.saved = f"{games:,} games before that line can be read"
    findings.facts.append(f"{games:,} games")
    return findings
