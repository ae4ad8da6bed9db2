"""Two hundred games of the engine at 50 ms a move, without a loss on time.

A move counts as late if it takes more processor time than allowed. On a busy machine a search gets less processor time
than its limit, never more, so the count does not depend on the load. Most games are on small boards, where they are
short and often decided early; those on 15x15 are stopped after a few moves. `python -m tests.endurance clocks` plays
whole games through the protocol and counts them by the clock.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from tengen.agents.registry import make_agent
from tengen.arena.adjudication import Adjudication, ProofTrust
from tengen.arena.match import TimeControl, play_game
from tengen.arena.openings import random_openings
from tengen.core.contracts import Agent, Decision, Limits, Ruleset
from tengen.core.position import Position

MOVE_MS = 50
LATE_MS = 15
"""Processor time beyond the limit at which a move counts as late: far more than the engine needs to notice the end."""
SMALL = ("5x5:4:freestyle", "6x6:4:standard", "6x6:4:freestyle", "7x7:5:renju", "7x7:5:caro")
LARGE = ("15x15:5:freestyle", "15x15:5:standard", "15x15:5:renju", "20x20:5:freestyle", "15x15:5:caro")


@dataclass(slots=True)
class Count:
    games: int = 0
    moves: int = 0
    late: list[str] = field(default_factory=list)


class Timed(Agent):
    """Counts the moves of another agent that take more processor time than allowed."""

    def __init__(self, agent: Agent, count: Count) -> None:
        self._agent = agent
        self._count = count

    def new_game(self, ruleset: Ruleset, seed: int = 0) -> None:
        self._agent.new_game(ruleset, seed)

    def choose(self, position: Position, limits: Limits) -> Decision:
        before = time.thread_time()
        decision = self._agent.choose(position, limits)
        used_ms = 1000 * (time.thread_time() - before)
        allowed_ms = min(ms for ms in (limits.time_ms, limits.clock_ms) if ms is not None)
        self._count.moves += 1
        if used_ms > allowed_ms + LATE_MS:
            self._count.late.append(f"{used_ms:.0f} ms instead of {allowed_ms} ms\n{position}")
        return decision


def play_games(count: Count, rules: str, games: int, control: TimeControl, max_moves: int | None, seed: int) -> None:
    ruleset = Ruleset.parse(rules)
    end = Adjudication(proofs=ProofTrust.ONE, max_moves=max_moves)
    with make_agent("alphabeta:hash-mb=2") as agent:
        player = Timed(agent, count)
        for number, opening in enumerate(random_openings(ruleset, games, seed, stones=4)):
            result = play_game(
                ruleset,
                (player, player),
                controls=(control, control),
                opening=opening,
                adjudication=end,
                seed=number,
            )
            assert not result.ending.is_forfeit, result.detail
            count.games += 1


def test_two_hundred_games_without_a_loss_on_time() -> None:
    count = Count()
    patient = TimeControl(time_ms=MOVE_MS, tolerance_ms=120_000)
    clock = TimeControl(match_ms=300, increment_ms=10, tolerance_ms=120_000)
    for seed, rules in enumerate(SMALL):
        play_games(count, rules, 24, patient, 10, seed)
        play_games(count, rules, 6, clock, 12, seed + 50)
    for seed, rules in enumerate(LARGE):
        play_games(count, rules, 7, patient, 6, seed + 100)
        play_games(count, rules, 3, clock, 10, seed + 150)
    assert count.games == 200
    assert count.moves > 400
    assert count.late == []


def test_a_late_move_is_counted() -> None:
    class Slow(Agent):
        def choose(self, position: Position, limits: Limits) -> Decision:
            end = time.thread_time() + (MOVE_MS + 2 * LATE_MS) / 1000
            while time.thread_time() < end:
                pass
            return Decision(move=position.legal_points()[0])

    count = Count()
    Timed(Slow(), count).choose(Position.start(Ruleset(9, 9)), Limits(time_ms=MOVE_MS))
    assert len(count.late) == 1
