"""Ten thousand stops around the start of a search: none is lost, and every search still has a legal move.

The limits would let each search run for minutes or hours. A lost stop therefore shows as a search that does not end.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator

import pytest

from tengen.agents.registry import make_agent
from tengen.core.contracts import Colour, Limits, Ruleset
from tengen.core.geometry import Point
from tengen.core.position import Position
from tengen.core.stop_signal import StopSignal
from tengen.search.threats import Verdict, solve_threats

STOPS = 10_000
AGENTS = ("alphabeta:hash-mb=1", "fudan:depth=0", "uct:memory-mb=1", "hmcts", "alphazero:model=15x15,reuse=false")
SOLVERS = ("vcf", "vct")
ENDLESS = Limits(nodes=10**15, simulations=10**9, time_ms=10**8)
GUARD_S = 60.0
"""Longer than any stopped search takes, on any machine."""
FEW_NODES = 1000
"""More than a search needs to notice a stop."""

QUIET = Position.from_moves(Ruleset(15, 15), "h8i9j7g7")
"""Nothing is decided here for a long time."""

CORNERS = [(x, y) for y in range(0, 22, 3) for x in range(0, 21, 7)]
FOURS = Position.from_stones(
    Ruleset(22, 22),
    black=[Point.at(x + step, y) for x, y in CORNERS for step in (1, 2, 3)],
    white=[Point.at(x, y) for x, y in CORNERS],
    to_move=Colour.BLACK,
)
"""Two dozen closed threes that do not help each other: billions of sequences of fours, and none of them wins."""
THREES = Position.from_moves(Ruleset(20, 20), "m9l11l14n13k13m12k10k11n10n12l12")
"""Threats of many kinds, and no win in the first 300,000 nodes."""

Run = Callable[[], int]
"""Runs a search to its end, checks its answer and returns its number of nodes."""
Stop = Callable[[], None]
Begin = Callable[[], tuple[Run, Stop]]
"""Makes a search that has not started."""


@pytest.fixture(autouse=True)
def _eager_threads() -> Iterator[None]:
    """Let threads take turns at every chance, so that stops come between any two steps of a start."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.parametrize("name", AGENTS)
def test_no_stop_of_an_agent_is_lost(name: str) -> None:
    agent = make_agent(name)
    iterated = iter(range(STOPS))

    def begin() -> tuple[Run, Stop]:
        search = agent.start(QUIET, ENDLESS)

        def run() -> int:
            if next(iterated) % 2:
                for snapshot in search:
                    assert QUIET.is_legal(snapshot.lines[0].move)
            decision = search.result()
            assert QUIET.is_legal(decision.move)
            return decision.nodes

        return run, search.stop

    stop_around_the_start(begin)


@pytest.mark.parametrize("kind", SOLVERS)
def test_no_stop_of_a_solver_is_lost(kind: str) -> None:
    position = FOURS if kind == "vcf" else THREES

    def begin() -> tuple[Run, Stop]:
        stop = StopSignal()

        def run() -> int:
            result = solve_threats(position, kind, ENDLESS, stop=stop)
            assert result.verdict is Verdict.UNKNOWN
            return result.nodes

        return run, stop.set

    stop_around_the_start(begin)


def stop_around_the_start(begin: Begin) -> None:
    """Stop searches before their start, at it, and after it by up to a millisecond."""
    count = -(-STOPS // (len(AGENTS) + len(SOLVERS)))
    done: list[str] = []
    errors: list[BaseException] = []

    def work() -> None:
        try:
            for number in range(count):
                run, stop = begin()
                (stop_before, stop_at, stop_after)[number % 3](run, stop, number)
                done.append(("before", "at", "after")[number % 3])
        except BaseException as error:
            errors.append(error)

    worker = threading.Thread(target=work, daemon=True)
    worker.start()
    seen = -1
    while worker.is_alive() and len(done) > seen:
        seen = len(done)
        worker.join(GUARD_S)
    if errors:
        raise errors[0]
    assert not worker.is_alive(), f"a stop {('before', 'at', 'after')[len(done) % 3]} the start was lost"
    assert len(done) == count


def stop_before(run: Run, stop: Stop, number: int) -> None:
    stop()
    assert run() < FEW_NODES


def stop_at(run: Run, stop: Stop, number: int) -> None:
    run_with_stopper(run, stop, 0.0)


def stop_after(run: Run, stop: Stop, number: int) -> None:
    run_with_stopper(run, stop, number % 100 / 100_000)
    stop()  # after the end nothing happens


def run_with_stopper(run: Run, stop: Stop, delay_s: float) -> None:
    barrier = threading.Barrier(2)

    def wait_and_stop() -> None:
        barrier.wait()
        if delay_s:
            time.sleep(delay_s)
        stop()

    stopper = threading.Thread(target=wait_and_stop, daemon=True)
    stopper.start()
    barrier.wait()
    run()
    stopper.join()
