"""The shipped opening files."""

from __future__ import annotations

import re

import pytest

from tengen.arena.openings import canonical_key, load_openings
from tengen.core.contracts import Ruleset
from tengen.records import iterate
from tests.conftest import ROOT

FOLDER = ROOT / "data" / "openings"
SHIPPED = {
    "freestyle8": ("8x8:5:freestyle", 200),
    "freestyle9": ("9x9:5:freestyle", 200),
    "freestyle15": ("15x15:5:freestyle", 80),
    "freestyle20": ("20x20:5:freestyle", 50),
    "standard15": ("15x15:5:standard", 50),
    "renju15": ("15x15:5:renju", 50),
}


def test_every_file_is_known() -> None:
    assert {path.stem for path in FOLDER.glob("*.txt")} == set(SHIPPED)


@pytest.mark.parametrize(("name", "rules", "count"), [(name, *rest) for name, rest in SHIPPED.items()])
def test_openings_are_playable_and_distinct(name: str, rules: str, count: int) -> None:
    path = FOLDER / f"{name}.txt"
    ruleset = Ruleset.parse(rules)
    openings = load_openings(path, ruleset)
    assert len(openings) >= count
    assert len({canonical_key(ruleset, opening) for opening in openings}) == len(openings)
    assert {record.ruleset for record in iterate(path)} == {ruleset}
    commands = re.findall(rf"# tengen openings generate --rules {rules} --count (\d+) --seed", path.read_text())
    assert sum(map(int, commands)) == len(openings)
