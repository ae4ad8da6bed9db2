from __future__ import annotations

import pytest
from hypothesis import given

from tengen.core.contracts import Colour, Outcome, Rule, Ruleset
from tengen.core.geometry import Point
from tengen.errors import ForbiddenPointError, InputError, RecordError
from tengen.records import position_string
from tengen.records.game import GameRecord, Move, Node, Setup, main_plies, same_tree
from tests.records.sample_files import points
from tests.records.strategies import FULL, any_ruleset, bare_records

RENJU = Ruleset(15, 15, 5, Rule.RENJU)
FREESTYLE = Ruleset(15, 15)
FIVE = "a1a2b1b2c1c2d1d2e1"


def game(moves: str, ruleset: Ruleset = FREESTYLE) -> GameRecord:
    return position_string.parse(moves, ruleset=ruleset)


def test_moves_stones_and_turn_follow_the_main_line() -> None:
    record = game("h8i9j10")
    record.root.children[0].play(Point("a1"))
    assert points(record) == "h8i9j10"
    assert record.stones(2) == {Point("h8"): Colour.BLACK, Point("i9"): Colour.WHITE}
    assert [record.to_move(ply) for ply in range(4)] == [Colour.BLACK, Colour.WHITE, Colour.BLACK, Colour.WHITE]


def test_position_is_the_game_replayed() -> None:
    position = game("h8i9j10").position(2)
    assert [str(point) for point in position.moves] == ["h8", "i9"]
    assert position.to_move is Colour.BLACK


def test_position_after_set_up_and_pass_is_built_from_stones() -> None:
    root = Node(setup=Setup(black=(Point("h8"),), white=(Point("i9"),), to_move=Colour.WHITE))
    root.play(Point("a1")).play(None).play(Point("b1"))
    position = GameRecord(root=root).position()
    assert position.stones == 4
    assert position.to_move is Colour.BLACK
    assert position.moves == ()


def test_a_move_count_beyond_the_game_is_rejected() -> None:
    with pytest.raises(InputError, match="move 4 does not exist: the main line has 3 moves"):
        game("h8i9j10").stones(4)


def test_the_side_to_move_follows_from_the_set_up() -> None:
    more_black = Node(setup=Setup(black=(Point("a1"), Point("b1")), white=(Point("a2"),)))
    assert more_black.to_move is Colour.WHITE
    assert more_black.add(Node(setup=Setup(to_move=Colour.BLACK))).to_move is Colour.BLACK
    assert Node().to_move is Colour.BLACK


@pytest.mark.parametrize(
    ("moves", "ruleset", "result", "reason"),
    [
        (FIVE, Ruleset(15, 15), Outcome.BLACK, "five"),
        ("a1b1c1b2a2c2b3a3c3", Ruleset(3, 3, 3), Outcome.DRAW, "full board"),
        ("h8a1h9a3i10a5j10b7h10", RENJU, Outcome.WHITE, "foul"),
        ("h8i9", Ruleset(15, 15), None, ""),
    ],
)
def test_settle_finds_the_result_on_the_board(moves: str, ruleset: Ruleset, result: Outcome, reason: str) -> None:
    record = game(moves, ruleset)
    assert record.settle() is (result is not None)
    assert (record.result, record.result_reason) == (result, reason)


def test_settle_keeps_a_known_result_and_ignores_illegal_games() -> None:
    known = game(FIVE)
    known.result = Outcome.WHITE
    assert not known.settle()
    assert known.result is Outcome.WHITE
    goes_on_after_a_five = game(FIVE + "h8i9")
    assert not goes_on_after_a_five.settle()
    plays_on_after_a_foul = game("h8a1h9a3i10a5j10b7h10b8", RENJU)
    with pytest.raises(ForbiddenPointError):
        plays_on_after_a_foul.position()
    assert not plays_on_after_a_foul.settle()


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda root: root.children[0].play(Point("h8")), "white plays h8, which is occupied by a black stone"),
        (lambda root: root.play(Point("p1")), "p1 is not on a 15x15 board"),
        (lambda root: root.add(Node(value=1.5)), "value 1.5, which is outside"),
        (lambda root: root.add(Node(time_ms=5)), "a time but no move"),
        (lambda root: setattr(root.children[0], "clock_ms", -1), "a clock of -1 ms"),
        (lambda root: root.add(Node(setup=Setup((Point("a1"),), (Point("a1"),)))), "a1 is set up twice"),
    ],
)
def test_check_names_what_is_wrong(spoil, message: str) -> None:
    record = game("h8i9j10")
    record.check()
    spoil(record.root)
    with pytest.raises(RecordError, match=message):
        record.check()


def test_two_variations_may_play_the_same_point() -> None:
    record = game("h8i9j10")
    record.root.children[0].play(Point("j10")).play(Point("i9"))
    record.check()


def test_equality_compares_order_and_content_of_the_tree() -> None:
    one, other = game("h8i9"), game("h8i9")
    assert one == other
    one.root.children[0].play(Point("a1"))
    assert one != other
    other.root.children[0].play(Point("a1"))
    assert one == other
    one.root.children[0].children.reverse()
    assert one != other
    assert game("h8") != "h8"
    other.root.children[0].comment = "!"
    assert not same_tree(game("h8i9").root, other.root)


def test_set_up_stones_become_moves_in_turn_with_passes_where_needed() -> None:
    root = Node(setup=Setup(black=(Point("a1"), Point("b1"), Point("c1")), white=(Point("a2"),), to_move=Colour.BLACK))
    root.add(Node(moves=(Move(Colour.BLACK, Point("d1")), Move(Colour.BLACK, Point("e1")))))
    record = GameRecord(root=root)
    assert [str(ply or "--") for ply in main_plies(record, passes=True)] == (
        ["a1", "a2", "b1", "--", "c1", "--", "d1", "--", "e1"]
    )
    with pytest.raises(RecordError, match="do not alternate at stone 4"):
        main_plies(record, passes=False)


def test_removed_stones_cannot_become_moves() -> None:
    record = game("h8i9")
    record.root.children[0].children[0].add(Node(setup=Setup(empty=(Point("h8"),))))
    with pytest.raises(RecordError, match="remove or replace stones \\(h8\\)"):
        main_plies(record, passes=True)


@given(bare_records(any_ruleset, FULL))
def test_the_plies_put_the_same_stones_on_the_board(record: GameRecord) -> None:
    try:
        plies = main_plies(record, passes=True)
    except RecordError:
        assert any(node.setup and node.setup.empty for node in record.main_line())
        return
    replayed = GameRecord.from_points(record.ruleset, plies)
    replayed.check()
    assert replayed.stones() == record.stones()
    assert replayed.to_move() is record.to_move()


def test_reprs_stay_short() -> None:
    record = game("h8i9")
    assert repr(record) == "<GameRecord 15x15:5:freestyle ? – ?, 2 moves, result unknown>"
    assert repr(record.root.children[0]) == "<Node black h8, 1 children>"
