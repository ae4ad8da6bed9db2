"""Moves that leave the game at a wanted value, as opening setters look for them."""

from __future__ import annotations

import time

from tengen.core.contracts import Agent, AnalysisLine, Limits
from tengen.core.geometry import Point
from tengen.core.position import Position
from tengen.core.stop_signal import StopSignal

_CANDIDATES = 24
_FIRST_MOVES = 6
_REPLIES = 12
_SEARCHES = _FIRST_MOVES + 1


def balance_one(agent: Agent, position: Position, limits: Limits, value: float, stop: StopSignal) -> tuple[Point, ...]:
    """The move after which the side that made it stands nearest to `value`; empty when the agent found none.

    Raises `AgentError` when the agent does not analyse.
    """
    lines = _last_lines(agent, position, limits, _CANDIDATES, stop)
    best = min(lines, key=lambda line: abs(line.value_to_move - value), default=None)
    return () if best is None else (best.move,)


def balance_two(agent: Agent, position: Position, limits: Limits, value: float, stop: StopSignal) -> tuple[Point, ...]:
    """A move and a reply after which the side that made the first stands nearest to `value`.

    Empty when the agent found none. A part of the time goes into the choice of first moves, the rest into their
    replies, each the same share. Raises `AgentError` when the agent does not analyse.
    """
    best: tuple[float, Point, Point] | None = None
    until = None if limits.time_ms is None else time.monotonic() + limits.time_ms / 1000
    first_lines = _last_lines(agent, position, _share(limits, until, _SEARCHES), _FIRST_MOVES, stop)
    for place, first in enumerate(first_lines):
        after = position.play(first.move)
        if after.is_over:
            continue
        share = _share(limits, until, len(first_lines) - place)
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
            last = analysis.lines or last
    return last


def _share(limits: Limits, until: float | None, searches_left: int) -> Limits:
    """The limits of the next search when so many are to share what is left of the time."""
    return Limits(
        time_ms=None if until is None else max(0, int(1000 * (until - time.monotonic()) / searches_left)),
        nodes=None if limits.nodes is None else max(1, limits.nodes // _SEARCHES),
        depth=limits.depth,
        simulations=None if limits.simulations is None else max(1, limits.simulations // _SEARCHES),
        threads=limits.threads,
    )
