"""Running counts of a tournament for tables, ratings and sequential tests, in constant memory."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from tengen.arena.match import Ending
from tengen.arena.store import Score
from tengen.core.contracts import Outcome


@dataclass(slots=True)
class Wdl:
    """Wins, draws and losses for one side."""

    wins: int = 0
    draws: int = 0
    losses: int = 0

    @property
    def games(self) -> int:
        """Number of games."""
        return self.wins + self.draws + self.losses

    @property
    def points(self) -> float:
        """Wins plus half the draws."""
        return self.wins + self.draws / 2

    @property
    def score(self) -> float:
        """Points per game; one half if there are no games."""
        return self.points / self.games if self.games else 0.5

    def add(self, points: float) -> None:
        """Count a game that scored 1, ½ or 0 points."""
        if points == 1:
            self.wins += 1
        elif points == 0:
            self.losses += 1
        else:
            self.draws += 1

    def reversed(self) -> Wdl:
        """Return the counts from the point of view of the other side."""
        return Wdl(self.losses, self.draws, self.wins)

    def __add__(self, other: Wdl) -> Wdl:
        return Wdl(self.wins + other.wins, self.draws + other.draws, self.losses + other.losses)

    def __str__(self) -> str:
        return f"+{self.wins} ={self.draws} -{self.losses}"


_NO_GAMES = Wdl()
_NO_PAIRS = (0,) * 5


@dataclass(slots=True)
class Tally:
    """Counts over games, which may be added in any order."""

    games: int = 0
    by_colour: defaultdict[tuple[str, int, int], Wdl] = field(default_factory=lambda: defaultdict(Wdl))
    """Black's wins, draws and losses by (ruleset, black player, white player)."""
    endings: Counter[Ending] = field(default_factory=Counter)
    forfeits: Counter[tuple[int, Ending]] = field(default_factory=Counter)
    """Number of games lost by (player, fault)."""
    _black_totals: defaultdict[tuple[str, int], Wdl] = field(default_factory=lambda: defaultdict(Wdl))
    """Results with black against all opponents, by (ruleset, player)."""
    _white_totals: defaultdict[tuple[str, int], Wdl] = field(default_factory=lambda: defaultdict(Wdl))
    _pairs: defaultdict[tuple[str, int, int], list[int]] = field(default_factory=lambda: defaultdict(lambda: [0] * 5))
    """Number of pairs in which the earlier player scored 0, ½, 1, 1½, 2 points, by (ruleset, earlier, later player)."""
    _split_pairs: Counter[tuple[str, int, int]] = field(default_factory=Counter)
    """Number of pairs in which each player won one game, by (ruleset, earlier, later player)."""
    _rulesets: set[str] = field(default_factory=set)
    _half_pairs: dict[int, float] = field(default_factory=dict)
    """The earlier player's points in the finished game of each half-finished pair, by pair number."""

    def add(self, score: Score) -> bool:
        """Count a game and return whether it completed a pair."""
        self.games += 1
        self.endings[score.ending] += 1
        if score.ending.is_forfeit and score.loser is not None:
            self.forfeits[score.loser, score.ending] += 1
        black_points = {Outcome.BLACK: 1.0, Outcome.WHITE: 0.0}.get(score.outcome, 0.5)
        self.by_colour[score.ruleset, score.black, score.white].add(black_points)
        self._black_totals[score.ruleset, score.black].add(black_points)
        self._white_totals[score.ruleset, score.white].add(1 - black_points)
        self._rulesets.add(score.ruleset)
        # In even-numbered games, the earlier player of the pairing has seat 0.
        earlier, later = (score.first, score.second) if score.number % 2 == 0 else (score.second, score.first)
        earlier_seat = score.number % 2
        points = black_points if score.black_seat == earlier_seat else 1 - black_points
        other = self._half_pairs.pop(score.number // 2, None)
        if other is None:
            self._half_pairs[score.number // 2] = points
            return False
        self._pairs[score.ruleset, earlier, later][round(2 * (points + other))] += 1
        self._split_pairs[score.ruleset, earlier, later] += {points, other} == {0.0, 1.0}
        return True

    def add_all(self, scores: Iterable[Score]) -> None:
        """Count several games."""
        for score in scores:
            self.add(score)

    def rulesets(self) -> list[str]:
        """Return the rulesets with at least one finished game."""
        return sorted(self._rulesets)

    def as_black(self, player: int, other: int | None = None, ruleset: str | None = None) -> Wdl:
        """Return a player's results with black; None means any opponent or any ruleset. Does not iterate over games."""
        found = Wdl()
        for rules in self._rulesets if ruleset is None else (ruleset,):
            if other is None:
                found += self._black_totals.get((rules, player), _NO_GAMES)
            else:
                found += self.by_colour.get((rules, player, other), _NO_GAMES)
        return found

    def as_white(self, player: int, other: int | None = None, ruleset: str | None = None) -> Wdl:
        """Return a player's results with white; None means any opponent or any ruleset. Does not iterate over games."""
        found = Wdl()
        for rules in self._rulesets if ruleset is None else (ruleset,):
            if other is None:
                found += self._white_totals.get((rules, player), _NO_GAMES)
            else:
                found += self.by_colour.get((rules, other, player), _NO_GAMES).reversed()
        return found

    def of(self, player: int, other: int | None = None, ruleset: str | None = None) -> Wdl:
        """Return a player's results with both colours."""
        return self.as_black(player, other, ruleset) + self.as_white(player, other, ruleset)

    def pairs_of(self, earlier: int, later: int, ruleset: str | None = None) -> list[int]:
        """Return the number of complete pairs in which the earlier player scored 0, ½, 1, 1½ and 2 points."""
        counts = [0] * 5
        for rules in self._rulesets if ruleset is None else (ruleset,):
            found = self._pairs.get((rules, earlier, later), _NO_PAIRS)
            counts = [a + b for a, b in zip(counts, found, strict=True)]
        return counts

    def split_pairs_of(self, earlier: int, later: int) -> int:
        """Return the number of complete pairs in which each player won a game; they show no difference in strength."""
        return sum(self._split_pairs[rules, earlier, later] for rules in self._rulesets)

    def match_counts(self, earlier: int, later: int) -> list[int]:
        """Return the counts for the Elo estimate of a match: the five counts from `pairs_of`.

        If more than a tenth of the games have no partner, as in a very short match, return three counts of single
        games instead: losses, draws and wins.
        """
        wdl = self.of(earlier, later)
        pairs = self.pairs_of(earlier, later)
        if 2 * sum(pairs) >= 0.9 * wdl.games > 0:
            return pairs
        return [wdl.losses, wdl.draws, wdl.wins]
