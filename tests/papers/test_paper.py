"""The runner of papers: experiments are loaded, run, resumed, refused and laid next to the paper's numbers."""

from __future__ import annotations

import json
import re
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from tengen.core.contracts import Ruleset
from tengen.core.shipped import shipped_folder
from tengen.errors import AgentError, AgentNameError, InputError
from tengen.papers.experiment import Column, Experiment, Figure, Lab
from tengen.papers.games import Games
from tengen.papers.paper import (
    RESULTS_FILE,
    TABLE_FILE,
    Claim,
    Expected,
    Paper,
    Section,
    format_summary,
    load_paper,
    publish,
    read_results,
    run_paper,
    shown_command,
    summary_page,
)
from tengen.papers.titles import paper_names
from tengen.papers.training import Training

TINY = ("ruleset=3x3:3", "iterations=2", "updates=2", "play.games=10", "strength.every=0", "net.channels=8",
        "play.opponents=['random']")  # fmt: skip


def training(name: str = "small", *settings: str, **others: Any) -> Training:
    return Training(name=name, algorithm="pg", preset="pg9-level-0", settings=(*TINY, *settings), **others)


def games(**others: Any) -> Games:
    players = {"a": "naive:level=0", "b": "random"}
    return Games(name="figure", rules=Ruleset.parse("5x5:4"), players=players, rounds=4, **others)


def paper(*experiments: Experiment) -> Paper:
    claims = (
        Claim(figure="figure/a/b/won", what="a as black", paper=0.5, unit="share"),
        Claim(figure="small/games", what="games", paper=100, unit="count"),
        Claim(figure="missing", what="something else", said="proposed"),
    )
    return Paper("test", "A test", experiments, Expected(sections=(Section(title="Table 1", claims=claims),)))


def lab(folder: Path, **others: Any) -> Lab:
    return Lab(out=folder, console=Console(quiet=True), **others)


# -- figures ----------------------------------------------------------------------------------------------------------


def test_a_share_has_the_wilson_interval() -> None:
    # Newcombe 1998, table I: 81 of 263 and 0 of 20.
    assert Figure.share(81, 263) == Figure(0.308, 0.2553, 0.3662, 263)
    assert Figure.share(0, 20) == Figure(0.0, 0.0, 0.1611, 20)


def test_several_seeds_have_a_median_and_a_range() -> None:
    assert Figure.of_seeds([3, 1, 8]) == Figure(3, 1, 8, 3)
    assert Figure.of_seeds([5, None, 2, None, 9]) == Figure(9, 2, 9, 5, "3 of 5 runs")
    assert Figure.of_seeds([5, None, None]).value is None
    assert Figure.of_seeds([None, None]) == Figure(None, count=2, note="0 of 2 runs")


def test_figures_survive_json() -> None:
    for figure in (Figure(0.0, 0.0, 0.2, 5), Figure(None, count=3, note="0 of 3 runs"), Figure(1.5)):
        assert Figure.from_json(json.loads(json.dumps(figure.to_json()))) == figure


# -- the papers themselves --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", paper_names())
def test_papers_load_and_every_claim_has_its_experiment(name: str) -> None:
    full, short = load_paper(name), load_paper(name, quick=True)
    assert {one.name for one in short.experiments} <= {one.name for one in full.experiments}
    prefixes = {one.figure or one.name for one in full.experiments}
    for claim in full.expected.claims():
        assert claim.figure.partition("/")[0] in prefixes, claim.figure
        assert claim.unit in ("", "share", "count", "seconds")


def test_an_unknown_paper_is_refused() -> None:
    with pytest.raises(InputError, match=r"unknown paper 'zero' \(known: .*pg9"):
        load_paper("zero")


# -- running ----------------------------------------------------------------------------------------------------------


def test_games_of_all_pairs_are_counted_and_saved(tmp_path: Path) -> None:
    results = run_paper(paper(games(plays_self=True, pictures=1)), lab(tmp_path))
    figures = {name: found[Column.AUTHORS] for name, found in results.figures().items()}
    for black, white in ("ab", "ba", "aa", "bb"):
        won, lost = (figures[f"figure/{black}/{white}/{name}"] for name in ("won", "lost"))
        assert won.count == lost.count == 4
    values = {name: figure.value or 0.0 for name, figure in figures.items()}
    assert values["figure/a/b/score"] == -values["figure/b/a/score"]
    assert values["figure/a/b/score"] == pytest.approx(
        values["figure/a/b/won"] - values["figure/a/b/lost"] + values["figure/b/a/lost"] - values["figure/b/a/won"]
    )
    assert len(list(tmp_path.glob("games/*/games.sgf"))) == 3
    assert len(list(tmp_path.glob("games/*/game-*.svg"))) == 3


def test_a_stopped_paper_is_resumed_without_repeating_anything(tmp_path: Path) -> None:
    both = paper(training(seeds=2, final=("running_reward",), curve="running_reward"), games())
    run_paper(both, lab(tmp_path), only=("small",))
    first = read_results(tmp_path / RESULTS_FILE)
    assert list(first.experiments) == ["small"]
    results = run_paper(both, lab(tmp_path))
    assert list(results.experiments) == ["small", "figure"]
    assert results.experiments["small"] == first.experiments["small"]
    assert (tmp_path / "plots" / "small.svg").exists()


def test_results_of_other_settings_are_refused_before_anything_runs(tmp_path: Path) -> None:
    run_paper(paper(training()), lab(tmp_path))
    with pytest.raises(InputError, match="contains results of small with other settings: choose another folder"):
        run_paper(paper(games(), training("small", "iterations=3")), lab(tmp_path))
    assert not (tmp_path / "games").exists()
    with pytest.raises(InputError, match="contains the results of a complete run"):
        run_paper(paper(training()), lab(tmp_path), quick=True)
    with pytest.raises(InputError, match="a run without --retrain"):
        run_paper(paper(training()), lab(tmp_path, trains_shipped=True))
    with pytest.raises(InputError, match="contains the results of 'test'"):
        run_paper(replace(paper(training()), name="other"), lab(tmp_path))
    with pytest.raises(InputError, match=r"unknown experiment 'smal'.*'small'"):
        run_paper(paper(training()), lab(tmp_path / "new"), only=("smal",))


def test_a_training_starts_from_the_run_with_the_same_seed(tmp_path: Path) -> None:
    run_paper(paper(training(seeds=2), training("next", seeds=2, after="small")), lab(tmp_path))
    for seed in (1, 2):
        config = (tmp_path / "runs" / "next" / str(seed) / "config.toml").read_text(encoding="utf-8")
        assert f'init_from = "{tmp_path}/runs/small/{seed}"' in config


def test_shipped_networks_stand_for_trainings_unless_everything_is_retrained(tmp_path: Path) -> None:
    one, shipped = training(shipped="pg-9x9-paper"), {"small": "pg-9x9-paper"}
    run_paper(paper(one), lab(tmp_path / "a", shipped=shipped))
    assert not (tmp_path / "a" / "runs").exists()
    assert lab(tmp_path / "a", shipped=shipped).player("pg:{small}") == "pg:model=pg-9x9-paper"
    retrained = lab(tmp_path / "b", shipped=shipped, trains_shipped=True)
    with pytest.raises(InputError, match=r"the network of 'small' \(seed 1\) has not been trained yet"):
        retrained.player("pg:{small}")
    run_paper(paper(one), retrained)
    assert retrained.player("pg:{small}") == f'pg:run="{tmp_path}/b/runs/small/1"'


def test_engines_take_part_where_the_paper_has_some(tmp_path: Path) -> None:
    with pytest.raises(AgentError, match="no-such-program"):
        run_paper(paper(games(takes_engines=True)), lab(tmp_path, engines={"other": "no-such-program"}))


def test_a_player_of_ours_that_fails_is_an_error_and_not_a_lost_game(tmp_path: Path) -> None:
    # An engine that ends at once, but was not given as an external one.
    players = {"a": "random", "b": f'brain:cmd="{sys.executable} -c pass"'}
    broken = Games(name="figure", rules=Ruleset.parse("15x15"), players=players, rounds=1)
    with pytest.raises(AgentError, match="forfeited a game"):
        run_paper(paper(broken), lab(tmp_path))


def test_nonsense_is_refused() -> None:
    with pytest.raises(InputError, match=r"'running_reward' in reaches does not have the form metric>number"):
        training(reaches=("running_reward",))
    with pytest.raises(InputError, match="rounds must be finite and at least 1"):
        replace(games(), rounds=0)
    with pytest.raises(InputError, match="first_games may be at most rounds=4"):
        games(first_games=5)
    with pytest.raises(InputError, match="seeds must be finite and at least 1"):
        training(seeds=0)


# -- tables -----------------------------------------------------------------------------------------------------------


def test_the_table_has_the_columns_that_were_measured(tmp_path: Path) -> None:
    best = replace(games(), name="best", figure="figure", column=Column.BEST)
    run_paper(paper(training(), games(), best), lab(tmp_path))
    lines = (tmp_path / TABLE_FILE).read_text(encoding="utf-8").splitlines()
    assert lines[:3] == ["### Table 1", "", "| | the paper | as the authors ran it | our best form | difference |"]
    assert lines[4].startswith("| a as black | 50.0 % | ")
    assert lines[5] == "| games | 100 | 10 |  | −90 |"
    assert lines[6] == "| something else | proposed | not run yet |  |  |"
    origins = [line.split(" | ")[0].strip("| ") for line in lines if line.startswith("|")][-3:]
    assert origins == ["small", "figure", "best"]
    assert lines[-1].startswith("| best | 20")


def test_the_table_says_what_is_missing_and_has_the_conditions(tmp_path: Path) -> None:
    both = paper(training(), games())
    section = replace(both.expected.sections[0], note="All games start from the empty board.")
    other = Section(title="Table 2", claims=(Claim(figure="figure/b/a/won", what="b as black", paper=0.5),))
    both = replace(both, expected=Expected(sections=(section, other)))
    run_paper(both, lab(tmp_path), only=("small",))
    text = (tmp_path / TABLE_FILE).read_text(encoding="utf-8")
    assert "### Table 1\n\nAll games start from the empty board.\n\n|" in text
    assert "| a as black | 50.0 % | not run yet |  |\n" in text
    assert "### Table 2\n\n| | the paper | here | difference |\n" in text
    assert text.endswith("\nNot run yet: figure.\n")


def test_the_summary_has_the_headlines_with_our_published_numbers() -> None:
    claim = Claim(figure="f/won", what="black wins", paper=0.5, unit="share", headline=True)
    other = Claim(figure="g/won", what="white wins", headline=False)
    ours = {"f/won": {"described": Figure(0.4, 0.3, 0.5, 100)}}
    expected = Expected(sections=(Section(title="Table 1: games", claims=(claim, other)),), ours=ours)
    lines = format_summary([Paper("test", "A test", (), expected)]).splitlines()
    shown = "| test | Table 1: black wins | 50.0 % | 40.0 % [30.0 %, 50.0 %] | not run yet | `tengen paper test` |"
    assert lines[2:] == [shown]


def test_the_page_of_all_papers_is_that_of_their_published_numbers() -> None:
    page = shipped_folder("docs") / "results" / "papers.md"
    assert page.read_text(encoding="utf-8") == summary_page(), "write it with `tengen paper NAME --publish`"


def test_every_paper_has_headlines() -> None:
    for name in paper_names():
        assert any(claim.headline for claim in load_paper(name).expected.claims()), name


def test_finished_experiments_are_published_one_session_after_the_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package, target, summary = tmp_path / "package", tmp_path / "published", tmp_path / "papers.md"
    (package / "test").mkdir(parents=True)
    (package / "test" / "expected.json").write_text('{"sections": []}', encoding="utf-8")
    for module in ("paper", "titles"):
        monkeypatch.setattr(f"tengen.papers.{module}._PACKAGE", package)
    both = paper(training(seeds=2, curve="running_reward"), games())

    quick = run_paper(both, lab(tmp_path / "quick"), only=("small",), quick=True)
    with pytest.raises(InputError, match="results of a quick run cannot be published"):
        publish(both, quick, tmp_path / "quick", target, summary, lab(tmp_path))
    with pytest.raises(InputError, match="has no finished experiments: run `tengen paper test` first"):
        publish(both, replace(quick, about={"paper": "test"}, experiments={}), tmp_path, target, summary, lab(tmp_path))

    # Two sessions in different folders; the first one has only the training.
    first = run_paper(both, lab(tmp_path / "a"), only=("small",))
    assert publish(both, first, tmp_path / "a", target, summary, lab(tmp_path)) == ["figure"]
    assert (target / "small.svg").exists()
    assert (target / TABLE_FILE).read_text(encoding="utf-8").endswith("Not run yet: figure.\n")
    second = run_paper(both, lab(tmp_path / "b"), only=("figure",))
    second.experiments["figure"]["origin"]["machine"] = "another machine"
    assert publish(both, second, tmp_path / "b", target, summary, lab(tmp_path)) == []
    published = read_results(target / RESULTS_FILE)
    assert published.figures() == first.figures() | second.figures()
    assert published.origin("small")["machine"] == first.origin("small")["machine"]
    text = (target / TABLE_FILE).read_text(encoding="utf-8")
    assert re.search(r"\| small \| 20\d\d-\d\d-\d\d \| `\w+` \| .* \| 1–2 \|", text)
    assert re.search(r"\| figure \| .* \| another machine \| 1 \|", text)
    expected = json.loads((package / "test" / "expected.json").read_text(encoding="utf-8"))
    assert list(expected["ours"]) == ["figure/a/b/won", "small/games"]

    # Results whose settings have changed since are not published, and disappear.
    changed = paper(training(seeds=2, curve="running_reward"), games(seed=2))
    with pytest.raises(InputError, match="contains results of figure with other settings"):
        publish(changed, second, tmp_path / "b", target, summary, lab(tmp_path))
    assert publish(changed, first, tmp_path / "a", target, summary, lab(tmp_path)) == ["figure"]


def test_experiments_that_cannot_run_now_are_refused_by_name(tmp_path: Path) -> None:
    one = paper(games(needs_retraining=True))
    with pytest.raises(InputError, match="figure needs networks trained from scratch: add --retrain"):
        run_paper(one, lab(tmp_path), only=("figure",))
    other = paper(games(needs_shipped=True))
    with pytest.raises(InputError, match="figure needs the shipped networks: omit --retrain"):
        run_paper(other, lab(tmp_path, trains_shipped=True), only=("figure",))


def test_the_first_games_are_also_counted_alone(tmp_path: Path) -> None:
    results = run_paper(paper(games(first_games=2)), lab(tmp_path))
    figures = {name: found[Column.AUTHORS] for name, found in results.figures().items()}
    for black, white in ("ab", "ba"):
        first, all_games = figures[f"figure/{black}/{white}/won, first 2"], figures[f"figure/{black}/{white}/won"]
        assert (first.count, all_games.count) == (2, 4)
        assert (first.value or 0) * 2 <= (all_games.value or 0) * 4


def test_players_of_experiments_are_checked_before_anything_is_trained() -> None:
    with pytest.raises(AgentNameError, match="no parameter 'c-puct'"):
        replace(games(), players={"a": "alphazero:{small},c-puct=5", "b": "random"})


def test_published_commands_name_no_folder_of_a_machine() -> None:
    shown = shown_command(["paper", "zero9", "--out", "/home/ann/out", "--only", "rules", "--out=/tmp/x", "--quick"])
    assert shown == "tengen paper zero9 --only rules --quick"
