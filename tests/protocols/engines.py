"""The mock engines of `tests/fake_engines` as agent specifications."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

ENGINES = Path(__file__).resolve().parent.parent / "fake_engines"


def engine_command(name: str, *arguments: object) -> str:
    """Return the command line of a mock engine. `-S` halves Python's start-up time."""
    words = [sys.executable, "-S", str(ENGINES / f"{name}.py"), *(str(argument) for argument in arguments)]
    return shlex.join(words)


def engine_text(name: str, *arguments: object, **parameters: object) -> str:
    """Return the specification of a mock engine, with long timeouts for busy machines; an answer ends every wait."""
    settings = {"tolerance_ms": 20_000, "start_ms": 20_000, **parameters}
    tail = "".join(f",{key}={value}" for key, value in settings.items())
    return f'brain:cmd="{engine_command(name, *arguments)}"{tail}'
