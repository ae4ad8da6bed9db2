"""Search for moves that lead to a given evaluation, used to compose balanced openings."""

from __future__ import annotations

import time

from tengen.core.contracts import Agent, AnalysisLine, Limits
from tengen.core.geometry import Point
from tengen.core.position import Position
from tengen.core.stop_signal import StopSignal
from tengen.errors import AgentError

_CANDIDATES = 24
_FIRST_MOVES = 6
_REPLIES = 12
_SEARCHES = _FIRST_MOVES + 1


def balance_one(agent: Agent, position: Position, limits: Limits, value: float, stop: StopSignal) -> tuple[Point, ...]:
    """Return the move whose value for the side to move is nearest to `value`; empty if the agent found none.

    Raises `AgentError` if the agent does not evaluate positions.
    """
    lines = _last_lines(agent, position, limits, _CANDIDATES, stop)
    best = min(lines, key=lambda line: abs(line.value_to_move - value), default=None)
    return () if best is None else (best.move,)


def balance_two(agent: Agent, position: Position, limits: Limits, value: float, stop: StopSignal) -> tuple[Point, ...]:
    """Return a move and a reply after which the value for the side to move is nearest to `value`.

    Empty if the agent found none. The candidates for the first move and the replies to each of them get equal shares of
    the time. Raises `AgentError` if the agent does not evaluate positions.
    """
    best: tuple[float, Point, Point] | None = None
    deadline = None if limits.time_ms is None else time.monotonic() + limits.time_ms / 1000
    first_lines = _last_lines(agent, position, _share(limits, deadline, _SEARCHES), _FIRST_MOVES, stop)
    for index, first in enumerate(first_lines):
        after = position.play(first.move)
        if after.is_over:
            continue
        share = _share(limits, deadline, len(first_lines) - index)
        for reply in _last_lines(agent, after, share, _REPLIES, stop):
            distance = abs(-reply.value_to_move - value)
            if best is None or distance < best[0]:
                best = (distance, first.move, reply.move)
    return () if best is None else best[1:]


def _last_lines(
    agent: Agent, position: Position, limits: Limits, lines: int, stop: StopSignal
) -> tuple[AnalysisLine, ...]:
    last: tuple[AnalysisLine, ...] = ()
    search = agent.start(position, limits, lines)
    with stop.calling(search.stop):
        for analysis in search:
            if not analysis.has_values:
                raise AgentError(f"{agent.name} does not evaluate positions; choose an agent that searches")
            last = analysis.lines or last
    return last


def _share(limits: Limits, deadline: float | None, searches_left: int) -> Limits:
    """Return the limits for the next search: an equal share of the remaining time for each of `searches_left`."""
    return Limits(
        time_ms=None if deadline is None else max(0, int(1000 * (deadline - time.monotonic()) / searches_left)),
        nodes=None if limits.nodes is None else max(1, limits.nodes // _SEARCHES),
        depth=limits.depth,
        simulations=None if limits.simulations is None else max(1, limits.simulations // _SEARCHES),
        threads=limits.threads,
    )
