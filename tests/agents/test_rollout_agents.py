"""The players `uct` and `hmcts`: names, presets, limits, seeds, and strength against simple players."""

from __future__ import annotations

import threading
from collections.abc import Generator, Mapping

import pytest

from tengen.agents.registry import make_agent, parse_agent
from tengen.core.contracts import Agent, Analysis, Colour, ExcludesMoves, Limits, Outcome, Ruleset
from tengen.core.geometry import Point, parse_points
from tengen.core.position import Position
from tengen.errors import AgentNameError, InputError
from tengen.search.rollout import HmctsConfig, PlayoutPolicy, UctConfig

RULESETS = (
    "9x9:5:freestyle",
    "9x9:5:standard",
    "9x9:5:renju",
    "9x9:5:caro",
    "9x9:5:caro-exact",
    "3x3:3:freestyle",
    "6x6:4:freestyle",
    "22x22:5:freestyle",
    "8x8:6:caro",
    "22x3:3:caro-exact",
)
START = Position.from_moves(Ruleset.parse("15x15"), "h8i9g9i7")
BOTH = pytest.mark.parametrize("name", ["uct", "hmcts"])


def play_game(black: Agent, white: Agent, ruleset: Ruleset, seed: int) -> Outcome:
    position = Position.start(ruleset)
    for agent in (black, white):
        agent.new_game(ruleset, seed)
    while not position.is_over:
        agent = black if position.to_move is Colour.BLACK else white
        position = position.play(agent.choose(position, Limits()).move)
    return position.outcome


def wins(name: str, opponent: str, rules: str, games: int) -> int:
    """Return how many of `games` games `name` wins with alternating colours."""
    ruleset = Ruleset.parse(rules)
    player, other = make_agent(name), make_agent(opponent)
    count = 0
    for game in range(games):
        if game % 2 == 0:
            count += play_game(player, other, ruleset, game) is Outcome.BLACK
        else:
            count += play_game(other, player, ruleset, game) is Outcome.WHITE
    return count


# ---- Names and presets -----------------------------------------------------------------------------------------------


def test_parameters_reach_the_search() -> None:
    _, chosen = parse_agent("uct:c=0.7,policy=random,radius=3,expand-after=9,solve=no,memory-mb=8,playouts=50")
    assert chosen.config() == UctConfig(
        exploration=0.7, policy=PlayoutPolicy.RANDOM, radius=3, expand_after=9, solve=False, memory_mb=8
    )
    _, chosen = parse_agent("hmcts:playouts=7,policy=random,radius=2")
    assert chosen.config() == HmctsConfig(playouts_a_candidate=7, policy=PlayoutPolicy.RANDOM, radius=2)


def test_presets() -> None:
    assert parse_agent("uct:preset=ucb1")[1].config().exploration == pytest.approx(2**0.5)
    paper = parse_agent("uct:preset=fudan")[1].config()
    assert (paper.exploration, paper.radius, paper.solve, paper.expand_after) == (pytest.approx(2**0.5), 1, False, 1)
    assert make_agent("uct:preset=fudan").choose(START, Limits()).nodes == 10
    assert make_agent("uct:preset=fudan,playouts=30").choose(START, Limits()).nodes == 30
    paper_hmcts = make_agent("hmcts:preset=fudan").choose(START, Limits())
    assert paper_hmcts.policy is not None
    assert paper_hmcts.nodes == 10 * len(paper_hmcts.policy)


@BOTH
@pytest.mark.parametrize(
    ("moves", "expected"),
    [
        ("h8a1i8a2j8a3k8a4", "g8"),  # an own five before blocking one
        ("h8a1i8a2j8a3o15a4", "a5"),  # an enemy's five before an own four
        ("h8a1i8a3j8o1", "g8"),  # an own four
        ("o1h8o4i8a9j8", "g8"),  # an enemy's four
        ("o1h8o4i8a9j8f8a1g8", "k8"),  # one end of the row is blocked
    ],
)
def test_the_authors_rules_come_first(name: str, moves: str, expected: str) -> None:
    position = Position.from_moves(START.ruleset, moves)
    assert str(make_agent(f"{name}:preset=fudan-authors").choose(position, Limits()).move) == expected


def test_without_a_rule_the_authors_programs_play_random_games_or_a_random_neighbour() -> None:
    quiet = Position.from_moves(START.ruleset, "h8j8")
    near = {Point(f"{x}{y}") for x in "ghijk" for y in (7, 8, 9)} - set(quiet.moves)
    searched = make_agent("hmcts:preset=fudan-authors").choose(quiet, Limits())
    assert searched.policy is not None
    assert set(searched.policy) == near
    assert searched.nodes == 10 * len(near)
    assert parse_agent("hmcts:preset=fudan-authors")[1].config().policy is PlayoutPolicy.RANDOM
    chosen = {make_agent(f"uct:preset=fudan-authors,seed={seed}").choose(quiet, Limits()).move for seed in range(60)}
    assert chosen <= near
    assert len(chosen) > len(near) // 2
    for name in ("hmcts", "uct"):
        first = make_agent(f"{name}:preset=fudan-authors").choose(Position.start(START.ruleset), Limits())
        assert str(first.move) == "h8"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("uct:playouts=0", "playouts=0 is outside the range 1–1000000000 in 'uct:playouts=0'"),
        ("uct:seconds=0", "seconds must be finite and above 0, not 0.0"),
        ("uct:seconds=nan", "seconds must be finite and above 0, not nan"),
        ("uct:c=-1", "exploration must be finite and at least 0, not -1.0"),
        ("uct:radius=99", "radius=99 is outside the range 0–22"),
        ("uct:preset=alpha", "preset='alpha' is not one of best, ucb1, fudan, fudan-authors"),
        ("uct:policy=clever", "policy='clever' is not one of heuristic, random"),
        ("hmcts:c=1", r"'hmcts' has no parameter 'c' \(known: preset, playouts"),
        ("hmcts:threads=-1", "threads=-1 is outside the range 0–256"),
    ],
)
def test_refusals(name: str, message: str) -> None:
    with pytest.raises(AgentNameError, match=message):
        make_agent(name)


# ---- Choosing --------------------------------------------------------------------------------------------------------


@BOTH
@pytest.mark.parametrize("rules", RULESETS)
def test_whole_games_with_legal_moves(name: str, rules: str) -> None:
    settings = "playouts=3" if name == "hmcts" else "playouts=60"
    outcome = play_game(make_agent(f"{name}:{settings}"), make_agent("rule-based"), Ruleset.parse(rules), 1)
    assert outcome is not Outcome.ONGOING


@BOTH
def test_a_decision_says_why(name: str) -> None:
    decision = make_agent(name).choose(START, Limits(simulations=500))
    assert decision.nodes == 500
    assert decision.line[0] == decision.move
    assert decision.value_to_move is not None
    assert -1 <= decision.value_to_move <= 1
    assert decision.policy is not None
    assert sum(decision.policy.values()) == pytest.approx(1)
    win = make_agent(name).choose(Position.from_moves(START.ruleset, "h8a1h9a2h10a3h11a4"), Limits())
    assert str(win.proof) == "+M1"
    assert win.move in ("h7", "h12")


@BOTH
def test_limits_of_the_move_and_of_the_agent_both_count(name: str) -> None:
    assert make_agent(name).choose(START, Limits(nodes=30, simulations=40)).nodes == 30
    assert make_agent(f"{name}:playouts=1000000,seconds=0.02").choose(START, Limits()).nodes < 1_000_000
    assert make_agent(f"{name}:playouts=1000000").choose(START, Limits(time_ms=20)).nodes < 1_000_000
    assert make_agent("uct:playouts=30").choose(START, Limits(simulations=20)).nodes == 20
    assert make_agent("uct:playouts=30").choose(START, Limits(simulations=90)).nodes == 30


@BOTH
def test_moves_depend_on_seeds_and_position_alone(name: str) -> None:
    agent = make_agent(f"{name}:playouts=20")
    limits = Limits(simulations=300)

    def policies(seed: int, order: int) -> list[Mapping[Point, float] | None]:
        agent.new_game(START.ruleset, seed)
        positions = [START, START.play("h7"), START.play("j8")][::order]
        return [agent.choose(position, limits).policy for position in positions][::order]

    assert policies(1, 1) == policies(1, -1)
    values = {str(make_agent(f"{name}:playouts=20,seed={s}").choose(START, limits).value_to_move) for s in range(8)}
    assert len(values) > 1


@BOTH
def test_threads_of_parameter_limits_and_host(name: str) -> None:
    limits = Limits(simulations=400)
    for agent in (make_agent(f"{name}:threads=2"), make_agent(name)):
        agent.configure(threads=3, memory_bytes=150 << 20)
        assert agent.choose(START, limits).nodes == 400
    assert make_agent(name).choose(START, Limits(simulations=400, threads=2)).nodes == 400


@BOTH
def test_excluded_moves(name: str) -> None:
    agent = make_agent(name)
    assert isinstance(agent, ExcludesMoves)
    position = Position.from_moves(START.ruleset, "h8a1h9a2h10a3h11a4")
    agent.exclude(frozenset(parse_points("h7")))
    assert agent.choose(position, Limits(simulations=100)).move == "h12"
    agent.exclude(frozenset())
    assert agent.choose(position, Limits(simulations=100)).move in ("h7", "h12")


@BOTH
def test_finished_games_are_refused(name: str) -> None:
    over = Position.from_moves(START.ruleset, "h8a1h9a2h10a3h11a4h12")
    with pytest.raises(InputError, match="the game is over"):
        make_agent(name).choose(over, Limits())
    with pytest.raises(InputError, match="the game is over"):
        list(make_agent(name).analyse(over, Limits()))


# ---- Analysing -------------------------------------------------------------------------------------------------------


@BOTH
def test_analysis_streams(name: str) -> None:
    snapshots = list(make_agent(name).analyse(START, Limits(simulations=3000), lines=4))
    assert len(snapshots) >= 4
    visits = [snapshot.nodes for snapshot in snapshots]
    assert visits == sorted(visits)
    assert visits[-1] == 3000
    for snapshot in snapshots:
        assert len(snapshot.lines) == 4
        assert all(line.line[0] == line.move and line.visits > 0 and line.prior is None for line in snapshot.lines)


@BOTH
def test_stop_ends_an_analysis_and_leaving_it_does_too(name: str) -> None:
    agent = make_agent(name)
    endless = Limits(simulations=10**15)
    search = agent.start(START, endless)
    analysis = iter(search)
    next(analysis)
    search.stop()
    assert 0 < list(analysis)[-1].nodes < 10**15
    left = agent.analyse(START, endless)
    assert isinstance(left, Generator)
    next(left)
    left.close()  # waits for the search
    assert not any(thread.name == "search" for thread in threading.enumerate())
    assert agent.choose(START, Limits(simulations=50)).nodes == 50


@BOTH
def test_stop_ends_a_choice(name: str) -> None:
    search = make_agent(name).start(START, Limits(simulations=10**15))
    stopper = threading.Timer(0.1, search.stop)
    stopper.start()
    assert 0 < search.result().nodes < 10**15
    stopper.join()


def test_an_analysis_of_a_won_position_ends_with_the_proof() -> None:
    won = Position.from_moves(START.ruleset, "h8a1h9a2h10a3h11a4")
    last: Analysis = list(make_agent("uct").analyse(won, Limits(simulations=10**15), lines=2))[-1]
    assert str(last.lines[0].proof) == "+M1"


# ---- Strength: the games are reproducible ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "opponent", "rules", "at_least"),
    [
        ("uct:playouts=2000", "naive:level=1", "9x9:5:freestyle", 16),
        ("uct:playouts=2000,preset=ucb1", "naive:level=1", "9x9:5:freestyle", 16),
        ("uct:playouts=2000", "naive:level=3", "9x9:5:freestyle", 16),
        ("uct:playouts=2000", "naive:level=2", "9x9:5:renju", 16),
        ("uct:playouts=500,policy=random", "random", "15x15:5:freestyle", 19),
        ("hmcts:playouts=20", "naive:level=1", "9x9:5:freestyle", 16),
        ("hmcts:preset=fudan", "uct:preset=fudan", "20x20:5:freestyle", 16),
    ],
)
def test_twenty_games(name: str, opponent: str, rules: str, at_least: int) -> None:
    assert wins(name, opponent, rules, 20) >= at_least
