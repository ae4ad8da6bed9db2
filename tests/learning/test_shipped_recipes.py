"""`models/make.sh` trains every shipped model with the configuration on its card."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from dataclasses import MISSING, fields, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tengen.core.shipped import shipped_folder
from tengen.core.tables import to_table
from tengen.learning.algorithms.registry import find_algorithm
from tengen.learning.config import load_config

# Stands for `tengen`: writes its arguments to a file and creates the files that the script reads.
RECORDER = """#!/bin/sh
for word; do printf '%s\\n' "$word" >> "$RECORD"; done
echo >> "$RECORD"
case "$1 $2" in
  "data generate") mkdir -p "$(dirname "$3")"; : > "$3" ;;
  "data build") mkdir -p "$3" ;;
esac
"""


def commands_of_make(name: str, folder: Path) -> list[list[str]]:
    """Return the arguments of all `tengen` commands that the script runs to train a model."""
    recorder, record = folder / "recorder", folder / "record"
    recorder.write_text(RECORDER, encoding="utf-8", newline="\n")
    recorder.chmod(0o755)
    script = shipped_folder("models") / "make.sh"
    variables = {"TENGEN": recorder.as_posix(), "RECORD": record.as_posix(), "ONLY": "train"}
    subprocess.run(["sh", script.as_posix(), name], cwd=folder, env={**os.environ, **variables}, check=True)
    return [part.split("\n") for part in record.read_text(encoding="utf-8").strip().split("\n\n")]


def flat(table: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Return a nested table with dotted keys."""
    found: dict[str, Any] = {}
    for key, value in table.items():
        found |= flat(value, f"{prefix}{key}.") if isinstance(value, Mapping) else {prefix + key: value}
    return found


def defaults_of(config: Any) -> dict[str, Any]:
    """Return the defaults of a configuration with dotted keys; settings that must be given keep their values."""
    given = {
        one.name: one.default_factory() if one.default_factory is not MISSING else one.default
        for one in fields(config)
        if one.default_factory is not MISSING or one.default not in (MISSING, "")
    }
    return flat(to_table(replace(config, **given)))


@pytest.mark.parametrize("name", sorted(path.parent.name for path in shipped_folder("models").glob("*/card.md")))
def test_the_script_uses_the_configuration_on_the_card(name: str, tmp_path: Path) -> None:
    train = [command for command in commands_of_make(name, tmp_path) if command[0] == "train"][-1]
    given = {"--set": [""], "--minutes": [""], **{one: [] for one in train if one.startswith("--")}}
    for key, value in pairwise(train):
        if key.startswith("--"):
            given[key].append(value)
    settings = [*given["--set"], *(f"minutes={minutes}" for minutes in given["--minutes"])]
    kind = find_algorithm(train[1]).Config
    config = load_config(kind, train[1], given["--preset"][0], [one for one in settings if one and one != "minutes="])
    now = flat(to_table(config))
    card = (shipped_folder("models") / name / "card.md").read_text(encoding="utf-8")
    shown = flat(tomllib.loads(card.partition("```toml\n")[2].partition("```")[0]))
    before = defaults_of(config)
    # The first network is in another folder, and measurements do not change what is learned.
    for key in now.keys() | shown.keys():
        if key == "init_from" or key.startswith("strength."):
            continue
        # Settings that are newer than the card have their defaults.
        assert now[key] == shown.get(key, before.get(key)), key


def test_the_recorded_command_can_be_pasted(tmp_path: Path) -> None:
    commands_of_make("pg-9x9-paper", tmp_path)
    last = (tmp_path / "runs/models/pg-9x9-paper.command").read_text(encoding="utf-8").splitlines()[-1]
    code = "import sys; print(sys.argv[1:])"
    words = subprocess.run(
        ["sh", "-c", last.replace("tengen", f'"{Path(sys.executable).as_posix()}" -c "{code}"', 1)],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert "play.opponents=['naive:level=3']" in words
