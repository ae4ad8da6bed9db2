"""The player `fudan`: its names and forms, the rulesets it plays, whole games, limits and stopping."""

from __future__ import annotations

import pytest

from tengen.agents.registry import check_plays, make_agent, parse_agent
from tengen.core.contracts import Agent, Colour, Limits, Outcome, Ruleset
from tengen.core.position import Position
from tengen.errors import AgentError, AgentNameError, InputError
from tengen.search.fudan import Checkmate, Evaluation, FudanConfig

START = Position.from_moves(Ruleset.parse("15x15"), "h8i9g9i7")
BOTH_FORMS = pytest.mark.parametrize("name", ["fudan", "fudan:form=authors"])


def play_game(black: Agent, white: Agent, ruleset: Ruleset, limits: Limits) -> Outcome:
    position = Position.start(ruleset)
    for agent in (black, white):
        agent.new_game(ruleset, 1)
    while not position.is_over:
        agent = black if position.to_move is Colour.BLACK else white
        position = position.play(agent.choose(position, limits).move)
    return position.outcome


def test_forms_and_parameters() -> None:
    assert parse_agent("fudan")[1].config() == FudanConfig()
    authors = FudanConfig(
        all_keys=False, peer_update=False, hash_index=False, checkmate=Checkmate.AUTHORS, prefers_fast_wins=False
    )
    assert parse_agent("fudan:form=authors")[1].config() == authors
    _, chosen = parse_agent("fudan:blocked-update=0,peer-update=0,hash=0,checkmate=off,evaluation=table")
    assert chosen.config() == FudanConfig(
        blocked_update=False,
        peer_update=False,
        hash_index=False,
        checkmate=Checkmate.OFF,
        evaluation=Evaluation.TABLE,
    )
    assert parse_agent("fudan:form=authors,hash=1,checkmate=both-sides")[1].config() == FudanConfig(
        all_keys=False, peer_update=False, prefers_fast_wins=False
    )


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("fudan:depth=41", "depth=41 is outside the range 0–40"),
        ("fudan:depth=-1", "depth=-1 is outside the range 0–40"),
        ("fudan:form=final", "form='final' is not one of described, authors"),
        ("fudan:checkmate=1", "checkmate='1' is not one of off, both-sides, authors"),
        ("fudan:evaluation=pela", "evaluation='pela' is not one of dictionary, table"),
    ],
)
def test_refusals(name: str, message: str) -> None:
    with pytest.raises(AgentNameError, match=message):
        make_agent(name)


@BOTH_FORMS
@pytest.mark.parametrize(
    "rules", ["5x5:5:freestyle", "9x5:5:standard", "12x12:5:standard", "15x15:5:freestyle", "22x22:5:freestyle"]
)
def test_whole_games_with_legal_moves(name: str, rules: str) -> None:
    ruleset = Ruleset.parse(rules)
    agent = make_agent(name)
    assert agent.supports(ruleset)
    for black, white in ((agent, make_agent("rule-based")), (make_agent("rule-based"), agent)):
        assert play_game(black, white, ruleset, Limits(depth=2, nodes=2000)) is not Outcome.ONGOING


@pytest.mark.parametrize("rules", ["15x15:5:renju", "15x15:5:caro", "6x6:4", "15x4:5", "8x8:6"])
def test_other_rulesets_are_refused_with_what_is_played(rules: str) -> None:
    agent = make_agent("fudan")
    ruleset = Ruleset.parse(rules)
    assert not agent.supports(ruleset)
    with pytest.raises(
        AgentError, match=rf"fudan plays only five in a row \(freestyle or standard\) .*, not {ruleset}"
    ):
        check_plays(agent, ruleset)


@BOTH_FORMS
def test_a_move_is_searched_to_depth_seven(name: str) -> None:
    assert make_agent(name).choose(START, Limits()).depth == 7
    assert make_agent(name).choose(START, Limits(depth=3)).depth == 3
    assert make_agent("fudan:depth=2").choose(START, Limits(depth=9)).depth == 2
    assert make_agent("fudan:depth=0").choose(START, Limits(depth=9)).depth == 9


def test_limits_end_a_search_without_a_depth() -> None:
    agent = make_agent("fudan:depth=0")
    assert agent.choose(START, Limits(nodes=3000)).nodes == 3000
    assert START.is_legal(agent.choose(START, Limits(time_ms=20)).move)


@BOTH_FORMS
def test_the_answer_depends_on_the_position_alone(name: str) -> None:
    agent = make_agent(name)
    positions = [START, START.play("h7"), START.play("j8")]
    first = [agent.choose(position, Limits(depth=5)) for position in positions]
    agent.new_game(START.ruleset, 7)
    assert [agent.choose(position, Limits(depth=5)) for position in positions[::-1]][::-1] == first


def test_analysis_deepens() -> None:
    snapshots = list(make_agent("fudan").analyse(START, Limits(), lines=3))
    assert [snapshot.depth for snapshot in snapshots] == [*range(1, 8), 7]
    assert all(len(snapshot.lines) == 3 for snapshot in snapshots)


@BOTH_FORMS
def test_a_stopped_search_has_a_move(name: str) -> None:
    agent = make_agent(name.replace("fudan:", "fudan:depth=0,") if ":" in name else "fudan:depth=0")
    endless = Limits(nodes=10**15)
    before = agent.start(START, endless)
    before.stop()
    assert START.is_legal(before.result().move)
    during = agent.start(START, endless)
    for snapshot in during:
        if snapshot.depth == 2:
            during.stop()
    assert 2 <= during.result().depth < 40


def test_finished_games_are_refused() -> None:
    over = Position.from_moves(START.ruleset, "h8a1h9a2h10a3h11a4h12")
    with pytest.raises(InputError, match="the game is over"):
        make_agent("fudan").choose(over, Limits())


@BOTH_FORMS
@pytest.mark.parametrize("opponent", ["naive:level=3", "chains", "rule-based"])
def test_the_simple_players_are_beaten(name: str, opponent: str) -> None:
    ruleset = Ruleset.parse("20x20")
    limits = Limits(depth=4)
    assert play_game(make_agent(name), make_agent(opponent), ruleset, limits) is Outcome.BLACK
    assert play_game(make_agent(opponent), make_agent(name), ruleset, limits) is Outcome.WHITE
