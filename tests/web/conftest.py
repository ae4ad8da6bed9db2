"""A server for each test module, shared by its tests because the workers take half a second to start."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from starlette.testclient import TestClient

from tengen.web.app import create_app
from tengen.web.limits import WebLimits
from tengen.web.services import ServerConfig
from tengen.web.workers.scheduler import SearchPoolConfig

GENEROUS = WebLimits(
    hosts=frozenset({"testserver"}),
    requests_per_s=10_000,
    request_burst=10_000,
    games_per_s=10_000,
    game_burst=10_000,
    messages_per_s=10_000,
    message_burst=10_000,
)


@pytest.fixture(scope="module")
def client() -> Iterator[TestClient]:
    config = ServerConfig(limits=GENEROUS, pool=SearchPoolConfig(workers=1))
    with TestClient(create_app(config)) as client:
        yield client
