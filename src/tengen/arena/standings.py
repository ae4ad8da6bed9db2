"""Standings of all players over the games of one or more stores: counts, ratings, times and faults."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tengen.arena.match import Ending
from tengen.arena.ratings import Ratings, rate_tally
from tengen.arena.store import Effort, GameStore, Score
from tengen.arena.tally import Tally
from tengen.errors import InputError

_MAX_FAULTS = 1000


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
    """Content of a report. Players with the same name in several stores are one player."""

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
        """Return the players with games under a ruleset, strongest first."""
        ratings = self.ratings[ruleset]
        players = [player for player in range(len(self.names)) if ratings.games[player]]
        return sorted(players, key=lambda player: (-round(float(ratings.elo[player]), 6), self.names[player]))


def collect(stores: Sequence[GameStore], anchors: Mapping[str, float] | None = None) -> Standings:
    """Collect all games of the stores. `anchors` adds known ratings by name to those in the descriptions."""
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
    """Count the games of a store and return one more than its highest number."""
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
