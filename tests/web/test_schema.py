"""Schemathesis generates requests from the OpenAPI schema and checks every answer against it."""

from __future__ import annotations

from typing import Any

import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis.checks import CHECKS
from starlette.testclient import TestClient

from tengen.web.app import create_app

schema = schemathesis.openapi.from_dict(create_app().openapi())

# A request may match the schema and still be refused, because its position is impossible.
LEFT_OUT: list[Any] = [CHECKS.get_one("positive_data_acceptance")]


@schema.parametrize()
@settings(max_examples=8, suppress_health_check=list(HealthCheck))
def test_every_answer_is_as_described(case: schemathesis.Case, client: TestClient) -> None:
    kwargs = case.as_transport_kwargs(base_url="http://testserver")
    response = client.request(**{key: value for key, value in kwargs.items() if key != "cookies"})
    case.validate_response(response, excluded_checks=LEFT_OUT)
