"""What a release consists of fits together: versions, the index page, wheels, the container image."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner, Result

import tengen
from tengen.cli import app
from tools.index_page import absolute_links, dynamic_metadata

ROOT = Path(__file__).parents[1]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
CONTAINERFILE = (ROOT / "Containerfile").read_text(encoding="utf-8")


def run(*arguments: str) -> Result:
    result = CliRunner().invoke(app, list(arguments), env={"COLUMNS": "100"})
    assert result.exit_code == 0, result.output
    return result


def test_all_files_have_the_same_version() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    changes = re.findall(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert PYPROJECT["project"]["version"] == tengen.__version__ == citation["version"] == changes[0]
    assert changes == sorted(changes, key=lambda text: [int(part) for part in text.split(".")], reverse=True)


def test_the_index_page_has_absolute_links_to_existing_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("TENGEN_REPOSITORY_URL", "https://host/o/tengen/")
    monkeypatch.setenv("TENGEN_REPOSITORY_REF", "v9")
    fields = dynamic_metadata({}, {})
    links = re.findall(r"\]\(([^)]+)\)", fields["readme"]["text"])
    ours = [link.removeprefix("https://host/o/tengen/blob/v9/") for link in links if "//host/" in link]
    assert len(ours) > 15
    assert all(link.startswith("https://") for link in links)
    assert all((ROOT / link.partition("#")[0]).exists() for link in ours)
    assert fields["urls"]["Changelog"] == "https://host/o/tengen/blob/v9/CHANGELOG.md"
    assert fields["urls"]["Issues"] == "https://host/o/tengen/issues"


def test_a_build_outside_continuous_integration_has_no_urls(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.delenv("TENGEN_REPOSITORY_URL", raising=False)
    fields = dynamic_metadata({}, {})
    assert fields["urls"] == {}
    assert fields["readme"]["text"] == (ROOT / "README.md").read_text(encoding="utf-8")


def test_other_links_stay_as_they_are() -> None:
    text = "[a](https://x.org/b) [c](#part) [d](mailto:e@f.org)"
    assert absolute_links(text, "https://host/t", "main") == text


def test_wheels_serve_every_python_that_is_declared() -> None:
    built = {re.sub(r"cp3(\d+)-\*", r"3.\1", tag) for tag in PYPROJECT["tool"]["cibuildwheel"]["build"]}
    stable = PYPROJECT["tool"]["scikit-build"]["wheel"]["py-api"]
    declared = re.findall(r"Python :: (3\.\d+)", "\n".join(PYPROJECT["project"]["classifiers"]))
    first_stable = int(stable.removeprefix("cp3"))
    assert f"3.{first_stable}" in built
    assert {each for each in declared if int(each[2:]) < first_stable} <= built


def test_the_commands_that_try_a_wheel_run() -> None:
    for command in PYPROJECT["tool"]["cibuildwheel"]["test-command"]:
        name, *arguments = command.split()
        assert name == "tengen"
        run(*arguments)


def test_only_the_publishing_job_may_identify_itself_to_the_index() -> None:
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "wheels.yml").read_text(encoding="utf-8"))
    assert workflow["permissions"] == {"contents": "read"}
    jobs = workflow["jobs"]
    assert [name for name, job in jobs.items() if "permissions" in job] == ["publish"]
    publish = jobs["publish"]
    assert publish["permissions"] == {"id-token": "write"}
    assert publish["if"] == "startsWith(github.ref, 'refs/tags/v')"
    assert set(publish["needs"]) == set(jobs) - {"publish"}


def test_the_container_runs_a_command_that_exists() -> None:
    command = json.loads(re.findall(r"^CMD (.+)$", CONTAINERFILE, re.MULTILINE)[0])
    assert command[:2] == ["tengen", "serve"]
    known = run("serve", "--help").output
    options = [word for word in command if word.startswith("--")]
    assert options
    for option in options:
        assert option in known, f"tengen serve has no option {option}"
    port = command[command.index("--port") + 1]
    assert re.findall(r"^EXPOSE (\d+)$", CONTAINERFILE, re.MULTILINE) == [port]
    assert f"-p 127.0.0.1:{port}:{port}" in CONTAINERFILE
    folder = command[command.index("--data") + 1]
    assert re.findall(r"^VOLUME (\S+)$", CONTAINERFILE, re.MULTILINE) == [folder]


def test_the_container_copies_and_installs_files_that_exist() -> None:
    for name in re.findall(r"requirements/\S+\.txt", CONTAINERFILE):
        assert (ROOT / name).is_file()
    ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8").split()
    needed = {"pyproject.toml", "CMakeLists.txt", "README.md", "LICENSE", "cpp", "src", "data", "models", "tools"}
    assert not needed & {line.strip("/") for line in ignored}
