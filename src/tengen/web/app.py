"""The FastAPI application: routes, middleware, static files."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from fastapi import FastAPI

from tengen import __version__
from tengen.web import routes
from tengen.web.laboratory import operating_routes
from tengen.web.laboratory import routes as laboratory_routes
from tengen.web.limits import LimitsMiddleware
from tengen.web.problems import add_error_handlers
from tengen.web.puzzles import routes as puzzle_routes
from tengen.web.services import ServerConfig, Services
from tengen.web.static_files import serve_static_files

STATIC = Path(__file__).with_name("static")


def create_app(config: ServerConfig | None = None) -> FastAPI:
    """Create the web application. Its worker processes start and stop with its lifespan."""
    services = Services(config or ServerConfig())

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        await services.start()
        try:
            yield
        finally:
            await services.close()

    app = FastAPI(
        title="Tengen",
        version=__version__,
        description="HTTP and WebSocket API of Tengen, the Gomoku AI laboratory (see docs/reference/api.md).",
        lifespan=lifespan,
        openapi_url="/api/openapi.json",
        docs_url=None,  # FastAPI's documentation page loads scripts from a CDN, which our security headers block
        redoc_url=None,
    )
    app.state.services = services
    add_error_handlers(app)
    app.add_middleware(LimitsMiddleware, limits=services.config.limits)
    for router in (
        routes.router,
        routes.raw_router,
        puzzle_routes.router,
        laboratory_routes.router,
        operating_routes.read_router,
        operating_routes.router,
    ):
        app.include_router(router)
    if STATIC.is_dir():
        serve_static_files(app, STATIC)
    return app
