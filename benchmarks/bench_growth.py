"""Growth of time and memory: each part is measured at three sizes, which give the exponent of its growth.

An exponent of 1 means that twice the size takes twice as long; 0 means that the size does not matter. The exponent is
the slope of the line through the logarithms of the three measurements. Time is processor time of the process, so other
programs do not count. Memory is the peak resident memory minus the resident memory before; less than 16 MB counts as
16 MB, because allocators do not return small amounts. Each measurement runs in its own process. Preparation, such as
writing the files to be read, is not measured.
"""

from __future__ import annotations

import math
import multiprocessing
import random
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import psutil
from rich.console import Console
from rich.table import Table

from tengen.arena.entrant import Entrant
from tengen.arena.match import Ending, GameResult, Turn
from tengen.arena.report import as_json, tables
from tengen.arena.schedule import ScheduledGame
from tengen.arena.standings import collect
from tengen.arena.store import GameStore
from tengen.arena.tournament import OpeningSettings, Tournament
from tengen.core.contracts import Limits, Outcome, Ruleset
from tengen.core.geometry import Point
from tengen.core.position import Position
from tengen.records import GameRecord, iterate, save

RULES = Ruleset(15, 15)
LEAST_MB = 16.0
"""Smaller amounts of memory are noise."""
STATUS = Path("/proc/self/status")
CLEAR = Path("/proc/self/clear_refs")

Work = Callable[[], object]


@dataclass(frozen=True)
class Part:
    """Work that is measured at three sizes. `prepare` writes the required files to a folder and returns the work."""

    unit: str
    sizes: tuple[int, int, int]
    prepare: Callable[[int, Path], Work]


@dataclass(frozen=True)
class Measurement:
    """The cost of one part at one size."""

    seconds: float
    megabytes: float


def run() -> dict[str, float]:
    """Measure all parts, print a table and return the exponents and the figures of the largest size."""
    figures: dict[str, float] = {}
    table = Table("part", "sizes", "seconds", "MB", "time exponent", "memory exponent", title="growth")
    for name, part in PARTS.items():
        found = [measure_apart(name, size) for size in part.sizes]
        time_exponent = exponent(part.sizes, [one.seconds for one in found])
        memory_exponent = exponent(part.sizes, [max(one.megabytes, LEAST_MB) for one in found])
        figures[f"{name}_time_exponent"] = time_exponent
        figures[f"{name}_memory_exponent"] = memory_exponent
        figures[f"{name}_seconds_for_{part.sizes[-1]}_{part.unit}"] = found[-1].seconds
        figures[f"{name}_mb_for_{part.sizes[-1]}_{part.unit}"] = found[-1].megabytes
        table.add_row(
            name.replace("_", " "),
            f"{', '.join(f'{size:,}' for size in part.sizes)} {part.unit}",
            ", ".join(f"{one.seconds:.2f}" for one in found),
            ", ".join(f"{one.megabytes:.0f}" for one in found),
            f"{time_exponent:.2f}",
            f"{memory_exponent:.2f}",
        )
    Console().print(table)
    return figures


def exponent(sizes: Sequence[float], costs: Sequence[float]) -> float:
    """Return the slope of the logarithm of the cost over the logarithm of the size, by least squares."""
    xs = [math.log(size) for size in sizes]
    ys = [math.log(max(cost, 1e-6)) for cost in costs]
    x_mean, y_mean = sum(xs) / len(xs), sum(ys) / len(ys)
    rise = sum((x - x_mean) * (y - y_mean) for x, y in zip(xs, ys, strict=True))
    return rise / sum((x - x_mean) ** 2 for x in xs)


def measure_apart(name: str, size: int) -> Measurement:
    """Measure one size in a separate process."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        return pool.submit(measure, name, size).result()


def measure(name: str, size: int) -> Measurement:
    """Prepare and measure one size of one part in this process."""
    with tempfile.TemporaryDirectory() as folder:
        work = PARTS[name].prepare(size, Path(folder))
        before = _reset_peak_mb()
        started = time.process_time()
        work()
        return Measurement(time.process_time() - started, _peak_mb() - before)


def _reset_peak_mb() -> float:
    """Set the peak of the resident memory to its current size, if the system supports this, and return it."""
    if CLEAR.exists():
        CLEAR.write_text("5")
    return _peak_mb()


def _peak_mb() -> float:
    if STATUS.exists():
        line = next(line for line in STATUS.read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) / 1024
    return float(psutil.Process().memory_info().rss) / 2**20


# ---- Files to read --------------------------------------------------------------------------------------------------


def _games(count: int) -> Iterator[GameRecord]:
    rng = random.Random(1)
    points = [Point.from_index(index, RULES.width) for index in range(RULES.area)]
    for _ in range(count):
        yield GameRecord.from_points(RULES, rng.sample(points, 45), black="Ann", white="Bob", result=Outcome.DRAW)


def _collection(count: int, folder: Path) -> Path:
    path = folder / "games.sgf"
    save(path, _games(count))
    return path


def _store(games: int, players: int, folder: Path) -> Path:
    rng = random.Random(1)
    points = [Point.from_index(index, RULES.width) for index in range(RULES.area)]
    path = folder / "games.db"
    with GameStore(path) as store:
        store.set_players([Entrant(name=f"player {number}", agent="random") for number in range(players)])
        for number in range(games):
            if number % 2 == 0:
                first, second = rng.sample(range(players), 2)
            else:
                first, second = second, first
            moves = tuple(rng.sample(points, 30))
            game = ScheduledGame(
                number=number,
                ruleset=RULES,
                first=first,
                second=second,
                round=0,
                opening=moves[:5],
                opening_number=0,
                seed=0,
            )
            turns = tuple(Turn(1.5, 0.1, 100, 5) for _ in moves[5:])
            outcome = rng.choice((Outcome.BLACK, Outcome.WHITE, Outcome.DRAW))
            store.add(
                game,
                GameResult(outcome=outcome, ending=Ending.FIVE, black_seat=0, moves=moves, turns=turns, duration_s=1.0),
            )
    return path


# ---- The parts ------------------------------------------------------------------------------------------------------


def _report_of_games(size: int, folder: Path) -> Work:
    return _report(_store(size, 50, folder))


def _report_of_players(size: int, folder: Path) -> Work:
    return _report(_store(10_000, size, folder))


def _report(path: Path) -> Work:
    def work() -> None:
        with GameStore(path, is_writer=False) as store:
            standings = collect([store])
        tables(standings)
        as_json(standings)

    return work


def _reading(size: int, folder: Path) -> Work:
    path = _collection(size, folder)
    return lambda: sum(1 for _ in iterate(path))


def _conversion(size: int, folder: Path) -> Work:
    path = _collection(size, folder)
    return lambda: save(folder / "games.jsonl", iterate(path))


def _dataset(size: int, folder: Path) -> Work:
    from tengen.datasets.build import BuildConfig, build_dataset

    path = _collection(size, folder)
    return lambda: build_dataset([path], folder / "set", BuildConfig(ruleset=RULES))


def _tournament(rounds: int) -> Tournament:
    players = (Entrant(agent="random"), Entrant(agent="chains"))
    return Tournament(rules=(RULES,), players=players, rounds=rounds, openings=OpeningSettings(stones=5))


def _first_game(size: int, folder: Path) -> Work:
    def work() -> None:
        with GameStore(folder / "games.db") as store:
            assert _tournament(size // 2).schedule(store)[0].opening

    return work


def _next_opening(size: int, folder: Path) -> Work:
    """Measure opening a store with this many openings and generating the next one."""
    path = folder / "games.db"
    tournament = _tournament(size + 1)
    with GameStore(path) as store:
        assert tournament.schedule(store)[2 * size - 1].opening

    def work() -> None:
        with GameStore(path) as store:
            assert tournament.schedule(store)[2 * size].opening

    return work


def _laboratory_page(size: int, folder: Path) -> Work:
    from tengen.web.laboratory.folders import Lab

    _store(size, 10, folder)
    lab = Lab(runs=(folder,))
    return lambda: lab.tournament_games("games", 100, 0)


def _metrics_summary(size: int, folder: Path) -> Work:
    from tengen.web.laboratory.folders import Lab

    run = folder / "run"
    run.mkdir()
    (run / "config.toml").write_text('[run]\nalgorithm = "alphazero"\n[config]\n')
    line = (
        '{"iteration": %d, "seconds": %d.5, "losses": {"policy": 2.5, "value": 0.5}, "games": 100, "samples": 4000}\n'
    )
    (run / "metrics.jsonl").write_text("".join(line % (number, number) for number in range(size)))
    lab = Lab(runs=(folder,))
    return lambda: lab.list_runs(100, 0)


def _vector_boards(size: int, folder: Path) -> Work:
    from tengen.envs import GomokuVectorEnv

    env = GomokuVectorEnv(size, ruleset=RULES)
    env.reset(seed=1)

    def work() -> None:
        for _ in range(20):
            env.step(env.sample_actions())

    return work


def _full_tree(size: int, folder: Path) -> Work:
    from tengen.search.evaluation import UniformEvaluator
    from tengen.search.puct_search import PuctSearch

    search = PuctSearch(RULES, UniformEvaluator(), memory_mb=16)
    position = Position.start(RULES)
    search.search(position, Limits(simulations=10_000))
    return lambda: search.search(position, Limits(simulations=size))


PARTS: dict[str, Part] = {
    "report_by_games": Part("games", (10_000, 20_000, 40_000), _report_of_games),
    "report_by_players": Part("players", (100, 200, 400), _report_of_players),
    "reading_sgf": Part("games", (2_500, 5_000, 10_000), _reading),
    "conversion": Part("games", (2_500, 5_000, 10_000), _conversion),
    "data_build": Part("games", (2_500, 5_000, 10_000), _dataset),
    "first_game": Part("games", (1_000, 10_000, 100_000), _first_game),
    "next_opening_after_resume": Part("openings", (500, 1_000, 2_000), _next_opening),
    "laboratory_page": Part("games", (10_000, 20_000, 40_000), _laboratory_page),
    "metrics_summary": Part("lines", (10_000, 40_000, 160_000), _metrics_summary),
    "vector_boards": Part("boards", (4_096, 16_384, 65_536), _vector_boards),
    "puct_with_full_tree": Part("simulations", (200_000, 400_000, 800_000), _full_tree),
}
