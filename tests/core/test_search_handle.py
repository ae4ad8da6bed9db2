"""The search handle: nothing runs before it is asked, it runs once, and every agent follows the same contract."""

from __future__ import annotations

import threading
from collections.abc import Generator

import pytest

from tengen.core.contracts import Agent, Analysis, AnalysisLine, Decision, Limits, Report, Ruleset, Search
from tengen.core.geometry import Point
from tengen.core.position import Position
from tengen.core.stop_signal import StopSignal
from tengen.errors import AgentError

START = Position.start(Ruleset(9, 9))
A1, B2 = Point("a1"), Point("b2")


def snapshot(move: Point, depth: int) -> Analysis:
    return Analysis(lines=(AnalysisLine(move=move, value_to_move=0.0, line=(move,), depth=depth),), depth=depth)


def count_to_three(stop: StopSignal, report: Report) -> Decision:
    for depth in (1, 2, 3):
        report(snapshot(A1, depth))
    return Decision(move=B2)


def until_stopped(stop: StopSignal, report: Report) -> Decision:
    is_stopped = threading.Event()
    with stop.calling(is_stopped.set):
        report(snapshot(A1, 1))
        assert is_stopped.wait(60)
    return Decision(move=B2)


class OnlyChooses(Agent):
    """The smallest agent."""

    name = "smallest"

    def choose(self, position: Position, limits: Limits) -> Decision:
        return Decision(move=position.legal_points()[0])


def test_an_agent_needs_only_choose() -> None:
    agent = OnlyChooses()
    search = agent.start(START, Limits())
    search.stop()
    assert search.result() == agent.choose(START, Limits())
    (analysis,) = agent.analyse(START, Limits())
    assert analysis.decide().move == agent.choose(START, Limits()).move


def test_an_agent_needs_only_start() -> None:
    class OnlyStarts(Agent):
        def start(self, position: Position, limits: Limits, lines: int = 1) -> Search:
            return Search(count_to_three)

    assert OnlyStarts().choose(START, Limits()).move == B2
    assert [analysis.depth for analysis in OnlyStarts().analyse(START, Limits())] == [1, 2, 3]


def test_an_agent_with_neither_is_a_mistake() -> None:
    with pytest.raises(NotImplementedError, match="Agent implements neither start nor choose"):
        Agent().choose(START, Limits())


def test_nothing_runs_before_it_is_asked() -> None:
    ran: list[int] = []

    def run(stop: StopSignal, report: Report) -> Decision:
        ran.append(threading.get_ident())
        return Decision(move=A1)

    search = Search(run)
    iter(search)
    assert (ran, search.best_so_far()) == ([], None)
    assert search.result() == search.result() == search.best_so_far()
    assert ran == [threading.get_ident()]


def test_the_result_after_an_iteration_is_that_of_the_same_run() -> None:
    search = Search(count_to_three)
    for _ in search:
        best = search.best_so_far()
        assert best is not None
        assert best.move in (A1, B2)  # the run may be ahead of the snapshots
    assert search.result() == search.best_so_far() == Decision(move=B2)


def test_a_search_runs_once() -> None:
    search = Search(count_to_three)
    search.result()
    with pytest.raises(AgentError, match="can run only once"):
        list(search)


def test_leaving_the_loop_stops_the_search() -> None:
    search = Search(until_stopped)
    snapshots = iter(search)
    next(snapshots)
    assert isinstance(snapshots, Generator)
    snapshots.close()  # waits for the thread
    assert search.result().move == B2
    assert not any(thread.name == "search" for thread in threading.enumerate())


def test_an_error_reaches_the_caller() -> None:
    def run(stop: StopSignal, report: Report) -> Decision:
        report(snapshot(A1, 1))
        raise AgentError("out of ideas")

    with pytest.raises(AgentError, match="out of ideas"):
        Search(run).result()
    search = Search(run)
    with pytest.raises(AgentError, match="out of ideas"):
        list(search)
    assert search.result().move == A1  # the best it knew

    def fail(stop: StopSignal, report: Report) -> Decision:
        raise AgentError("out of ideas")

    search = Search(fail)
    with pytest.raises(AgentError, match="out of ideas"):
        search.result()
    with pytest.raises(AgentError, match="failed before it found a move"):
        search.result()


def test_an_agent_may_analyse_in_another_way_than_it_chooses() -> None:
    def snapshots(stop: StopSignal) -> Generator[Analysis, None, None]:
        yield snapshot(A1, 7)

    assert Search(count_to_three, snapshots).result().move == B2
    analysing = Search(count_to_three, snapshots)
    assert [analysis.depth for analysis in analysing] == [7]
    assert analysing.result().move == A1
