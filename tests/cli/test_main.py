"""The command line as a whole; each subcommand has its own test file."""

from __future__ import annotations

import importlib.metadata
import os
import subprocess
import sys
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

import tengen
from tengen import cli
from tengen.cli.output import check_writable
from tengen.errors import InputError

HEAVY = ("fastapi", "gymnasium", "matplotlib", "onnxruntime", "pettingzoo", "ray", "scipy", "torch")


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "tengen.cli", *arguments], capture_output=True, text=True, check=False)


def test_version_is_the_same_everywhere() -> None:
    done = run("--version")
    assert done.stdout == f"tengen {tengen.__version__}\n"
    assert importlib.metadata.version("tengen") == tengen.__version__


def test_an_unknown_subcommand_is_rejected() -> None:
    done = run("nonsense")
    assert done.returncode == 2
    assert "nonsense" in done.stderr


def test_help_lists_every_subcommand() -> None:
    done = run("--help")
    assert done.returncode == 0
    for module in cli.SUBCOMMANDS:
        assert module.replace("_", "-") in done.stdout


def test_help_loads_nothing_heavy() -> None:
    code = f"import sys, tengen.cli; print([name for name in {HEAVY} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_tengen_error_is_printed_as_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    app = typer.Typer()

    @app.command()
    def fail() -> None:
        tengen.Ruleset.parse("15x15:9:renju")

    monkeypatch.setattr(cli, "app", app)
    monkeypatch.setattr(sys, "argv", ["tengen"])
    with pytest.raises(SystemExit) as leaving:
        cli.main()
    assert leaving.value.code == 2
    message = capsys.readouterr().err
    assert message.startswith("tengen: ")
    assert "15x15:9:renju" in message
    assert message.count("\n") == 1


def test_characters_that_the_output_cannot_encode_are_replaced() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tengen.cli", "agents", "random"],
        capture_output=True,
        check=False,
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
    )
    assert done.returncode == 0, done.stderr
    assert b"Players: NAME[:key=value,?]" in done.stdout


@pytest.mark.parametrize(
    "command",
    [
        "match nobody random --json OUT",
        "play nobody --save OUT",
        "openings generate --agent nobody --out OUT",
        "puzzles generate --rules nonsense --out OUT",
        "tune fit OUT none.jsonl",
        "tune net OUT none.jsonl --base none.npz",
        "tune search OUT --rules nonsense",
    ],
)
def test_an_output_file_is_checked_before_the_work_starts(tmp_path: Path, command: str) -> None:
    # The commands are also wrong in other ways, which must be reported later.
    out = str(tmp_path / "none" / ("out.sgf" if command.startswith("play") else "out.npz"))
    result = CliRunner().invoke(cli.app, [out if word == "OUT" else word for word in command.split()])
    assert isinstance(result.exception, InputError)
    assert str(result.exception) == f"cannot write {out}: No such file or directory"


def test_checking_an_output_file_does_not_change_it(tmp_path: Path) -> None:
    (tmp_path / "old.json").write_text("old")
    check_writable(tmp_path / "old.json", tmp_path / "new.json", None)
    assert [path.read_text() for path in tmp_path.iterdir()] == ["old"]
