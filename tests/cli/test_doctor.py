"""`tengen doctor`."""

from __future__ import annotations

import re
from importlib import metadata

import pytest
from typer.testing import CliRunner

import tengen
from tengen.cli import app, doctor
from tests.conftest import ROOT


def test_it_describes_the_installation_and_the_machine() -> None:
    result = CliRunner().invoke(app, ["doctor", "--no-speed"], env={"COLUMNS": "80"})
    assert result.exit_code == 0, result.output
    assert re.search(rf"Tengen +{re.escape(tengen.__version__)}, ", result.output)
    assert re.search(r"processor .* usable", result.output, re.DOTALL)
    for extra in ("train", "web", "tensorboard", "openvino", "plots", "envs", "cluster"):
        assert re.search(rf"^  {extra} +\w", result.output, re.MULTILINE)
    assert "Speed" not in result.output
    assert max(map(len, result.output.splitlines())) <= 80


def test_a_missing_extra_is_named_with_its_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metadata, "requires", lambda _: ["numpy>=2", 'no-such-package>=1; extra == "web"'])
    assert doctor._describe_extra("web") == ("missing no-such-package: pip install 'tengen[web]'")
    assert doctor._describe_extra("train") == ""


def test_the_remedy_is_printed_with_its_brackets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metadata, "requires", lambda _: ['no-such-package>=1; extra == "envs"'])
    output = CliRunner().invoke(app, ["doctor", "--no-speed"], env={"COLUMNS": "160"}).output
    assert "missing no-such-package: pip install 'tengen[envs]'" in output


def test_no_console_takes_brackets_for_markup() -> None:
    for path in (ROOT / "src" / "tengen").rglob("*.py"):
        for call in re.findall(r"(?<![a-zA-Z])Console\([^()]*\)", path.read_text(encoding="utf-8")):
            assert "markup=False" in call, f"{path}: {call} swallows text such as [envs]"


def test_the_speed_check_compares_with_the_expected_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "_SECONDS_PER_CHECK", 0.01)
    output = CliRunner().invoke(app, ["doctor"], env={"COLUMNS": "80"}).output
    for name in ("rules", "engine", "rollouts", "network"):
        assert re.search(rf"^  {name}: [\w ]+ +[\d,]+ +[\d,]+ +[\d.]+ %$", output, re.MULTILINE)


def test_a_slow_machine_gets_advice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "_checks", lambda: [doctor._Check("engine: nodes", lambda: 1, 1e12)])
    monkeypatch.setattr(doctor, "_SECONDS_PER_CHECK", 0.01)
    output = CliRunner().invoke(app, ["doctor"], env={"COLUMNS": "80"}).output
    assert "Checks below 50 % of the expected speed: 1." in output
