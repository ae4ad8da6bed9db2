"""Worker processes: all games are played, whatever happens to the workers."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import replace

import psutil

from tengen.arena.adjudication import Adjudication
from tengen.arena.entrant import Entrant
from tengen.arena.match import Ending, GameResult, TimeControl
from tengen.arena.openings import random_openings
from tengen.arena.schedule import Schedule
from tengen.arena.workers import PlaySettings, game_workers
from tengen.core.contracts import Ruleset
from tests.protocols.engines import engine_text

RULES = Ruleset.parse("15x15:5:freestyle")
PATIENCE_S = 60.0


def settings_for(*agents: str, control: TimeControl | None = None) -> PlaySettings:
    players = tuple(Entrant(name=agent, agent=agent, limits=control) for agent in agents)
    return PlaySettings(players=players, adjudication=Adjudication(), grace_ms=60_000, untimed_ms=600_000)


def schedule(pairs: int) -> Schedule:
    return Schedule(pairings=[(0, 1)], openings={RULES: random_openings(RULES, pairs, seed=0)}, rounds=pairs)


def play_all(
    settings: PlaySettings,
    games: Schedule,
    *,
    concurrency: int = 2,
    on_idle: Callable[[], None] | None = None,
    pins_cores: bool = False,
) -> dict[int, GameResult]:
    results: dict[int, GameResult] = {}

    with game_workers(settings, workers=concurrency, pins_cores=pins_cores) as pool:
        for game, result in pool.run(games, on_idle):
            assert game.number not in results
            results[game.number] = result
    return results


def workers() -> list[psutil.Process]:
    """Return the worker processes of this test, without Python's resource tracker."""
    return [child for child in psutil.Process().children() if is_worker(child)]


def is_worker(process: psutil.Process) -> bool:
    try:
        return any("spawn_main" in word for word in process.cmdline()) and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:  # it has just ended and may be a zombie
        return False


def test_workers_play_as_one_process_would() -> None:
    games = schedule(6)
    settings = settings_for("naive:level=3", "chains")
    together = play_all(settings, games, concurrency=2, pins_cores=True)
    alone = play_all(settings, games, concurrency=1)
    assert sorted(together) == list(range(12))
    assert {number: result.moves for number, result in together.items()} == {
        number: result.moves for number, result in alone.items()
    }
    assert workers() == []


def test_a_killed_worker_costs_no_game() -> None:
    killed: list[int] = []

    def kill_one() -> None:
        for process in workers():
            if len(killed) < 3 and process.pid not in killed:
                killed.append(process.pid)
                process.kill()
                return

    games = schedule(8)
    results = play_all(settings_for("alphabeta:nodes=3000,hash-mb=1", "rule-based"), games, on_idle=kill_one)
    assert sorted(results) == list(range(16))
    assert len(killed) == 3
    assert not any(result.ending.is_forfeit for result in results.values())


def test_a_game_that_kills_its_workers_is_lost() -> None:
    """The engine thinks for an hour, so the game is still running when its workers are killed."""
    engines: set[psutil.Process] = set()
    seen: set[int] = set()

    def kill_playing() -> None:
        for process in workers():
            children = process.children() if process.pid not in seen else []
            if children:
                time.sleep(0.5)  # until the engine is asked for its move
                seen.add(process.pid)
                engines.update(children)
                process.kill()

    control = TimeControl(time_ms=600_000)
    settings = settings_for(engine_text("slow"), "random", control=control)
    games = Schedule(pairings=[(0, 1)], openings={RULES: [()]}, rounds=1, games=1)
    results = play_all(settings, games, on_idle=kill_playing)
    assert (results[0].ending, results[0].loser_seat) == (Ending.CRASH, 0)
    assert "died 3 times" in results[0].detail
    assert len(engines) == 3
    assert psutil.wait_procs(list(engines), timeout=PATIENCE_S)[1] == []


def test_a_player_that_never_answers_is_ended() -> None:
    control = TimeControl(time_ms=100, tolerance_ms=0)
    settings = replace(settings_for("random", engine_text("slow"), control=control), grace_ms=200)
    games = Schedule(pairings=[(0, 1)], openings={RULES: [()]}, rounds=1)
    results = play_all(settings, games, concurrency=1)
    assert [(results[number].ending, results[number].loser_seat) for number in (0, 1)] == [
        (Ending.TIMEOUT, 1),
        (Ending.TIMEOUT, 0),
    ]
    assert "its process was killed" in results[0].detail


def test_leaving_early_leaves_nothing_behind() -> None:
    settings = settings_for(engine_text("random_mover"), "random", control=TimeControl(time_ms=5000))
    with game_workers(settings, workers=2) as pool:
        next(pool.run(schedule(10)))
        children = [child for worker in workers() for child in (worker, *worker.children(recursive=True))]
    assert len(children) > 2
    assert psutil.wait_procs(children, timeout=PATIENCE_S)[1] == []


def test_no_descriptor_is_left_open() -> None:
    settings = settings_for("random", "rule-based")
    play_all(settings, schedule(1))  # opens everything that stays open for the life of the process
    before = psutil.Process(os.getpid()).num_fds()
    for _ in range(2):
        play_all(settings, schedule(1))
    assert psutil.Process(os.getpid()).num_fds() <= before
