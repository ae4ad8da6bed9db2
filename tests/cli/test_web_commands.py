"""`tengen serve` and `tengen puzzles generate` at the command line."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tengen.cli import app
from tengen.errors import InputError
from tengen.puzzles.puzzle import parse_puzzles
from tengen.web.limits import WebLimits
from tengen.web.serving import run_server
from tests.conftest import ROOT


def test_puzzles_are_written_to_a_file(tmp_path: Path) -> None:
    path = tmp_path / "puzzles.jsonl"
    result = CliRunner().invoke(app, ["puzzles", "generate", "--vcf", "1", "--vct", "0", "--out", str(path)])
    assert result.exit_code == 0, result.output
    (puzzle,) = parse_puzzles(path.read_text(encoding="utf-8"))
    assert puzzle.kind == "vcf"
    assert puzzle.position().is_legal(puzzle.line()[0])


def serve(tmp_path: Path, **changed: object) -> None:
    settings = {"host": "127.0.0.1", "port": 0, "open_browser": False, "data": tmp_path, "runs": (), "hosts": ()}
    run_server(**(settings | {"workers": 1} | changed))  # type: ignore[arg-type]


def test_a_port_in_use_is_reported(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(InputError, match="cannot listen"):
            serve(tmp_path, port=taken.getsockname()[1])


def test_a_folder_of_runs_must_exist(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="nothing: no such folder"):
        serve(tmp_path, runs=(tmp_path / "nothing",))


def test_the_server_listens_on_this_machine_by_default() -> None:
    result = CliRunner().invoke(app, ["serve", "--help"], env={"COLUMNS": "200", "NO_COLOR": "1"})
    assert "127.0.0.1" in result.output
    assert "0.0.0.0" not in WebLimits().hosts


@pytest.mark.skipif(sys.platform == "win32" or shutil.which("make") is None, reason="needs make")
@pytest.mark.parametrize("code", [130, 2])
def test_make_play_is_stopped_without_an_error(tmp_path: Path, code: int) -> None:
    server = tmp_path / "tengen"
    server.write_text(
        f"#!{sys.executable}\nimport sys, time\n"
        "try:\n    print(*sys.argv[1:], flush=True)\n    time.sleep(60)\n"
        f"except KeyboardInterrupt:\n    sys.exit({code})\n"
    )
    server.chmod(0o755)
    with subprocess.Popen(
        ["make", "--old-file=install", "play", f"BIN={tmp_path}", "PORT=8123"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
        env={key: value for key, value in os.environ.items() if not key.startswith("MAKE")},
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509  pytest may ignore it
    ) as make:
        assert make.stdout is not None
        assert make.stdout.readline() == "serve --port 8123\n"
        os.killpg(make.pid, signal.SIGINT)
        output = make.communicate(timeout=30)[0]
    assert ("Error 2" in output) == (code == 2), output
    assert "Error 130" not in output
