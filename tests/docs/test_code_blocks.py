"""Every fenced block of the documentation is checked: Python by doctest, commands and files here.

A command is parsed as the command line would parse it, and its agents, rulesets, presets, settings and positions are
looked up. Commands that are quick and change nothing are run. The blocks of docs/reference/api.md are run by
tests/web/test_api_page.py.
"""

from __future__ import annotations

import importlib.util
import re
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import typer
from typer.testing import CliRunner

from tengen.agents.registry import parse_agent
from tengen.arena.tournament_file import load as load_tournament
from tengen.cli import app
from tengen.core.contracts import Ruleset
from tengen.core.geometry import parse_points
from tengen.learning.algorithms.registry import find_algorithm
from tengen.learning.config import load_config
from tengen.records import GameRecord, save
from tests.conftest import ROOT

PAGES = sorted(
    path
    for pattern in ("*.md", "docs/**/*.md", "papers/**/*.md", "models/README.md", "data/**/*.md")
    for path in ROOT.glob(pattern)
)
FENCE = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
LANGUAGES = {"python", "sh", "toml", "json", "http", "ws", "text", "nginx"}
PROGRAM: Any = typer.main.get_command(app)
AGENTS = ("agent", "a", "b", "black", "white")
OTHER_PROGRAMS = {"pip", "tensorboard", "ray", "kubectl", "sha256sum", "."}
"""Programs that are not part of the project."""
QUICK = {"explain", "solve-threats", "agents", "show", "convert"}
"""Commands that are run if the files they name exist in `sample_folder`."""
MOVES = "".join(f"{column}{row}" for row in (1, 3, 5, 7) for column in "acegikmo")  # no two stones touch


class Block(NamedTuple):
    page: str
    language: str
    text: str


def blocks() -> list[Block]:
    return [
        Block(path.relative_to(ROOT).as_posix(), *match.groups())
        for path in PAGES
        for match in FENCE.finditer(path.read_text(encoding="utf-8"))
    ]


def commands() -> Iterator[tuple[str, list[str]]]:
    for block in blocks():
        if block.language == "sh":
            for line in block.text.replace("\\\n", " ").splitlines():
                words = shlex.split(line, comments=True)
                if words:
                    yield block.page, words


COMMANDS = list(commands())


def test_every_block_names_a_language_that_is_checked() -> None:
    assert [block for block in blocks() if block.language not in LANGUAGES] == []
    assert len(COMMANDS) > 100


@pytest.mark.parametrize(
    "block",
    [block for block in blocks() if block.language == "python" and ">>>" not in block.text],
    ids=lambda block: block.page,
)
def test_python_blocks_that_are_no_doctests_run(block: Block) -> None:
    exec(compile(block.text, block.page, "exec"), {"__name__": "example"})


@pytest.mark.parametrize(("page", "words"), COMMANDS, ids=[" ".join([page, *words]) for page, words in COMMANDS])
def test_commands_exist_with_these_arguments(page: str, words: list[str], sample_folder: Path) -> None:
    program, *arguments = words
    if program == "tengen":
        check_tengen(arguments)
    elif program == "make":
        rules = (ROOT / "Makefile").read_text(encoding="utf-8")
        for target in arguments:
            assert "=" in target or re.search(rf"^{re.escape(target)}:", rules, re.MULTILINE), target
    elif program == "python":
        assert arguments[0] == "-m"
        assert importlib.util.find_spec(arguments[1]) is not None
    elif "/" in program:
        assert (ROOT / program).is_file()
    else:
        assert program in OTHER_PROGRAMS


def check_tengen(arguments: list[str]) -> None:
    """Parse a command and look up what its arguments name."""
    command, words, path = PROGRAM, list(arguments), []
    if not words or words[0].startswith("-"):
        return
    while hasattr(command, "commands"):
        is_named = command.default_command is None or (words and words[0] in command.commands)
        path.append(words.pop(0) if is_named else command.default_command)
        assert path[-1] in command.commands, f"no command {' '.join(path)}"
        command = command.commands[path[-1]]
    with command.make_context("tengen", words) as context:
        given: dict[str, Any] = dict(context.params)
    for name in AGENTS:
        if isinstance(given.get(name), str) and given[name] not in ("A", "B"):
            parse_agent(given[name])
    if given.get("rules") is not None:
        Ruleset.parse(given["rules"])
    if path == ["train"] and given["algorithm"] is not None:
        check_training(given)
    if path[0] in QUICK and all(is_there(word) for word in words):
        result = CliRunner().invoke(app, arguments, catch_exceptions=False)
        assert result.exit_code == 0 or (path == ["solve-threats"] and ".sgf" in arguments[1]), result.output


def check_training(given: dict[str, Any]) -> None:
    config = find_algorithm(given["algorithm"]).Config
    settings = given["settings"] or []
    if given["preset"] is not None or any(setting.startswith("ruleset=") for setting in settings):
        load_config(config, given["algorithm"], given["preset"], settings)
    else:
        assert given["resume"] or given["keys"], "a new run needs a preset or a ruleset"


def is_there(word: str) -> bool:
    """Whether an argument is no file, or one that exists or will be written."""
    name = word.partition("@")[0]
    return name != "POSITION" and (Path(name).suffix == "" or Path(name).exists() or name in ("game.sgf", "games.pos"))


@pytest.fixture
def sample_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Change to a folder with the game files that the pages name; anything else there does not exist."""
    monkeypatch.chdir(tmp_path)
    game = GameRecord.from_points(Ruleset(15, 15), parse_points(MOVES))
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    for name in ("game.psq", "games.sgf", "game.sgf"):
        save(tmp_path / name, [game])
    return tmp_path


@pytest.mark.parametrize(
    "block",
    [block for block in blocks() if block.language == "toml" and "players" in block.text],
    ids=lambda block: block.page,
)
def test_tournament_files_are_valid(block: Block, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    text = block.text.replace('"data/openings', f'"{ROOT.as_posix()}/data/openings')
    (tmp_path / "file.toml").write_text(text, encoding="utf-8")
    tournament, _ = load_tournament(tmp_path / "file.toml")
    for player in tournament.players:
        parse_agent(player.agent)
