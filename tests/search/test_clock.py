"""Time control of the alpha-beta engine, with a scripted clock: shares, stability, falling values, only moves."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tengen import _native
from tengen.agents.registry import make_agent
from tengen.core.contracts import Limits, Ruleset
from tengen.core.position import Position
from tengen.search.alphabeta import ALL_INGREDIENTS, Ingredient, native_limits

AREA = 225
H8, I9, G7 = 112, 128, 96


def move_clock(*, stones: int = 20, area: int = AREA, is_managed: bool = True, **limits: int) -> _native.MoveClock:
    return _native.MoveClock(stones=stones, area=area, is_managed=is_managed, **limits)


def end_of(clock: _native.MoveClock, moves: list[int], values: list[int], *, is_only_move: bool = False) -> int:
    """Return the elapsed time at which a search ends. The last move and value are repeated.

    The first iteration ends at a hundredth of the soft limit; each of the others takes a quarter of the time so far.
    """
    for index in range(100):
        elapsed = round(clock.soft_ms / 100 * 1.25**index) + index
        if clock.is_enough(
            depth=4 + index,
            elapsed_ms=elapsed,
            move=moves[min(index, len(moves) - 1)],
            value=values[min(index, len(values) - 1)],
            is_only_move=is_only_move,
        ):
            return elapsed
    raise AssertionError("the search never ended")


# -- limits -----------------------------------------------------------------------------------------------------------


def test_without_a_clock_only_the_limit_of_the_move_counts() -> None:
    assert (move_clock().soft_ms, move_clock().hard_ms) == (-1, -1)
    clock = move_clock(time_ms=500)
    assert (clock.soft_ms, clock.hard_ms) == (-1, 500)
    assert not clock.is_enough(depth=30, elapsed_ms=499, move=H8, value=0, is_only_move=True)


@given(
    left=st.integers(1, 10**7),
    increment=st.integers(0, 10**5),
    stones=st.integers(0, AREA - 1),
    time=st.one_of(st.just(-1), st.integers(1, 10**6)),
    is_managed=st.booleans(),
)
def test_no_move_takes_more_than_the_clock_has(
    left: int, increment: int, stones: int, time: int, is_managed: bool
) -> None:
    clock = move_clock(clock_ms=left, increment_ms=increment, stones=stones, time_ms=time, is_managed=is_managed)
    assert 1 <= clock.hard_ms <= left
    assert time < 0 or clock.hard_ms <= time


@given(left=st.integers(4, 10**7), increment=st.integers(0, 10**5), stones=st.integers(0, AREA - 1))
def test_a_part_of_the_clock_is_kept_for_delays(left: int, increment: int, stones: int) -> None:
    clock = move_clock(clock_ms=left, increment_ms=increment, stones=stones)
    assert left - clock.hard_ms >= min(250, left // 2)


@pytest.mark.parametrize(("left", "increment"), [(5000, 0), (5000, 50), (60_000, 500), (180_000, 0), (300, 10)])
@pytest.mark.parametrize("delay", [0, 3])
def test_the_clock_lasts_for_the_longest_game(left: int, increment: int, delay: int) -> None:
    """Every move takes one and a half times what it should and a delay of the connection, until the board is full."""
    for stones in range(0, AREA, 2):
        clock = move_clock(clock_ms=left, increment_ms=increment, stones=stones)
        left -= min(clock.hard_ms, clock.soft_ms * 3 // 2) + delay
        assert left >= 0, f"the clock ran out at {stones} stones"
        left += increment


@pytest.mark.parametrize(("increment", "delay"), [(30, 25), (50, 40), (10, 9)])
def test_a_clock_recovers_from_delays_that_take_most_of_the_increment(increment: int, delay: int) -> None:
    left = 3000
    for stones in range(0, AREA, 2):
        left -= move_clock(clock_ms=left, increment_ms=increment, stones=stones).soft_ms + delay
        assert left > 30, f"the clock ran out at {stones} stones"
        left += increment


def test_a_game_of_usual_length_uses_most_of_the_clock() -> None:
    left = 60_000
    for stones in range(4, 54, 2):
        left -= move_clock(clock_ms=left, stones=stones).soft_ms
    assert 60_000 * 0.1 < left < 60_000 * 0.3


def test_moves_to_go_fall_with_the_stones_on_the_board() -> None:
    shares = [move_clock(clock_ms=60_000, stones=stones).soft_ms for stones in (2, 12, 24, 36)]
    assert shares == sorted(set(shares))
    assert move_clock(clock_ms=60_000, stones=AREA - 2).soft_ms > 50_000  # the last move but one
    assert move_clock(clock_ms=60_000, stones=0).soft_ms < shares[0] / 4  # the first move of the game


def test_an_increment_is_used_in_addition() -> None:
    alone = move_clock(clock_ms=60_000).soft_ms
    assert alone + 400 < move_clock(clock_ms=60_000, increment_ms=500).soft_ms < alone + 500


def test_a_clock_that_cannot_run_out_does_not_shorten_moves() -> None:
    clock = move_clock(clock_ms=180_000, time_ms=1000)
    assert (clock.soft_ms, clock.hard_ms) == (-1, 1000)
    assert move_clock(clock_ms=180_000, time_ms=30_000).soft_ms > 0


# -- the end of a search ----------------------------------------------------------------------------------------------


def test_a_stable_move_ends_the_search_sooner_than_a_changing_one() -> None:
    stable = end_of(move_clock(clock_ms=60_000), [H8], [0])
    late_change = end_of(move_clock(clock_ms=60_000), [H8] * 17 + [I9], [0])
    changing = end_of(move_clock(clock_ms=60_000), [H8, I9] * 500, [0])
    soft = move_clock(clock_ms=60_000).soft_ms
    assert stable < soft < late_change < changing
    assert changing > 1.5 * soft


def test_a_falling_value_extends_the_search() -> None:
    def end(values: list[int]) -> int:
        return end_of(move_clock(clock_ms=60_000), [H8], values)

    falling = end(list(range(1200, -2000, -60)))
    assert falling > 1.2 * end([0])
    assert end(list(range(-600, 2000, 60))) == end([0])  # a rising value changes nothing
    assert end(list(range(20, -100, -1))) < falling  # a small fall


def test_a_fall_that_is_over_is_forgotten() -> None:
    assert end_of(move_clock(clock_ms=60_000), [H8], [0, -400, -400]) == end_of(move_clock(clock_ms=60_000), [H8], [0])


def test_an_only_move_is_played_at_once() -> None:
    soft = move_clock(clock_ms=60_000).soft_ms
    assert end_of(move_clock(clock_ms=60_000), [H8], [0], is_only_move=True) <= soft / 6
    single = move_clock(clock_ms=60_000)
    single.set_single_move()
    assert single.soft_ms <= soft / 16
    assert single.is_enough(depth=1, elapsed_ms=soft // 16, move=H8, value=0)


def test_the_first_iterations_do_not_count() -> None:
    clock = move_clock(clock_ms=60_000)
    for depth, move in ((1, H8), (2, I9), (3, G7)):
        assert not clock.is_enough(depth=depth, elapsed_ms=depth, move=move, value=-1000 * depth, is_only_move=True)
    settled = int(0.67 * clock.soft_ms)
    assert clock.is_enough(depth=4, elapsed_ms=settled, move=H8, value=0)


def test_the_limits_hold_whatever_the_search_reports() -> None:
    rng = random.Random(4)
    for _ in range(200):
        clock = move_clock(
            clock_ms=rng.randrange(1, 100_000), increment_ms=rng.randrange(1000), stones=rng.randrange(AREA)
        )
        moves = [rng.randrange(3) for _ in range(300)]
        values = [rng.randrange(-30_000, 30_001) for _ in range(300)]
        # The most that a search may want: an unsettled move, many changes, and a deep fall.
        assert end_of(clock, moves, values) <= 1.25 * 1.6 * 2.6 * clock.soft_ms + 100


def test_without_management_every_move_gets_a_fixed_share() -> None:
    clock = move_clock(clock_ms=70_000, is_managed=False)
    assert (clock.soft_ms, clock.hard_ms) == (3500, 10_000)
    ends = {
        end_of(move_clock(clock_ms=70_000, is_managed=False), moves, values, is_only_move=only)
        for moves, values, only in (([H8], [0], False), ([H8, I9] * 500, [0, -2000], False), ([H8], [0], True))
    }
    assert len(ends) == 1
    assert 3500 <= ends.pop() <= 3500 * 1.25


# -- the engine -------------------------------------------------------------------------------------------------------


def test_time_limits_reach_the_engine() -> None:
    native = native_limits(Limits(clock_ms=70_000, increment_ms=200, time_ms=900))
    assert (native.clock_ms, native.increment_ms, native.time_ms) == (69_996, 200, 896)
    assert native_limits(Limits(clock_ms=70_000)).time_ms == -1
    assert native_limits(Limits(clock_ms=0)).clock_ms == 1
    assert native_limits(Limits()).time_ms > 0
    assert native_limits(Limits(depth=3)).time_ms == -1


def test_the_management_can_be_switched_off() -> None:
    assert ALL_INGREDIENTS & Ingredient.CLOCK
    position = Position.from_moves(Ruleset(15, 15), "h8g6j10f8h7h9i8g8e8i9")
    with make_agent("alphabeta:without=clock,hash-mb=1") as plain, make_agent("alphabeta:hash-mb=1") as managed:
        decisions = [agent.choose(position, Limits(nodes=20_000)) for agent in (plain, managed)]
    assert decisions[0] == decisions[1]  # without a clock, the search is the same
