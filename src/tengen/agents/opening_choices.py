"""Agents' actions in an opening procedure: placing single stones and choosing a colour.

Agents only choose moves. This module derives opening actions from their moves, in the same way for every agent.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from tengen.core.contracts import Agent, Decision, Limits, Opening, Ruleset
from tengen.core.geometry import Point
from tengen.core.opening_procedure import Choose, Done, OpeningState, Option, Place, Step
from tengen.core.position import Position
from tengen.core.stop_signal import StopSignal
from tengen.errors import InputError
from tengen.protocols.piskvork.swap2 import Swap2Answer

_REACH = 3
"""Maximum distance of random stones from the centre, in lines."""
_EVEN = 0.1
"""A position counts as even if the absolute value of its evaluation is below this."""


@runtime_checkable
class AnswersSwap2(Protocol):
    """Optional interface for agents that play swap2 themselves."""

    def answer_swap2(self, ruleset: Ruleset, points: Sequence[Point], limits: Limits, stop: StopSignal) -> Swap2Answer:
        """Return the answer to an opening of 0, 3 or 5 stones. Once `stop` is set, answer promptly."""
        ...


@dataclass(frozen=True, slots=True)
class OpeningDecision:
    """An agent's next actions in an opening procedure, and the evaluation on which they are based."""

    actions: tuple[Point | Option, ...]
    white_value: float | None = None
    """Value of the position for white, in [-1, 1]; None if the agent placed stones or did not report a value."""


def choose_actions(
    agent: Agent, state: OpeningState, limits: Limits, rng: random.Random, stop: StopSignal | None = None
) -> tuple[Point | Option, ...]:
    """Return the agent's next actions for the seat to act; see `decide_opening`."""
    return decide_opening(agent, state, limits, rng, stop).actions


def decide_opening(
    agent: Agent, state: OpeningState, limits: Limits, rng: random.Random, stop: StopSignal | None = None
) -> OpeningDecision:
    """Return the agent's next actions for the seat to act, and the evaluation on which they are based.

    An agent that plays swap2 itself decides on several stones together. If it takes white, its answer also contains its
    first move of the game, after the last opening action.
    """
    stop = stop or StopSignal()
    points = state.position.moves
    is_asked = state.position.ruleset.opening is Opening.SWAP2 and len(points) in (0, 3, 5)
    if is_asked and isinstance(agent, AnswersSwap2):
        answer = agent.answer_swap2(state.position.ruleset, points, limits, stop)
        return OpeningDecision(answer.points if answer.option is None else (answer.option, *answer.points))
    if isinstance(state.step, Choose):
        option, white_value = _choose_option(agent, state, limits, rng, stop)
        return OpeningDecision((option,), white_value)
    return OpeningDecision((choose_action(agent, state, limits, rng, stop),))


def choose_action(
    agent: Agent, state: OpeningState, limits: Limits, rng: random.Random, stop: StopSignal | None = None
) -> Point | Option:
    """Return the agent's action for the seat to act.

    If the colours are fixed (pro), the agent plays its own move if the procedure allows that move. Otherwise (swap,
    swap2), it places stones at random near the centre. Given a choice, it takes the colour with the higher value, or
    places two more stones if the position is about even and the procedure allows that. An agent that reports no value
    takes a random option.
    """
    stop = stop or StopSignal()
    match state.step:
        case Done():
            raise InputError(f"no action is possible: the opening is over ({state})")
        case Choose():
            return _choose_option(agent, state, limits, rng, stop)[0]
        case Place(then=then):
            return _choose_point(agent, state, limits, rng, stop, own_stones=_is_settled(then))


def _is_settled(step: Step) -> bool:
    """Return whether each seat already has its colour, so that only stones remain to be placed."""
    while isinstance(step, Place):
        step = step.then
    return isinstance(step, Done)


def _decide(agent: Agent, position: Position, limits: Limits, stop: StopSignal) -> Decision:
    search = agent.start(position, limits)
    with stop.calling(search.stop):
        return search.result()


def _choose_option(
    agent: Agent, state: OpeningState, limits: Limits, rng: random.Random, stop: StopSignal
) -> tuple[Option, float | None]:
    """Return the chosen option and the value for white on which the choice is based."""
    # White is to move whenever a colour is chosen.
    white_value = _decide(agent, state.position, limits, stop).value_to_move
    if white_value is None:
        return rng.choice(state.options), None
    if abs(white_value) < _EVEN and Option.PLACE_TWO in state.options:
        return Option.PLACE_TWO, white_value
    return (Option.TAKE_WHITE if white_value > 0 else Option.TAKE_BLACK), white_value


def _choose_point(
    agent: Agent, state: OpeningState, limits: Limits, rng: random.Random, stop: StopSignal, *, own_stones: bool
) -> Point:
    allowed = state.allowed_points()
    if own_stones:
        move = _decide(agent, state.position, limits, stop).move
        if move in allowed:
            return move
    centre = state.position.ruleset.centre
    distances = {point: max(abs(point.x - centre.x), abs(point.y - centre.y)) for point in allowed}
    reach = max(_REACH, min(distances.values()))
    return rng.choice([point for point in allowed if distances[point] <= reach])
