"""`tengen agents`."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from tengen.agents import registry
from tengen.cli import app
from tengen.errors import AgentNameError, MissingExtraError


def test_lists_every_player_with_its_parameters() -> None:
    result = CliRunner().invoke(app, ["agents"], env={"COLUMNS": "200"})
    assert result.exit_code == 0
    for name in registry.agent_names():
        assert f"│ {name} " in result.stdout
    assert "level = 3 (int)  Level: 0–3 as in the paper" in result.stdout


def test_shows_one_player() -> None:
    result = CliRunner().invoke(app, ["agents", "chains"])
    assert "│ chains" in result.stdout
    assert "naive" not in result.stdout


def test_unknown_player() -> None:
    result = CliRunner().invoke(app, ["agents", "chain"])
    assert isinstance(result.exception, AgentNameError)
    assert "did you mean 'chains'" in str(result.exception)


def test_players_with_missing_packages_are_listed_with_an_install_command(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(name: str) -> registry.AgentKind:
        raise MissingExtraError("pip install 'tengen[train]'")

    monkeypatch.setattr(registry, "agent_kind", fail)
    result = CliRunner().invoke(app, ["agents"])
    assert result.exit_code == 0
    assert "pip install 'tengen[train]'" in result.stdout
