"""The command line as a whole; each subcommand has its own test file."""

from __future__ import annotations

import importlib.metadata
import subprocess
import sys

import pytest
import typer

import tengen
from tengen import cli

HEAVY = ("fastapi", "gymnasium", "matplotlib", "onnxruntime", "pettingzoo", "ray", "scipy", "torch")


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "tengen.cli", *arguments], capture_output=True, text=True, check=False)


def test_version_is_the_same_everywhere() -> None:
    done = run("--version")
    assert done.stdout == f"tengen {tengen.__version__}\n"
    assert importlib.metadata.version("tengen") == tengen.__version__


def test_unknown_subcommand_is_refused() -> None:
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


def test_our_errors_become_one_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
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
