"""Proved and expected results of the alpha-beta engine, and the verification of what it claims to have proved."""

from __future__ import annotations

import random

import pytest

from tengen.core.contracts import Limits, Proof, Ruleset
from tengen.core.geometry import parse_points
from tengen.core.position import Position
from tengen.search.alphabeta import EXPECTED_VALUE, AlphaBeta, AlphaBetaConfig
from tests.oracle.proofs import BitBoard
from tests.oracle.rules import Rules, all_points, empty_points, wins_at
from tests.search.proof_claims import RULESETS, Claim, Verifier, claims_of

LOST_IN_TEN = ("15x15:5:caro", "g8i6h11e5f11g7h8h10g10")
"""Every answer near the stones loses; that the others lose as well takes a longer search."""


def decide(text: str, moves: str, nodes: int):
    engine = AlphaBeta(AlphaBetaConfig(table_mb=8))
    return engine.search(Position.from_moves(Ruleset.parse(text), moves), Limits(nodes=nodes)).decide()


def test_a_loss_against_the_near_moves_is_expected_but_not_proved():
    decision = decide(*LOST_IN_TEN, nodes=20_000)
    assert decision.value_to_move == -EXPECTED_VALUE
    assert decision.proof is None


def test_an_expected_result_is_proved_by_trying_every_move():
    decision = decide(*LOST_IN_TEN, nodes=250_000)
    assert decision.proof == Proof("loss", 10)
    won = decide("15x15:5:renju", "j6h10f10g8i10g9g10f8i11", nodes=10_000)
    assert won.proof is not None
    assert won.proof.result == "win"
    assert won.value_to_move == 1.0


@pytest.mark.parametrize("text", RULESETS)
def test_claimed_proofs_hold_against_every_defence(text):
    """`python -m tests.search.proof_claims 2000` verifies longer claims, and many more of them."""
    claims = (claim for seed in range(9) for claim in claims_of(Ruleset.parse(text), seed, 600))
    claim = next(claim for claim in claims if 5 <= claim.proof.plies <= 6)
    assert Verifier(claim.position.ruleset).verify(claim, max_nodes=100_000) == "verified"


@pytest.mark.parametrize(
    ("black", "white", "result"),
    [
        ("h8 i8", "h9 i10", "win"),  # an open two
        ("h8 i8 j8", "g8 h10 a1", "win"),  # a closed three
        ("h8 i8 j8 k8 h10", "g8 a1 o15 l8 c3", "win"),  # a dead four
    ],
)
def test_the_checker_does_not_accept_false_claims(black, white, result):
    position = Position.from_stones(Ruleset(15, 15), black=parse_points(black), white=parse_points(white))
    assert Verifier(position.ruleset).verify(Claim(position, Proof(result, 9)), max_nodes=300) != "verified"


def test_the_checker_tries_defences_far_from_the_attack():
    """White, to move, loses to an open four, but wins first with its own four in the far corner."""
    stones = {"black": parse_points("h8 i8 j8"), "white": parse_points("a1 a2 a3 a4")}
    position = Position.from_stones(Ruleset(15, 15), **stones, to_move="white")
    assert Verifier(position.ruleset).verify(Claim(position, Proof("loss", 4)), max_nodes=20_000) == "refuted"
    lost = Position.from_stones(
        Ruleset(15, 15), black=stones["black"] + parse_points("k8"), white=parse_points("a1 c2 e3"), to_move="white"
    )
    assert Verifier(lost.ruleset).verify(Claim(lost, Proof("loss", 2)), max_nodes=20_000) == "verified"


@pytest.mark.parametrize("text", ["9x9:5:freestyle", "9x9:5:standard", "9x9:5:renju", "9x9:5:caro", "8x6:4:caro-exact"])
def test_the_checker_finds_every_winning_point(text):
    """The checker looks only at points that complete a long run; the rule text looks at all of them."""
    rules = Rules.parse(text)
    rng = random.Random(text)
    found = 0
    for _ in range(60):
        points = rng.sample(list(all_points(rules)), rng.randint(10, rules.width * rules.height - 2))
        # Few stones of one colour and many of the other make long runs.
        stones = {point: "black" if rng.random() < 0.7 else "white" for point in points}
        board = BitBoard(rules, stones)
        for colour in ("black", "white"):
            winning = {point for point in empty_points(rules, stones) if wins_at(rules, stones, colour, point)}
            assert set(board.winning_points(colour)) == winning
            found += len(winning)
        assert board.stones == stones
    assert found > 50
