"""Game reviews: assesses the positions of a game in the workers, sends the judged moves, and stores the result.

The verdicts come from `tengen.review`. A review depends only on the game, the effort and the thresholds, so it is
stored under a digest of them.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
from contextlib import suppress

from pydantic import ValidationError

from tengen.core.contracts import Colour
from tengen.core.geometry import Point
from tengen.core.position import Position
from tengen.errors import NotFoundError, StorageError
from tengen.records.game import GameRecord, Setup
from tengen.review import EFFORTS, Assessment, Effort, MoveReview, Review, Thresholds, annotate
from tengen.web.analysis.review_messages import move_of, result_of, review_of
from tengen.web.analysis.thinking import Send, require_ongoing
from tengen.web.games.my_games import export_records
from tengen.web.messages.events import JudgeMessage, ReviewMessage
from tengen.web.messages.positions import PositionFields
from tengen.web.messages.records import ExportResult, ExportReview
from tengen.web.messages.requests import Judge as JudgeRequest
from tengen.web.messages.requests import Review as ReviewRequest
from tengen.web.messages.reviews import ReviewFields, ReviewMove, ReviewResult
from tengen.web.positions import start_of, winrate_of
from tengen.web.services import Services
from tengen.web.workers.jobs import Assess, JudgeMove, TryMove

_log = logging.getLogger(__name__)

_VERSION = 2
"""Format version; increment it when reviews change, so that stored reviews are no longer used."""


async def review(services: Services, request: ReviewRequest, owner: str, send: Send) -> None:
    """Judge every move and send a message after each position; the last message contains the summary.

    A stored review is sent in a single message.
    """
    positions = _positions_of(request)
    stored = stored_review(services, request)
    if stored is not None:
        with suppress(StorageError):
            _record(services, request, stored)
        send(_last_message(request, len(positions), stored.moves, stored, is_stored=True))
        return
    if request.only_stored:
        send(
            ReviewMessage(
                id=request.id, is_during_search=False, effort=request.effort, done=0, total=len(positions), moves=[]
            )
        )
        return
    effort, thresholds = EFFORTS[request.effort], _thresholds_of(request)
    tasks = _assess_all(services, positions, effort, owner)
    judged: list[MoveReview] = []
    try:
        before = first = await tasks[0]
        for turn in range(1, len(positions)):
            send(
                ReviewMessage(
                    id=request.id,
                    is_during_search=True,
                    effort=request.effort,
                    done=turn,
                    total=len(positions),
                    root_black_winrate=winrate_of(first.black_value) if turn == 1 else None,
                    moves=[move_of(move) for move in judged[-1:]],
                )
            )
            after = await tasks[turn]
            job = JudgeMove(
                position=positions[turn - 1],
                effort=effort,
                move=Point(request.moves[turn - 1]),
                turn_number=turn,
                before=before,
                after=after,
                thresholds=thresholds,
            )
            judged.append(await services.pool.run(job, owner=owner))
            before = after
    finally:
        for task in tasks:
            task.cancel()
    result = result_of(Review(root_black_value=first.black_value, moves=tuple(judged)))
    is_stored = _store(services, request, result)
    send(_last_message(request, len(positions), result.moves[-1:], result, is_stored=is_stored))


async def judge(services: Services, request: JudgeRequest, owner: str, send: Send) -> None:
    """Judge one move against the best move in the position."""
    position = require_ongoing(_positions_of(request)[-1])
    position.play(request.move)  # raises an error if the move is illegal
    job = TryMove(
        position=position,
        effort=EFFORTS[request.effort],
        move=Point(request.move),
        thresholds=_thresholds_of(request),
    )
    judged = move_of(await services.pool.run(job, owner=owner))
    winrate = judged.black_winrate if judged.colour is Colour.BLACK else 1 - judged.black_winrate
    send(JudgeMessage(id=request.id, move=request.move, winrate=winrate, judged=judged))


def export_review(services: Services, request: ExportReview) -> ExportResult:
    """Return the stored review of a game as a file. Raises `NotFoundError` if the game has no such review."""
    stored = stored_review(services, request)
    if stored is None:
        raise NotFoundError("this game has no stored review; review it first")
    start = start_of(request)
    game = GameRecord(
        ruleset=start.ruleset,
        black=request.black,
        white=request.white,
        result=request.outcome,
        result_reason=request.reason,
        event=request.event,
        date=request.date,
    )
    if start.stones or start.to_move is Colour.WHITE:
        game.root.setup = Setup(
            tuple(start.points_of(Colour.BLACK)), tuple(start.points_of(Colour.WHITE)), to_move=start.to_move
        )
    return export_records([annotate(game, review_of(stored))], request.format, "review")


def stored_review(services: Services, request: ReviewFields) -> ReviewResult | None:
    """Return the stored review of a game, or None if it has not been reviewed."""
    body = services.store.get("review", _key(request))
    if body is None:
        return None
    try:
        return ReviewResult.model_validate_json(body)
    except ValidationError as error:
        _log.warning("a stored review is damaged; reviewing the game again: %s", error)
        return None


def _key(request: ReviewFields) -> str:
    fields = request.model_dump_json(include=set(ReviewFields.model_fields))
    return hashlib.sha256(f"{_VERSION} {fields}".encode()).hexdigest()


def _assess_all(
    services: Services, positions: list[Position], effort: Effort, owner: str
) -> list[asyncio.Task[Assessment]]:
    """Create a task for each position; the number of concurrent assessments is limited to the number of workers."""
    free = asyncio.Semaphore(services.config.pool.worker_count)

    async def assess_one(position: Position) -> Assessment:
        async with free:
            found: Assessment = await services.pool.run(Assess(position=position, effort=effort), owner=owner)
            return found

    return [asyncio.create_task(assess_one(position)) for position in positions]


def _store(services: Services, request: ReviewRequest, result: ReviewResult) -> bool:
    """Store a review and update its game. If the disk is full, return False; the client gets the review anyway."""
    try:
        services.store.put("review", _key(request), result.model_dump_json(), owner=request.game_id or "", is_new=True)
        _record(services, request, result)
    except StorageError as error:
        _log.warning("%s", error)
        return False
    return True


def _record(services: Services, request: ReviewRequest, result: ReviewResult) -> None:
    """Store accuracies and mistakes with the game, and start searching the mistakes for puzzles."""
    if request.game_id is not None:
        services.games.record_review(request.game_id, result)
        services.own_puzzles.search_game(request.game_id)


def _last_message(
    request: ReviewRequest, total: int, moves: list[ReviewMove], result: ReviewResult, *, is_stored: bool
) -> ReviewMessage:
    return ReviewMessage(
        id=request.id,
        is_during_search=False,
        effort=request.effort,
        done=total,
        total=total,
        root_black_winrate=result.root_black_winrate,
        moves=moves,
        summary=result.summary,
        is_stored=is_stored,
    )


def _thresholds_of(request: ReviewFields) -> Thresholds:
    return Thresholds(**request.thresholds.model_dump())


def _positions_of(request: PositionFields) -> list[Position]:
    positions = [start_of(request)]
    for move in request.moves:
        positions.append(positions[-1].play(move))
    return positions
