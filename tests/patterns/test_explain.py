"""Explanations of drawn positions are pinned word for word; random positions are compared with the oracle."""

from __future__ import annotations

from random import Random

import pytest

from tengen.core.contracts import Colour, Foul, Ruleset
from tengen.core.geometry import parse_points
from tengen.core.position import Position
from tengen.errors import RulesetError
from tengen.patterns.explain import Kind, explain
from tests.core.bridge import position_of
from tests.oracle.boards import has_winner, tactical_stones
from tests.oracle.rules import BLACK, RULES, WHITE, Rules, foul, is_legal, name_of, opponent, point_of
from tests.oracle.vcf import defences, four_moves, winning_points


def stones(black: str = "", white: str = "", to_move: str = "black", rules: str = "15x15:5:freestyle") -> Position:
    return Position.from_stones(
        Ruleset.parse(rules), black=parse_points(black), white=parse_points(white), to_move=to_move
    )


def sentences(position: Position) -> list[str]:
    """All but the headline."""
    return list(explain(position).sentences[1:])


def test_an_open_three_must_be_answered():
    found = sentences(stones("a1 c1 e8", "g8 h8 i8"))
    assert found[0] == "white has an open three g8-h8-i8; black must answer at f8, j8 or k8"


def test_an_open_three_may_be_met_by_a_four():
    found = sentences(stones("c3 c4 c5 e8", "g8 h8 i8"))
    assert found[0] == (
        "white has an open three g8-h8-i8; black must answer at f8, j8 or k8, or play a four at c2, c6, c1 or c7"
    )
    assert found[1] == "black has an open three c3-c4-c5: an open four at c2 or c6"


def test_a_broken_three_has_three_answers():
    explanation = explain(stones("a1", "g8 h8 j8"))
    (threat,) = explanation.standing
    assert threat.kind is Kind.OPEN_THREE
    assert threat.next_points == ("i8",)
    assert explanation.answers == threat.answers == ("f8", "i8", "k8")


def test_a_four_must_be_blocked():
    found = sentences(stones("a1 f8", "g8 h8 i8 j8"))
    assert found[0] == "white has a four g8-h8-i8-j8; black must answer at k8"


def test_an_open_four_cannot_be_stopped():
    found = sentences(stones("a1", "g8 h8 i8 j8"))
    assert found[0] == "white has an open four g8-h8-i8-j8; black cannot stop five at f8 or k8"


def test_a_side_that_can_win_need_not_answer():
    found = sentences(stones("c3 c4 c5 c6", "g8 h8 i8 j8"))
    assert found[0] == "black wins immediately with five at c2 or c7"
    assert found[1] == "white has an open four g8-h8-i8-j8: five at f8 or k8"


def test_two_fours_on_one_line_are_two_threats():
    explanation = explain(stones("a1", "e8 f8 g8 i8 k8 l8 m8"))
    assert [threat.name for threat in explanation.standing] == ["a four e8-f8-g8-i8", "a four i8-k8-l8-m8"]
    assert explanation.answers == ()
    assert "no point answers them all" in explanation.sentences


def test_one_point_may_answer_two_threes():
    explanation = explain(stones("a1", "g8 h8 i8 j9 j10 j11"))
    assert explanation.answers == ("j8",)
    assert "j8 answers them all" in explanation.sentences


def test_gaps_on_both_sides_make_an_open_three_of_four_stones():
    (threat,) = explain(stones("a1", "e8 g8 i8 k8")).standing
    assert threat.kind is Kind.OPEN_THREE
    assert threat.stones == ("e8", "g8", "i8", "k8")
    assert threat.next_points == ("h8",)


def test_a_block_may_be_forbidden():
    found = sentences(stones("e8 g8 i8 k8", "h9 h10 h11 h7", rules="15x15:5:renju"))
    assert found[0] == ("white has a four h7-h9-h10-h11; black cannot stop five at h8: h8 is forbidden (double-four)")
    assert found[-1] == "black may not play h8 (double-four)"


def test_a_caro_four_can_also_be_answered_beyond_the_five():
    found = sentences(stones("e8 f8 g8 h8", "d8", "white", "15x15:5:caro"))
    assert found[0] == "black has a four e8-f8-g8-h8; white must answer at i8 or j8"


def test_a_three_that_needs_a_foul_is_not_an_open_three():
    # A black stone on e9 would complete a row of six, so there is no open four and no threat.
    position = stones("f9 g9 h9 c9 k9", "a1 b3 c5 d7", "white", "15x15:5:renju")
    assert [threat for threat in explain(position).standing if threat.colour is Colour.BLACK] == []


def test_chances_are_named_by_the_best_they_make():
    chances = explain(stones("h8 i8 j8 k9 k10 d3 d4", "g8 m4")).chances[Colour.BLACK]
    assert chances[Kind.FOUR_THREE] == ("k8",)
    assert "l8" in chances[Kind.FOUR]
    assert "d2" in chances[Kind.OPEN_THREE]


def test_fouls_are_listed_regardless_of_the_side_to_move():
    for mover in ("black", "white"):
        explanation = explain(stones("i8 j8 h9 h10", "a1 a3 a5", mover, "15x15:5:renju"))
        assert explanation.fouls == {"h8": Foul.DOUBLE_THREE}
        assert "h8" not in [point for points in explanation.chances[Colour.BLACK].values() for point in points]


def test_a_board_without_threats():
    assert sentences(stones("h8", "i9"))[0] == "there are no threats on the board"


def test_four_in_a_row_uses_the_same_terms():
    found = sentences(stones("c3 d3", "a1", "white", "6x6:4:freestyle"))
    assert found[0].startswith("four in a row wins")
    assert found[1] == "black has an open three c3-d3; white must answer at b3 or e3"


def test_a_finished_game_has_no_threats():
    over = stones("h8 i8 j8 k8 l8", "a1 b1 c1 d1")
    assert explain(over).sentences == ("15x15:5:freestyle: black has won with h8-i8-j8-k8-l8",)


def test_other_win_lengths_are_rejected():
    with pytest.raises(RulesetError, match="3x3:3:freestyle"):
        explain(Position.start(Ruleset(3, 3, 3)))


@pytest.mark.parametrize("text", [*(f"10x10:5:{rule}" for rule in RULES), "8x7:4:freestyle", "8x7:4:caro"])
def test_the_oracle_agrees(text):
    rules = Rules.parse(text)
    for seed in range(12):
        board = tactical_stones(Random(f"explain {text} {seed}"), rules)
        if has_winner(rules, board):
            continue
        explanation = explain(position_of(rules, board, BLACK))
        for colour in (BLACK, WHITE):
            check_chances(rules, board, colour, explanation.chances[Colour(colour)])
        for threat in explanation.standing:
            check_standing(rules, board, threat)
        if rules.rule == "renju":
            empty = [(x, y) for x in range(rules.width) for y in range(rules.height) if (x, y) not in board]
            wanted = {name_of(point): kind for point in empty if (kind := foul(rules, board, point))}
            assert explanation.fouls == wanted


def check_chances(rules, board, colour, chances):
    fives = {name_of(point) for point in winning_points(rules, board, colour)}
    assert set(chances.get(Kind.FIVE, ())) == fives
    if not fives:
        kinds = (Kind.OPEN_FOUR, Kind.DOUBLE_FOUR, Kind.FOUR_THREE, Kind.FOUR)
        fours = {point for kind in kinds for point in chances.get(kind, ())}
        assert fours == {name_of(point) for point in four_moves(rules, board, colour)}
    for kind in (Kind.OPEN_FOUR, Kind.DOUBLE_FOUR):
        for point in chances.get(kind, ()):
            after = {**board, point_of(point): colour}
            # In caro, a stone outside the lines of a double-four can stop it.
            if kind is Kind.OPEN_FOUR or not rules.rule.startswith("caro"):
                assert defences(rules, after, opponent(colour)) == []


def check_standing(rules, board, threat):
    owner, other = threat.colour.value, threat.colour.opponent.value
    assert all(board[point_of(stone)] == owner for stone in threat.stones)
    for point in threat.answers:
        assert is_legal(rules, board, other, point_of(point))
    if threat.kind is Kind.OPEN_THREE:
        for point in threat.next_points:
            assert defences(rules, {**board, point_of(point): owner}, other) == []
    else:
        assert {point_of(point) for point in threat.next_points} <= set(winning_points(rules, board, owner))
        if set(winning_points(rules, board, owner)) == {point_of(point) for point in threat.next_points}:
            assert [point_of(point) for point in threat.answers] == defences(rules, board, other)
