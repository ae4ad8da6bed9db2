"""Runs the examples of docs/reference/api.md in order against a server.

An `http` block is a request; the `json` block after it is what the answer must contain. A `ws` block has messages to
the server (`>`) and from it (`<`), which must arrive in that order; others may come in between. `"…"` in an expected
message matches anything: a value, further fields, or further entries of a list.
"""

from __future__ import annotations

import json
import re
from functools import partial
from typing import Any

from starlette.testclient import TestClient

from tests.conftest import ROOT
from tests.web.talk import Json, receive_until

BLOCK = re.compile(r"^```(http|json|ws)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
ANY = "…"
MAX_MESSAGES = 200


def matches(found: Any, expected: Any) -> bool:
    """Whether a received value matches the one on the page."""
    if expected == ANY:
        return True
    if isinstance(expected, dict):
        if not isinstance(found, dict) or (ANY not in expected and set(found) != set(expected)):
            return False
        return all(key == ANY or (key in found and matches(found[key], value)) for key, value in expected.items())
    if isinstance(expected, list):
        if not isinstance(found, list):
            return False
        shown = expected[:-1] if expected[-1:] == [ANY] else expected
        if len(found) < len(shown) or (shown is expected and len(found) != len(shown)):
            return False
        return all(matches(one, other) for one, other in zip(found, shown, strict=False))
    return bool(found == expected)


def is_last_word(found: Json, expected: Json) -> bool:
    """Whether to stop waiting: the message has arrived, or an error instead."""
    return matches(found, expected) or found["type"] == "error"


def run_http(client: TestClient, text: str) -> Json:
    line, _, body = text.partition("\n")
    method, path = line.split()
    response = client.request(method, path, json=json.loads(body) if body.strip() else None)
    assert response.is_success, response.text
    answer: Json = response.json()
    return answer


def run_socket(client: TestClient, text: str, game: str) -> None:
    with client.websocket_connect("/api/socket") as socket:
        for line in text.strip().splitlines():
            direction, message = line[0], json.loads(line[1:].replace("GAME", game))
            if direction == ">":
                socket.send_json(message)
            else:
                last = receive_until(socket, partial(is_last_word, expected=message), at_most=MAX_MESSAGES)[-1]
                assert matches(last, message), last


def test_examples_of_the_api_page(client: TestClient) -> None:
    page = (ROOT / "docs" / "reference" / "api.md").read_text(encoding="utf-8")
    answer: Json | None = None
    game = ""
    blocks = BLOCK.findall(page)
    assert len(blocks) > 15
    for kind, text in blocks:
        if kind == "http":
            answer = run_http(client, text)
            game = answer.get("id", game)
        elif kind == "ws":
            run_socket(client, text, game)
        elif answer is not None:
            assert matches(answer, json.loads(text)), f"{json.dumps(answer)[:2000]}\n is not\n{text}"
            answer = None
