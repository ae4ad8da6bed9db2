"""`tengen paper`: the papers are listed and shown with their figures."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from tengen.cli import app
from tengen.errors import InputError


def run(*arguments: str) -> str:
    done = CliRunner().invoke(app, ["paper", *arguments], env={"COLUMNS": "160"}, catch_exceptions=False)
    assert done.exit_code == 0
    return done.stdout


def test_all_papers_are_listed() -> None:
    lines = run().splitlines()
    assert [line.split()[0] for line in lines] == sorted(line.split()[0] for line in lines)
    assert any(line.split()[0] == "pg9" and "Using DRL to train a Gomoku agent" in line for line in lines)


def test_a_paper_is_shown_with_the_table_of_results() -> None:
    shown = run("pg9")
    assert "python -m tengen.papers.pg9" in shown
    assert "no progress in 250,000 games" in shown


def test_an_unknown_paper_is_rejected_with_a_list_of_the_known_ones() -> None:
    with pytest.raises(InputError, match=r"unknown paper 'zero'.*pg9, stanford15"):
        run("zero")


def test_an_installed_package_has_no_papers(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("tengen.core.shipped.shipped_folder", lambda _: tmp_path)
    with pytest.raises(InputError, match="papers are included in the repository"):
        run()
