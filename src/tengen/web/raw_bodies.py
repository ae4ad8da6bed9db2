"""Request bodies that are parsed by a worker instead of the main process.

A record can have 20,000 nodes, and checking them would block the event loop for half a second. The routes of
`RawBodyRoute` receive their body as bytes and pass it to a worker. The OpenAPI schema still describes the body.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Annotated, Any, TypeVar

from fastapi.routing import APIRoute
from pydantic import BaseModel, ValidationError, WrapValidator
from starlette.requests import Request
from starlette.responses import Response

from tengen.web.messages.records import ExportRequest, Record
from tengen.web.problems import MessageError, explain_validation

MessageT = TypeVar("MessageT", bound=BaseModel)

_Unparsed = WrapValidator(lambda body, _: body)
RawRecord = Annotated[Record, _Unparsed]
"""A `Record` in the schema, bytes in the route."""
RawExportRequest = Annotated[ExportRequest, _Unparsed]
"""An `ExportRequest` in the schema, bytes in the route."""


class _RawRequest(Request):
    async def json(self) -> Any:
        return await self.body()


class RawBodyRoute(APIRoute):
    """A route that receives its body as bytes."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def handle_raw(request: Request) -> Response:
            return await handle(_RawRequest(request.scope, request.receive))

        return handle_raw


def parse_body(kind: type[MessageT], body: bytes) -> MessageT:
    """Parse a request body, in a worker. Raises `MessageError` if the body does not match the type."""
    try:
        return kind.model_validate_json(body)
    except ValidationError as error:
        raise MessageError(*explain_validation(error.errors())) from None
