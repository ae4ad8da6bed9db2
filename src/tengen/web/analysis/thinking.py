"""Analyses, hints and forced wins: run a request in a worker and send the results to the client."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import replace

from tengen.core.contracts import Analysis, AnalysisLine, Limits
from tengen.core.geometry import Point
from tengen.core.position import Position
from tengen.errors import AgentError, GameOverError, InputError
from tengen.review import EFFORTS, Assessment, Reason
from tengen.search.threats import ThreatResult
from tengen.web.analysis.review_messages import reason_of
from tengen.web.messages.base import Message
from tengen.web.messages.events import AnalysisMessage, HintMessage, SolveMessage
from tengen.web.messages.requests import Analyse, Hint, Solve
from tengen.web.positions import move_info_of, position_of, root_info_of
from tengen.web.services import Services
from tengen.web.workers.jobs import FindHint, SolveThreats, Think

MAX_ANALYSIS_MS = 600_000
"""Maximum duration of an analysis."""

Send = Callable[[Message], None]


class Reporter:
    """Limits the rate of snapshots: reports the newest one at most every `every_s` seconds.

    A resumed analysis restarts at depth 1. Until it reaches its previous depth again, the reporter keeps the earlier
    lines. Node counts and times are summed over all time slices.
    """

    def __init__(self, every_s: float, report: Callable[[Analysis], None]) -> None:
        self._every_s = every_s
        self._report = report
        self._best: Analysis | None = None
        self._best_rank = (0, 0)
        self._last: Analysis | None = None
        self._earlier_nodes = 0
        self._earlier_ms = 0.0
        self._reported_at = float("-inf")
        self._timer: asyncio.TimerHandle | None = None

    @property
    def best(self) -> Analysis | None:
        """The deepest snapshot, with the total nodes and time so far."""
        return self._best

    def add(self, snapshot: Analysis) -> None:
        """Add a snapshot. It is reported now, or at the end of the interval unless a newer snapshot has replaced it."""
        if not snapshot.lines:
            return
        if self._last is not None and snapshot.elapsed_ms < self._last.elapsed_ms:
            self._earlier_nodes += self._last.nodes
            self._earlier_ms += self._last.elapsed_ms
        self._last = snapshot
        rank, best = (snapshot.depth, snapshot.nodes), self._best
        if best is None or rank >= self._best_rank:
            best, self._best_rank = snapshot, rank
        self._best = replace(
            best,
            nodes=snapshot.nodes + self._earlier_nodes,
            elapsed_ms=snapshot.elapsed_ms + self._earlier_ms,
        )
        if self._timer is None:
            wait_s = self._reported_at + self._every_s - time.monotonic()
            if wait_s <= 0:
                self._flush()
            else:
                self._timer = asyncio.get_running_loop().call_later(wait_s, self._flush)

    def close(self) -> None:
        """Stop reporting."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _flush(self) -> None:
        self._timer = None
        self._reported_at = time.monotonic()
        assert self._best is not None
        self._report(self._best)


async def analyse(services: Services, request: Analyse, owner: str, send: Send) -> None:
    """Analyse a position and send snapshots; the last message has `isDuringSearch` false."""
    position = require_ongoing(position_of(request))
    agent = services.agents.for_analysis(request.agent, position.ruleset)
    await services.check_agent(agent, position.ruleset)

    def report(snapshot: Analysis, is_during_search: bool = True) -> None:
        send(_analysis_message(request, agent.shown, position, snapshot, is_during_search))

    job = Think(
        agent=agent.text,
        position=position,
        limits=Limits(
            time_ms=min(request.max_time_ms or MAX_ANALYSIS_MS, MAX_ANALYSIS_MS),
            nodes=request.max_visits,
            simulations=request.max_visits,
            depth=request.max_depth,
        ),
        lines=request.lines,
        excluded=_excluded(request, position),
        seed=agent.seed,
    )
    reporter = Reporter(request.report_during_search_every, report)
    try:
        final = await services.pool.run(job, owner=owner, on_report=reporter.add)
    finally:
        reporter.close()
    last = reporter.best or final
    if last is None:
        raise AgentError(f"{agent.shown} returned no analysis")
    report(last, is_during_search=False)


async def hint(services: Services, request: Hint, owner: str, send: Send) -> None:
    """Search the current position of a game and send the best move with its reason."""
    game = services.games.game(request.game_id)
    if game.opening.options:
        raise InputError(f"there are no hints for opening choices: {game.opening}")
    position = require_ongoing(game.position)
    services.games.mark_assisted(request.game_id)
    found: Assessment
    reason: Reason
    found, reason = await services.pool.run(FindHint(position=position, effort=EFFORTS["normal"]), owner=owner)
    line = AnalysisLine(
        move=found.line[0], value_to_move=found.value_to_move, line=found.line, proof=found.proof, depth=found.depth
    )
    send(
        HintMessage(
            id=request.id,
            turn_number=len(position.moves),
            move_info=move_info_of(line, 0, position.to_move),
            reason=reason_of(reason),
        )
    )


async def solve(services: Services, request: Solve, owner: str, send: Send) -> None:
    """Search for a win by continuous threats and send the result."""
    position = require_ongoing(position_of(request))
    job = SolveThreats(
        position=position,
        kind=request.kind,
        attacker=request.attacker or position.to_move,
        time_ms=request.max_time_ms,
    )
    result: ThreatResult = await services.pool.run(job, owner=owner)
    send(
        SolveMessage(
            id=request.id,
            kind=result.kind,
            attacker=result.attacker,
            verdict=result.verdict,
            pv=list(result.line),
            visits=result.nodes,
            elapsed_ms=round(result.elapsed_ms),
        )
    )


def require_ongoing(position: Position) -> Position:
    """Return the position unchanged. Raises `GameOverError` if the game is over."""
    if position.is_over:
        raise GameOverError("the game is over; there is nothing to search")
    return position


def _analysis_message(
    request: Analyse, agent: str, position: Position, snapshot: Analysis, is_during_search: bool
) -> AnalysisMessage:
    policy = snapshot.policy if request.include_policy else None
    return AnalysisMessage(
        id=request.id,
        turn_number=len(position.moves),
        is_during_search=is_during_search,
        agent=agent,
        move_infos=[
            move_info_of(line, order, position.to_move, request.analysis_pv_len)
            for order, line in enumerate(snapshot.lines)
        ],
        root_info=root_info_of(snapshot, position.to_move),
        policy=None if policy is None else {str(point): float(share) for point, share in policy.items()},
    )


def _excluded(request: Analyse, position: Position) -> frozenset[Point]:
    legal = frozenset(position.legal_points())
    excluded = {Point(move) for move in request.avoid_moves}
    if request.allow_moves:
        excluded |= legal - {Point(move) for move in request.allow_moves}
    if legal <= excluded:
        raise InputError("avoidMoves and allowMoves leave no legal move")
    return frozenset(excluded & legal)
