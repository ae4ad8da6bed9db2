"""The measurement of the fudan report's techniques in its shortest form."""

from __future__ import annotations

from pathlib import Path

import pytest
from rich.console import Console

from tengen.agents.registry import parse_agent
from tengen.arena.match import TimeControl
from tengen.core.contracts import Ruleset
from tengen.errors import InputError
from tengen.papers.experiment import Lab
from tengen.papers.fudan.experiments import VARIANTS, RatingList, Techniques, agent_text


def test_speeds_and_matches_are_measured_and_games_are_kept(tmp_path: Path) -> None:
    techniques = Techniques(name="t", variants=("hash", "authors"), games=2, time_ms=2, positions=2)
    lab = Lab(out=tmp_path, console=Console(quiet=True))
    found = techniques.run(lab)
    assert list(found.data["speeds"]) == ["whole", "hash", "authors"]
    assert {row["positions"] for row in found.data["speeds"].values()} == {2 * 12}
    assert all(sum(counts) == 2 for counts in found.data["matches"].values())
    assert (found.figures["t/whole/nodes per second"].value or 0) > 0
    assert techniques.run(lab).data["matches"] == found.data["matches"], "the games are not played again"


def test_unknown_variants_are_refused() -> None:
    with pytest.raises(InputError, match="known variants: whole, blocked-update"):
        Techniques(name="t", variants=("hashing",))


def test_each_variant_differs_from_the_whole_player_in_its_own_way() -> None:
    configs = {parse_agent(agent_text(name, depth=0))[1].config() for name in VARIANTS}
    assert len(configs) == len(VARIANTS)


PLAYERS = {"better": "rule-based", "worse": "random"}
NINE = Ruleset(9, 9)


def test_everybody_is_rated_relative_to_the_anchors(tmp_path: Path) -> None:
    ratings = RatingList(
        name="r",
        rules=NINE,
        players=PLAYERS,
        anchors={"worse": 100.0},
        rounds=2,
        limits=TimeControl(time_ms=20),
        openings="freestyle9.txt",
    )
    found = ratings.run(Lab(out=tmp_path, console=Console(quiet=True)))
    worse, better = found.figures["r/worse"], found.figures["r/better"]
    assert (worse.value, worse.low, worse.high, worse.note) == (100, 100, 100, "anchor")
    assert better.value is not None
    assert better.low is not None
    assert better.low < better.value
    assert better.value > 200
    assert better.count == 4
    assert (tmp_path / "games" / "r.db").exists(), "for `tengen ratings`"


def test_anchors_must_be_players() -> None:
    with pytest.raises(InputError, match="anchors must name some of the players: better, worse"):
        RatingList(name="r", rules=NINE, players=PLAYERS, anchors={"pisq": 1.0}, openings="freestyle9.txt")
