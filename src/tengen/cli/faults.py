"""Reports on players that lost games because of faults, such as an exception, a crash or an illegal move."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import typer

from tengen.errors import AgentError

if TYPE_CHECKING:
    from tengen.arena.store import GameStore


def report_faults(store: GameStore) -> None:
    """Print the first fault of each player on stderr. Raises `AgentError` if a player lost all its games this way."""
    names = [entrant.name or entrant.agent for entrant in store.players()]
    played: Counter[int] = Counter()
    forfeited: Counter[int] = Counter()
    first: dict[int, str] = {}
    for game in store.played_games():
        played.update((game.score.first, game.score.second))
        loser = game.score.loser
        if game.score.ending.is_forfeit and loser is not None:
            forfeited[loser] += 1
            detail = game.detail.partition("\n")[0]
            first.setdefault(loser, f"{game.score.ending} in game {game.score.number + 1}: {detail or 'no details'}")
    for player, fault in first.items():
        typer.echo(f"{names[player]} forfeited {forfeited[player]} of {played[player]} games; {fault}", err=True)
    broken = [player for player in first if forfeited[player] == played[player]]
    if broken:
        listed = ", ".join(names[player] for player in broken)
        raise AgentError(f"{listed} did not finish a single game: fix the error above and run the command again")
