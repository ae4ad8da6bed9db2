"""HTTP error responses: the status, code and text for each exception."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Match

from tengen.errors import (
    AgentError,
    BusyError,
    ForbiddenPointError,
    GameOverError,
    IllegalMoveError,
    InputError,
    NotationError,
    NotDueError,
    NotFoundError,
    PositionError,
    RecordError,
    RulesetError,
    StorageError,
    TengenError,
)
from tengen.web.messages.base import Problem, ProblemCode

_MAX_TEXT = 500

_CODES: tuple[tuple[type[TengenError], ProblemCode], ...] = (
    (NotFoundError, ProblemCode.NOT_FOUND),
    (NotDueError, ProblemCode.NOT_DUE),
    (BusyError, ProblemCode.BUSY),
    (StorageError, ProblemCode.STORAGE),
    (ForbiddenPointError, ProblemCode.FORBIDDEN),
    (GameOverError, ProblemCode.GAME_OVER),
    (IllegalMoveError, ProblemCode.ILLEGAL),
    (PositionError, ProblemCode.POSITION),
    (RulesetError, ProblemCode.RULES),
    (RecordError, ProblemCode.RECORD),
    (NotationError, ProblemCode.NOTATION),
    (AgentError, ProblemCode.AGENT),
)
"""Problem code by error class. The first match wins, so a class must come before its base classes."""
_CODES_OF_STATUS = {403: ProblemCode.REFUSED, 404: ProblemCode.NOT_FOUND, 413: ProblemCode.TOO_LARGE}


class MessageError(InputError):
    """A message does not match its type; `field` names the invalid field, if there is one."""

    def __init__(self, message: str, field: str | None = None) -> None:
        super().__init__(message)
        self.field = field


def status_of(error: TengenError) -> int:
    """Return the HTTP status for an error."""
    match error:
        case NotFoundError():
            return 404
        case NotDueError():
            return 409
        case BusyError():
            return 503
        case StorageError():
            return 507
        case MessageError():
            return 422
        case _:
            return 400


def code_of(error: TengenError) -> ProblemCode:
    """Return the problem code for an error."""
    return next((code for kind, code in _CODES if isinstance(error, kind)), ProblemCode.INVALID)


def sentence_of(error: TengenError) -> str:
    """Return the first line of an error's message; some messages continue with a drawing of the board."""
    return str(error).partition("\n")[0][:_MAX_TEXT]


def explain_validation(errors: Sequence[Mapping[str, Any]]) -> tuple[str, str | None]:
    """Return the first validation error as text, and the name of the invalid field."""
    first = errors[0]
    place = ".".join(str(part) for part in first["loc"] if part != "body")
    return f"{place}: {first['msg']}"[:_MAX_TEXT] if place else str(first["msg"])[:_MAX_TEXT], place or None


def add_error_handlers(app: FastAPI) -> None:
    """Make the app respond to every failure with a `Problem`."""

    @app.exception_handler(TengenError)
    async def on_tengen_error(_: Request, error: TengenError) -> JSONResponse:
        field = error.field if isinstance(error, MessageError) else None
        return problem_response(status_of(error), sentence_of(error), code_of(error), field)

    @app.exception_handler(RequestValidationError)
    async def on_invalid(_: Request, error: RequestValidationError) -> JSONResponse:
        sentence, field = explain_validation(error.errors())
        return problem_response(422, sentence, ProblemCode.INVALID, field)

    @app.exception_handler(HTTPException)
    async def on_http(request: Request, error: HTTPException) -> JSONResponse:
        code = _CODES_OF_STATUS.get(error.status_code, ProblemCode.INVALID)
        response = problem_response(error.status_code, str(error.detail), code)
        response.headers.update(error.headers or {})
        if error.status_code == 405:
            response.headers["Allow"] = ", ".join(_methods_of(request))
        return response

    @app.exception_handler(Exception)
    async def on_unexpected(_: Request, error: Exception) -> JSONResponse:
        return problem_response(500, "internal error", ProblemCode.INTERNAL)


def _methods_of(request: Request) -> list[str]:
    """Return the HTTP methods that the path of a request supports."""
    matching = (route for route in request.app.routes if route.matches(request.scope)[0] is not Match.NONE)
    return sorted({method for route in matching for method in getattr(route, "methods", None) or ()})


def problem_response(status: int, error: str, code: ProblemCode, field: str | None = None) -> JSONResponse:
    """Return a `Problem` as a response."""
    body = Problem(error=error[:_MAX_TEXT], code=code, field=field).model_dump(mode="json")
    return JSONResponse(body, status_code=status)
