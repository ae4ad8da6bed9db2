"""PUCT on one position: proofs, tree statistics, Gumbel, symmetries, cache, limits, threads."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from tengen import _native
from tengen.core.contracts import Analysis, Limits, Ruleset
from tengen.core.geometry import Point, parse_points
from tengen.core.position import Position
from tengen.core.stop_signal import StopSignal
from tengen.core.symmetry import symmetries, transform_point, transform_position
from tengen.errors import InputError
from tengen.search.evaluation import UniformEvaluator
from tengen.search.puct_config import PRESETS, Noise, PuctConfig, Symmetry
from tengen.search.puct_search import PuctSearch
from tengen.search.threats import Verdict, solve_threats
from tests.search.networks import FixedEvaluator, TabledEvaluator
from tests.search.reference import Reference, is_dead

SOLVE = PuctConfig(solve=True)
TACTICS = PuctConfig(solve=True, tactics=True, fpu_reduction=0.2)
NINE = Position.from_moves(Ruleset(9, 9), "e5e6d6f4")


def run(position: Position, config: PuctConfig, simulations: int, **settings) -> tuple[Analysis, PuctSearch]:
    network = settings.pop("network", UniformEvaluator())
    search = PuctSearch(position.ruleset, network, config)
    threads = settings.pop("threads", 1)
    analysis = search.search(position, Limits(simulations=simulations, threads=threads), lines=500, **settings)
    assert search._native.check() == ""
    return analysis, search


# ---- Proofs ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("config", [SOLVE, TACTICS, replace(SOLVE, leaves=8), replace(TACTICS, c_puct=4.0)])
def test_tic_tac_toe_is_a_draw(config: PuctConfig) -> None:
    analysis, _ = run(Position.start(Ruleset.parse("3x3:3")), config, 300_000)
    assert str(analysis.lines[0].proof) == "=M9"
    assert analysis.nodes < 300_000
    assert all(line.proof is not None and line.proof.result == "draw" for line in analysis.lines)


def perfect_result(position: Position, known: dict[Position, int]) -> int:
    """Return the result for the side to move by exhaustive search."""
    if position not in known:
        if position.is_over:
            known[position] = -1 if position.outcome.winner else 0
        else:
            known[position] = max(-perfect_result(position.play(p), known) for p in position.legal_points())
    return known[position]


def test_every_position_of_tic_tac_toe_is_judged_as_by_exhaustion() -> None:
    known: dict[Position, int] = {}
    perfect_result(Position.start(Ruleset.parse("3x3:3")), known)
    results = {"win": 1, "draw": 0, "loss": -1}
    positions = [position for position in known if not position.is_over and position.stones >= 2]
    for position in positions[::7]:
        for config in (SOLVE, TACTICS):
            analysis, _ = run(position, config, 100_000)
            best = analysis.lines[0]
            if len(analysis.lines) == 1 and best.proof is None:
                continue  # a forced move ends the search early
            assert best.proof is not None
            assert results[best.proof.result] == known[position], position
            assert -perfect_result(position.play(best.move), known) == known[position]


def test_three_in_a_row_on_4x4_is_won() -> None:
    analysis, _ = run(Position.start(Ruleset.parse("4x4:3")), TACTICS, 50_000)
    assert analysis.lines[0].proof is not None
    assert analysis.lines[0].proof.result == "win"
    assert analysis.policy == {analysis.lines[0].move: 1.0}


@pytest.mark.parametrize(
    ("moves", "best", "proof"),
    [
        ("e5a1e6a2e7a3e8a4", {"e4", "e9"}, "+M1"),  # five
        ("e5a1e6a2e7a3i9", {"e4", "e8"}, "+M3"),  # an open four
        ("a1e5a2e6a9e7i9e8", {"e4", "e9"}, "-M2"),  # an open four cannot be stopped
    ],
)
def test_tactics_without_a_network(moves: str, best: set[str], proof: str) -> None:
    position = Position.from_moves(Ruleset(9, 9), moves)
    if position.to_move == "white" and proof == "+M3":
        position = position.play("i1")
    analysis, _ = run(position, TACTICS, 3000)
    assert str(analysis.lines[0].proof) == proof
    assert analysis.lines[0].move in best


def test_a_four_is_answered_where_it_must_be() -> None:
    position = Position.from_moves(Ruleset(9, 9), "e5a9e6a7e7i1e8")
    analysis, _ = run(position, replace(TACTICS, tactics=True), 50)
    assert {line.move for line in analysis.lines} <= {"e4", "e9"}
    closed = Position.from_moves(Ruleset(9, 9), "e5e4e6a7e7i1e8")
    analysis, _ = run(closed, TACTICS, 500)
    assert [line.move for line in analysis.lines] == ["e9"]
    assert analysis.nodes == 16  # the limit for a forced move


def crossing_threes(to_move: str) -> Position:
    """Return two crossing closed threes of black: a four, its answer, then an open four.

    If white is to move, it has one stone less.
    """
    white = ["a5", "f9", "a1", "c1", "g2", "i1"]
    return Position.from_stones(
        Ruleset(9, 9),
        black=["b5", "c5", "d5", "f6", "f7", "f8"],
        white=white if to_move == "black" else white[:-1],
        to_move=to_move,
    )


def test_continuous_fours_are_found_at_the_root_and_at_leaves() -> None:
    position = crossing_threes("black")
    without, _ = run(position, TACTICS, 1)
    found, _ = run(position, replace(TACTICS, vcf_nodes_root=1000), 1)
    assert without.lines[0].proof is None
    assert found.lines[0].proof is not None
    assert found.lines[0].proof.result == "win"
    assert found.nodes == 0
    by_leaf, _ = run(crossing_threes("white"), replace(TACTICS, vcf_nodes_leaf=100), 400)
    lost = [line for line in by_leaf.lines if line.proof is not None and line.proof.result == "loss"]
    assert len(lost) > 30


def test_continuous_fours_are_looked_for_at_the_root_of_a_kept_tree() -> None:
    position = crossing_threes("white")
    search = PuctSearch(position.ruleset, UniformEvaluator(), replace(TACTICS, reuse_tree=True, vcf_nodes_root=1000))
    search.search(position, Limits(simulations=200))
    analysis = search.search(position.play("i1"), Limits(simulations=200))
    assert analysis.nodes == 0
    assert analysis.lines[0].proof is not None
    assert analysis.lines[0].proof.result == "win"


# Black, to move, wins by fours and threes, but not by fours alone.
THREATENED = Position.from_moves(Ruleset(9, 9), "e5d4d5f5e4e6c6f3b7a8d7f4f6e3")
WITH_THREATS = replace(TACTICS, vcf_nodes_leaf=100, vcf_nodes_root=10_000, vct_nodes=2000, vct_visits=16)


@pytest.mark.parametrize("threads", [1, 3])
def test_continuous_threats_are_found_where_visits_gather(threads: int) -> None:
    without, _ = run(THREATENED, replace(WITH_THREATS, vct_nodes=0), 30)
    found, _ = run(THREATENED, WITH_THREATS, 30, threads=threads)
    assert without.lines[0].proof is None
    assert found.lines[0].proof is not None
    assert found.lines[0].proof.result == "win"


def test_moves_that_lose_to_continuous_threats_are_known_once_they_are_visited_enough() -> None:
    position = THREATENED.undo()
    analysis, _ = run(position, WITH_THREATS, 3000)
    known = 0
    for line in analysis.lines:
        lost = line.proof is not None and line.proof.result == "loss"
        if line.visits <= WITH_THREATS.vct_visits and not lost:
            continue
        answer = solve_threats(position.play(line.move), "vct", Limits(nodes=WITH_THREATS.vct_nodes // 10))
        assert lost or answer.verdict is not Verdict.WIN
        known += lost
    assert known > 0


def test_a_win_by_threats_does_not_count_when_its_move_is_excluded() -> None:
    winning = run(THREATENED, WITH_THREATS, 30)[0].lines[0].line[0]
    without, _ = run(THREATENED, WITH_THREATS, 30, excluded=frozenset({winning}))
    assert winning not in {line.move for line in without.lines}
    # No other move is proved to win, so the search does not end early.
    assert without.lines[0].proof is None
    assert without.nodes == 30


def test_boards_on_which_nobody_can_win_are_proved_draws() -> None:
    rng = np.random.default_rng(4)
    dead = 0
    for rules in ("6x6:5", "7x6:5:renju", "8x8:6", "5x5:4:caro"):
        ruleset = Ruleset.parse(rules)
        for _ in range(60):
            position = Position.start(ruleset)
            stones = int(rng.integers(ruleset.area * 2 // 3, ruleset.area))
            while not position.is_over and position.stones < stones:
                points = position.legal_points()
                position = position.play(points[int(rng.integers(len(points)))])
            if position.is_over:
                continue
            analysis, _ = run(position, TACTICS, 1)
            at_sight = analysis.nodes == 0 and str(analysis.lines[0].proof) == f"=M{ruleset.area - position.stones}"
            assert at_sight == is_dead(position), str(position)
            dead += at_sight
    assert dead > 5


def test_proved_values_shrink_with_the_distance() -> None:
    position = Position.from_moves(Ruleset(9, 9), "e5a1e6a2e7a3i9i1")
    analysis, _ = run(position, replace(TACTICS, discount=0.9), 3000)
    assert str(analysis.lines[0].proof) == "+M3"
    assert analysis.lines[0].value_to_move == pytest.approx(0.9**3)


def test_values_of_moves_are_a_ply_further_from_the_end_than_those_of_the_positions_after_them() -> None:
    class Sure(UniformEvaluator):
        def evaluate(self, planes):
            log_policy, value = super().evaluate(planes)
            return log_policy, value + np.float32(0.8)

    analysis, _ = run(NINE, PuctConfig(discount=0.5, fpu_reduction=0.0), 1, network=Sure())
    assert analysis.lines[0].value_to_move == pytest.approx(-0.4)


@pytest.mark.parametrize(
    ("moves", "config", "proof"),
    [
        ("e5a1e6a2e7a3i9i1", replace(TACTICS, vcf_nodes_root=1000), "+M3"),
        ("e5a1f5a3g5c1d5", TACTICS, "-M2"),
        ("e5a1e6a2e7a3i9i1", TACTICS, "+M3"),
        ("e5d4d5f5e4e6c6f3b7a8d7f4f6e3", WITH_THREATS, "+M11"),
        # When the proof is found, its moves and others already have many visits.
        ("e5d4d5f5e4e6c6f3b7a8d7f4f6e3", replace(WITH_THREATS, vct_visits=2000), "+M11"),
    ],
)
def test_proved_lines_go_on_to_the_end(moves: str, config: PuctConfig, proof: str) -> None:
    position = Position.from_moves(Ruleset(9, 9), moves)
    line = run(position, config, 3000)[0].lines[0]
    assert str(line.proof) == proof
    assert line.proof is not None
    assert len(line.line) == line.proof.plies
    for move in line.line:
        position = position.play(move)
    assert position.outcome.winner is not None


def play_out(position: Position, config: PuctConfig, rng: np.random.Generator) -> Position:
    """Play a game to its end: the side to move searches, the other plays at random."""
    searcher = position.to_move
    while not position.is_over:
        points = position.legal_points()
        move = points[int(rng.integers(len(points)))]
        if position.to_move is searcher:
            move = run(position, config, 3000)[0].lines[0].move
        position = position.play(move)
    return position


@pytest.mark.parametrize("rules", ["7x7:5:renju", "7x7:4:caro", "7x7:5:caro-exact", "6x6:3:standard", "5x5:3:caro"])
@pytest.mark.parametrize("vct_nodes", [0, 300])
def test_proved_wins_are_won_under_every_rule(rules: str, vct_nodes: int) -> None:
    ruleset = Ruleset.parse(rules)
    rng = np.random.default_rng(3)
    config = replace(TACTICS, vcf_nodes_leaf=50, vct_nodes=vct_nodes, vct_visits=4)
    proved = 0
    for _ in range(30):
        position = Position.start(ruleset)
        while not position.is_over and position.stones < ruleset.area * 0.6:
            points = position.legal_points()
            position = position.play(points[int(rng.integers(len(points)))])
        if position.is_over:
            continue
        analysis, _ = run(position, config, 300)
        proof = analysis.lines[0].proof
        if proof is None or proof.result != "win":
            continue
        proved += 1
        assert play_out(position, config, rng).outcome.winner is position.to_move
    assert proved > 0


# ---- The tree --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("leaves", [1, 4, 32])
@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("config", [PuctConfig(), PRESETS["best"], replace(PuctConfig(), noise=Noise.EVERY)])
def test_virtual_loss_leaves_nothing_behind(config: PuctConfig, leaves: int, threads: int) -> None:
    """`run` checks that visits and values add up and that no simulation is pending."""
    network = FixedEvaluator("stones")
    analysis, _ = run(NINE, replace(config, leaves=leaves), 700, threads=threads, network=network)
    if analysis.lines[0].proof is None:
        assert sum(line.visits for line in analysis.lines) == analysis.nodes == 700
    assert all(-1 <= line.value_to_move <= 1 for line in analysis.lines)


@pytest.mark.parametrize("c", [0.5, 1.25, 4.0])
@pytest.mark.parametrize(("rules", "opening"), [("9x9", "e5e6d6f4"), ("4x4:3", "")])
def test_the_tree_is_that_of_the_papers_formula(rules: str, opening: str, c: float) -> None:
    position = Position.from_moves(Ruleset.parse(rules), opening)
    simulations = 300
    for seed in range(3):
        network = FixedEvaluator("own-other-last-colour", seed)
        root = Reference(network, c).search(position, simulations)
        analysis, _ = run(position, PuctConfig(c_puct=c), simulations, network=network)
        width = position.ruleset.width
        found = {line.move.index(width): line for line in analysis.lines}
        assert {move: line.visits for move, line in found.items() if line.visits} == root.visits
        for move, line in found.items():
            assert line.prior == pytest.approx(root.priors[move], rel=1e-4)
            if line.visits:
                assert line.value_to_move == pytest.approx(root.mean(move), abs=1e-5)
        # A slightly wrong formula gives a different tree.
        assert Reference(network, 1.2 * c).search(position, simulations).visits != root.visits


def test_every_move_is_tried_if_unvisited_ones_have_the_value_1() -> None:
    network = FixedEvaluator("own-other-last-colour", 1)
    usual, _ = run(NINE, PuctConfig(), 81, network=network)
    curious, _ = run(NINE, PuctConfig(first_play_value=1.0), 81, network=network)
    assert min(line.visits for line in usual.lines) == 0
    assert min(line.visits for line in curious.lines) == 1


def test_noise_changes_the_choice_but_not_the_priors_shown() -> None:
    log_policy = np.full(81, -5.0, dtype=np.float32)
    log_policy[0] = 0.0
    quiet, _ = run(NINE, PuctConfig(), 100, network=TabledEvaluator(log_policy))
    for noise in (Noise.ROOT, Noise.EVERY):
        config = PuctConfig(noise=noise, noise_alpha=0.3, noise_fraction=0.5)
        seen = {tuple(line.visits for line in run(NINE, config, 100, seed=s)[0].lines) for s in range(4)}
        assert len(seen) > 1
        noisy, _ = run(NINE, config, 100, network=TabledEvaluator(log_policy))
        priors = {line.move: line.prior for line in noisy.lines}
        assert priors == pytest.approx({line.move: line.prior for line in quiet.lines})


@pytest.mark.parametrize(("noise", "lines"), [(Noise.NONE, 1), (Noise.ROOT, 1), (Noise.EVERY, 8)])
def test_noise_is_added_at_the_root_or_at_every_expansion(noise: Noise, lines: int) -> None:
    """With only one move at the root, noise there has no effect; differences between seeds come from below."""
    only, *others = NINE.legal_points()
    config = PuctConfig(noise=noise, noise_alpha=0.3)
    seen = {run(NINE, config, 16, seed=seed, excluded=others)[0].lines[0].line for seed in range(8)}
    assert {line[0] for line in seen} == {only}
    assert len(seen) == lines


def test_the_tree_is_kept_along_the_game() -> None:
    network = FixedEvaluator("stones")
    for config in (PuctConfig(reuse_tree=True), PuctConfig()):
        search = PuctSearch(NINE.ruleset, network, config)
        first = search.search(NINE, Limits(simulations=400))
        line = first.lines[0].line
        after = NINE.play(line[0]).play(line[1])
        second = search.search(after, Limits(simulations=50), lines=100)
        total = sum(entry.visits for entry in second.lines)
        assert (total > 50) if config.reuse_tree else (total == 50)
        assert second.nodes == 50
        # An unrelated position starts a new tree.
        other = search.search(Position.from_moves(NINE.ruleset, "a1b2"), Limits(simulations=50), lines=100)
        assert sum(entry.visits for entry in other.lines) == 50
        assert search._native.check() == ""


def test_excluded_moves_are_left_out_at_the_root() -> None:
    position = Position.from_moves(Ruleset(9, 9), "e5a1e6a2e7a3e8a4")
    excluded = parse_points("e4")
    analysis, _ = run(position, TACTICS, 100, excluded=excluded)
    assert analysis.lines[0].move == "e9"
    assert str(analysis.lines[0].proof) == "+M1"
    both, _ = run(position, TACTICS, 100, excluded=parse_points("e4e9"))
    assert (both.lines[0].move, str(both.lines[0].proof)) == ("a5", "+M3")


# ---- Gumbel ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("candidates", "simulations"), [(1, 5), (2, 7), (7, 50), (16, 16), (16, 64), (16, 200), (3, 1)]
)
def test_sequential_halving(candidates: int, simulations: int) -> None:
    plan = _native.plan_halving(candidates, simulations)
    assert len(plan) == simulations
    visits = [0] * candidates
    for wanted in plan:
        assert wanted in visits
        visits[visits.index(wanted)] += 1
    if simulations >= candidates:
        assert min(visits) >= 1
    assert all(a <= b for a, b in pairwise(plan))


class Bandit:
    """Gives the position after a move a value that depends only on the move."""

    plane_layout = "own-other-last-colour"

    def __init__(self, prior: np.ndarray, worth: np.ndarray) -> None:
        self._log_policy = np.log(prior).astype(np.float32)
        self._worth = worth

    def evaluate(self, planes):
        last = planes[:, 2].reshape(len(planes), -1)
        value = np.where(last.any(axis=1), -self._worth[last.argmax(axis=1)], 0.0)
        return np.tile(self._log_policy, (len(planes), 1)), value.astype(np.float32)


def test_gumbel_targets_improve_on_the_prior() -> None:
    rng = np.random.default_rng(2)
    start = Position.start(Ruleset.parse("5x5:4"))
    gained = []
    for seed in range(12):
        prior = rng.dirichlet(np.full(25, 0.7)) * 0.99 + 0.01 / 25
        worth = rng.uniform(-0.9, 0.9, size=25)
        config = PuctConfig(gumbel=True, simulations=24)
        analysis, _ = run(start, config, 24, network=Bandit(prior, worth), seed=seed)
        assert analysis.policy is not None
        policy = np.zeros(25)
        for point, share in analysis.policy.items():
            policy[point.index(5)] = share
        assert policy.sum() == pytest.approx(1)
        assert analysis.nodes == 24
        visited = [line for line in analysis.lines if line.visits > 0]
        assert len(visited) <= 16
        assert max(line.visits for line in analysis.lines) == analysis.lines[0].visits
        gained.append(policy @ worth - prior @ worth)
    assert min(gained) > 0
    assert np.mean(gained) > 0.2


def test_gumbel_without_noise_repeats_and_with_noise_explores() -> None:
    def best_moves(scale: float) -> set[Point]:
        config = PuctConfig(gumbel=True, gumbel_scale=scale)
        return {run(NINE, config, 16, seed=seed)[0].lines[0].move for seed in range(8)}

    assert len(best_moves(0.0)) == 1
    assert len(best_moves(1.0)) > 1


# ---- Symmetries and cache --------------------------------------------------------------------------------------------


def test_averaging_makes_the_search_symmetric() -> None:
    config = PuctConfig(symmetry=Symmetry.AVERAGE, c_puct=2.0)
    network = FixedEvaluator("stones")
    root, _ = run(NINE, config, 1, network=network)
    priors = {line.move: line.prior for line in root.lines}
    for symmetry in symmetries(NINE.ruleset):
        turned, _ = run(transform_position(NINE, symmetry), config, 1, network=network)
        moved = {transform_point(move, symmetry, NINE.ruleset): prior for move, prior in priors.items()}
        assert {line.move: line.prior for line in turned.lines} == pytest.approx(moved, rel=1e-4)
        assert transform_point(root.lines[0].move, symmetry, NINE.ruleset) == turned.lines[0].move
        assert turned.lines[0].value_to_move == pytest.approx(root.lines[0].value_to_move, abs=1e-4)
    plain, _ = run(NINE, PuctConfig(), 1, network=network)
    assert {line.move: line.prior for line in plain.lines} != pytest.approx(priors, rel=1e-2)


def test_random_symmetries_are_turned_back() -> None:
    """A network that always prefers the neighbour of the last stone finds it under every symmetry."""

    class LeftOfLast:
        plane_layout = "own-other-last-colour"

        def evaluate(self, planes):
            last = planes[:, 2]
            near = np.zeros_like(last)
            near[:, :-1, :-1] += last[:, 1:, 1:]
            near[:, 1:, 1:] += last[:, :-1, :-1]
            near[:, 1:, :-1] += last[:, :-1, 1:]
            near[:, :-1, 1:] += last[:, 1:, :-1]
            return (near * 9).reshape(len(planes), -1), np.zeros(len(planes), dtype=np.float32)

    last = NINE.last_move
    assert last is not None
    for seed in range(12):
        analysis, _ = run(NINE, PuctConfig(symmetry=Symmetry.RANDOM), 1, network=LeftOfLast(), seed=seed)
        move = analysis.lines[0].move
        assert (abs(move.x - last.x), abs(move.y - last.y)) == (1, 1)


@pytest.mark.parametrize("layout", ["board", "threats", "stones"])
def test_the_cache_answers_as_the_network_does(layout: str) -> None:
    start = Position.start(Ruleset.parse("4x4:4"))
    for symmetry in (Symmetry.NONE, Symmetry.AVERAGE):
        config = PuctConfig(symmetry=symmetry, c_puct=20.0)
        plain, cached = FixedEvaluator(layout), FixedEvaluator(layout)
        a, _ = run(start, config, 1000, network=plain)
        b, _ = run(start, replace(config, cache_entries=1 << 14), 1000, network=cached)
        assert cached.rows < plain.rows
        if symmetry is Symmetry.NONE:
            assert a.lines == b.lines


def test_the_cache_turns_its_answers_to_the_position_that_asks() -> None:
    config = PuctConfig(symmetry=Symmetry.AVERAGE, cache_entries=1 << 14)
    network = FixedEvaluator("stones")
    search = PuctSearch(NINE.ruleset, network, config)

    def evaluate(position: Position) -> Analysis:
        return search.search(position, Limits(simulations=1), lines=500)

    first = evaluate(NINE)
    rows = network.rows
    for symmetry in symmetries(NINE.ruleset):
        turned = evaluate(transform_position(NINE, symmetry))
        moved = {transform_point(line.move, symmetry, NINE.ruleset): line.prior for line in first.lines}
        assert {line.move: line.prior for line in turned.lines} == pytest.approx(moved, rel=1e-4)
        assert turned.lines[0].value_to_move == pytest.approx(first.lines[0].value_to_move, abs=1e-4)
    assert network.rows == rows


# ---- Limits ----------------------------------------------------------------------------------------------------------


def test_the_same_calls_give_the_same_answers() -> None:
    config = replace(PRESETS["best"], leaves=8)

    def answer(seed: int) -> Analysis:
        return replace(run(NINE, config, 300, network=FixedEvaluator("threats"), seed=seed)[0], elapsed_ms=0)

    assert answer(1) == answer(1)
    assert answer(1) != answer(2)


@pytest.mark.parametrize("noise", [Noise.ROOT, Noise.EVERY])
@pytest.mark.parametrize("temperature", [1.0, 1.3])
def test_noise_reaches_the_root_at_any_temperature(noise: Noise, temperature: float) -> None:
    config = PuctConfig(noise=noise, root_temperature=temperature)
    assert len({run(NINE, config, 1, seed=seed)[0].lines[0].move for seed in range(8)}) > 3


def test_limits_and_defaults() -> None:
    search = PuctSearch(NINE.ruleset, UniformEvaluator(), PuctConfig(simulations=70))
    assert search.search(NINE, Limits()).nodes == 70
    assert search.search(NINE, Limits(simulations=20, nodes=30)).nodes == 20
    assert search.search(NINE, Limits(simulations=0)).nodes == 1
    assert search.search(NINE, Limits(clock_ms=100, simulations=40)).nodes <= 40
    gumbel = PuctSearch(NINE.ruleset, UniformEvaluator(), PuctConfig(simulations=70, gumbel=True))
    assert gumbel.search(NINE, Limits(time_ms=60_000)).nodes == 70
    assert gumbel.search(NINE, Limits(time_ms=60_000, simulations=90)).nodes == 70
    assert gumbel.search(NINE, Limits(simulations=90)).nodes == 90
    assert gumbel.search(NINE, Limits(simulations=90, nodes=40)).nodes == 40
    assert gumbel.search(NINE, Limits()).nodes == 70


def test_a_search_without_time_still_has_a_move() -> None:
    search = PuctSearch(NINE.ruleset, UniformEvaluator(), PuctConfig())
    assert NINE.is_legal(search.search(NINE, Limits(time_ms=0)).lines[0].move)
    stop = StopSignal()
    stop.set()
    assert NINE.is_legal(search.search(NINE, Limits(simulations=10**8), stop=stop).lines[0].move)
    assert search.search(NINE, Limits(simulations=50)).nodes == 50


@pytest.mark.parametrize("threads", [1, 3])
def test_stop_ends_a_search(threads: int) -> None:
    search = PuctSearch(NINE.ruleset, UniformEvaluator(), replace(PuctConfig(), leaves=4))
    limits = Limits(simulations=10**9, threads=threads)
    stop = StopSignal()
    analysis = search.search(NINE, limits, stop=stop, on_analysis=lambda _: stop.set())
    assert 0 < analysis.nodes < 10**9
    assert search._native.check() == ""


class Counting(UniformEvaluator):
    """Counts the positions that it evaluates."""

    rows = 0

    def evaluate(self, planes):
        self.rows += len(planes)
        return super().evaluate(planes)


FULL_CONFIGS = {
    "plain": PuctConfig(),
    "solver": PuctConfig(solve=True, tactics=True, leaves=8),
    "gumbel": PuctConfig(gumbel=True),
}


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("config", FULL_CONFIGS.values(), ids=FULL_CONFIGS)
def test_a_search_goes_on_when_its_memory_is_full(config: PuctConfig, threads: int) -> None:
    network = Counting()
    search = PuctSearch(NINE.ruleset, network, config, memory_mb=1)
    analysis = search.search(NINE, Limits(simulations=50_000, threads=threads), lines=NINE.ruleset.area)
    assert analysis.nodes == 50_000
    assert sum(line.visits or 0 for line in analysis.lines) == 50_000
    assert 100 < network.rows < 10_000
    assert search._native.check() == ""


def test_a_search_with_full_memory_reports_and_can_be_stopped() -> None:
    search = PuctSearch(NINE.ruleset, UniformEvaluator(), PuctConfig(), memory_mb=1)
    stop = StopSignal()
    reported: list[int] = []

    def on_analysis(analysis: Analysis) -> None:
        reported.append(analysis.nodes)
        if analysis.nodes > 100_000:
            stop.set()

    analysis = search.search(NINE, Limits(simulations=10**9), stop=stop, on_analysis=on_analysis)
    assert 100_000 < analysis.nodes < 10**9
    assert sum(nodes > 20_000 for nodes in reported) >= 2


def test_a_reused_tree_grows_again_after_its_memory_was_full() -> None:
    network = Counting()
    search = PuctSearch(NINE.ruleset, network, PuctConfig(reuse_tree=True), memory_mb=1)
    search.search(NINE, Limits(simulations=50_000))
    before = network.rows
    search.search(NINE.play("a1"), Limits(simulations=50_000))
    assert network.rows - before > 500
    assert search._native.check() == ""


_MEMORY_OF_TWO_MOVES = """
import resource
from tengen.core.contracts import Limits, Ruleset
from tengen.core.position import Position
from tengen.core.stop_signal import StopSignal
from tengen.search.evaluation import UniformEvaluator
from tengen.search.puct_config import PuctConfig
from tengen.search.puct_search import PuctSearch

def peak_mb():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10

config = PuctConfig(reuse_tree=True, cache_entries=1 << 16, leaves=64)
position = Position.from_moves(Ruleset(15, 15), "h8i9")
PuctSearch(position.ruleset, UniformEvaluator(), config, memory_mb=1).search(position, Limits(simulations=100))
before = peak_mb()
search = PuctSearch(position.ruleset, UniformEvaluator(), config, memory_mb=48)
for _ in range(2):
    found = search.search(position, Limits(simulations=10**5))
    position = position.play(found.lines[0].line[0]).play(found.lines[0].line[1])
print(found.nodes, peak_mb() - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="counts memory in units of Linux")
def test_tree_and_cache_stay_within_their_memory_from_move_to_move() -> None:
    child = [sys.executable, "-c", _MEMORY_OF_TWO_MOVES]
    nodes, megabytes = map(int, subprocess.run(child, capture_output=True, check=True, text=True).stdout.split())
    assert nodes > 1000
    assert megabytes <= 48 + 4


@pytest.mark.parametrize("threads", [1, 2])
def test_errors_of_the_network_reach_the_caller(threads: int) -> None:
    class Fails(UniformEvaluator):
        def __init__(self) -> None:
            super().__init__()
            self.calls = 0

        def evaluate(self, planes):
            self.calls += 1
            if self.calls > 5:
                raise OSError("the network is gone")
            return super().evaluate(planes)

    network = Fails()
    search = PuctSearch(NINE.ruleset, network, PuctConfig(leaves=4))
    with pytest.raises(OSError, match="the network is gone"):
        search.search(NINE, Limits(simulations=500, threads=threads))
    assert search._native.check() == ""
    network.calls = -(10**6)
    assert search.search(NINE, Limits(simulations=50, threads=threads)).nodes == 50


def test_reports_come_while_it_thinks() -> None:
    search = PuctSearch(NINE.ruleset, FixedEvaluator("stones"), PuctConfig())
    seen: list[Analysis] = []
    last = search.search(NINE, Limits(simulations=1000), lines=3, on_analysis=seen.append)
    assert [analysis.nodes for analysis in seen] == sorted({analysis.nodes for analysis in seen})
    assert len(seen) >= 5
    for analysis in (*seen, last):
        assert len(analysis.lines) == 3
        for line in analysis.lines:
            assert line.line[0] == line.move
            assert line.prior is not None
        assert analysis.policy is not None
        assert sum(analysis.policy.values()) == pytest.approx(1, abs=1e-4)


def test_listening_does_not_change_what_is_drawn() -> None:
    def drawn(seed: int, *, listen: bool) -> Point:
        search = PuctSearch(NINE.ruleset, UniformEvaluator())
        listener = (lambda _: None) if listen else None
        limits = Limits(simulations=300)
        return search.search(NINE, limits, seed=seed, temperature=1.0, on_analysis=listener).lines[0].move

    moves = [drawn(seed, listen=False) for seed in range(8)]
    assert len(set(moves)) > 1
    assert moves == [drawn(seed, listen=True) for seed in range(8)]


def test_what_does_not_fit_is_refused() -> None:
    over = Position.from_moves(Ruleset(9, 9), "e5a1e6a2e7a3e8a4e9")
    search = PuctSearch(NINE.ruleset, UniformEvaluator())
    with pytest.raises(InputError, match="the game is over"):
        search.search(over, Limits())
    with pytest.raises(InputError, match="this search is for 9x9:5:freestyle, not 15x15:5:freestyle"):
        search.search(Position.start(Ruleset()), Limits())
    nan = TabledEvaluator(np.full(81, np.nan, dtype=np.float32))
    with pytest.raises(InputError, match="NaN"):
        PuctSearch(NINE.ruleset, nan).search(NINE, Limits())
