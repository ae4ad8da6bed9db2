"""Games between two agents, one with each colour from each opening; used to measure an agent."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tengen.arena.adjudication import Adjudication
from tengen.arena.entrant import Entrant
from tengen.arena.match import GameResult, TimeControl, play_game
from tengen.arena.schedule import ScheduledGame
from tengen.arena.tally import Wdl
from tengen.arena.workers import PlaySettings, game_workers
from tengen.core.contracts import Agent, Outcome, Ruleset
from tengen.core.geometry import Point
from tengen.core.worker_pool import MakePool
from tengen.errors import AgentError


def play_pairs(
    ruleset: Ruleset | str,
    agents: tuple[Agent, Agent],
    openings: Iterable[Sequence[Point]],
    seed: int,
    controls: tuple[TimeControl, TimeControl] = (TimeControl(), TimeControl()),
) -> tuple[Wdl, Wdl]:
    """Return the first agent's results with black and with white. Raises `AgentError` if an agent forfeits."""
    black, white = Wdl(), Wdl()
    names = agents[0].name, agents[1].name
    for number, opening in enumerate(openings):
        for wdl, first_seat in ((black, 0), (white, 1)):
            seated, clocks = (agents, controls) if first_seat == 0 else (agents[::-1], controls[::-1])
            result = play_game(ruleset, seated, controls=clocks, opening=tuple(opening), seed=seed + number)
            wdl.add(_points(result, first_seat, names))
    return black, white


def play_pairs_elsewhere(
    ruleset: Ruleset,
    players: tuple[str, str],
    openings: Iterable[Sequence[Point]],
    seed: int,
    make_pool: MakePool,
) -> tuple[Wdl, Wdl]:
    """Play the games of `play_pairs` in a worker pool. The players are given as agent specifications."""
    results = Wdl(), Wdl()
    first, second = (Entrant(agent=player, limits=TimeControl()) for player in players)
    settings = PlaySettings(players=(first, second), adjudication=Adjudication())
    games = (
        ScheduledGame(
            number=2 * number + first_seat,
            ruleset=ruleset,
            first=first_seat,
            second=1 - first_seat,
            round=number,
            opening=tuple(opening),
            opening_number=number,
            seed=seed + number,
        )
        for number, opening in enumerate(openings)
        for first_seat in (0, 1)
    )
    with game_workers(settings, make_pool=make_pool) as pool:
        for game, result in pool.run(games):
            results[game.first].add(_points(result, game.first, players))
    return results


def _points(result: GameResult, first_seat: int, names: tuple[str, str]) -> float:
    """Return the points scored by the first agent, which plays in `first_seat`."""
    if result.ending.is_forfeit:
        loser = names[(result.loser_seat or 0) ^ first_seat]
        raise AgentError(f"{loser} forfeited a game during the measurement: {result.detail}")
    if result.outcome is Outcome.DRAW:
        return 0.5
    return 1.0 if result.winner_seat == first_seat else 0.0
