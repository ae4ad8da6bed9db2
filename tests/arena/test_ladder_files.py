"""The tournaments of data/ladder/ can be played, and their players are connected, so that one scale rates them all."""

from __future__ import annotations

import re

import pytest

from tengen.agents.registry import parse_agent
from tengen.arena.tournament import Tournament
from tengen.arena.tournament_file import load
from tests.conftest import ROOT

FOLDER = ROOT / "data" / "ladder"
PARTS = sorted(path.stem for path in FOLDER.glob("*.toml"))


def tournament(part: str) -> Tournament:
    return load(FOLDER / f"{part}.toml")[0]


@pytest.mark.parametrize("part", PARTS)
def test_players_and_openings_of_a_part_exist(part: str) -> None:
    described = tournament(part)
    for player in described.players:
        parse_agent(player.agent)
    openings = described.openings
    assert all(path.is_file() for path in (*openings.files.values(), *filter(None, [openings.file])))


def test_the_players_of_each_ruleset_are_connected() -> None:
    for ruleset in {rules for part in PARTS for rules in tournament(part).rules}:
        pools = [
            {player.name or player.agent for player in tournament(part).players}
            for part in PARTS
            if ruleset in tournament(part).rules
        ]
        connected = {"rule-based"}
        for _ in pools:
            connected |= {name for pool in pools if pool & connected for name in pool}
        assert connected == set().union(*pools), ruleset


def test_the_script_plays_every_part_and_the_page_counts_their_games() -> None:
    script = (ROOT / "data" / "ladder.sh").read_text(encoding="utf-8")
    page = (ROOT / "docs" / "results" / "ladder.md").read_text(encoding="utf-8")
    (listed,) = re.findall(r"\*:-(.+)\}", script)
    assert sorted(listed.split()) == PARTS
    for part in PARTS:
        described = tournament(part)
        count = len(described.players)
        games = count * (count - 1) * described.rounds * len(described.rules)
        assert re.search(rf"^\| `{part}` \|.*\| {count} \| {games:,} \|$", page, re.MULTILINE), part
