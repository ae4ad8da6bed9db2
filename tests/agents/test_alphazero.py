"""The players `alphazero` and `policy`: networks by name, folder and run, parameters, limits, analyses."""

from __future__ import annotations

import os
import threading
from collections.abc import Generator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tengen.agents.registry import make_agent, parse_agent
from tengen.core.contracts import Analysis, Colour, ExcludesMoves, Limits, Outcome, Ruleset
from tengen.core.geometry import Point
from tengen.core.planes import encode
from tengen.core.position import Position
from tengen.core.stop_signal import StopSignal
from tengen.core.symmetry import symmetries, transform_point, transform_position
from tengen.errors import AgentError, AgentNameError, InputError, RulesetError
from tengen.nets.architectures import NetConfig, NetKind, build_net
from tengen.nets.export import export_onnx, quantise
from tengen.nets.models import load_evaluator
from tengen.search.alphabeta import AlphaBeta
from tengen.search.puct_config import PRESETS, Noise, Symmetry
from tests.nets.positions import random_planes

NINE = Ruleset.parse("9x9")
START = Position.from_moves(NINE, "e5e6d6f4")


def write_model(folder: Path, seed: int = 0, ruleset: Ruleset = NINE) -> Path:
    net = build_net(NetConfig(kind=NetKind.PLAIN), ruleset, seed=seed)
    model = export_onnx(net, ruleset)
    folder.mkdir(exist_ok=True)
    (folder / "model.onnx").write_bytes(model)
    (folder / "model-int8.onnx").write_bytes(quantise(model, random_planes(ruleset, 64, net.config.planes)))
    return folder


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_model(tmp_path_factory.mktemp("model"))


# ---- Names -----------------------------------------------------------------------------------------------------------


def test_parameters_reach_the_search(model: Path) -> None:
    _, chosen = parse_agent(
        f"alphazero:model={model},simulations=70,c=2.5,vcf=7,vct=8,symmetry=average,batch=3,reuse=no"
    )
    config = chosen.config()
    assert (config.simulations, config.c_puct, config.leaves) == (70, 2.5, 3)
    assert (config.vcf_nodes_leaf, config.vct_nodes) == (7, 8)
    assert config.symmetry is Symmetry.AVERAGE
    assert not config.reuse_tree
    paper = parse_agent("alphazero:model=uniform,preset=zero9")[1].config()
    assert (paper.c_puct, paper.solve, paper.noise) == (4.0, False, Noise.NONE)
    assert PRESETS["zero9"].noise is Noise.EVERY
    gumbel = parse_agent("alphazero:model=uniform,gumbel=yes")[1].config()
    assert (gumbel.gumbel, gumbel.gumbel_scale, gumbel.reuse_tree) == (True, 0.0, False)


def test_the_search_discounts_as_the_network_has_learned_to(tmp_path: Path) -> None:
    # Black threatens on both sides, so white is lost; the value of the position shows the discount.
    lost = Position.from_moves(NINE, "e5a1f5a3g5c1d5")
    ruleset = lost.ruleset
    net = build_net(NetConfig(kind=NetKind.PLAIN), ruleset)

    def value(discount: float | None, parameters: str = "") -> float | None:
        (tmp_path / "model.onnx").write_bytes(export_onnx(net, ruleset, discount=discount))
        with make_agent(f"alphazero:model={tmp_path},simulations=20{parameters}") as agent:
            decision = agent.choose(lost, Limits())
        assert decision.proof is not None
        assert str(decision.proof) == "-M2"
        return decision.value_to_move

    best = PRESETS["best"].discount
    assert value(None) == pytest.approx(-(best**2))
    assert value(0.9) == pytest.approx(-(0.9**2))
    assert value(0.9, ",discount=0.8") == pytest.approx(-(0.8**2))


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("alphazero:discount=0.3", "discount=0.3 is outside the range 0.5–1"),
        ("alphazero:simulations=0", "simulations must be at least 1, not 0"),
        ("alphazero:seconds=-1", "seconds must be finite and above 0, not -1.0"),
        ("alphazero:temperature=-1", "temperature=-1.0 is outside the range 0–100"),
        ("alphazero:model=a,run=b", "model=a and run=b both select a network"),
        ("alphazero:preset=zero9,vcf=9", "vcf=9 requires tactics, which preset zero9 does not enable"),
        ("alphazero:preset=zero9,vct=9", "vct=9 requires tactics, which preset zero9 does not enable"),
        ("alphazero:batch=0", "leaves=0"),
        ("alphazero:resist=-1", "resist=-1 is outside the range 0–"),
        ("alphazero:threads=9999", "threads=9999 is outside the range 0–256"),
        ("alphazero:depth=3", "has no parameter 'depth'"),
        ("alphazero:precision=int4", "precision='int4' is not one of fp32, int8"),
        ("policy:simulations=3", "has no parameter 'simulations'"),
        ("policy:temperature=nan", "temperature=nan"),
    ],
)
def test_refusals(name: str, message: str) -> None:
    with pytest.raises(AgentNameError, match=message):
        make_agent(name)


@pytest.mark.parametrize("kind", ["alphazero", "policy"])
def test_a_missing_network_is_refused_immediately(kind: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"'none-such' is neither a folder, nor an .onnx file, nor a shipped model"):
        make_agent(f"{kind}:model=none-such")
    with pytest.raises(InputError, match=r"has no model\.onnx; a training run writes it after its first iteration"):
        make_agent(f"{kind}:run={tmp_path}")
    (write_model(tmp_path) / "model-int8.onnx").unlink()
    with pytest.raises(InputError, match=r"has no model-int8\.onnx: training runs write only fp32 networks"):
        make_agent(f"{kind}:run={tmp_path},precision=int8")


@pytest.mark.parametrize("kind", ["alphazero", "policy"])
def test_a_network_for_another_ruleset_is_refused(kind: str, model: Path) -> None:
    agent = make_agent(f"{kind}:model={model}")
    assert agent.supports(NINE)
    assert not agent.supports(Ruleset())
    agent.check_supports(NINE)
    with pytest.raises(AgentError, match=rf"^{kind}:model=.* does not play 15x15:5:freestyle: .* plays 9x9"):
        agent.check_supports(Ruleset())
    with pytest.raises(RulesetError, match="plays 9x9:5:freestyle, not 9x9:5:renju"):
        agent.choose(Position.start(Ruleset.parse("9x9:5:renju")), Limits(simulations=1))
    with pytest.raises(RulesetError, match=r"no network is shipped for 7x5:3:freestyle \(shipped: 15x15, .*9x9"):
        make_agent(kind).choose(Position.start(Ruleset.parse("7x5:3")), Limits(simulations=1))


@pytest.mark.parametrize("kind", ["alphazero", "policy"])
def test_a_board_without_a_network_of_its_own_has_the_nearest_that_plays_any_size(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes = {
        "6x6": "6x6",
        "9x9": "9x9",
        "15x15": "15x15",
        "10x10x4": "10x10:4",
        "cnn-10x10": "10x10",
        "zero10": "10x10",
        "renju-15x15": "15x15:5:renju",
        "caro-exact-6x6": "6x6:5:caro-exact",
    }
    for number, (name, rules) in enumerate(sizes.items()):
        ruleset = Ruleset.parse(rules)
        net = build_net(NetConfig(planes="board", channels=4, blocks=1), ruleset, seed=number)
        (tmp_path / name).mkdir()
        (tmp_path / name / "model.onnx").write_bytes(export_onnx(net, ruleset))
    write_model(tmp_path / "11x11", ruleset=Ruleset(11, 11))
    monkeypatch.setattr("tengen.nets.models.shipped_folder", lambda _: tmp_path)
    agent = make_agent(kind)
    for rules, nearest in (
        ("10x10", "9x9"),
        ("7x5", "6x6"),
        ("20x20", "15x15"),
        ("11x11", "11x11"),
        ("9x9:4", "10x10x4"),
        ("15x15:5:renju", "renju-15x15"),
        ("9x9:5:renju", "renju-15x15"),
        ("6x6:5:caro-exact", "caro-exact-6x6"),
    ):
        position = Position.from_moves(Ruleset.parse(rules), "c3c4")
        named = make_agent(f"{kind}:model={nearest}").choose(position, Limits(simulations=16))
        assert agent.choose(position, Limits(simulations=16)).policy == named.policy, rules
    assert not agent.supports(Ruleset.parse("10x10:5:standard"))
    assert not agent.supports(Ruleset.parse("10x10:3"))


def test_a_run_is_followed_from_game_to_game(tmp_path: Path) -> None:
    run = write_model(tmp_path / "run", seed=1)
    agent = make_agent(f"policy:run={run}")
    before = agent.choose(START, Limits()).policy
    write_model(run, seed=2)
    os.utime(run / "model.onnx", ns=(0, 10**18))
    assert agent.choose(START, Limits()).policy == before
    agent.new_game(NINE)
    assert agent.choose(START, Limits()).policy != before


# ---- alphazero -------------------------------------------------------------------------------------------------------


def test_a_decision_says_why(model: Path) -> None:
    decision = make_agent(f"alphazero:model={model}").choose(START, Limits(simulations=200))
    assert decision.nodes == 200
    assert decision.line[0] == decision.move
    assert decision.value_to_move is not None
    assert -1 <= decision.value_to_move <= 1
    assert decision.policy is not None
    assert sum(decision.policy.values()) == pytest.approx(1, abs=1e-4)
    win = make_agent(f"alphazero:model={model}").choose(Position.from_moves(NINE, "e5a1e6a2e7a3e8a4"), Limits())
    assert str(win.proof) == "+M1"


@pytest.mark.parametrize("settings", ["precision=int8", "gumbel=yes", "preset=zero9", "symmetry=average,batch=4"])
def test_every_kind_of_search_moves(model: Path, settings: str) -> None:
    decision = make_agent(f"alphazero:model={model},{settings},simulations=40").choose(START, Limits())
    assert START.is_legal(decision.move)
    assert decision.nodes == 40


@pytest.mark.parametrize(
    "rules", ["9x9:5:renju", "15x15:5:freestyle", "3x3:3:freestyle", "7x5:4:caro", "8x8:6:standard"]
)
def test_whole_games_without_a_network(rules: str) -> None:
    ruleset = Ruleset.parse(rules)
    player, other = make_agent("alphazero:model=uniform,simulations=60"), make_agent("rule-based")
    position = Position.start(ruleset)
    while not position.is_over:
        agent = player if position.to_move is Colour.BLACK else other
        position = position.play(agent.choose(position, Limits()).move)
    assert position.outcome is not Outcome.ONGOING


def test_limits_of_the_move_and_of_the_agent_both_count(model: Path) -> None:
    assert make_agent("alphazero:model=uniform").choose(START, Limits(nodes=30, simulations=40)).nodes == 30
    assert make_agent("alphazero:model=uniform,simulations=30").choose(START, Limits(simulations=90)).nodes == 30
    assert make_agent("alphazero:model=uniform").choose(START, Limits()).nodes == 500
    assert make_agent("alphazero:model=uniform,gumbel=yes").choose(START, Limits(simulations=1000)).nodes == 1000
    assert make_agent("alphazero:model=uniform,gumbel=yes").choose(START, Limits()).nodes == 500
    timed = make_agent(f"alphazero:model={model},seconds=0.03").choose(START, Limits(simulations=10**8))
    assert timed.nodes < 10**5
    agent = make_agent("alphazero:model=uniform")
    agent.configure(threads=2, memory_bytes=300 << 20)
    assert agent.choose(START, Limits(simulations=100)).nodes == 100


def test_the_same_calls_give_the_same_moves(model: Path) -> None:
    def policies(seed: int) -> list[object]:
        agent = make_agent(f"alphazero:model={model},simulations=60,temperature=1")
        agent.new_game(NINE, seed)
        return [agent.choose(position, Limits()) for position in (START, START.play("a1").play("b2"), START)]

    assert policies(1) == policies(1)
    assert policies(1) != policies(2)


def test_excluded_moves() -> None:
    agent = make_agent("alphazero:model=uniform")
    assert isinstance(agent, ExcludesMoves)
    position = Position.from_moves(NINE, "e5a1e6a2e7a3e8a4")
    agent.exclude(frozenset({Point("e4")}))
    assert agent.choose(position, Limits(simulations=50)).move == "e9"
    agent.exclude(frozenset())
    assert agent.choose(position, Limits(simulations=50)).move in ("e4", "e9")


def test_analysis_streams_policy_visits_values_and_lines(model: Path) -> None:
    snapshots = list(make_agent(f"alphazero:model={model}").analyse(START, Limits(simulations=600), lines=4))
    assert len(snapshots) >= 3
    assert snapshots[-1].nodes == 600
    for snapshot in snapshots:
        assert len(snapshot.lines) == 4
        assert snapshot.policy is not None
        assert all(line.line[0] == line.move and line.prior is not None for line in snapshot.lines)
    assert all(line.visits > 0 and len(line.line) > 1 for line in snapshots[-1].lines[:2])


# ---- Resistance ------------------------------------------------------------------------------------------------------

SIX = Ruleset.parse("6x6:4")


@pytest.mark.parametrize("moves", ["d4c3c4b4d2d3b3e3f3", "d4c3d3d2b4c4c2c5c6"])
def test_a_lost_game_is_resisted_as_alphabeta_would(moves: str) -> None:
    position = Position.from_moves(SIX, moves)
    with make_agent("alphabeta") as engine:
        longest = engine.choose(position, Limits(nodes=20_000))
    settings = "model=uniform,simulations=3000"
    with make_agent(f"alphazero:{settings}") as stubborn, make_agent(f"alphazero:{settings},resist=0") as other:
        decision, without = stubborn.choose(position, Limits()), other.choose(position, Limits())
    assert decision.move == longest.move != without.move
    assert decision.proof == longest.proof
    assert decision.proof is not None
    assert decision.proof.result == "loss"
    assert decision.value_to_move == without.value_to_move


def test_what_only_looks_lost_is_left_to_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    position = Position.from_moves(SIX, "a1f6a6")
    with make_agent("alphazero:model=6x6x4,simulations=50") as agent:
        expected = agent.choose(position, Limits())
    assert expected.proof is None
    asked: list[Position] = []
    search = AlphaBeta.search

    def listen(engine: AlphaBeta, position: Position, limits: Limits, *, stop: StopSignal) -> Analysis:
        asked.append(position)
        return search(engine, position, replace(limits, nodes=1))  # one node proves nothing

    monkeypatch.setattr(AlphaBeta, "search", listen)
    monkeypatch.setattr("tengen.agents.alphazero._LOST", 1.0)
    with make_agent("alphazero:model=6x6x4,simulations=50") as agent:
        assert agent.choose(position, Limits()) == expected
        assert asked == [position]
    with make_agent("alphazero:model=6x6x4,simulations=50,preset=zero9") as paper:
        paper.choose(position, Limits())
    with make_agent("alphazero:model=6x6x4,simulations=50,temperature=1") as drawn:
        drawn.choose(position, Limits())
    assert asked == [position]


def test_the_second_player_on_6x6_holds_out_against_the_rule_based_one() -> None:
    with make_agent("alphazero:model=6x6x4,simulations=50") as agent, make_agent("rule-based") as simple:
        for seed in range(12):
            agent.new_game(SIX, seed)
            simple.new_game(SIX, seed)
            position = Position.start(SIX)
            while not position.is_over:
                player = simple if position.to_move is Colour.BLACK else agent
                position = position.play(player.choose(position, Limits()).move)
            assert position.outcome is not Outcome.BLACK


def test_stop_ends_an_analysis_and_leaving_it_does_too() -> None:
    agent = make_agent("alphazero:model=uniform")
    endless = Limits(simulations=10**8)
    search = agent.start(START, endless)
    analysis = iter(search)
    next(analysis)
    search.stop()
    assert 0 < list(analysis)[-1].nodes < 10**8
    left = agent.analyse(START, endless)
    assert isinstance(left, Generator)
    next(left)
    left.close()  # waits for the search
    assert not any(thread.name in ("search", "puct") for thread in threading.enumerate())
    assert agent.choose(START, Limits(simulations=50)).nodes == 50


# ---- policy ----------------------------------------------------------------------------------------------------------


def test_policy_plays_what_the_network_likes_best(model: Path) -> None:
    decision = make_agent(f"policy:model={model}").choose(START, Limits())
    log_policy, value = load_evaluator(model).evaluate(encode(START, "own-other-last-colour")[None])
    likely = np.where(START.legal_mask(), log_policy[0], -np.inf)
    assert decision.move == Point.from_index(int(likely.argmax()), 9)
    assert decision.value_to_move == pytest.approx(float(value[0]), abs=1e-5)
    assert decision.policy is not None
    assert sum(decision.policy.values()) == pytest.approx(1)
    assert set(decision.policy) == set(START.legal_points())


def test_policy_averaged_over_symmetries_turns_with_the_board(model: Path) -> None:
    agent = make_agent(f"policy:model={model},average=yes")
    plain = agent.choose(START, Limits()).policy
    assert plain is not None
    for symmetry in symmetries(NINE):
        turned = agent.choose(transform_position(START, symmetry), Limits()).policy
        moved = {transform_point(point, symmetry, NINE): share for point, share in plain.items()}
        assert turned == pytest.approx(moved, rel=1e-4)


def test_policy_draws_at_a_temperature(model: Path) -> None:
    moves = set()
    for seed in range(12):
        agent = make_agent(f"policy:model={model},temperature=1.5,seed={seed}")
        moves.add(agent.choose(START, Limits()).move)
    assert len(moves) > 3
    (snapshot,) = make_agent(f"policy:model={model}").analyse(START, Limits(), lines=5)
    priors = [line.prior for line in snapshot.lines]
    assert len(priors) == 5
    assert priors == sorted(priors, key=lambda prior: -(prior or 0))


@pytest.mark.parametrize("kind", ["alphazero", "policy"])
def test_finished_games_are_refused(kind: str) -> None:
    over = Position.from_moves(NINE, "e5a1e6a2e7a3e8a4e9")
    with pytest.raises(InputError, match="the game is over"):
        make_agent(f"{kind}:model=uniform").choose(over, Limits())


@pytest.mark.parametrize(
    ("limits", "nodes", "time_ms"),
    [
        (Limits(simulations=50), 20_000, (None, None)),
        (Limits(nodes=50), 50, (None, None)),
        (Limits(simulations=50, time_ms=60_000), 20_000, (3000, 60_000)),
        (Limits(simulations=50, time_ms=60_000, clock_ms=100_000), 20_000, (250, 5000)),
        (Limits(simulations=50, clock_ms=60), None, (None, None)),  # 3 ms are not enough for two searches
    ],
)
def test_resistance_keeps_to_the_limits_of_the_move(
    monkeypatch: pytest.MonkeyPatch, limits: Limits, nodes: int | None, time_ms: tuple[int | None, int | None]
) -> None:
    given: list[Limits] = []
    search = AlphaBeta.search

    def listen(engine: AlphaBeta, position: Position, limits: Limits, *, stop: StopSignal) -> Analysis:
        given.append(limits)
        return search(engine, position, replace(limits, nodes=1))

    monkeypatch.setattr(AlphaBeta, "search", listen)
    monkeypatch.setattr("tengen.agents.alphazero._LOST", 1.0)
    with make_agent("alphazero:model=uniform") as agent:
        agent.choose(Position.from_moves(SIX, "a1f6a6"), limits)
    assert [one.nodes for one in given] == ([] if nodes is None else [nodes])
    for one in given:
        least, most = time_ms
        assert (one.time_ms is None) == (least is None)
        assert one.time_ms is None or least is None or most is None or least <= one.time_ms < most


def test_a_stop_during_the_search_leaves_resistance_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tengen.agents.alphazero._LOST", 1.0)
    monkeypatch.setattr(AlphaBeta, "search", lambda *_, **__: pytest.fail("the engine was asked"))
    with make_agent("alphazero:model=uniform") as agent:
        search = agent.start(Position.start(SIX), Limits(simulations=10**9))
        stopper = threading.Timer(0.2, search.stop)
        stopper.start()
        decision = search.result()
        stopper.join()
    assert decision.proof is None
    assert decision.nodes < 10**9
