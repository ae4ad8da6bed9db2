"""The levels for people: every shipped level plays every ruleset."""

from __future__ import annotations

from pathlib import Path

import pytest

from tengen.agents.levels import load_levels, read_levels
from tengen.agents.registry import make_agent
from tengen.core.contracts import Limits, Ruleset
from tengen.core.position import Position
from tengen.errors import InputError


@pytest.mark.parametrize("rules", ["15x15:5:freestyle", "15x15:5:renju", "3x3:3:freestyle", "9x9:6:standard"])
def test_every_level_plays_every_ruleset(rules: str) -> None:
    ruleset = Ruleset.parse(rules)
    for level in load_levels():
        with make_agent(level.agent_for(ruleset)) as agent:
            assert agent.supports(ruleset), level
            assert Position.start(ruleset).is_legal(agent.choose(Position.start(ruleset), Limits(time_ms=20)).move)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("level = [", "levels.toml"),
        ("[[level]]\nlevel = 1", "name is missing"),
        ('[[level]]\nlevel = 2\nname = ""\nagent = "random"\ndescription = ""', "numbered 1, 2, 3"),
        ('[[level]]\nlevel = 1\nname = ""\nagent = "random"\ndescription = ""\nelo = 3', "unknown key"),
    ],
)
def test_a_wrong_table_is_explained(tmp_path: Path, text: str, complaint: str) -> None:
    path = tmp_path / "levels.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=complaint):
        read_levels(path)
