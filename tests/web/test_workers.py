"""The pool of search processes: limits, deaths, cancelling, shares."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from tengen.core.contracts import Analysis, Limits, Ruleset
from tengen.core.position import Position
from tengen.errors import AgentError, AgentNameError, BusyError
from tengen.web.analysis.thinking import Reporter
from tengen.web.workers.jobs import Choose, Desk, Job, Supports, Think
from tengen.web.workers.scheduler import SearchPool, SearchPoolConfig

START = Position.from_moves(Ruleset(), "h8i9")
ENDLESS = Think(agent="alphabeta", position=START, limits=Limits(time_ms=600_000), lines=2)
QUICK = Choose(agent="naive:level=1", position=START, limits=Limits(time_ms=60_000), seed=1)


@dataclass(frozen=True)
class Misbehave(Job):
    """Dies, hangs, hoards or raises in its worker."""

    how: str

    @property
    def limit_ms(self) -> int:
        return 100 if self.how == "hang" else 60_000

    def run(self, desk: Desk) -> int:
        if self.how == "die":
            os._exit(1)
        if self.how == "raise":
            raise ZeroDivisionError
        hoard = bytearray(300 << 20 if self.how == "hoard" else 1)
        hoard[::4096] = b"x" * len(hoard[::4096])
        time.sleep(600)
        return len(hoard)


@dataclass(frozen=True)
class Spin(Job):
    """Uses processor time."""

    name: str
    seconds: float

    @property
    def family(self) -> str:
        return self.name

    @property
    def limit_ms(self) -> int:
        return 60_000

    def run(self, desk: Desk) -> None:
        began = time.process_time()
        while time.process_time() - began < self.seconds:
            pass


def with_pool(test: Callable[[SearchPool], Awaitable[None]], **config: int) -> None:
    async def run() -> None:
        pool = SearchPool(replace(SearchPoolConfig(workers=1), **config))  # type: ignore[arg-type]  # only numbers
        await pool.start()
        try:
            await test(pool)
        finally:
            await pool.close()

    asyncio.run(run())


async def until_idle(pool: SearchPool) -> None:
    async with asyncio.timeout(60):
        while pool.load != (0, 0):
            await asyncio.sleep(0.01)


@pytest.mark.parametrize(
    ("how", "complaint"), [("die", "died"), ("hang", "time limit"), ("hoard", "used more"), ("raise", "internal")]
)
def test_a_worker_that_misbehaves_is_replaced(how: str, complaint: str) -> None:
    async def test(pool: SearchPool) -> None:
        with pytest.raises(AgentError, match=complaint):
            await pool.run(Misbehave(how), owner="a")
        decision = await pool.run(QUICK, owner="b")
        assert START.is_legal(decision.move)

    with_pool(test, memory_mb=250, grace_ms=2000)


@dataclass(frozen=True)
class DieOnce(Job):
    """Dies in its worker if a file does not exist yet, which it creates."""

    file: Path

    @property
    def limit_ms(self) -> int:
        return 60_000

    def run(self, desk: Desk) -> str:
        if not self.file.exists():
            self.file.touch()
            os._exit(1)
        return "done"


def test_the_job_of_a_worker_that_died_is_run_again(tmp_path: Path) -> None:
    async def test(pool: SearchPool) -> None:
        assert await pool.run(DieOnce(tmp_path / "died"), owner="a") == "done"
        assert pool.load == (0, 0)

    with_pool(test)


def test_the_nodes_of_an_interrupted_iteration_count() -> None:
    snapshots: list[Analysis] = []

    async def test(pool: SearchPool) -> None:
        job = replace(ENDLESS, limits=Limits(time_ms=600_000, nodes=20_000))
        assert (await pool.submit(job, owner="a", on_report=snapshots.append).result).nodes >= 20_000

    with_pool(test)
    assert snapshots[-1].nodes >= 20_000
    assert snapshots[-2].lines == snapshots[-1].lines


def test_a_stopped_analysis_whose_worker_died_still_answers() -> None:
    async def test(pool: SearchPool) -> None:
        began = asyncio.Event()
        search = pool.submit(ENDLESS, owner="a", on_report=lambda _: began.set())
        await began.wait()
        process = pool._workers[0].process._pid
        assert process is not None
        os.kill(process, signal.SIGTERM if sys.platform == "win32" else signal.SIGKILL)
        search.stop()
        assert (await search.result).lines

    with_pool(test)


def test_whose_fault_an_error_is() -> None:
    async def test(pool: SearchPool) -> None:
        with pytest.raises(AgentNameError, match="unknown agent"):
            await pool.run(Supports(agent="nobody", ruleset=Ruleset()), owner="a")

    with_pool(test)


def test_a_cancelled_analysis_frees_its_worker() -> None:
    async def test(pool: SearchPool) -> None:
        began = asyncio.Event()
        running = asyncio.create_task(pool.run(ENDLESS, owner="a", on_report=lambda _: began.set()))
        waiting = asyncio.create_task(pool.run(ENDLESS, owner="a"))
        await began.wait()
        running.cancel()
        waiting.cancel()
        await until_idle(pool)

    with_pool(test)


def test_a_search_stopped_before_it_begins_still_answers() -> None:
    async def test(pool: SearchPool) -> None:
        search = pool.submit(ENDLESS, owner="a")
        search.stop()
        analysis = await search.result
        assert analysis.lines

    with_pool(test)


def test_an_analysis_makes_way_and_goes_on() -> None:
    async def test(pool: SearchPool) -> None:
        snapshots: list[Analysis] = []
        analysis = pool.submit(ENDLESS, owner="a", on_report=snapshots.append)
        while not snapshots:
            await asyncio.sleep(0.01)
        for _ in range(5):
            await pool.run(QUICK, owner="b")
        seen = len(snapshots)
        while len(snapshots) == seen:
            await asyncio.sleep(0.01)
        assert analysis.slices > 0
        assert not analysis.result.done()
        analysis.cancel()

    with_pool(test)


def test_shares_are_fair() -> None:
    async def test(pool: SearchPool) -> None:
        searches = [pool.submit(ENDLESS, owner=owner) for owner in ("greedy", "greedy", "greedy", "modest")]
        while sum(search.slices for search in searches) < 24:
            await asyncio.sleep(0.02)
        greedy = sum(search.slices for search in searches[:3])
        # One who asks three times gets no more than one who asks once, give or take the first slices.
        assert searches[3].slices >= greedy / 3
        for search in searches:
            search.cancel()

    with_pool(test, first_slice_ms=30, slice_ms=30)


def test_what_is_quick_goes_first() -> None:
    async def test(pool: SearchPool) -> None:
        for job in (Spin("slow", 0.3), Spin("quick", 0.0)):
            await pool.run(job, owner="teacher")
        done: list[str] = []

        async def ask(name: str, seconds: float) -> None:
            await pool.run(Spin(name, seconds), owner=name)
            done.append(name)

        # The first one has the worker; of those that wait, the quick one came last.
        await asyncio.gather(*(ask(name, cost) for name, cost in (("slow", 0.3), ("slow", 0.3), ("quick", 0.0))))
        assert done == ["slow", "quick", "slow"]

    with_pool(test)


def test_while_people_play_a_worker_is_kept_free_of_analyses() -> None:
    async def test(pool: SearchPool) -> None:
        await pool.run(QUICK, owner="player")
        began = asyncio.Event()
        searches = [pool.submit(ENDLESS, owner=name, on_report=lambda _: began.set()) for name in ("a", "b")]
        await began.wait()
        assert pool.load == (1, 1)
        await pool.run(QUICK, owner="player")
        for search in searches:
            search.cancel()

    with_pool(test, workers=2, play_ms=600_000)


def test_a_full_queue_refuses() -> None:
    async def test(pool: SearchPool) -> None:
        searches = [pool.submit(ENDLESS, owner="a") for _ in range(4)]  # one of them runs
        with pytest.raises(BusyError):
            pool.submit(QUICK, owner="a")
        for search in searches:
            search.cancel()

    with_pool(test, max_waiting=3)


def test_one_who_asks_too_much_does_not_shut_out_others() -> None:
    async def test(pool: SearchPool) -> None:
        searches = [pool.submit(ENDLESS, owner="greedy") for _ in range(3)]
        with pytest.raises(BusyError):
            pool.submit(QUICK, owner="greedy")
        assert await pool.run(QUICK, owner="modest")
        for search in searches:
            search.cancel()

    with_pool(test, max_waiting_of_owner=2)


def test_reports_are_thinned_and_never_go_back() -> None:
    async def test() -> None:
        line = next(iter(_analyses())).lines
        reported: list[Analysis] = []
        reporter = Reporter(60.0, reported.append)
        for depth, nodes, elapsed_ms in ((1, 10, 1), (5, 100, 9), (1, 5, 1), (5, 50, 5), (6, 80, 9)):
            reporter.add(Analysis(lines=line, depth=depth, nodes=nodes, elapsed_ms=elapsed_ms))
        reporter.close()
        assert [one.depth for one in reported] == [1]
        assert reporter.best is not None
        assert (reporter.best.depth, reporter.best.nodes, reporter.best.elapsed_ms) == (6, 180, 18)

    asyncio.run(test())


def _analyses() -> list[Analysis]:
    from tengen.agents.registry import make_agent

    return list(make_agent("alphabeta").analyse(START, Limits(depth=1)))
