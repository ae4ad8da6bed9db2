"""Games of two agents in this process, each opening with both colours. Used to measure one agent."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tengen.arena.match import TimeControl, play_game
from tengen.arena.tally import Wdl
from tengen.core.contracts import Agent, Outcome, Ruleset
from tengen.core.geometry import Point
from tengen.errors import AgentError


def play_pairs(
    ruleset: Ruleset,
    agents: tuple[Agent, Agent],
    openings: Iterable[Sequence[Point]],
    seed: int,
    controls: tuple[TimeControl, TimeControl] = (TimeControl(), TimeControl()),
) -> tuple[Wdl, Wdl]:
    """Return the results of the first agent with black and with white. Raises `AgentError` if an agent forfeits."""
    black, white = Wdl(), Wdl()
    for number, opening in enumerate(openings):
        for wdl, first_seat in ((black, 0), (white, 1)):
            seated, clocks = (agents, controls) if first_seat == 0 else (agents[::-1], controls[::-1])
            result = play_game(ruleset, seated, controls=clocks, opening=tuple(opening), seed=seed + number)
            if result.ending.is_forfeit:
                loser = seated[result.loser_seat or 0].name
                raise AgentError(f"{loser} forfeited a game of the measurement: {result.detail}")
            if result.outcome is Outcome.DRAW:
                wdl.add(0.5)
            else:
                wdl.add(1.0 if result.winner_seat == first_seat else 0.0)
    return black, white
