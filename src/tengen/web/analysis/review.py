"""Game reviews: search every position of a game and judge every move by its winrate loss."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TypeAlias

from tengen.core.contracts import AnalysisLine, Colour, Limits, Outcome, Proof
from tengen.core.position import Position
from tengen.web.analysis.thinking import Send, require_ongoing, think
from tengen.web.games.players import NamedAgent
from tengen.web.messages.events import JudgeMessage, Quality, ReviewMessage, ReviewMove, ReviewSummary, SideSummary
from tengen.web.messages.positions import PositionFields
from tengen.web.messages.requests import Judge, Review, Thresholds
from tengen.web.positions import move_info_of, proof_of, start_of, winrate_of
from tengen.web.services import Services

_QUALITIES: tuple[Quality, ...] = ("best", "good", "inaccuracy", "mistake", "blunder")
_CLEARLY_WINNING = 0.6
"""If a mistake raises the opponent's winrate to this value, it counts as a turning point of the game."""


@dataclass(frozen=True, slots=True)
class Assessment:
    """Evaluation of a position, for the side to move."""

    to_move: Colour
    winrate: float
    proof: Proof | None = None
    best: AnalysisLine | None = None
    """The best line found; None if the game is over."""


Assessments: TypeAlias = list[Assessment]


async def review(services: Services, request: Review, owner: str, send: Send) -> None:
    """Judge every move. Sends a message after each position; the last one contains the summary."""
    positions = _positions_of(request)
    agent = await _agent_of(services, request.agent, positions[0])
    limits = Limits(time_ms=request.max_time_ms, nodes=request.max_visits, simulations=request.max_visits)
    assessments: Assessments = []
    judged: list[ReviewMove] = []
    for position in positions:
        assessments.append(await _judge_position(services, agent, position, limits, owner))
        turn = len(assessments) - 1
        fresh = [judge_move(turn, request.moves[turn - 1], assessments, request.thresholds)] if turn else []
        judged += fresh
        is_last = len(assessments) == len(positions)
        send(
            ReviewMessage(
                id=request.id,
                is_during_search=not is_last,
                agent=agent.shown,
                done=len(assessments),
                total=len(positions),
                root_black_winrate=None if turn else _black_winrate(assessments[0]),
                moves=fresh,
                summary=summarise(judged) if is_last else None,
            )
        )


async def judge(services: Services, request: Judge, owner: str, send: Send) -> None:
    """Judge one move against the best move of the position."""
    position = require_ongoing(_positions_of(request)[-1])
    after = position.play(request.move)
    agent = await _agent_of(services, request.agent, position)
    limits = Limits(time_ms=request.max_time_ms)
    assessments = [await _judge_position(services, agent, one, limits, owner) for one in (position, after)]
    move = judge_move(1, request.move, assessments, request.thresholds)
    send(
        JudgeMessage(
            id=request.id,
            move=request.move,
            winrate=1 - assessments[1].winrate,
            winrate_loss=move.winrate_loss,
            quality=move.quality,
        )
    )


def judge_move(turn: int, move: str, assessments: Assessments, thresholds: Thresholds) -> ReviewMove:
    """Judge the move `turn` (1 for the first) from the assessments of the positions before and after it."""
    before, after = assessments[turn - 1], assessments[turn]
    assert before.best is not None
    mover_after = 1 - after.winrate
    # The search after the move looks one move further. A better value found there was available before the move, too.
    mover_before = max(before.winrate, mover_after)
    is_best = move == before.best.move or _wins_as_fast(before.proof, after.proof)
    loss = 0.0 if is_best else mover_before - mover_after
    quality = _quality(loss, is_best, thresholds)
    return ReviewMove(
        turn_number=turn,
        colour=before.to_move,
        move=move,
        black_winrate=_black_winrate(after),
        winrate_loss=loss,
        quality=quality,
        is_key=_is_key(before, after, quality),
        best=move_info_of(before.best, 0, before.to_move),
        proof=proof_of(after.proof),
    )


def summarise(moves: list[ReviewMove]) -> ReviewSummary:
    """Return the accuracy and counts of both sides and the key moves."""
    return ReviewSummary(
        sides={colour: _summarise_side([move for move in moves if move.colour is colour]) for colour in Colour},
        key_moves=[move.turn_number for move in moves if move.is_key],
    )


def accuracy_of(winrate_loss: float) -> float:
    """Return the accuracy of a move from 0 to 100, using the curve that Lichess fitted to chess winrates.

    >>> round(accuracy_of(0)), round(accuracy_of(0.1)), round(accuracy_of(0.5))
    (100, 64, 9)
    """
    return min(100.0, max(0.0, 103.1668 * math.exp(-4.354 * winrate_loss) - 3.1669))


def _summarise_side(moves: list[ReviewMove]) -> SideSummary:
    count = len(moves)
    return SideSummary(
        accuracy=sum(accuracy_of(move.winrate_loss) for move in moves) / count if count else None,
        moves=count,
        counts={quality: sum(move.quality == quality for move in moves) for quality in _QUALITIES},
        mean_loss=sum(move.winrate_loss for move in moves) / count if count else None,
    )


def _quality(loss: float, is_best: bool, thresholds: Thresholds) -> Quality:
    if loss >= thresholds.blunder:
        return "blunder"
    if loss >= thresholds.mistake:
        return "mistake"
    if loss >= thresholds.inaccuracy:
        return "inaccuracy"
    return "best" if is_best else "good"


def _is_key(before: Assessment, after: Assessment, quality: Quality) -> bool:
    if quality not in ("mistake", "blunder"):
        return False
    threw_win_away = _is_win(before.proof) and not (after.proof is not None and after.proof.result == "loss")
    return threw_win_away or _is_win(after.proof) or after.winrate >= _CLEARLY_WINNING


def _wins_as_fast(before: Proof | None, after: Proof | None) -> bool:
    """Whether a move keeps the proved win on its shortest path."""
    if before is None or after is None or (before.result, after.result) != ("win", "loss"):
        return False
    return after.plies < before.plies


def _is_win(proof: Proof | None) -> bool:
    return proof is not None and proof.result == "win"


def _black_winrate(assessment: Assessment) -> float:
    return assessment.winrate if assessment.to_move is Colour.BLACK else 1 - assessment.winrate


async def _judge_position(
    services: Services, agent: NamedAgent, position: Position, limits: Limits, owner: str
) -> Assessment:
    if position.is_over:
        return _assess_final(position)
    analysis = await think(services, agent, position, limits, owner)
    best = analysis.lines[0]
    return Assessment(position.to_move, winrate_of(best.value_to_move), best.proof, best)


def _assess_final(position: Position) -> Assessment:
    if position.outcome is Outcome.DRAW:
        return Assessment(position.to_move, 0.5, Proof("draw", 0))
    has_won = position.outcome.winner is position.to_move
    return Assessment(position.to_move, float(has_won), Proof("win" if has_won else "loss", 0))


def _positions_of(request: PositionFields) -> list[Position]:
    positions = [start_of(request)]
    for move in request.moves:
        positions.append(positions[-1].play(move))
    return positions


async def _agent_of(services: Services, agent: str | None, position: Position) -> NamedAgent:
    chosen = services.agents.for_analysis(agent, position.ruleset)
    await services.check_agent(chosen, position.ruleset)
    return chosen
