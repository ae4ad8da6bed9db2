"""`tengen serve` and `tengen puzzles generate` at the command line."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tengen.cli import app
from tengen.errors import InputError
from tengen.puzzles.puzzle import parse_puzzles
from tengen.web.limits import WebLimits
from tengen.web.serving import run_server


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
