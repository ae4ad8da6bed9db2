"""`tengen serve` checks its store and folders before it prints its address."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from fastapi import FastAPI
from typer.testing import CliRunner

from tengen.cli import app
from tengen.errors import InputError
from tengen.web.services import ServerConfig
from tengen.web.store import Store


def serve(data: Path) -> subprocess.CompletedProcess[str]:
    """Run `tengen serve` with arguments with which it cannot start."""
    command = [sys.executable, "-m", "tengen.cli", "serve", "--no-open", "--port", "0", "--workers", "1"]
    return subprocess.run([*command, "--data", str(data)], capture_output=True, text=True, timeout=120, check=False)


def test_a_server_that_cannot_keep_games_says_so_in_one_line_and_no_address(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("no folder")
    ended = serve(file)
    assert ended.returncode == 2
    assert ended.stderr == f"tengen: cannot store games in {file}: it is not a folder\n"


def test_a_damaged_file_is_refused_when_it_is_opened(tmp_path: Path) -> None:
    path = tmp_path / "games.sqlite"
    path.write_bytes(b"no database" * 1000)
    with pytest.raises(InputError, match=r"cannot store games in .*games\.sqlite: file is not a database"):
        Store(path)
    path.unlink()
    store = Store(path)
    for number in range(100):
        store.put("game", str(number), "x" * 1000)
    store.close()
    path.write_bytes(path.read_bytes()[:9000])
    with pytest.raises(InputError, match=r"cannot store games in .*games\.sqlite: .* malformed"):
        Store(path)


def test_the_runs_of_this_folder_are_shown_unless_others_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown: list[tuple[Path, ...]] = []

    def look(config: ServerConfig) -> FastAPI:
        shown.append(config.runs)
        raise InputError("seen")

    monkeypatch.setattr("tengen.web.serving.create_app", look)
    monkeypatch.chdir(tmp_path)
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
    CliRunner().invoke(app, ["serve"])
    CliRunner().invoke(app, ["serve", "--runs", "a", "--runs", "b"])
    assert shown == [(Path("runs"),), (Path("a"), Path("b"))]  # the first may be created later
