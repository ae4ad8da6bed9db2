"""Plausible mistakes on the command line, and the message that each gets.

`mistakes.txt` holds the commands with their exit codes and messages. After a change of messages, read what
`python -m tests.cli.test_mistakes` has rewritten there before you commit it.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import signal
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from unittest import mock

import pytest

from tengen import cli

FILE = Path(__file__).with_name("mistakes.txt")


class Mistake(NamedTuple):
    command: str
    code: int
    message: str


def read_mistakes() -> list[Mistake]:
    found: list[Mistake] = []
    for block in FILE.read_text(encoding="utf-8").strip().split("\n\n"):
        command, _, rest = block.partition("\n")
        code, _, message = rest.partition(": ")
        found.append(Mistake(command.removeprefix("$ "), int(code.rstrip(":") or 0), message))
    return found


@contextlib.contextmanager
def prepared_folder() -> Iterator[None]:
    """Work in a folder with a few files that the commands name."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            Path("game.sgf").write_text("(;GM[4]SZ[15];B[hh];W[ii];B[hi])")
            Path("damaged.sgf").write_text("(;GM[4]SZ[15];B[hh];W[")
            Path("notes.txt").write_text("buy milk\n")
            Path("picture.png").write_bytes(b"\x89PNG\r\n\x1a\n")
            Path("cup.toml").write_text('players = ["random", "naive"]\nrules = "9x9"\nroundz = 2\n')
            Path("full").mkdir()
            Path("full/thesis.txt").write_text("precious")
            yield
        finally:
            os.chdir(before)


def run(command: str) -> tuple[int, str]:
    """Run a command in this process; return its exit code and what it wrote to stderr."""
    errors = io.StringIO()
    handler = signal.getsignal(signal.SIGTERM)
    with (
        prepared_folder(),
        mock.patch.object(sys, "argv", shlex.split(command)),
        mock.patch.object(sys, "stdin", io.StringIO()),
        contextlib.redirect_stdout(io.StringIO()),
        contextlib.redirect_stderr(errors),
    ):
        with pytest.raises(SystemExit) as leaving:
            cli.main()
        signal.signal(signal.SIGTERM, handler)
        code = leaving.value.code
        folder = str(Path.cwd())
    assert isinstance(code, int)
    return code, errors.getvalue().strip().replace(folder, "FOLDER")


def test_there_are_sixty_mistakes() -> None:
    commands = [mistake.command for mistake in read_mistakes()]
    assert len(commands) == len(set(commands)) >= 60


@pytest.mark.parametrize("mistake", read_mistakes(), ids=lambda mistake: mistake.command.removeprefix("tengen "))
def test_a_mistake_gets_one_clear_message(mistake: Mistake) -> None:
    code, message = run(mistake.command)
    assert (code, message) == (mistake.code, mistake.message)
    assert code == 2
    *_, last = message.splitlines()
    assert re.match(r"tengen[\w -]*: ", last)
    assert "Traceback" not in message


def rewrite() -> None:
    """Run all commands of the file and write what they say now."""
    blocks = []
    for mistake in read_mistakes():
        code, message = run(mistake.command)
        blocks.append(f"$ {mistake.command}\n{code}: {message}\n")
    FILE.write_text("\n".join(blocks), encoding="utf-8")


if __name__ == "__main__":
    rewrite()
