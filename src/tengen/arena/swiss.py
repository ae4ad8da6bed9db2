"""Swiss pairings: in each round, players meet opponents with similar scores whom they have not met before.

The pairings depend only on the seed and the results of the earlier rounds, so an interrupted tournament resumes with
the same pairings. If the number of players is odd, one player has a bye in each round; it is paired with an empty seat.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from tengen.errors import InputError

_PRIME = 2**31 - 1


class SwissPairings:
    """The rounds of a Swiss tournament; each round is paired when the results of all earlier ones are known."""

    def __init__(self, players: int, seed: int, games_per_meeting: int) -> None:
        if players < 2:
            raise InputError(f"a tournament needs at least two players, not {players}")
        self.per_round = players // 2
        self._seed = seed
        self._points = [0.0] * players
        self._games_per_meeting = games_per_meeting
        self._games_left = 0
        """Number of games in the last paired round that have no result yet."""
        self._rounds: list[list[tuple[int, int]]] = []
        self._met: Counter[tuple[int, int]] = Counter()

    def of_round(self, round_number: int) -> list[tuple[int, int]]:
        """Return the pairs (i, j) with i < j of a round, starting with the leading players."""
        while len(self._rounds) <= round_number:
            self._pair_next_round()
        return self._rounds[round_number]

    def add(self, players: tuple[int, int], points: float) -> None:
        """Add a finished game of the last paired round; `points` is the score of the first player: 0, ½ or 1."""
        first, second = players
        self._points[first] += points
        self._points[second] += 1 - points
        self._games_left -= 1

    def _pair_next_round(self) -> None:
        if self._games_left:
            raise InputError(
                f"cannot pair round {len(self._rounds) + 1}: the previous round has unfinished games"
                f" ({self._games_left})"
            )
        rng = random.Random(f"swiss {self._seed} {len(self._rounds)}")
        pairs = pair_round(self._points, self._met, rng)
        self._met.update(pairs)
        empty_seat = len(self._points)
        for player, _ in (pair for pair in pairs if pair[1] == empty_seat):
            self._points[player] += self._games_per_meeting
        self._rounds.append([pair for pair in pairs if pair[1] != empty_seat])
        self._games_left = self._games_per_meeting * self.per_round


def pair_round(
    points: Sequence[float], met: Mapping[tuple[int, int], int], rng: random.Random
) -> list[tuple[int, int]]:
    """Return the pairs (i, j) with i < j of the next round. Player `len(points)` is the empty seat, if there is one.

    `met` counts the earlier meetings of each pair, including byes. A meeting is *fresh* if no pair has met less often.
    Players get their opponents one after another, from the top of the table. Each choice keeps the possible number of
    fresh meetings at its maximum and, if that is still possible, also the number of fresh meetings between players with
    equal points. Among the remaining opponents, the nearest in the table is chosen. The bye is assigned first, to the
    lowest player who can have it.
    """
    players = len(points)
    table = sorted(range(players), key=lambda player: (-points[player], rng.random()))
    waiting = [players, *table] if players % 2 else table
    seats = len(waiting)
    counts = np.zeros((seats, seats), dtype=np.int64)
    for one, other in combinations(range(seats), 2):
        counts[one, other] = counts[other, one] = met.get((one, other), 0)
    np.fill_diagonal(counts, counts.max() + 1)
    fresh = counts == counts.min()

    pairs = []
    while waiting:
        player = waiting.pop(0)
        is_bye = player == players
        equals = [] if is_bye else [other for other in waiting if points[other] == points[player]]
        nearest = sorted(waiting[::-1] if is_bye else waiting, key=lambda other: int(counts[player, other]))
        suitable = (
            other
            for groups in ((equals, waiting), (waiting,))
            for other in nearest
            if all(_keeps_most(fresh, player, group, other) for group in groups)
        )
        opponent = next(suitable, nearest[0])
        waiting.remove(opponent)
        pairs.append((min(player, opponent), max(player, opponent)))
    return pairs


def _keeps_most(fresh: NDArray[np.bool_], player: int, others: Sequence[int], opponent: int) -> bool:
    """Return whether the maximum number of fresh meetings can still be reached after the player meets this opponent."""
    group, rest = [player, *others], [other for other in others if other != opponent]
    most, left = (_most_pairs(fresh[np.ix_(one, one)]) for one in (group, rest))
    return left + (opponent in others and bool(fresh[player, opponent])) == most


def _most_pairs(edges: NDArray[np.bool_]) -> int:
    """Return the number of pairs in a maximum matching of a graph.

    It is half the rank of a skew-symmetric matrix with random numbers at the edges (Lovász 1979), computed modulo a
    prime. With these numbers, the result is too small with a probability below size / prime, and never too large.
    """
    size = len(edges)
    numbers = np.random.default_rng(0).integers(1, _PRIME, (size, size))
    matrix = np.where(edges, np.triu(numbers, 1), 0)
    matrix = (matrix - matrix.T) % _PRIME
    rank = 0
    for column in range(size):
        rows = rank + np.flatnonzero(matrix[rank:, column])
        if not len(rows):
            continue
        matrix[[rank, rows[0]]] = matrix[[rows[0], rank]]
        pivot = matrix[rank] * pow(int(matrix[rank, column]), -1, _PRIME) % _PRIME
        rank += 1
        below = matrix[rank:]
        below -= below[:, column, None] * pivot % _PRIME
        below %= _PRIME
    return rank // 2
