"""Two players meet from each opening with both colours, in this process: what measurements of one player need."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tengen.arena.match import Contestant, play_game
from tengen.arena.tally import Wdl
from tengen.core.contracts import Outcome, Ruleset
from tengen.core.geometry import Point
from tengen.errors import AgentError


def play_pairs(
    ruleset: Ruleset, contestants: tuple[Contestant, Contestant], openings: Iterable[Sequence[Point]], seed: int
) -> tuple[Wdl, Wdl]:
    """Results of the first contestant with black and with white; a player that fails is an `AgentError`."""
    black, white = Wdl(), Wdl()
    for number, opening in enumerate(openings):
        for wdl, pair, first_seat in ((black, contestants, 0), (white, contestants[::-1], 1)):
            result = play_game(ruleset, pair, opening=tuple(opening), seed=seed + number)
            if result.ending.is_forfeit:
                loser = pair[result.loser_seat or 0].agent.name
                raise AgentError(f"{loser} failed while it was measured: {result.detail}")
            if result.outcome is Outcome.DRAW:
                wdl.add(0.5)
            else:
                wdl.add(1.0 if result.winner_seat == first_seat else 0.0)
    return black, white
