"""Runs the command line: errors become one line with a remedy, and SIGTERM ends a command like Ctrl-C."""

from __future__ import annotations

import errno
import io
import os
import signal
import sys
from types import FrameType
from typing import Any, NoReturn

import typer

from tengen.errors import TengenError

_UsageError: Any = typer.BadParameter.__mro__[1]  # typer does not export it
INTERRUPTED = 128 + signal.SIGINT
TERMINATED = 128 + signal.SIGTERM

_PLAINER = (
    ("Value error, ", ""),
    ("Input should be greater than or equal to", "must be at least"),
    ("Input should be less than or equal to", "must be at most"),
    ("Input should be a valid integer, unable to parse string as an integer", "must be an integer"),
    ("Input should be a valid number, unable to parse string as a number", "must be a number"),
)
"""Typer's phrases and our replacements."""

_MISSING = (os.strerror(errno.ENOENT), " does not exist")
"""Endings of messages about files that do not exist."""

_is_terminated = False


def is_terminated() -> bool:
    """Return whether the process has received SIGTERM, after which it must not ask the user anything."""
    return _is_terminated


def run_app(app: typer.Typer, name: str) -> NoReturn:
    """Run a command line and exit. The exit code is 2 for user errors, 130 after Ctrl-C, 143 after SIGTERM."""
    _open_missing_streams()
    if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.errors == "strict":
        sys.stdout.reconfigure(errors="replace")  # print `?` for characters that the terminal cannot show
    signal.signal(signal.SIGTERM, _terminate)
    code: Any = 0
    try:
        code = app(standalone_mode=False, prog_name=name)
        sys.stdout.flush()
    except TengenError as error:
        sentence = str(error).partition("\n")[0]  # the rest is a drawing of the position
        _print_error(name, sentence + ("; check the path" if sentence.endswith(_MISSING) else ""))
        code = 2
    except _UsageError as error:
        path = name if error.ctx is None else error.ctx.command_path
        message = " ".join(error.format_message().split()).rstrip(".")
        if message:  # empty if the help was shown
            for theirs, ours in _PLAINER:
                message = message.replace(theirs, ours)
            _print_error(path, f"{message[0].lower()}{message[1:]} (see {path} --help)")
        code = 2
    except typer.Exit as leaving:
        code = leaving.exit_code
    except (KeyboardInterrupt, typer.Abort):
        _print_error(name, "stopped")
        code = INTERRUPTED
    except BrokenPipeError:  # the program reading the output, such as `head`, has exited
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    code = code if isinstance(code, int) else 0
    sys.exit(TERMINATED if _is_terminated and code == INTERRUPTED else code)


def _terminate(number: int, frame: FrameType | None) -> None:
    """Handle SIGTERM like Ctrl-C, using the command's own Ctrl-C handler if it has one.

    SIGTERM also ends background jobs, which may ignore SIGINT.
    """
    global _is_terminated  # noqa: PLW0603  a signal handler cannot return a value
    _is_terminated = True
    handler = signal.getsignal(signal.SIGINT)
    if not callable(handler):
        raise KeyboardInterrupt
    handler(signal.SIGINT, frame)


def _open_missing_streams() -> None:
    """Replace standard output and error with the null device if they are closed; otherwise, writing would fail."""
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115


def _print_error(name: str, sentence: str) -> None:
    print(f"{name}: {sentence}", file=sys.stderr)
