"""Opening procedures: all paths through them, and the errors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest

from tengen.core.contracts import Colour, Opening, Ruleset
from tengen.core.geometry import Point
from tengen.core.opening_procedure import PROCEDURES, Choose, Done, OpeningState, Option, Place, Region, Seat, Step
from tengen.errors import IllegalMoveError, InputError, NotationError, RulesetError

BLACK, WHITE, TWO = Option.TAKE_BLACK, Option.TAKE_WHITE, Option.PLACE_TWO


def start(opening: str, board: str = "15x15:5:freestyle") -> OpeningState:
    return OpeningState.start(Ruleset.parse(f"{board}:{opening}"))


def walk(state: OpeningState) -> Iterator[OpeningState]:
    """Yield all reachable states in depth-first order."""
    yield state
    for action in state.actions():
        yield from walk(state.apply(action))


# ---- One test per procedure ------------------------------------------------------------------------------------------


def test_free_is_over_at_once() -> None:
    state = start("free")
    assert state.is_done
    assert (state.seat, state.black, state.position.stones) == (None, Seat.PROPOSER, 0)
    assert str(state) == "proposer plays black, chooser white; black to move"


def test_swap() -> None:
    state = start("swap")
    assert (state.seat, state.stones_due, state.options) == (Seat.PROPOSER, 3, ())
    assert str(state) == "proposer places 3 stones, the next one black"
    state = state.apply("h8").apply("i9").apply("a1")
    assert (state.seat, state.stones_due, state.options) == (Seat.CHOOSER, 0, (BLACK, WHITE))
    assert state.allowed_points() == []
    swapped, kept = state.apply(BLACK), state.apply("take-white")
    assert (swapped.black, kept.black) == (Seat.CHOOSER, Seat.PROPOSER)
    for done in (swapped, kept):
        assert done.position.moves == ("h8", "i9", "a1")
        assert done.position.to_move is Colour.WHITE
        assert done.position.at("h8") is Colour.BLACK
        assert done.position.at("i9") is Colour.WHITE


def test_swap2_with_five_stones() -> None:
    state = start("swap2").apply("h8").apply("i9").apply("g7")
    assert state.options == (BLACK, WHITE, TWO)
    placing = state.apply(TWO)
    assert (placing.seat, placing.stones_due, placing.position.to_move) == (Seat.CHOOSER, 2, Colour.WHITE)
    choice = placing.apply("a1").apply("o15")
    assert (choice.seat, choice.options) == (Seat.PROPOSER, (BLACK, WHITE))
    assert choice.position.at("a1") is Colour.WHITE
    assert choice.position.at("o15") is Colour.BLACK
    done = choice.apply(WHITE)
    assert done.black is Seat.CHOOSER
    assert (done.colour_of(Seat.CHOOSER), done.colour_of(Seat.PROPOSER)) == (Colour.BLACK, Colour.WHITE)
    assert done.position.to_move is Colour.WHITE
    assert choice.apply(BLACK).black is Seat.PROPOSER
    assert choice.colour_of(Seat.CHOOSER) is None


@pytest.mark.parametrize(("opening", "distance"), [("pro", 3), ("long-pro", 4)])
def test_pro(opening: str, distance: int) -> None:
    state = start(opening)
    assert state.allowed_points() == ["h8"]
    state = state.apply("h8")
    assert (state.seat, len(state.allowed_points())) == (Seat.CHOOSER, 224)
    state = state.apply("h9")
    inner = (2 * distance - 1) ** 2
    assert (state.seat, len(state.allowed_points())) == (Seat.PROPOSER, 225 - inner)
    near, far = Point.at(7 + distance - 1, 7), Point.at(7 + distance, 7)
    with pytest.raises(IllegalMoveError, match=rf"cannot play {near}: .*outside-.*the centre is h8"):
        state.apply(near)
    done = state.apply(far)
    assert (done.black, done.position.to_move) == (Seat.PROPOSER, Colour.WHITE)


# ---- All paths -------------------------------------------------------------------------------------------------------


def test_every_path_of_swap2_on_a_small_board() -> None:
    states = list(walk(start("swap2", "3x3:3:freestyle")))
    done = [state for state in states if state.is_done]
    # There are 9 · 8 · 7 ways to place three stones. Then the chooser takes one of two colours, or places two more
    # stones: white on any of 6 points, black on any of the other 5 that do not complete a line.
    assert Counter(len(state.position.moves) for state in done)[3] == 2 * 504
    five_stones = [state for state in done if state.position.stones == 5]
    assert len(five_stones) == 2 * (504 * 6 * 5 - 1440), "1,440 sequences of five moves win (perft)"
    assert Counter(state.black for state in done) == {seat: len(done) // 2 for seat in Seat}
    assert not any(state.position.is_over for state in done)
    for state in done[::97]:
        assert OpeningState.replay(state.position.ruleset, state.taken) == state


@pytest.mark.parametrize("opening", list(Opening))
def test_every_state_describes_the_next_action(opening: Opening) -> None:
    board = "7x7:4:freestyle" if opening in (Opening.PRO, Opening.LONG_PRO) else "3x3:3:freestyle"
    if opening is Opening.LONG_PRO:
        board = "9x9:4:freestyle"
    for state in walk(start(opening, board)):
        assert state.is_done == (not state.actions())
        assert (state.seat is None) == state.is_done == (state.black is not None)
        assert bool(state.stones_due) == bool(state.allowed_points())
        assert bool(state.options) + bool(state.stones_due) + state.is_done == 1
        assert str(state.seat or state.black) in str(state)
        assert len(state.taken) == state.position.stones + sum(isinstance(action, Option) for action in state.taken)


def test_procedures_are_data() -> None:
    def depth(step: Step) -> int:
        match step:
            case Done():
                return 0
            case Place(_, count, then):
                return count + depth(then)
            case Choose(_, branches):
                return 1 + max(depth(branch) for branch in branches.values())

    assert set(PROCEDURES) == set(Opening)
    longest = {str(opening): depth(step) for opening, step in PROCEDURES.items()}
    assert longest == {"free": 0, "swap": 4, "swap2": 7, "pro": 3, "long-pro": 3}


# ---- Errors ----------------------------------------------------------------------------------------------------------


def test_actions_of_the_wrong_kind_are_rejected() -> None:
    state = start("swap2")
    with pytest.raises(InputError, match=r"take-black.*proposer places 3 stones"):
        state.apply(BLACK)
    choosing = state.apply("h8").apply("i9").apply("g7")
    with pytest.raises(InputError, match=r"'a1'.*chooser chooses take-black, take-white or place-two"):
        choosing.apply("a1")
    with pytest.raises(InputError, match="7: chooser chooses"):
        choosing.apply(7)
    with pytest.raises(InputError, match=r"place-two.*proposer chooses take-black or take-white"):
        choosing.apply(TWO).apply("a1").apply("a2").apply(TWO)
    with pytest.raises(InputError, match="the opening is over"):
        choosing.apply(WHITE).apply("a1")


def test_bad_stones() -> None:
    state = start("swap").apply("h8")
    with pytest.raises(IllegalMoveError, match="the point is occupied"):
        state.apply("h8")
    with pytest.raises(IllegalMoveError, match="off the 15x15 board"):
        state.apply("p1")
    with pytest.raises(NotationError, match="not a point"):
        state.apply("swap")
    with pytest.raises(IllegalMoveError, match="cannot play a1: proposer places a stone"):
        start("pro").apply("a1")


def test_a_stone_of_the_opening_may_not_end_the_game() -> None:
    state = start("swap2", "3x3:3:freestyle").apply("a1").apply("a2").apply("b1").apply(TWO).apply("a3")
    assert "c1" not in state.allowed_points()
    with pytest.raises(IllegalMoveError, match="may not end the game"):
        state.apply("c1")


@pytest.mark.parametrize(("board", "opening"), [("5x5", "pro"), ("7x7", "long-pro"), ("3x5", "pro")])
def test_boards_too_small_for_the_procedure(board: str, opening: str) -> None:
    with pytest.raises(RulesetError, match=rf"{board}:.*{opening} has no point in the region outside-"):
        start(opening, f"{board}:4:freestyle")


def test_regions_on_even_boards_are_centred_on_the_rulesets_centre() -> None:
    ruleset = Ruleset(8, 8)
    assert ruleset.centre == "e5"
    allowed = {
        str(point)
        for point in (Point.from_index(index, 8) for index in range(64))
        if Region.OUTSIDE_5X5.contains(point, ruleset)
    }
    assert "b5" in allowed
    assert "c3" not in allowed
    assert len(allowed) == 64 - 25
