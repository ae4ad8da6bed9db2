"""The measurement of the fudan report's techniques in its shortest form."""

from __future__ import annotations

from pathlib import Path

import pytest
from rich.console import Console

from tengen.agents.registry import parse_agent
from tengen.errors import InputError
from tengen.papers.experiment import Lab
from tengen.papers.fudan.experiments import VARIANTS, Techniques, agent_text


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
