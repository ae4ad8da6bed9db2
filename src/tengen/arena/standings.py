"""Standings of all players over the games in one or more stores: counts, ratings, times and faults."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tengen.arena.match import Ending
from tengen.arena.ratings import Ratings, rate_tally
from tengen.arena.store import Effort, GameStore, Score
from tengen.arena.tally import Tally
from tengen.errors import InputError

_MAX_FAULTS = 1000
_DEFAULT_LIMITS = (("threads", 1), ("increment_ms", 0))
"""Values that mean the same as a missing limit."""


@dataclass(slots=True)
class Times:
    """Time and search effort of a player's moves."""

    moves: int = 0
    total_ms: float = 0.0
    longest_ms: float = 0.0
    nodes: int = 0
    depths: int = 0

    def add(self, effort: Effort) -> None:
        """Add the moves of one game."""
        self.moves += effort.moves
        self.total_ms += effort.total_ms
        self.longest_ms = max(self.longest_ms, effort.longest_ms)
        self.nodes += effort.nodes
        self.depths += effort.depths

    @property
    def mean_ms(self) -> float:
        """Milliseconds per move."""
        return self.total_ms / self.moves if self.moves else 0.0

    @property
    def mean_nodes(self) -> float:
        """Nodes or simulations per move."""
        return self.nodes / self.moves if self.moves else 0.0

    @property
    def mean_depth(self) -> float:
        """Search depth per move, in plies."""
        return self.depths / self.moves if self.moves else 0.0


@dataclass(frozen=True, slots=True)
class Fault:
    """A forfeited game."""

    player: int
    opponent: int
    game: int
    """Number of the game, from 1."""
    ending: Ending
    detail: str


@dataclass(slots=True)
class Standings:
    """Data for a report. Players with the same name in several stores are treated as one player."""

    name: str
    names: list[str]
    agents: list[str]
    tally: Tally
    times: list[Times]
    faults: list[Fault]
    """The first `_MAX_FAULTS` faults; `tally.forfeits` counts all."""
    ratings: dict[str, Ratings]
    """Ratings by ruleset."""
    anchors: dict[int, float]
    plies: int = 0
    """Total number of stones in all games."""
    games_planned: int = 0
    descriptions: list[dict[str, object]] = field(default_factory=list)

    def by_strength(self, ruleset: str) -> list[int]:
        """Return the players that have played under a ruleset, strongest first."""
        ratings = self.ratings[ruleset]
        players = [player for player in range(len(self.names)) if ratings.games[player]]
        return sorted(players, key=lambda player: (-round(float(ratings.elo[player]), 6), self.names[player]))


def collect(
    stores: Sequence[GameStore], anchors: Mapping[str, float] | None = None, *, mixes_limits: bool = False
) -> Standings:
    """Collect all games from the stores. `anchors` adds known ratings by name to those in the descriptions.

    Raises `InputError` if a player played with different limits in two stores, unless `mixes_limits` allows it: a
    rating that mixes several limits does not describe the player's strength under any of them.
    """
    if not mixes_limits:
        _check_limits(stores)
    names: list[str] = []
    agents: list[str] = []
    wanted: dict[str, float] = {}
    standings = Standings("", names, agents, Tally(), [], [], {}, {})
    offset = 0
    for store in stores:
        description = store.description()
        standings.descriptions.append(description)
        standings.games_planned += store.games_planned() or len(store)
        places = _register_players(store, standings, description, wanted)
        numbers = _add_games(store, standings, places, offset)
        offset += numbers + numbers % 2  # an even offset preserves the pairs of games
    standings.name = " and ".join(dict.fromkeys(str(one.get("name", "games")) for one in standings.descriptions))
    wanted.update(anchors or {})
    for name, elo in wanted.items():
        if name not in names:
            raise InputError(f"no player is called {name!r}; players: {', '.join(names)}")
        standings.anchors[names.index(name)] = elo
    for ruleset in standings.tally.rulesets():
        standings.ratings[ruleset] = rate_tally(standings.tally, len(names), ruleset=ruleset, anchors=standings.anchors)
    return standings


def _check_limits(stores: Sequence[GameStore]) -> None:
    """Raise `InputError` if the limits of a player differ between stores."""
    seen: dict[str, tuple[GameStore, dict[str, Any]]] = {}
    for store in stores:
        if not len(store):
            continue
        for name, limits in _limits_by_name(store).items():
            first, other = seen.setdefault(name, (store, limits))
            if other != limits:
                raise InputError(
                    f"{name!r} played with {_limits_text(other)} in {first.path} and with {_limits_text(limits)} in"
                    f" {store.path}; rate the files separately, or allow it with --mix-limits"
                )


def _limits_by_name(store: GameStore) -> dict[str, dict[str, Any]]:
    """Return each player's limits, without those that do not affect its strength."""
    description = store.description()
    entrants = description.get("players")
    described = entrants if isinstance(entrants, list) else []
    found = {}
    for number, player in enumerate(store.players()):
        entrant = described[number] if number < len(described) else None
        own = entrant.get("limits") if isinstance(entrant, dict) else None
        limits = own if isinstance(own, dict) else description.get("limits")
        found[player.name] = {
            key: value
            for key, value in (limits.items() if isinstance(limits, dict) else ())
            if key != "tolerance_ms" and (key, value) not in _DEFAULT_LIMITS
        }
    return found


def _limits_text(limits: Mapping[str, Any]) -> str:
    return ", ".join(f"{key}={value}" for key, value in limits.items()) or "no limits"


def _register_players(
    store: GameStore, standings: Standings, description: Mapping[str, object], anchors: dict[str, float]
) -> list[int]:
    """Return the indices of a store's players in the standings, after adding new ones."""
    places: list[int] = []
    entrants = description.get("players")
    described = [one if isinstance(one, dict) else {} for one in entrants] if isinstance(entrants, list) else []
    for number, player in enumerate(store.players()):
        if player.name not in standings.names:
            standings.names.append(player.name)
            standings.agents.append(player.agent)
            standings.times.append(Times())
        places.append(standings.names.index(player.name))
        anchor = described[number].get("anchor") if number < len(described) else None
        if isinstance(anchor, (int, float)):
            anchors[player.name] = float(anchor)
    return places


def _add_games(store: GameStore, standings: Standings, places: Sequence[int], offset: int) -> int:
    """Count the games in a store and return its highest game number plus one."""
    highest = 0
    for played in store.played_games():
        game = played.score
        first, second = places[game.first], places[game.second]
        number = game.number + offset
        score = Score(number, game.ruleset, first, second, game.black_seat, game.outcome, game.ending)
        standings.tally.add(score)
        standings.plies += played.stones
        standings.times[score.black].add(played.black)
        standings.times[score.white].add(played.white)
        if score.ending.is_forfeit and score.loser is not None and len(standings.faults) < _MAX_FAULTS:
            sentence = played.detail.partition("\n")[0]
            winner = first + second - score.loser
            standings.faults.append(Fault(score.loser, winner, number + 1, score.ending, sentence))
        highest = game.number + 1
    return highest
