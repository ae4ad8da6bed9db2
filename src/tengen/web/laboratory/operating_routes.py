"""HTTP routes that operate the laboratory. They start processes, so their checks are stricter."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, HTTPException, Path
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request

from tengen.core.contracts import Ruleset
from tengen.web.laboratory.training_choices import describe_algorithms
from tengen.web.limits import is_from_own_page, is_loopback
from tengen.web.messages.operations import (
    AlgorithmInfo,
    OperatingInfo,
    OperationInfo,
    OperationKind,
    ResumeOperation,
    StartTournament,
    StartTraining,
)
from tengen.web.routes import PROBLEMS, ServicesHere
from tengen.web.services import services_of


def may_operate(request: Request) -> None:
    """Refuse a request that could come from another machine or from a page with a different origin.

    The middleware has checked the host name and the origin already. This function also refuses forwarded requests,
    clients on other machines, and bodies that a page with a different origin could send without a preflight request.
    """
    why_not = services_of(request).operations.why_not
    if why_not:
        raise HTTPException(403, f"the laboratory is read-only: {why_not}")
    if not is_loopback(request.scope) or not is_from_own_page(request.headers):
        raise HTTPException(403, "the laboratory can be operated only from the board on the same machine")


read_router = APIRouter(prefix="/api/operations", responses=PROBLEMS)
router = APIRouter(prefix="/api/operations", responses=PROBLEMS, dependencies=[Depends(may_operate)])

Name = Annotated[str, Path(min_length=1, max_length=200)]


@read_router.get("")
def get_operations(services: ServicesHere) -> OperatingInfo:
    """Return whether the laboratory can be operated, and the processes that were started in the browser."""
    return services.operations.info()


@read_router.get("/algorithms")
def get_algorithms() -> list[AlgorithmInfo]:
    """Return the training algorithms with their presets and the settings that a browser may change."""
    return describe_algorithms()


@router.post("/training", status_code=201)
def post_training(body: StartTraining, services: ServicesHere) -> OperationInfo:
    """Start a training run."""
    return services.operations.start_training(body)


@router.post("/tournament", status_code=201)
async def post_tournament(body: StartTournament, services: ServicesHere) -> OperationInfo:
    """Start a tournament."""
    ruleset = Ruleset.parse(body.rules)
    for text in body.players:
        await services.check_agent(services.agents.named(text), ruleset)
    return await run_in_threadpool(services.operations.start_tournament, body, ruleset)


# Run names may contain slashes, so the verb comes first.
@router.post("/stop/{kind}/{name:path}")
def post_stop(kind: OperationKind, name: Name, services: ServicesHere) -> OperationInfo:
    """Stop a process; it can be resumed."""
    return services.operations.stop(kind, name)


@router.post("/resume/{kind}/{name:path}")
def post_resume(kind: OperationKind, name: Name, body: ResumeOperation, services: ServicesHere) -> OperationInfo:
    """Resume a run or tournament, or extend a run."""
    return services.operations.resume(kind, name, body)
