"""The help of every command: groups, placeholders, examples, and lines that fit the terminal."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from tengen.cli import app
from tengen.cli.command import Group
from tengen.learning.algorithms.registry import algorithm_names, find_algorithm
from tengen.learning.config import describe_keys, preset_names

ROOT: Any = typer.main.get_command(app)


def leaves(command: Any = ROOT, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield the path and the command of everything that can be run."""
    if not hasattr(command, "commands"):
        yield path, command
        return
    for name, inner in command.commands.items():
        yield from leaves(inner, (*path, name))


COMMANDS = list(leaves())
PATHS = [" ".join(path) for path, _ in COMMANDS]


def help_of(*path: str) -> str:
    result = CliRunner().invoke(app, [*path, "--help"], env={"COLUMNS": "80"})
    assert result.exit_code == 0, result.output
    return result.output


def parse(line: str) -> None:
    """Parse an example as the command line would, without running it."""
    program, *words = shlex.split(line, comments=True)
    assert program == "tengen"
    command, context = ROOT, None
    while hasattr(command, "commands"):
        is_named = words and words[0] in command.commands
        command = command.commands[words.pop(0) if is_named else command.default_command]
    with command.make_context("tengen", words, parent=context):
        pass


@pytest.mark.parametrize("path", PATHS)
def test_every_command_has_examples_that_parse(path: str) -> None:
    _, _, examples = help_of(*path.split()).partition("\nExamples:\n")
    lines = examples.strip().splitlines()
    assert 2 <= len(lines) <= 4
    for line in lines:
        parse(line)
    assert any(shlex.split(line)[1 : 1 + len(path.split())] == path.split() for line in lines)


@pytest.mark.parametrize("path", ["", *PATHS])
def test_help_has_one_style_of_placeholders_and_fits_80_columns(path: str) -> None:
    output = help_of(*path.split())
    assert not re.search(r"<\w", output), "capital letters stand for values"
    assert "list[" not in output
    assert [line for line in output.splitlines() if len(line) > 80] == []


def test_the_help_lists_every_command_in_its_group() -> None:
    output = help_of()
    headings = re.findall(r"^(\w+):$", output, re.MULTILINE)
    assert headings == [*(group.value for group in Group), "Options", "Examples"]
    for name in ROOT.commands:
        assert re.search(rf"^  {name} ", output, re.MULTILINE)


def test_flags_have_no_placeholder_and_choices_are_listed() -> None:
    output = help_of("play")
    assert re.search(r"^  --side black\|white\|random\s", output, re.MULTILINE)
    assert re.search(r"^  --open/--no-open {2,}Open a browser\. \[default: --open\]", help_of("serve"), re.MULTILINE)
    assert re.search(r"^  --seed N ", output, re.MULTILINE)
    assert output.startswith("Usage: tengen play [OPTIONS] [AGENT]\n") or "play [OPTIONS] [AGENT]\n" in output
    assert "PATH…\n" in help_of("check")


def test_rules_mean_the_same_in_every_command() -> None:
    for path, command in COMMANDS:
        for option in command.params:
            if "--rules" in option.opts:
                assert option.metavar == "RULES", path


@pytest.mark.parametrize("algorithm", algorithm_names())
def test_every_setting_has_a_sentence(algorithm: str) -> None:
    keys = describe_keys(find_algorithm(algorithm).Config, algorithm)
    assert {key.key for key in keys} >= {"ruleset", "iterations", "strength.games"}
    assert [key.key for key in keys if not key.help.endswith((".", "."))] == []


def test_keys_are_listed_with_the_values_of_a_preset() -> None:
    result = CliRunner().invoke(app, ["train", "alphazero", "--keys", "--preset", "6x6x4"], env={"COLUMNS": "80"})
    assert result.exit_code == 0, result.output
    assert 'ruleset (ruleset) = "6x6:4:freestyle"\n' in result.output
    assert "net.channels (integer) = 32\n" in result.output
    assert "strength.anchor (text) = " in result.output
    default = CliRunner().invoke(app, ["train", "alphazero", "--keys"])
    assert "ruleset (ruleset) = required\n" in default.output


@pytest.mark.parametrize("algorithm", algorithm_names())
def test_listed_keys_are_those_that_set_accepts(algorithm: str) -> None:
    from tengen.learning.config import load_config

    config = find_algorithm(algorithm).Config
    preset = preset_names(algorithm)[0]
    settings = [f"{key.key}={key.default}" for key in describe_keys(config, algorithm, preset) if key.default != "none"]
    assert load_config(config, algorithm, preset, settings) == load_config(config, algorithm, preset)
