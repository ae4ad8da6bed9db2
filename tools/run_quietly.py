"""Run a command, show that it is still running, and print its output only if it fails.

    python tools/run_quietly.py TEXT COMMAND…

Prints TEXT with the elapsed seconds and, if the command is a ninja build, its progress. Uses only the standard library,
because it runs before anything is installed.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

_STEP = re.compile(rb"\[(\d+)/(\d+)\]")
_SECONDS_BETWEEN_LINES = 15.0
"""Interval between progress lines if the output is not a terminal."""


def main(text: str, command: list[str]) -> int:
    """Run the command and return its exit code."""
    is_terminal = sys.stdout.isatty()
    started = said = time.monotonic()
    if not is_terminal:
        print(f"{text} …", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder, "log")
        with log.open("wb") as file, subprocess.Popen(command, stdout=file, stderr=subprocess.STDOUT) as process:
            while process.poll() is None:
                time.sleep(0.2)
                now = time.monotonic()
                line = f"{text} … {now - started:.0f} s{_progress(log)}"
                if is_terminal:
                    print(f"\r{line}\033[K", end="", flush=True)
                elif now - said >= _SECONDS_BETWEEN_LINES:
                    said = now
                    print(line, flush=True)
        if is_terminal:
            print(f"\r{text}: {time.monotonic() - started:.0f} s\033[K")
        if process.returncode:
            sys.stdout.write(log.read_text(encoding="utf-8", errors="replace"))
    return process.returncode


def _progress(log: Path) -> str:
    """Return the last progress of ninja in a log, such as `, step 12 of 80`; empty if there is none."""
    steps = _STEP.findall(log.read_bytes())
    return f", step {int(steps[-1][0])} of {int(steps[-1][1])}" if steps else ""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
