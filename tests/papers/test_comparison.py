"""The comparison of learners in its shortest form."""

from __future__ import annotations

from pathlib import Path

import pytest
from rich.console import Console

from tengen.errors import InputError
from tengen.papers.comparison.experiments import Race
from tengen.papers.experiment import Lab
from tengen.papers.paper import load_paper

SHORT = (
    "iterations=1",
    "strength.opponents=['random', 'rule-based']",
    "strength.anchor=rule-based",
    "strength.games=2",
    "strength.ladder_games=2",
    "net.channels=8",
    "net.blocks=1",
    "play.games=20",
)


def test_learners_are_trained_rated_and_drawn(tmp_path: Path) -> None:
    race = Race(name="r", board="6x6x4", algorithms=("ppo", "dqn"), cpu_minutes=0.2, points=1, seeds=2, settings=SHORT)
    lab = Lab(out=tmp_path, console=Console(quiet=True))
    found = race.run(lab)
    for algorithm in ("ppo", "dqn"):
        figure = found.figures[f"r/{algorithm}/elo"]
        assert figure.count == 2
        assert [len(curve[-1]) for curve in found.data["curves"][algorithm]] == [3, 3]
    race.draw(lab, found.data)
    assert (tmp_path / "plots" / "r.svg").stat().st_size > 1000
    metrics = tmp_path / "runs" / "r-ppo" / "1" / "metrics.jsonl"
    before = metrics.read_bytes()
    assert race.run(lab).figures == found.figures
    assert metrics.read_bytes() == before, "everything is trained already"


def test_every_board_has_every_learner() -> None:
    races = load_paper("comparison").experiments
    assert {race.board for race in races if isinstance(race, Race)} == {"6x6x4", "8x8", "9x9"}
    for race in races:
        assert isinstance(race, Race)
        assert set(race.algorithms) == {"alphazero", "ppo", "dqn", "pg", "adp"}


def test_nonsense_is_refused() -> None:
    with pytest.raises(InputError, match="cpu_minutes must be finite and above 0"):
        Race(name="r", board="9x9", algorithms=("ppo",), cpu_minutes=-1)
    with pytest.raises(InputError, match="ppo has no preset 7x7"):
        Race(name="r", board="7x7", algorithms=("ppo",))
