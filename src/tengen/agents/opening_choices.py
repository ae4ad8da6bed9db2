"""What an agent does in an opening procedure, where it is asked for single stones and for a colour.

Players choose moves, not openings; this turns the one into the other, the same way for every agent.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from tengen.core.contracts import Agent, Limits, Opening, Ruleset
from tengen.core.geometry import Point
from tengen.core.opening_procedure import Choose, Done, OpeningState, Option, Place, Step
from tengen.errors import InputError
from tengen.protocols.piskvork.swap2 import Swap2Answer

_REACH = 3
"""Stones of a free opening are put at most this many lines from the centre, where they matter."""
_EVEN = 0.1
"""A position valued closer to 0 than this is even enough to hand the choice back."""


@runtime_checkable
class AnswersSwap2(Protocol):
    """What an agent may offer beyond `Agent`: to play swap2 by itself."""

    def answer_swap2(self, ruleset: Ruleset, points: Sequence[Point], limits: Limits) -> Swap2Answer:
        """What to do in front of 0, 3 or 5 stones of an opening."""
        ...


def choose_actions(agent: Agent, state: OpeningState, limits: Limits, rng: random.Random) -> tuple[Point | Option, ...]:
    """What the agent does for the seat that is due, as many actions as it decides on at once.

    An agent that plays swap2 by itself puts several stones at a time; when it takes white, its first move comes with
    the answer as an action too many for the opening.
    """
    points = state.position.moves
    is_asked = state.position.ruleset.opening is Opening.SWAP2 and len(points) in (0, 3, 5)
    if not is_asked or not isinstance(agent, AnswersSwap2):
        return (choose_action(agent, state, limits, rng),)
    answer = agent.answer_swap2(state.position.ruleset, points, limits)
    return answer.points if answer.option is None else (answer.option, *answer.points)


def choose_action(agent: Agent, state: OpeningState, limits: Limits, rng: random.Random) -> Point | Option:
    """The agent's action for the seat that is due.

    When the colours are fixed (pro), the stones are the agent's own moves wherever the procedure allows them. When
    they are not (swap, swap2), it puts stones at random near the centre and picks the colour it values higher; two
    more stones when it sees no difference; any option when it values nothing.
    """
    match state.step:
        case Done():
            raise InputError(f"no action is due: the opening is over ({state})")
        case Choose():
            return _choose_option(agent, state, limits, rng)
        case Place(then=then):
            return _choose_point(agent, state, limits, rng, own_stones=_is_settled(then))


def _is_settled(step: Step) -> bool:
    """Whether nothing but stones is still to come: each seat then puts stones of its own colour."""
    while isinstance(step, Place):
        step = step.then
    return isinstance(step, Done)


def _choose_option(agent: Agent, state: OpeningState, limits: Limits, rng: random.Random) -> Option:
    # White is to move wherever a colour is chosen.
    white_value = agent.choose(state.position, limits).value_to_move
    if white_value is None:
        return rng.choice(state.options)
    if abs(white_value) < _EVEN and Option.PLACE_TWO in state.options:
        return Option.PLACE_TWO
    return Option.TAKE_WHITE if white_value > 0 else Option.TAKE_BLACK


def _choose_point(agent: Agent, state: OpeningState, limits: Limits, rng: random.Random, *, own_stones: bool) -> Point:
    allowed = state.allowed_points()
    if own_stones:
        move = agent.choose(state.position, limits).move
        if move in allowed:
            return move
    centre = state.position.ruleset.centre
    distances = {point: max(abs(point.x - centre.x), abs(point.y - centre.y)) for point in allowed}
    reach = max(_REACH, min(distances.values()))
    return rng.choice([point for point in allowed if distances[point] <= reach])
