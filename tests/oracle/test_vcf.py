"""Continuous fours: known positions, the definition on small boards, and checkers that reject false wins."""

from __future__ import annotations

import json
from collections.abc import Mapping
from random import Random

import pytest

from tests.conftest import shared_data
from tests.oracle.boards import tactical_stones
from tests.oracle.rules import (
    BLACK,
    RULES,
    WHITE,
    Point,
    Rules,
    Stones,
    foul,
    legal_points,
    name_of,
    opponent,
    point_of,
    wins_at,
)
from tests.oracle.vcf import (
    defences,
    find_refutation,
    find_vcf,
    four_moves,
    verify_line,
    verify_vcf,
    verify_win_tree,
    winning_points,
)

FREESTYLE = Rules.parse("15x15:5:freestyle")
RENJU = Rules.parse("15x15:5:renju")


def board(black: str, white: str = "") -> Stones:
    return {point_of(name): BLACK for name in black.split()} | {point_of(name): WHITE for name in white.split()}


def names(line: list[Point] | None) -> str:
    return " ".join(name_of(point) for point in line or [])


def points(text: str) -> list[Point]:
    return [point_of(name) for name in text.split()]


# --- known positions -------------------------------------------------------------------------------------------------


def test_a_five_is_a_win_in_one():
    assert names(find_vcf(FREESTYLE, board("h8 i8 j8 k8", "g8"), BLACK, 1)) == "l8"


def test_an_open_four_is_a_win_in_two():
    stones = board("h8 i8 j8")
    assert find_vcf(FREESTYLE, stones, BLACK, 1) is None
    line = find_vcf(FREESTYLE, stones, BLACK, 2)
    assert line is not None
    assert len(line) == 3
    assert verify_vcf(FREESTYLE, stones, BLACK, line)


def test_a_defender_who_has_a_five_refutes():
    stones = board("h8 i8 j8", "a1 b1 c1 d1")
    assert find_vcf(FREESTYLE, stones, BLACK, 4) is None
    assert not verify_line(FREESTYLE, stones, BLACK, points("k8 g8 l8"))


def test_two_closed_fours_at_once_are_a_win_in_two():
    stones = board("e8 f8 g8 h5 h6 h7", "d8 h4")
    line = find_vcf(FREESTYLE, stones, BLACK, 2)
    assert line is not None
    assert line[0] == point_of("h8")
    assert find_vcf(FREESTYLE, stones | board("", "h9"), BLACK, 2) is None


def test_black_may_attack_in_renju_on_legal_points_only():
    cross = board("e8 f8 g8 h5 h6 h7", "d8 h4")
    assert foul(RENJU, cross, point_of("h8")) == "double-four"
    assert names(find_vcf(FREESTYLE, cross, BLACK, 2)).startswith("h8")
    assert find_vcf(RENJU, cross, BLACK, 2) is None
    assert not verify_line(RENJU, cross, BLACK, points("h8 i8 h9"))
    assert verify_line(FREESTYLE, cross, BLACK, points("h8 i8 h9"))


def test_white_wins_in_renju_where_black_can_only_block_by_a_foul():
    # White's four in row 5 can be stopped only on h5, which is an overline for black.
    stones = board("h2 h3 h4 h6 h7 c5", "d5 e5 f5")
    assert foul(RENJU, stones, point_of("h5")) == "overline"
    line = find_vcf(RENJU, stones, WHITE, 2)
    assert line is not None
    assert line[0] == point_of("g5")
    assert line[-1] == point_of("h5")
    assert verify_vcf(RENJU, stones, WHITE, line)
    assert find_vcf(RENJU._replace(rule="standard"), stones, WHITE, 2) is None


def test_white_wins_in_renju_when_black_has_no_point_left():
    # The move is no four, but it leaves black no legal point. The checker knows this rule; the solver plays only fours.
    rules = Rules.parse("7x3:5:renju")
    stones = {(x, 1): BLACK for x in (0, 1, 2, 4, 5)} | {(6, 1): WHITE}
    stones |= {(x, y): WHITE if (x + y // 2) % 2 else BLACK for x in range(7) for y in (0, 2)}
    del stones[0, 0]
    assert find_vcf(rules, stones, WHITE, 3) is None
    assert verify_win_tree(rules, stones, WHITE, lambda now: (0, 0), 1)
    assert find_refutation(rules._replace(rule="freestyle"), stones, WHITE, lambda now: (0, 0), 1) == [(0, 0)]


def test_a_four_may_have_two_defences_in_caro():
    caro = FREESTYLE._replace(rule="caro")
    stones = board("d8 e8 f8 g8", "h8")
    assert defences(caro, stones, WHITE) == points("b8 c8")
    assert defences(FREESTYLE, stones, WHITE) == points("c8")


def test_a_line_must_win_against_both_defences_in_caro():
    caro = FREESTYLE._replace(rule="caro")
    # The four on g8 can be stopped on c8 or b8; then g9 is an open four. On b8 white may make a four itself.
    stones = board("d8 e8 f8 g6 g7", "h8")
    line = find_vcf(caro, stones, BLACK, 3)
    assert line is not None
    assert verify_vcf(caro, stones, BLACK, line)
    counter = stones | board("", "b5 b6 b7")
    assert find_vcf(FREESTYLE, counter, BLACK, 3) is not None
    assert find_vcf(caro, counter, BLACK, 3) is None
    assert not verify_vcf(caro, counter, BLACK, points("g8 c8 g9 g10 g5"))


def test_the_attack_must_answer_the_fours_it_provokes():
    # White stops black's four on h8 with i8, which makes a white four; black's block of it must make a four again.
    stones = board("e8 f8 g8 i10 j11 k12", "d8 i5 i6 i7")
    line = find_vcf(FREESTYLE, stones, BLACK, 4)
    assert line is not None
    assert verify_vcf(FREESTYLE, stones, BLACK, line)
    without_help = board("e8 f8 g8", "d8 i5 i6 i7")
    assert find_vcf(FREESTYLE, without_help, BLACK, 4) is None


# --- against the definition ------------------------------------------------------------------------------------------


def wins_by_fours(rules: Rules, stones: Mapping[Point, str], attacker: str, moves: int) -> bool:
    """The definition without a notion of defences: try every four and every legal reply."""
    mine = legal_points(rules, stones, attacker)
    if any(wins_at(rules, stones, attacker, point) for point in mine):
        return True
    return moves > 1 and any(threatens_and_wins(rules, stones, attacker, point, moves - 1) for point in mine)


def threatens_and_wins(rules: Rules, stones: Mapping[Point, str], attacker: str, move: Point, moves: int) -> bool:
    defender = opponent(attacker)
    after = {**stones, move: attacker}
    if not any(wins_at(rules, after, attacker, point) for point in legal_points(rules, after, attacker)):
        return False
    replies = legal_points(rules, after, defender)
    return not any(wins_at(rules, after, defender, reply) for reply in replies) and all(
        wins_by_fours(rules, {**after, reply: defender}, attacker, moves) for reply in replies
    )


@pytest.mark.parametrize("text", ["5x5:4:freestyle", "6x5:4:standard", "6x6:5:renju", "6x5:4:caro", "6x5:4:caro-exact"])
def test_the_solver_finds_exactly_the_wins_of_the_definition(text: str):
    rules = Rules.parse(text)
    rng = Random(2)
    verdicts = set()
    for _ in range(16):
        stones = tactical_stones(rng, rules)
        attacker = rng.choice((BLACK, WHITE))
        line = find_vcf(rules, stones, attacker, 3)
        assert (line is not None) == wins_by_fours(rules, stones, attacker, 3)
        verdicts.add(line is not None)
    assert verdicts == {True, False}


@pytest.mark.parametrize("rule", RULES)
def test_every_line_found_wins_against_every_reply(rule: str):
    rules = Rules(9, 9, 5, rule)
    rng = Random(8)
    lengths = set()
    for _ in range(30):
        stones = tactical_stones(rng, rules)
        for attacker in (BLACK, WHITE):
            line = find_vcf(rules, stones, attacker, 3)
            if line is not None:
                lengths.add(len(line))
                assert verify_vcf(rules, stones, attacker, line), (names(line), stones)
    assert {1, 3, 5} <= lengths


@pytest.mark.parametrize("rule", RULES)
def test_winning_points_and_fours_are_found_by_trying_every_point(rule: str):
    rules = Rules(8, 7, 5, rule)
    rng = Random(1)
    for _ in range(10):
        stones = tactical_stones(rng, rules)
        for colour in (BLACK, WHITE):
            mine = legal_points(rules, stones, colour)
            wins = {point for point in mine if wins_at(rules, stones, colour, point)}
            assert set(winning_points(rules, stones, colour)) == wins
            if not wins:
                fours = {point for point in mine if winning_points(rules, {**stones, point: colour}, colour)}
                assert set(four_moves(rules, stones, colour)) == fours


# --- rejected lines --------------------------------------------------------------------------------------------------


def test_wrong_lines_are_refused():
    stones = board("h8 i8 j8 c3 d3")
    assert verify_vcf(FREESTYLE, stones, BLACK, points("k8 g8 l8"))
    for wrong in (
        "",
        "k8",  # stops before the five
        "k8 g8",  # ends with the defender
        "k8 g8 m8",  # does not complete the five
        "e3 f3 k8 g8 l8",  # starts with a three
        "k8 k8 l8",  # plays a point twice
        "k8 p8 l8",  # off the board
        "h8 g8 l8",  # on an occupied point
    ):
        assert not verify_vcf(FREESTYLE, stones, BLACK, points(wrong)), wrong


def test_a_line_that_hopes_for_one_reply_is_refused():
    # A closed four that wins only if white does not block it.
    stones = board("h8 i8 j8", "g8")
    assert not verify_line(FREESTYLE, stones, BLACK, points("k8 a1 l8"))
    assert find_refutation(
        FREESTYLE, stones, BLACK, lambda now: (winning_points(FREESTYLE, now, BLACK) or points("k8"))[0], 3
    ) == points("k8 l8 k8")


def test_a_strategy_with_a_quiet_move_is_accepted_when_it_wins():
    # Three in a row on 4x3: the first stone makes no threat, but it wins.
    rules = Rules.parse("4x3:3:freestyle")

    def strategy(now: Mapping[Point, str]) -> Point | None:
        line = find_vcf(rules, now, BLACK, 3) if now else [(1, 1)]
        return line[0] if line else None

    assert verify_win_tree(rules, {}, BLACK, strategy, 4)
    assert not verify_win_tree(rules, {}, BLACK, strategy, 2)
    assert not verify_win_tree(rules, {}, BLACK, lambda now: None, 4)
    assert find_refutation(rules, {(0, 0): WHITE}, BLACK, lambda now: (0, 0), 4) == [(0, 0)]


if (shared := shared_data()) is not None:
    PUZZLES = [
        puzzle
        for puzzle in map(json.loads, (shared / "puzzles.jsonl").read_text().splitlines())
        if puzzle["type"] == "VCF" and puzzle.get("depth", 99) <= 4
    ][::12]

    @pytest.mark.parametrize("puzzle", PUZZLES, ids=lambda puzzle: puzzle["id"].encode("ascii", "ignore").decode())
    def test_puzzle(puzzle: dict):
        stones = board(" ".join(puzzle["black"]), " ".join(puzzle["white"]))
        line = find_vcf(RENJU, stones, puzzle["to_move"], puzzle["depth"])
        assert line is not None
        assert len(line) == 2 * puzzle["depth"] - 1
        assert not puzzle["win_moves_complete"] or name_of(line[0]) in puzzle["win_moves"]
        assert verify_vcf(RENJU, stones, puzzle["to_move"], line)
