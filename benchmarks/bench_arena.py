"""Overhead of the arena: games per minute between instant players, and memory use over many games."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import psutil

from tengen.agents.registry import make_agent
from tengen.arena.entrant import Entrant
from tengen.arena.match import play_game
from tengen.arena.store import GameStore
from tengen.arena.tournament import OpeningSettings, Progress, Tournament, play
from tengen.core.contracts import Ruleset

RULES = Ruleset(9, 9)
PLAYERS = ("rule-based", "chains")
GAMES = 10_000
WARM = 1_000
"""Number of games after which all one-time allocations have been made."""
BARE_GAMES = 300


def run() -> dict[str, float]:
    """Compare games through worker processes and SQLite with games in a plain loop that stores nothing."""
    return {**_arena(), "bare_games_a_minute_one_core": _bare_pace()}


def _arena() -> dict[str, float]:
    tournament = Tournament(
        rules=(RULES,),
        players=tuple(Entrant(agent=agent) for agent in PLAYERS),
        rounds=GAMES // 2,
        openings=OpeningSettings(stones=4),
    )
    memory: dict[int, float] = {}

    def watch(progress: Progress) -> None:
        if progress.played_now in (WARM, GAMES):
            memory[progress.played_now] = _megabytes()

    with tempfile.TemporaryDirectory() as folder, GameStore(Path(folder) / "games.db") as store:
        started = time.perf_counter()
        play(tournament, store, concurrency=2, on_result=watch)
        seconds = time.perf_counter() - started
        size = (Path(folder) / "games.db").stat().st_size
        assert len(store) == GAMES
    return {
        "games": GAMES,
        "games_a_minute": 60 * GAMES / seconds,
        "memory_mb_after_1000_games": memory[WARM],
        "memory_mb_after_10000_games": memory[GAMES],
        "memory_growth_ratio": memory[GAMES] / memory[WARM],
        "bytes_a_game": size / GAMES,
    }


def _megabytes() -> float:
    """Return the resident memory of this process and its workers."""
    here = psutil.Process()
    return sum(process.memory_info().rss for process in (here, *here.children(recursive=True))) / 2**20


def _bare_pace() -> float:
    black, white = map(make_agent, PLAYERS)
    started = time.perf_counter()
    for seed in range(BARE_GAMES):
        play_game(RULES, (black, white), seed=seed)
    return 60 * BARE_GAMES / (time.perf_counter() - started)
