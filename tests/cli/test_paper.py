"""`tengen paper`: the papers are listed and shown with their figures."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from tengen.cli import app
from tengen.core.shipped import shipped_folder
from tengen.errors import InputError


def run(*arguments: str) -> str:
    done = CliRunner().invoke(app, ["paper", *arguments], env={"COLUMNS": "160"}, catch_exceptions=False)
    assert done.exit_code == 0
    return done.stdout


def test_all_papers_are_listed() -> None:
    lines = run().splitlines()
    assert [line.split()[0] for line in lines] == sorted(line.split()[0] for line in lines)
    assert any(line.split()[0] == "pg9" and "Using DRL to train a Gomoku agent" in line for line in lines)


def test_the_published_results_of_a_paper_are_shown() -> None:
    assert "Using DRL to train a Gomoku agent" in run("pg9", "--show")


def test_a_narrow_terminal_cuts_no_column_name(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "one" / "results").mkdir(parents=True)
    (tmp_path / "one" / "README.md").write_text("# One\n", encoding="utf-8")
    names = [f"`naive:level={level}`" for level in range(10)]
    rows = (names, ["--:"] * 10, ["6"] * 10)
    text = "\n".join(f"| {' | '.join(row)} |" for row in rows)
    (tmp_path / "one" / "results" / "table.md").write_text(text, encoding="utf-8")
    monkeypatch.setattr("tengen.core.shipped.shipped_folder", lambda _: tmp_path)
    done = CliRunner().invoke(app, ["paper", "one", "--show"], env={"COLUMNS": "80"}, catch_exceptions=False)
    assert "…" not in done.stdout
    assert all(str(level) in done.stdout for level in range(10))


@pytest.mark.parametrize("options", [(), ("--show",)])
def test_an_unknown_paper_is_rejected_with_a_list_of_the_known_ones(options: tuple[str, ...]) -> None:
    with pytest.raises(InputError, match=r"unknown paper 'zero'.*pg9"):
        run("zero", *options)


def test_an_installed_package_has_no_published_results(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("tengen.core.shipped.shipped_folder", lambda _: tmp_path)
    with pytest.raises(InputError, match="they are in the repository"):
        run("pg9", "--show")
    assert "pg9" in run()


def test_published_results_are_written_only_on_request() -> None:
    with pytest.raises(InputError, match="is inside the folder of the published results"):
        run("pg9", "--quick", "--out", str(shipped_folder("papers") / "pg9" / "results"))
    with pytest.raises(InputError, match="--publish needs the output folder of a full run: omit --quick"):
        run("pg9", "--quick", "--publish")
    with pytest.raises(InputError, match="is inside the folder of the published results"):
        run("pg9", "--publish", "--out", str(shipped_folder("papers") / "pg9" / "results"))


def test_nothing_is_published_before_it_is_run_or_from_an_installed_package(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match="has no results: run `tengen paper pg9` first"):
        run("pg9", "--publish", "--out", str(tmp_path))
    monkeypatch.setattr("tengen.core.shipped.shipped_folder", lambda _: tmp_path)
    with pytest.raises(InputError, match="this is an installed package: run it in a clone"):
        run("pg9", "--publish", "--out", str(tmp_path))


@pytest.mark.parametrize("engine", ["yixin", "=yixin", "yixin=", 'yixin=a"b'])
def test_engines_are_given_as_name_and_command(engine: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="does not have the form NAME=COMMAND"):
        run("pg9", "--quick", "--engine", engine, "--out", str(tmp_path))


def test_an_experiment_is_run_and_laid_next_to_the_paper(tmp_path: Path) -> None:
    shown = run("pg9", "--quick", "--only", "test-best", "--out", str(tmp_path / "out"))
    assert "72.5 %" in shown
    assert "of CPU time" in shown
    assert (tmp_path / "out" / "results.json").exists()
