"""Ratings of all players, fitted to all their games together.

The model is Bradley–Terry with draws (Davidson 1970) and a first-move advantage (Davidson and Beaver 1977). With
strengths θ, first-move advantage h and draw tendency δ, black wins, draws and loses against white in the ratio

    exp(θ_black + h) : exp(δ + (θ_black + h + θ_white) / 2) : exp(θ_white).

All parameters are fitted together by maximum a posteriori estimation with wide normal priors. The priors keep ratings
finite even for players who won or lost all their games. The intervals come from the curvature at the maximum.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from tengen.arena.distributions import normal_cdf
from tengen.arena.elo import ELO_UNIT, Floats
from tengen.arena.tally import Tally, Wdl
from tengen.errors import InputError

_Meeting = tuple[int, int, Wdl]
"""Black player, white player, black's counts."""

Z_95 = 1.959963984540054
"""Half the width of the central 95 % of a normal distribution, in standard deviations."""

_PRIOR_ELO = 1000.0
"""Standard deviation of the prior over strengths."""
_PRIOR_FIRST_MOVE_ELO = 300.0
_PRIOR_DRAW = (-1.0, 3.0)
"""Mean and standard deviation of δ; the mean gives a draw rate of about one sixth between equal players."""
_MAX_STEPS = 100
_TOLERANCE = 1e-16
"""Newton's method stops when the expected decrease in the next step is below this value."""
_MEETINGS_AT_ONCE = 65_536
"""Meetings per chunk of the Hessian; bounds memory use, which is about 400 bytes per meeting."""
_SLOPES = np.array([[1.0, 0.5, 0.0], [0.0, 0.5, 1.0], [1.0, 0.5, 0.0], [0.0, 1.0, 0.0]])
"""Derivatives of the utilities of a black win, a draw and a white win with respect to θ_black, θ_white, h and δ."""


@dataclass(frozen=True, slots=True)
class Ratings:
    """Strengths in Elo. Without anchors, the mean of all players is 0."""

    elo: Floats
    """[players]: rating of each player."""
    covariance: Floats
    """[players, players]: covariance of the ratings, in Elo squared; zero for anchors."""
    first_move_elo: float
    """Elo value of the first move."""
    first_move_error: float
    """Half the width of the 95 % interval of `first_move_elo`."""
    draw_rate: float
    """Draw rate between equal players without a first-move advantage."""
    games: tuple[int, ...]
    """Number of games played by each player."""
    groups: tuple[int, ...]
    """Group of each player. No games connect players in different groups, so their difference is unknown."""

    def error(self, player: int) -> float:
        """Return half the width of the 95 % interval of a player's rating."""
        return Z_95 * math.sqrt(max(0.0, float(self.covariance[player, player])))

    def interval(self, player: int) -> tuple[float, float]:
        """Return the 95 % interval of a player's rating."""
        error = self.error(player)
        return float(self.elo[player]) - error, float(self.elo[player]) + error

    def difference(self, one: int, other: int) -> tuple[float, float]:
        """Return the Elo difference between two players, and half the width of its 95 % interval."""
        variance = self.covariance[one, one] + self.covariance[other, other] - 2 * self.covariance[one, other]
        return float(self.elo[one] - self.elo[other]), Z_95 * math.sqrt(max(0.0, float(variance)))

    def superiority(self, one: int, other: int) -> float:
        """Return the likelihood that one player is stronger than the other."""
        difference, error = self.difference(one, other)
        if error == 0:
            return 0.5 if difference == 0 else float(difference > 0)
        return normal_cdf(difference / error * Z_95)


def rate(
    players: int, results: Mapping[tuple[int, int], Wdl], *, anchors: Mapping[int, float] | None = None
) -> Ratings:
    """Fit the ratings of `players` players to results: black's counts by (black player, white player).

    `anchors` contains known ratings. They stay fixed, and the other ratings are relative to them.
    """
    return _fit(players, ((black, white, wdl) for (black, white), wdl in results.items()), anchors)


def _fit(players: int, meetings: Iterable[_Meeting], anchors: Mapping[int, float] | None) -> Ratings:
    # Use an array instead of a list, because a thousand players can have a million meetings.
    rows = ((black, white, wdl.wins, wdl.draws, wdl.losses) for black, white, wdl in meetings if wdl.games)
    counted = np.fromiter(rows, dtype=np.dtype((np.int64, 5)))
    known = dict(anchors or {})
    for place in (*known, *np.unique(counted[:, :2]).tolist()):
        if not 0 <= place < players:
            raise InputError(f"player {place} does not exist: there are {players} players, numbered from 0")
    model = _Model(players, counted[counted[:, 0] != counted[:, 1]], known)
    return model.ratings(_minimise(model))


def _minimise(model: _Model) -> Floats:
    """Find the minimum by Newton's method with backtracking; the function is strictly convex."""
    x = model.prior_mean.copy()
    value, gradient = model.loss(x)
    for _ in range(_MAX_STEPS):
        step = np.linalg.solve(model.curvature(x), gradient)
        decrease = float(gradient @ step)
        if decrease < _TOLERANCE:
            break
        share = 1.0
        while True:
            moved = x - share * step
            moved_value, moved_gradient = model.loss(moved)
            # Armijo's condition; the last term allows for rounding near the minimum.
            if moved_value <= value - 1e-4 * share * decrease + 1e-12 * abs(value):
                break
            share /= 2
        x, value, gradient = moved, moved_value, moved_gradient
    return x


class _Model:
    """The negative log posterior over x = (strengths of the free players, h, δ), all in natural units.

    Each meeting depends on only four parameters: two strengths, h and δ. The gradient and Hessian are therefore summed
    by index, and memory use is the Hessian plus a few numbers per meeting.
    """

    def __init__(self, players: int, meetings: npt.NDArray[np.int64], anchors: Mapping[int, float]) -> None:
        """Set up the model. A row of `meetings` holds the black and white player and black's wins, draws and losses."""
        self._free = [player for player in range(players) if player not in anchors]
        self._anchors = dict(anchors)
        self._players = players
        self._ends = meetings[:, :2]
        self._counts = meetings[:, 2:].astype(np.float64)
        self._games = self._counts.sum(axis=1)
        # Indices into x of each meeting's parameters. The index after the last parameter stands for all anchors;
        # its sum is discarded.
        size = len(self._free) + 2
        places = np.full(players, size, dtype=np.int64)
        places[self._free] = np.arange(len(self._free))
        self._places = np.empty((len(meetings), 4), dtype=np.int64)
        self._places[:, :2] = places[self._ends]
        self._places[:, 2:] = (size - 2, size - 1)
        known = np.zeros(players)
        known[list(anchors)] = [elo / ELO_UNIT for elo in anchors.values()]
        self._offsets = known[self._ends] @ _SLOPES[:2]
        centre = float(np.mean(list(anchors.values()))) / ELO_UNIT if anchors else 0.0
        spread = _PRIOR_ELO / ELO_UNIT
        self.prior_mean = np.array([centre] * len(self._free) + [0.0, _PRIOR_DRAW[0]])
        deviations = [spread] * len(self._free) + [_PRIOR_FIRST_MOVE_ELO / ELO_UNIT, _PRIOR_DRAW[1]]
        self._precision = 1 / np.square(deviations)

    def loss(self, x: Floats) -> tuple[float, Floats]:
        """Return the negative log posterior and its gradient."""
        utilities = self._utilities(x)
        highest = utilities.max(axis=1, keepdims=True)
        normaliser = highest + np.log(np.exp(utilities - highest).sum(axis=1, keepdims=True))
        away = x - self.prior_mean
        value = float((self._counts * (normaliser - utilities)).sum() + 0.5 * (self._precision * away**2).sum())
        surplus = self._games[:, None] * np.exp(utilities - normaliser) - self._counts
        return value, self._sum_by_place(surplus @ _SLOPES.T) + self._precision * away

    def curvature(self, x: Floats) -> Floats:
        """Return the matrix of second derivatives."""
        utilities = self._utilities(x)
        weights = np.exp(utilities - utilities.max(axis=1, keepdims=True))
        weights /= weights.sum(axis=1, keepdims=True)
        mean = weights @ _SLOPES.T
        width = len(x) + 1
        summed = np.zeros(width * width)
        # Each meeting adds a 4x4 block: its games times the covariance of the slopes under the predicted result.
        for start in range(0, len(weights), _MEETINGS_AT_ONCE):
            part = slice(start, start + _MEETINGS_AT_ONCE)
            blocks = np.einsum("mr,ir,jr->mij", weights[part], _SLOPES, _SLOPES)
            blocks -= mean[part, :, None] * mean[part, None, :]
            blocks *= self._games[part, None, None]
            cells = self._places[part, :, None] * width + self._places[part, None, :]
            summed += np.bincount(cells.ravel(), weights=blocks.ravel(), minlength=width * width)
        found: Floats = summed.reshape(width, width)[:-1, :-1] + np.diag(self._precision)
        return found

    def _utilities(self, x: Floats) -> Floats:
        """Return the utilities of a black win, a draw and a white win: [meetings, 3]."""
        found: Floats = np.append(x, 0.0)[self._places] @ _SLOPES + self._offsets
        return found

    def _sum_by_place(self, parts: Floats) -> Floats:
        size = len(self.prior_mean) + 1
        summed: Floats = np.bincount(self._places.ravel(), weights=parts.ravel(), minlength=size).astype(np.float64)
        return summed[:-1]

    def ratings(self, x: Floats) -> Ratings:
        """Convert the parameters at the maximum to Elo ratings."""
        count = len(self._free)
        covariance_x = np.linalg.inv(self.curvature(x)) * ELO_UNIT**2
        elo = np.zeros(self._players)
        elo[self._free] = x[:count] * ELO_UNIT
        covariance = np.zeros((self._players, self._players))
        covariance[np.ix_(self._free, self._free)] = covariance_x[:count, :count]
        if self._anchors:
            elo[list(self._anchors)] = list(self._anchors.values())
        elif self._players:
            # Only differences are meaningful, so remove the common mean from the ratings and from their covariance.
            centring = np.eye(self._players) - 1 / self._players
            elo = centring @ elo
            covariance = centring @ covariance @ centring
        tendency = math.exp(float(x[-1]))
        return Ratings(
            elo=elo,
            covariance=covariance,
            first_move_elo=float(x[-2]) * ELO_UNIT,
            first_move_error=Z_95 * math.sqrt(float(covariance_x[-2, -2])),
            draw_rate=tendency / (2 + tendency),
            games=self._games_by_player(),
            groups=self._groups(),
        )

    def _games_by_player(self) -> tuple[int, ...]:
        counts = np.bincount(self._ends.ravel(), weights=np.repeat(self._games, 2), minlength=self._players)
        return tuple(int(count) for count in counts)

    def _groups(self) -> tuple[int, ...]:
        """Return the connected component of each player in the graph of meetings; anchors are connected."""
        edges = np.concatenate([self._ends, np.array(list(pairwise(self._anchors)), dtype=np.int64).reshape(-1, 2)])
        lowest = np.arange(self._players)  # a player in the same group; at the end, the group's first player
        while True:
            before = lowest.copy()
            np.minimum.at(lowest, edges[:, 0], before[edges[:, 1]])
            np.minimum.at(lowest, edges[:, 1], before[edges[:, 0]])
            lowest = lowest[lowest]
            if (lowest == before).all():
                return tuple(int(number) for number in np.unique(lowest, return_inverse=True)[1])


def rate_tally(
    tally: Tally, players: int, *, ruleset: str | None = None, anchors: Mapping[int, float] | None = None
) -> Ratings:
    """Fit the ratings to the counts from a tournament under one ruleset, or under all of them."""
    meetings = (
        (black, white, wdl)
        for (rules, black, white), wdl in tally.by_colour.items()
        if ruleset is None or rules == ruleset
    )
    return _fit(players, meetings, anchors)


def zero9_score(tally: Tally, one: int, other: int, ruleset: str | None = None) -> float | None:
    """Return score(i, j) = B(i, j) - B(j, i) + W(i, j) - W(j, i) from "Reinforcement Learning for Gomoku" (2018).

    B and W are a player's win rates against the other with black and with white; the score is between -2 and 2. Returns
    None unless the two have played each other with both colours.
    """
    black, white = tally.as_black(one, other, ruleset), tally.as_white(one, other, ruleset)
    if not black.games or not white.games:
        return None
    return (black.wins - black.losses) / black.games + (white.wins - white.losses) / white.games
