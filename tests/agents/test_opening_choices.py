"""Agents in opening procedures."""

from __future__ import annotations

import random

import pytest

from tengen.agents.opening_choices import choose_action, choose_actions
from tengen.agents.registry import make_agent
from tengen.core.contracts import Agent, Decision, Limits, Ruleset
from tengen.core.geometry import Point
from tengen.core.opening_procedure import OpeningState, Option, Seat
from tengen.core.position import Position
from tengen.core.stop_signal import StopSignal
from tengen.errors import InputError

LIMITS = Limits()


class Judge(Agent):
    """Gives every position the same value and plays the first legal point."""

    def __init__(self, value_to_move: float | None) -> None:
        self.value_to_move = value_to_move

    def choose(self, position: Position, limits: Limits) -> Decision:
        return Decision(move=position.legal_points()[0], value_to_move=self.value_to_move)


def start(opening: str, board: str = "15x15") -> OpeningState:
    return OpeningState.start(Ruleset.parse(f"{board}:5:freestyle:{opening}"))


def three_stones() -> OpeningState:
    return start("swap2").apply("h8").apply("h9").apply("i9")


@pytest.mark.parametrize("opening", ["swap", "swap2", "pro", "long-pro"])
@pytest.mark.parametrize("agent", ["random", "rule-based"])
def test_every_procedure_comes_to_an_end(opening: str, agent: str) -> None:
    player = make_agent(agent)
    ends = set()
    for seed in range(30):
        rng = random.Random(seed)
        state = start(opening)
        while not state.is_done:
            action = choose_action(player, state, LIMITS, rng)
            assert action in state.actions()
            state = state.apply(action)
        ends.add((state.black, len(state.taken)))
    swap2_ends = {(Seat.PROPOSER, 4), (Seat.CHOOSER, 4), (Seat.PROPOSER, 7), (Seat.CHOOSER, 7)}
    expected = {"swap": {(Seat.PROPOSER, 4), (Seat.CHOOSER, 4)}, "swap2": swap2_ends}
    assert ends == expected.get(opening, {(Seat.PROPOSER, 3)})


@pytest.mark.parametrize(
    ("white_value", "option"),
    [(0.5, Option.TAKE_WHITE), (-0.5, Option.TAKE_BLACK), (0.05, Option.PLACE_TWO)],
)
def test_takes_the_colour_it_values_higher(white_value: float, option: Option) -> None:
    assert choose_action(Judge(white_value), three_stones(), LIMITS, random.Random(0)) is option


def test_an_even_position_without_the_third_option() -> None:
    state = three_stones().apply(Option.PLACE_TWO).apply("a1").apply("a2")
    assert choose_action(Judge(0.01), state, LIMITS, random.Random(0)) is Option.TAKE_WHITE


def test_free_stones_lie_near_the_centre() -> None:
    points = {choose_action(Judge(None), start("swap2"), LIMITS, random.Random(seed)) for seed in range(300)}
    assert len(points) == 49
    assert all(isinstance(point, Point) and max(abs(point.x - 7), abs(point.y - 7)) <= 3 for point in points)


def test_own_stones_are_own_moves_where_they_are_allowed() -> None:
    after_first = start("pro").apply("h8")
    assert choose_action(Judge(None), after_first, LIMITS, random.Random(0)) == "a1"
    third = after_first.apply("h9")
    assert choose_action(Judge(None), third, LIMITS, random.Random(0)) == "a1"
    not_allowed = choose_action(make_agent("rule-based"), third, LIMITS, random.Random(0))
    assert not_allowed in third.allowed_points()
    assert isinstance(not_allowed, Point)
    assert max(abs(not_allowed.x - 7), abs(not_allowed.y - 7)) == 3


@pytest.mark.parametrize("state", [three_stones(), start("pro").apply("h8")])
def test_a_stop_ends_the_search_behind_an_action(state: OpeningState) -> None:
    stop = StopSignal()
    stop.set()
    hours = Limits(time_ms=10**8)
    (action,) = choose_actions(make_agent("alphabeta:hash-mb=1"), state, hours, random.Random(0), stop)
    assert action in state.actions()


def test_nothing_to_do() -> None:
    with pytest.raises(InputError, match="the opening is over"):
        choose_action(Judge(None), start("free"), LIMITS, random.Random(0))
