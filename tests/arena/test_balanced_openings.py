"""Selecting balanced openings, and checking the openings of a file."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import islice
from pathlib import Path

import pytest

from tengen.agents.registry import make_agent
from tengen.arena.balanced_openings import (
    BalanceSettings,
    Candidate,
    candidates,
    find_balanced,
    format_openings,
    judge_opening,
)
from tengen.arena.opening_check import check_openings, report_lines
from tengen.arena.openings import canonical_key, load_openings
from tengen.arena.trial_games import TrialResult, TrialSettings, play_trials
from tengen.core.contracts import Agent, Colour, Decision, Limits, Proof, Ruleset
from tengen.core.geometry import parse_points
from tengen.core.position import Position
from tengen.errors import AgentError, InputError, RecordError

NINE = Ruleset.parse("9x9")
SEVEN = Ruleset.parse("7x7:5:freestyle")
FAST = BalanceSettings(nodes=300, max_value=0.3, trials=TrialSettings(games=4, nodes=20))
WON = parse_points("e5a1f5a9g5i1")  # black is to move and has an open three


def test_balanced_openings_are_found_again_and_read_back(tmp_path: Path) -> None:
    found = find_balanced(NINE, 4, 3, FAST, max_tries=400)
    assert found == find_balanced(NINE, 4, 3, FAST, max_tries=400)
    for opening in found:
        assert abs(opening.value_to_move) <= 0.3
        assert opening.black_share is not None
        assert 0.3 <= opening.black_share <= 0.7
        assert 3 <= len(opening.stones) <= 6
    assert len({canonical_key(NINE, opening.stones) for opening in found}) == 4
    path = tmp_path / "balanced.txt"
    path.write_text(format_openings(NINE, found, 3, FAST))
    assert load_openings(path, NINE) == [opening.stones for opening in found]
    command = "--rules 9x9:5:freestyle --count 4 --seed 3 --agent alphabeta --nodes 300 --max-value 0.3"
    assert command in path.read_text()
    assert "--games 4 --game-nodes 20 --min-share 0.3" in path.read_text()


def test_openings_that_cannot_be_found() -> None:
    with pytest.raises(AgentError, match="only 0 of 1"):
        find_balanced(NINE, 1, 0, BalanceSettings(nodes=100, max_value=1e-9), max_tries=3)
    # Up to symmetry, 4x4 has three points.
    single = BalanceSettings(nodes=10, max_value=1, min_stones=1, max_stones=1, trials=TrialSettings(games=0))
    with pytest.raises(AgentError, match=r"only 3 of 1000000 openings .*: the last 50 candidates were all rejected"):
        find_balanced(Ruleset(4, 4, 4), 1_000_000, 0, single, max_tries=50)
    with pytest.raises(AgentError, match="cannot evaluate"):
        find_balanced(NINE, 1, 0, BalanceSettings(agent="random"), max_tries=3)
    with pytest.raises(AgentError, match="does not play"):
        find_balanced(Ruleset.parse("7x7:6:freestyle"), 1, 0, BalanceSettings(), max_tries=3)


def test_conditions_have_bounds() -> None:
    with pytest.raises(InputError, match="max_value"):
        BalanceSettings(max_value=2)
    with pytest.raises(InputError, match="min_share"):
        BalanceSettings(min_share=0.6)
    with pytest.raises(InputError, match="must be even"):
        TrialSettings(games=3)


def test_short_searches_grow_tenfold_and_become_stricter() -> None:
    def found(nodes: int) -> list[tuple[int, float]]:
        return [(limit, round(bound, 6)) for limit, bound in BalanceSettings(nodes=nodes, max_value=0.3).short_searches]

    assert found(300) == [(30, 0.3)]
    assert found(20_000) == [(2_000, 0.3)]
    assert found(5_000_000) == [(5_000, 0.5), (50_000, 0.4), (500_000, 0.3)]


class ScriptedAgent(Agent):
    """Values every position at the first value whose search is at least as long as its limit, and loses with black."""

    name = "scripted"

    def __init__(self, values: dict[int, float]) -> None:
        self.values = values
        self.searches: list[int] = []
        self.games = 0

    def new_game(self, ruleset: Ruleset, seed: int = 0) -> None:
        self.games += 1

    def choose(self, position: Position, limits: Limits) -> Decision:
        assert limits.nodes is not None
        if limits.nodes in self.values:
            self.searches.append(limits.nodes)
            return Decision(move=position.legal_points()[0], value_to_move=self.values[limits.nodes])
        black = position.to_move is Colour.BLACK
        proof = Proof("loss" if black else "win", 1)
        return Decision(move=position.legal_points()[0], value_to_move=-1.0 if black else 1.0, proof=proof)


@pytest.mark.parametrize(
    ("values", "searches"),
    [
        ({5_000: 0.51, 50_000: 0.0, 500_000: 0.0}, [5_000]),
        ({5_000: -0.49, 50_000: -0.41, 500_000: 0.0}, [5_000, 50_000]),
        ({5_000: 0.49, 50_000: 0.39, 500_000: 0.31}, [5_000, 50_000, 500_000]),
    ],
)
def test_cheap_searches_reject_first(values: dict[int, float], searches: list[int]) -> None:
    agent = ScriptedAgent(values)
    settings = BalanceSettings(nodes=5_000_000, max_value=0.3)
    judgement = judge_opening(agent, NINE, Candidate(0, parse_points("e5e6d4f4")), settings)
    assert (judgement.is_balanced, judgement.black_share, agent.searches) == (False, None, searches)
    assert judgement.value_to_move == values[searches[-1]]


def test_trial_games_stop_once_a_share_is_very_unlikely() -> None:
    """Nine losses in a row: 0.7 to the ninth is 4 %. Without this rule, 15 games decide."""
    agent = ScriptedAgent({5_000: 0.0, 50_000: 0.0, 500_000: 0.0, 5_000_000: 0.0})
    settings = BalanceSettings(nodes=5_000_000, max_value=0.3, trials=TrialSettings(games=20, nodes=100))
    judgement = judge_opening(agent, NINE, Candidate(0, parse_points("e5e6d4f4")), settings)
    assert (judgement.is_balanced, judgement.black_share) == (False, 0.0)
    assert agent.searches == [5_000, 50_000, 500_000]
    assert agent.games == 3 + 2 * 9  # a game of the arena tells both seats


def test_candidates_are_distinct_and_seeded() -> None:
    def draw(seed: int) -> list[Candidate | None]:
        return list(islice(candidates(SEVEN, seed, FAST), 200))

    drawn = [one for one in draw(1) if one is not None]
    assert draw(1) == draw(1) != draw(2)
    assert [one.number for one in drawn] == list(range(len(drawn)))
    assert len({canonical_key(SEVEN, one.stones) for one in drawn}) == len(drawn)


def test_lopsided_openings_are_rejected() -> None:
    fair = replace(FAST, max_value=1.0, min_share=0.5)
    found = find_balanced(NINE, 3, 0, fair, max_tries=400)
    assert {opening.black_share for opening in found} == {0.5}
    assert find_balanced(NINE, 3, 0, replace(fair, min_share=0.0), max_tries=400) != found


def test_an_interrupted_selection_resumes(tmp_path: Path) -> None:
    whole = find_balanced(NINE, 4, 3, FAST, max_tries=400)
    journal = tmp_path / "journal.jsonl"
    calls: list[int] = []

    class StopHereError(Exception):
        pass

    def stop(judged: int, found: int) -> None:
        calls.append(judged)
        if found == 2:
            raise StopHereError

    with pytest.raises(StopHereError):
        find_balanced(NINE, 4, 3, FAST, max_tries=400, journal=journal, on_progress=stop)
    with journal.open("ab") as file:
        file.write(b'{"number": 99, "sto')  # the process was killed while it wrote
    before = len(calls)
    assert len(journal.read_bytes().splitlines()) == before + 2  # the settings, the judgements and the partial line
    calls.clear()
    found = find_balanced(
        NINE, 4, 3, FAST, max_tries=400, journal=journal, on_progress=lambda judged, _: calls.append(judged)
    )
    assert found == whole
    assert calls[0] == before + 1
    lines = [json.loads(line) for line in journal.read_bytes().splitlines()]
    assert [line["number"] for line in lines[1:]] == list(range(len(lines) - 1))
    calls.clear()
    again = find_balanced(
        NINE, 4, 3, FAST, max_tries=400, journal=journal, on_progress=lambda judged, _: calls.append(judged)
    )
    assert again == whole
    assert calls == []


def test_the_number_of_workers_does_not_change_the_openings() -> None:
    assert find_balanced(NINE, 3, 1, FAST, max_tries=400, workers=2) == find_balanced(NINE, 3, 1, FAST, max_tries=400)


def test_a_journal_of_another_selection_is_rejected(tmp_path: Path) -> None:
    journal = tmp_path / "journal.jsonl"
    find_balanced(NINE, 1, 3, FAST, max_tries=400, journal=journal)
    with pytest.raises(InputError, match="written with seed 3, not 4"):
        find_balanced(NINE, 1, 4, FAST, max_tries=400, journal=journal)
    with pytest.raises(InputError, match="written with nodes 300, not 200"):
        find_balanced(NINE, 1, 3, replace(FAST, nodes=200), max_tries=400, journal=journal)
    lines = journal.read_bytes().splitlines(keepends=True)
    for damage in (b"{}\n", b"[]\n", b"\xff\n", lines[1].replace(b'"value_to_move":', b'"value_to_move":9')):
        journal.write_bytes(lines[0] + damage)
        with pytest.raises(RecordError, match="line 2 is not a valid opening judgement"):
            find_balanced(NINE, 1, 3, FAST, max_tries=400, journal=journal)
    moved = json.loads(lines[1]) | {"stones": "a1b2c3"}
    journal.write_bytes(lines[0] + json.dumps(moved).encode() + b"\n")
    with pytest.raises(RecordError, match="candidate 0 is a1b2c3 in the file, but this version generates"):
        find_balanced(NINE, 1, 3, FAST, max_tries=400, journal=journal)


def test_split_pairs() -> None:
    result = TrialResult((1, 1, 1, 0, 0.5, 0.5, 0, 0, 1))
    assert (result.pairs, result.split_pairs) == (4, 3)
    assert TrialResult((1, 0.5, 0)).black_share == 0.5


def test_trial_games_differ_but_are_reproducible() -> None:
    opening = Position.from_moves(NINE, parse_points("e5e6d4f4"))
    with make_agent("alphabeta:hash-mb=2") as agent:

        def play(seed: str) -> tuple[float, ...]:
            return [result.points for result in play_trials(agent, opening, TrialSettings(games=8, nodes=60), seed)][-1]

        assert play("a") == play("a")
        assert len({play(seed) for seed in "abcd"}) > 1


def test_the_check_names_decided_and_lopsided_openings() -> None:
    openings = [WON, find_balanced(NINE, 1, 3, FAST, max_tries=400)[0].stones]
    trials = TrialSettings(games=4, nodes=200)
    report = check_openings(NINE, openings, agent="alphabeta:hash-mb=2", nodes=2_000, trials=trials)
    won, balanced = report.openings
    assert (won.black_value, won.is_decided, won.points, won.is_lopsided) == (1.0, True, (1.0, 1.0, 1.0, 1.0), True)
    assert won.trials.split_pairs == 2
    assert not balanced.is_decided
    assert (report.decided, report.far_from_equal) == (1, 1)
    lines = report_lines(report)
    assert any(
        "yes" in line and "4 of 4" in line and "2 of 2" in line and line.endswith("e5a1f5a9g5i1") for line in lines
    )
    assert "openings with a proved result: 1" in lines
    both = check_openings(NINE, openings, agent="alphabeta:hash-mb=2", nodes=2_000, trials=trials, workers=2)
    assert both == report
    assert report.to_json()["openings"][0]["stones"] == "e5a1f5a9g5i1"


def test_the_check_works_without_trial_games() -> None:
    report = check_openings(NINE, [WON], agent="alphabeta:hash-mb=2", nodes=500, trials=TrialSettings(games=0))
    assert (report.split_share, report.black_share, report.lopsided) == (None, None, 0)
    assert "split" not in report_lines(report)[-1]
