"""Kill a tournament repeatedly and check what is left: `python -m tests.arena.killing --kills 20 --rounds 10`.

The tests run a shorter version.
"""

from __future__ import annotations

import argparse
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

PATIENCE_S = 120.0

# Games take a few tenths of a second, so some kills happen in the middle of a game.
PLAYERS = tuple(f"alphabeta:nodes={nodes},hash-mb=1" for nodes in (5000, 5500, 6000, 6500, 7000))


@dataclass(frozen=True)
class Outcome:
    """State of the tournament after all kills."""

    planned: int
    kills: int
    games: int
    played_twice: int
    meetings: Counter[tuple[int, int, str]]
    """Number of games by (first, second, opening)."""
    is_sound: bool
    survivors: int
    """Number of processes that outlived their tournament."""


def write_tournament(folder: Path, rounds: int, players: tuple[str, ...] = PLAYERS) -> Path:
    """Write a round robin and return its file."""
    path = folder / "killed.toml"
    names = ", ".join(f'"{player}"' for player in players)
    path.write_text(f'rules = "9x9:5:freestyle"\nrounds = {rounds}\nconcurrency = 2\nplayers = [{names}]\n')
    return path


def command(path: Path) -> list[str]:
    return [sys.executable, "-m", "tengen.cli", "tournament", str(path), "--resume", "--quiet"]


def count_games(database: Path) -> int:
    """Return the number of stored games; 0 until the table exists."""
    with suppress(sqlite3.Error), closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as connection:
        return int(connection.execute("SELECT COUNT(*) FROM games").fetchone()[0])
    return 0


def kill_within(path: Path, after_games: int, delay_s: float) -> tuple[bool, list[psutil.Process]]:
    """Run the tournament and kill it `delay_s` after `after_games` more games are stored.

    Returns whether it was still running, and its child processes.
    """
    database = path.with_suffix(".db")
    goal = count_games(database) + after_games
    process = subprocess.Popen(command(path), stdout=subprocess.DEVNULL)
    children: list[psutil.Process] = []
    while process.poll() is None and count_games(database) < goal:
        time.sleep(0.002)
    time.sleep(delay_s)
    with suppress(psutil.Error):
        children = psutil.Process(process.pid).children(recursive=True)
    is_running = process.poll() is None
    with suppress(ProcessLookupError):
        process.send_signal(signal.SIGKILL)
    process.wait()
    return is_running, children


def play_through(
    folder: Path, *, kills: int, rounds: int, seed: int = 0, players: tuple[str, ...] = PLAYERS
) -> Outcome:
    """Kill a tournament `kills` times, then let it finish and return its final state."""
    path = write_tournament(folder, rounds, players)
    planned = len(players) * (len(players) - 1) * rounds
    rng = random.Random(seed)
    hits = 0
    survivors = 0
    for number in range(kills):
        if number % 4 == 3:  # kill it during startup
            after_games, delay_s = 0, rng.uniform(0, 3)
        else:
            after_games, delay_s = rng.randint(1, max(1, planned // (kills + 1))), rng.uniform(0, 0.3)
        was_running, children = kill_within(path, after_games, delay_s)
        hits += was_running
        _, alive = psutil.wait_procs(children, timeout=PATIENCE_S)
        survivors += len(alive)
    subprocess.run(command(path), stdout=subprocess.DEVNULL, check=True)
    with closing(sqlite3.connect(path.with_suffix(".db"))) as connection:
        numbers = [number for (number,) in connection.execute("SELECT number FROM games")]
        meetings = Counter(connection.execute("SELECT first, second, opening FROM games").fetchall())
        is_sound = connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    return Outcome(planned, hits, len(numbers), len(numbers) - len(set(numbers)), meetings, is_sound, survivors)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        outcome = play_through(Path(folder), kills=arguments.kills, rounds=arguments.rounds, seed=arguments.seed)
    soundness = "ok" if outcome.is_sound else "LOST"
    print(
        f"{outcome.kills} kills, {outcome.games} of {outcome.planned} games, {outcome.played_twice} twice,"
        f" {len(outcome.meetings)} different (first, second, opening), integrity {soundness},"
        f" {outcome.survivors} processes left over, {time.monotonic() - started:.0f} s"
    )


if __name__ == "__main__":
    main()
