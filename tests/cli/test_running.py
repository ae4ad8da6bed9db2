"""How commands end: signals, closed streams, `python -m tengen`."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import tengen

COMMAND = (sys.executable, "-m", "tengen")


def run(*arguments: str, shell: str = "") -> subprocess.CompletedProcess[str]:
    """Run a command; `shell` is a redirection that subprocess cannot express."""
    words = [*COMMAND, *arguments]
    if shell:
        words = ["sh", "-c", f'exec "$@" {shell}', "sh", *words]
    return subprocess.run(words, capture_output=True, text=True, check=False, timeout=120)


def test_the_package_can_be_run_as_a_module() -> None:
    assert run("--version").stdout == f"tengen {tengen.__version__}\n"


def test_usage_errors_are_one_line_with_the_command_that_helps() -> None:
    done = run("match", "random")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "tengen match: missing argument 'B' (see tengen match --help)\n"


@pytest.mark.parametrize("signal_number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_a_match_with_its_result(tmp_path: Path, signal_number: signal.Signals) -> None:
    database = tmp_path / "games.db"
    words = [*COMMAND, "match", "random", "naive", "--rules", "9x9", "--games", "1000000", "--db", str(database)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        while not (database.exists() and database.stat().st_size > 100_000):
            assert process.poll() is None
            time.sleep(0.05)
        process.send_signal(signal_number)
        output, errors = process.communicate(timeout=120)
    assert process.returncode == 128 + signal_number
    assert "random against naive" in output
    assert "stopped with " in errors
    assert "Traceback" not in errors


def test_sigterm_ends_a_training_run_that_can_be_resumed(tmp_path: Path) -> None:
    run_folder = tmp_path / "run"
    settings = ["--set", "ruleset=5x5:4", "--set", "iterations=100000", "--set", "strength.every=0"]
    words = [*COMMAND, "train", "pg", *settings, "--run", str(run_folder)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        while not (run_folder / "metrics.jsonl").exists():
            assert process.poll() is None, process.communicate()
            time.sleep(0.05)
        process.terminate()
        output, errors = process.communicate(timeout=120)
    assert process.returncode == 128 + signal.SIGTERM, errors
    assert f"stopped; continue with --run {run_folder} --resume" in output
    assert "Traceback" not in errors


def test_a_closed_pipe_or_stream_is_no_traceback() -> None:
    assert run("agents", shell="| head -n 1").stderr == ""
    assert run("agents", "random", shell=">&-").stderr == ""
    closed = run("play", shell="<&-")
    assert closed.returncode == 2
    assert closed.stderr.startswith("tengen: standard input is closed, so you cannot type moves: ")
    closed = run("explain", "-", shell="<&-")
    assert closed.stderr == "tengen: standard input is closed: pass the moves or a file instead of -\n"


def test_sigterm_at_the_prompt_saves_the_game(tmp_path: Path) -> None:
    path = tmp_path / "game.sgf"
    words = [*COMMAND, "play", "random", "--rules", "9x9", "--save", str(path)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b"e5\n")
        process.stdin.flush()
        seen = b""
        while seen.count(b"black> ") < 2:
            seen += os.read(process.stdout.fileno(), 4096)
        process.terminate()
        _, errors = process.communicate(timeout=60)
    assert b"Traceback" not in errors
    assert ";B[ee]" in path.read_text()
