"""The mock engines of `tests/fake_engines` as agent texts."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

ENGINES = Path(__file__).resolve().parent.parent / "fake_engines"


def engine_command(name: str, *arguments: object) -> str:
    """The command line of a mock engine. `-S` halves the time Python takes to start."""
    words = [sys.executable, "-S", str(ENGINES / f"{name}.py"), *(str(argument) for argument in arguments)]
    return shlex.join(words)


def engine_text(name: str, *arguments: object, **parameters: object) -> str:
    """The agent text that plays a mock engine. A busy machine is given time: waits end early when an answer comes."""
    settings = {"tolerance_ms": 20_000, "start_ms": 20_000, **parameters}
    tail = "".join(f",{key}={value}" for key, value in settings.items())
    return f'brain:cmd="{engine_command(name, *arguments)}"{tail}'
