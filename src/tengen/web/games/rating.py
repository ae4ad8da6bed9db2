"""The rating of a person against the levels (Glicko-2), computed from the games of their browser.

Only the games are stored; the rating is computed from all rated games in the order in which they ended. A deleted game
no longer counts.
"""

from __future__ import annotations

from collections.abc import Iterable

from tengen.agents.levels import load_levels
from tengen.arena.glicko import Glicko
from tengen.core.contracts import Outcome
from tengen.web.messages.games import GameSummary, LevelPlayer, NewGame, Person, PlayerRating, RatedGame

_START = Glicko(600)
"""Rating of a person without games: about that of the default level."""
_MAX_HISTORY = 200


def rating_of(games: Iterable[GameSummary]) -> PlayerRating:
    """Return the rating after these games, oldest first; games that are not rated or not over are ignored."""
    ratings = _level_ratings()
    now = _START
    history: list[RatedGame] = []
    for game in games:
        level, score = _level_of(game), _score_of(game)
        if not game.is_rated or score is None or level not in ratings:
            continue
        after = now.after([(Glicko(ratings[level], 0.0), score)])
        history.append(
            RatedGame(
                game_id=game.id,
                level=level,
                score=score,
                rating=round(after.rating),
                change=round(after.rating) - round(now.rating),
            )
        )
        now = after
    return PlayerRating(
        rating=round(now.rating),
        deviation=round(now.deviation),
        games=len(history),
        suggested_level=_closest_level(now.rating, ratings),
        history=history[-_MAX_HISTORY:],
    )


def with_adaptive_levels(request: NewGame, level: int) -> NewGame:
    """Return the request with this level for every adaptive opponent."""
    adapted = {
        seat: player.model_copy(update={"level": level})
        for seat, player in (("black", request.black), ("white", request.white))
        if isinstance(player, LevelPlayer) and player.is_adaptive
    }
    return request.model_copy(update=adapted)


def _level_ratings() -> dict[int, float]:
    return {one.level: float(one.rating) for one in load_levels() if one.rating is not None}


def _closest_level(rating: float, ratings: dict[int, float]) -> int:
    """Return the level against which the expected score is closest to one half."""
    return min(ratings, key=lambda level: abs(ratings[level] - rating), default=1)


def _level_of(game: GameSummary) -> int:
    return next((player.level for player in game.players.values() if isinstance(player, LevelPlayer)), 0)


def _score_of(game: GameSummary) -> float | None:
    """Return the score of the person; None if the game is not over."""
    match game.outcome:
        case Outcome.ONGOING:
            return None
        case Outcome.DRAW:
            return 0.5
        case _:
            winner = game.black if game.outcome is Outcome.BLACK else game.white
            return 1.0 if isinstance(winner, Person) else 0.0
