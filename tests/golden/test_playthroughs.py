"""The stored games are told as before. After a wanted change: `python -m tests.golden.regenerate`."""

from __future__ import annotations

import pytest

from tengen.core.position import Position
from tests.golden.playthrough import FOLDER, RULESETS, path_of, playthrough


@pytest.mark.parametrize("ruleset", RULESETS)
def test_playthrough(ruleset: str):
    assert playthrough(ruleset) == path_of(ruleset).read_text()


@pytest.mark.parametrize("ruleset", RULESETS)
def test_drawings_are_read_back(ruleset: str):
    for part in path_of(ruleset).read_text().split("# ply ")[1:]:
        drawing = part.split("\n", 1)[1].split("to move:")[0]
        assert str(Position.parse(drawing)) == drawing.rstrip("\n")


def test_no_playthrough_is_left_over():
    assert set(FOLDER.glob("*.txt")) == {path_of(ruleset) for ruleset in RULESETS}
