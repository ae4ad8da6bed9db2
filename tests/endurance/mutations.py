"""Random damage to every kind of file. Only our errors may come out, and no damaged checkpoint may be used.

A case is given by its subject, the seed and its number, so a failure can be repeated.
"""

from __future__ import annotations

import random
import shutil
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from rich.console import Console

from tengen.arena.standings import collect
from tengen.arena.store import GameStore
from tengen.core.contracts import Ruleset
from tengen.core.position import Position
from tengen.datasets.build import BuildConfig, build_dataset
from tengen.datasets.dataset import Augmentation, Dataset, Split
from tengen.datasets.stats import describe_dataset
from tengen.errors import TengenError
from tengen.learning.algorithms import alphazero
from tengen.learning.experience.replay import Replay
from tengen.learning.run import Run
from tengen.learning.run.folder import Checkpoint
from tengen.learning.run.loop import initial_net
from tengen.learning.run.manifest import MANIFEST_FILE
from tengen.learning.run.progress import Progress
from tengen.nets.architectures import NetConfig, NetKind, build_net, load_net, save_net
from tengen.nets.export import export_onnx, quantise
from tengen.nets.models import load_network_file
from tengen.nets.sealing import seal
from tengen.puzzles.puzzle import parse_puzzles
from tengen.records import FORMATS, GameRecord, ReadReport, iterate, save
from tengen.search.critic import Critic, CriticConfig, load_critic
from tengen.search.weights import load_weights, save_weights, weights_for
from tests.endurance import tournament_faults, training_faults
from tests.nets.positions import random_planes, random_positions

SIX = Ruleset.parse("6x6:4")
SEAL_BYTES = 76


def mutate(data: bytes, rng: random.Random) -> bytes:
    """Return the data with one change: bytes replaced, inserted, deleted or copied, or the end cut off."""
    changed = bytearray(data)
    place = rng.randrange(len(data)) if data else 0
    length = 1 if rng.random() < 0.5 else rng.randint(1, 64)
    match rng.randrange(6) if data else 2:
        case 0:
            changed[place] ^= 1 << rng.randrange(8)
        case 1:
            changed[place : place + length] = rng.randbytes(min(length, len(data) - place))
        case 2:
            changed[place:place] = rng.randbytes(length)
        case 3:
            del changed[place : place + length]
        case 4:
            source = rng.randrange(len(data))
            changed[place : place + length] = data[source : source + length]
        case 5:
            del changed[place:]
    return bytes(changed) if changed != data else mutate(data, rng)


class Subject(ABC):
    """A kind of file: how to make samples and how to read them as the program does."""

    name: str

    def __init__(self, folder: Path) -> None:
        """Write the samples to `folder`."""
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    @abstractmethod
    def files(self) -> list[Path]:
        """Return the files to damage."""

    @abstractmethod
    def read(self, path: Path) -> bool:
        """Read everything that depends on the file; return whether the program would use it."""

    def repair(self, data: bytes, rng: random.Random) -> bytes:
        """Give damaged data a valid checksum in some cases, as somebody who makes such a file on purpose would."""
        return data

    def forbids(self, path: Path) -> bool:
        """Whether this file must be refused however it is damaged."""
        return False

    def run(self, seed: int, count: int, on_case: Callable[[int], None] = lambda _: None) -> Counter[str]:
        """Run cases; return how many were refused and how many were used. Any other error goes through."""
        found: Counter[str] = Counter()
        files = self.files()
        for case in range(count):
            on_case(case)
            rng = random.Random(f"{self.name} {seed} {case}")
            path = rng.choice(files)
            good = path.read_bytes()
            path.write_bytes(self.repair(mutate(good, rng), rng))
            try:
                is_used = self.read(path)
            except TengenError:
                is_used = False
            except Exception as error:
                raise AssertionError(f"{self.name}, seed {seed}, case {case}: {path.name}: {error!r}") from error
            finally:
                path.write_bytes(good)
            if is_used and self.forbids(path):
                raise AssertionError(f"{self.name}, seed {seed}, case {case}: a damaged {path.name} was used")
            found["used" if is_used else "refused"] += 1
        return found


class Checkpoints(Subject):
    """The newest checkpoint of a run and its positions; the one before it is intact."""

    name = "checkpoints"
    has_manifest = True

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._run = training_faults.begin(folder / "run")
        training_faults.go(folder / "run")
        self._config = self._run.config(alphazero.Config)
        quiet = Progress(Console(quiet=True), "")
        self._learner = alphazero.Learner(initial_net(self._config, self._run, quiet), self._config.learner)
        if not self.has_manifest:
            for manifest in folder.rglob(MANIFEST_FILE):
                manifest.unlink()

    def files(self) -> list[Path]:
        return [*sorted((self.folder / "run" / "checkpoints" / "000002").iterdir()), self._shard]

    @property
    def _shard(self) -> Path:
        return self.folder / "run" / "replay" / "000002.npz"

    def read(self, path: Path) -> bool:
        config = self._config
        heard: list[str] = []

        def restore(checkpoint: Checkpoint) -> None:
            replay = Replay(self.folder / "run" / "replay", config.ruleset, config.net.planes, config.window)
            replay.load(checkpoint.iteration, checkpoint.counters["positions"], checkpoint.checksums)
            self._learner.restore(checkpoint.tensors, checkpoint.counters["steps"])

        counters = ("games", "positions", "seconds", "cpu_seconds", "steps", "self_play_fraction")
        found = Run.open(self.folder / "run").load_checkpoint(heard.append, counters, restore)
        assert found is not None
        if found.iteration == 1:
            # Without checksums, damage may show in another file: a changed name in state.json is a missing file.
            assert path.name in heard[0] or (not self.has_manifest and "/000002" in heard[0]), heard
        return found.iteration == 2

    def forbids(self, path: Path) -> bool:
        return self.has_manifest


class OldCheckpoints(Checkpoints):
    """The same for a run of an earlier version, without checksums."""

    name = "checkpoints without manifests"
    has_manifest = False


class Databases(Subject):
    """The games of a tournament."""

    name = "databases"

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        tournament_faults.go(folder / "games.db", [])
        with GameStore(folder / "games.db"):
            pass  # the last writer moves the write-ahead log into the file

    def files(self) -> list[Path]:
        return [self.folder / "games.db"]

    def read(self, path: Path) -> bool:
        try:
            with GameStore(path, is_writer=False) as store:
                store.is_sound()
                for _ in store.games():
                    pass
                collect([store])
            with GameStore(path) as store:
                store.numbers()
        finally:
            for side_file in self.folder.glob("games.db-*"):
                side_file.unlink()
        return True


class Models(Subject):
    """Networks, their weights, critics and the weights of the engine."""

    name = "models"

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        for kind in (NetKind.RESIDUAL, NetKind.MDRNN, NetKind.GATED_MDRNN, NetKind.DENSE_VALUE):
            net = build_net(NetConfig(kind=kind, channels=8, blocks=1), SIX)
            (folder / f"{kind}.onnx").write_bytes(export_onnx(net, SIX))
        net = build_net(NetConfig(channels=8, blocks=1), SIX)
        data = quantise(export_onnx(net, SIX), random_planes(SIX, 64, net.config.planes))
        (folder / "int8.onnx").write_bytes(data)
        save_net(folder / "weights.safetensors", net, SIX)
        config = CriticConfig(hidden=8)
        weights = {name: np.zeros(shape, np.float32) for name, shape in config.shapes().items()}
        (folder / "critic.safetensors").write_bytes(Critic(config, SIX, weights).to_bytes())
        save_weights(folder / "engine.npz", weights_for(Ruleset.parse("15x15")))

    def files(self) -> list[Path]:
        return sorted(self.folder.iterdir())

    def repair(self, data: bytes, rng: random.Random) -> bytes:
        # Most damage to a network breaks its seal; a new one takes it to the check of the graph.
        is_sealed = data[-SEAL_BYTES : -SEAL_BYTES + 2] == b"\x72\x4a"
        return seal(data[:-SEAL_BYTES]) if is_sealed and rng.random() < 0.9 else data

    def read(self, path: Path) -> bool:
        if path.suffix == ".onnx":
            load_network_file(path)
        elif path.suffix == ".npz":
            load_weights(path)
        elif path.stem == "critic":
            load_critic(path).judge(Position.start(SIX).play("c3"))
        else:
            load_net(path)
        return True


class Datasets(Subject):
    """Data sets and puzzles."""

    name = "data sets"

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        records = [
            GameRecord.from_points(SIX, position.moves) for position in random_positions(SIX, 20) if position.moves
        ]
        save(folder / "games.sgf", records)
        build_dataset([folder / "games.sgf"], folder / "set", BuildConfig(ruleset=SIX))
        shutil.copy(Path(__file__).parents[2] / "data" / "puzzles" / "renju15.jsonl", folder / "puzzles.jsonl")

    def files(self) -> list[Path]:
        return [*sorted((self.folder / "set").iterdir()), self.folder / "puzzles.jsonl"]

    def read(self, path: Path) -> bool:
        if path.suffix == ".jsonl":
            try:
                text = path.read_text(encoding="utf-8")
            except UnicodeDecodeError:
                return False
            for puzzle in parse_puzzles(text)[:3]:
                position = puzzle.position()
                for move in puzzle.line():
                    position = position.play(move)
            return True
        dataset = Dataset.open(self.folder / "set")
        list(describe_dataset(dataset))
        rng = np.random.default_rng(0)
        for split in Split:
            numbers = dataset.find(split)
            if len(numbers):
                dataset.batch(numbers, "own-other-last-colour", Augmentation(shift=1), rng)
        dataset.check_games()
        dataset.check_checksums()
        return True


class Records(Subject):
    """Game files of every format."""

    name = "records"

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        endings = tuple(ending for entry in FORMATS.values() for ending in entry.endings)
        for sample in (Path(__file__).parents[1] / "records" / "samples").iterdir():
            if sample.name.endswith(endings):
                shutil.copy(sample, folder)

    def files(self) -> list[Path]:
        return sorted(self.folder.iterdir())

    def read(self, path: Path) -> bool:
        return sum(1 for _ in iterate(path, report=ReadReport(), skips_damage=True)) > 0


SUBJECTS: tuple[type[Subject], ...] = (Checkpoints, OldCheckpoints, Databases, Models, Datasets, Records)


def subjects(folder: Path) -> Iterator[Subject]:
    """Make all subjects."""
    for subject in SUBJECTS:
        yield subject(folder / subject.__name__)
