"""Ratings of a pool of players from all their games together.

The model is Bradley–Terry with draws as in Davidson (1970) and an advantage of moving first as in Davidson and Beaver
(1977): with strengths θ, first-move advantage h and draw tendency δ, black wins, draws and loses against white in the
proportion

    exp(θ_black + h) : exp(δ + (θ_black + h + θ_white) / 2) : exp(θ_white).

All of it is fitted at once as the maximum of the posterior under wide normal priors; the priors keep players finite who
won or lost all their games. The intervals come from the curvature at the maximum.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from tengen.arena.elo import ELO_UNIT, Floats
from tengen.arena.tally import Tally, Wdl
from tengen.errors import InputError

Z_95 = 1.959963984540054
"""Standard deviations on either side that hold 95 % of a normal distribution."""

_PRIOR_ELO = 1000.0
"""Spread of strengths before any game."""
_PRIOR_FIRST_MOVE_ELO = 300.0
_PRIOR_DRAW = (-1.0, 3.0)
"""Mean and spread of δ: about a sixth of the games of equal players drawn, or anything else."""


@dataclass(frozen=True, slots=True)
class Ratings:
    """Strengths in Elo. Without anchors they are relative to the mean of the pool, which is 0."""

    elo: Floats
    """[players]"""
    covariance: Floats
    """[players, players], in square Elo; zero for anchors."""
    first_move_elo: float
    """What black's first move is worth."""
    first_move_error: float
    """Half the 95 % interval of it."""
    draw_rate: float
    """Share of draws between equal players, the first-move advantage aside."""
    games: tuple[int, ...]
    """Games of each player."""
    groups: tuple[int, ...]
    """Players with different numbers are connected by no chain of games: their difference is unknown."""

    def error(self, player: int) -> float:
        """Half the 95 % interval of a player's rating."""
        return Z_95 * math.sqrt(max(0.0, float(self.covariance[player, player])))

    def interval(self, player: int) -> tuple[float, float]:
        """The 95 % interval of a player's rating."""
        error = self.error(player)
        return float(self.elo[player]) - error, float(self.elo[player]) + error

    def difference(self, one: int, other: int) -> tuple[float, float]:
        """How much stronger one is than the other, and half the 95 % interval of that."""
        variance = self.covariance[one, one] + self.covariance[other, other] - 2 * self.covariance[one, other]
        return float(self.elo[one] - self.elo[other]), Z_95 * math.sqrt(max(0.0, float(variance)))

    def superiority(self, one: int, other: int) -> float:
        """Likelihood that one is stronger than the other."""
        from scipy.special import ndtr

        difference, error = self.difference(one, other)
        if error == 0:
            return 0.5 if difference == 0 else float(difference > 0)
        return float(ndtr(difference / error * Z_95))


def rate(
    players: int, results: Mapping[tuple[int, int], Wdl], *, anchors: Mapping[int, float] | None = None
) -> Ratings:
    """Fit the ratings of `players` players to results, (player of black, player of white) → counts of black.

    `anchors` are ratings that are known and stay as they are; the others are measured against them.
    """
    from scipy.optimize import minimize

    known = dict(anchors or {})
    for place in {*known, *(player for meeting in results for player in meeting)}:
        if not 0 <= place < players:
            raise InputError(f"there is no player {place} among {players}")
    model = _Model(players, results, known)
    start = model.prior_mean.copy()
    found = minimize(
        model.loss,
        start,
        method="trust-exact",
        jac=True,
        hess=model.curvature,
        options={"gtol": 1e-8, "maxiter": 500},
    )
    return model.ratings(np.asarray(found.x, dtype=np.float64))


class _Model:
    """The negative log posterior over x = (strengths of the free players, h, δ), all in natural units."""

    def __init__(self, players: int, results: Mapping[tuple[int, int], Wdl], anchors: Mapping[int, float]) -> None:
        meetings = [(black, white, wdl) for (black, white), wdl in results.items() if wdl.games and black != white]
        self._free = [player for player in range(players) if player not in anchors]
        self._anchors = dict(anchors)
        self._players = players
        self._meetings = meetings
        self._counts = np.array([(w.wins, w.draws, w.losses) for _, _, w in meetings], dtype=np.float64).reshape(-1, 3)
        # Utilities of black wins, draw, white wins are linear in x: [meetings, 3, parameters], plus what anchors add.
        size = len(self._free) + 2
        self._slopes = np.zeros((len(meetings), 3, size))
        self._offsets = np.zeros((len(meetings), 3))
        column = {player: place for place, player in enumerate(self._free)}
        for row, (black, white, _) in enumerate(meetings):
            for player, shares in ((black, (1.0, 0.5, 0.0)), (white, (0.0, 0.5, 1.0))):
                if player in column:
                    self._slopes[row, :, column[player]] += shares
                else:
                    self._offsets[row] += np.array(shares) * anchors[player] / ELO_UNIT
            self._slopes[row, :, -2] = (1.0, 0.5, 0.0)
            self._slopes[row, :, -1] = (0.0, 1.0, 0.0)
        centre = float(np.mean(list(anchors.values()))) / ELO_UNIT if anchors else 0.0
        spread = _PRIOR_ELO / ELO_UNIT
        self.prior_mean = np.array([centre] * len(self._free) + [0.0, _PRIOR_DRAW[0]])
        deviations = [spread] * len(self._free) + [_PRIOR_FIRST_MOVE_ELO / ELO_UNIT, _PRIOR_DRAW[1]]
        self._precision = 1 / np.square(deviations)

    def loss(self, x: Floats) -> tuple[float, Floats]:
        """The negative log posterior and its gradient."""
        utilities = self._slopes @ x + self._offsets
        highest = utilities.max(axis=1, keepdims=True)
        normaliser = highest + np.log(np.exp(utilities - highest).sum(axis=1, keepdims=True))
        away = x - self.prior_mean
        value = float((self._counts * (normaliser - utilities)).sum() + 0.5 * (self._precision * away**2).sum())
        games = self._counts.sum(axis=1, keepdims=True)
        surplus = games * np.exp(utilities - normaliser) - self._counts
        gradient: Floats = np.einsum("mr,mrp->p", surplus, self._slopes) + self._precision * away
        return value, gradient

    def curvature(self, x: Floats) -> Floats:
        """The matrix of second derivatives."""
        utilities = self._slopes @ x + self._offsets
        weights = np.exp(utilities - utilities.max(axis=1, keepdims=True))
        weights /= weights.sum(axis=1, keepdims=True)
        games = self._counts.sum(axis=1)
        mean = np.einsum("mr,mrp->mp", weights, self._slopes)
        spread = self._slopes - mean[:, None, :]
        rows = (spread * np.sqrt(games[:, None] * weights)[:, :, None]).reshape(-1, len(x))
        found: Floats = rows.T @ rows + np.diag(self._precision)
        return found

    def ratings(self, x: Floats) -> Ratings:
        """What the maximum says, in Elo."""
        count = len(self._free)
        covariance_x = np.linalg.inv(self.curvature(x)) * ELO_UNIT**2
        elo = np.zeros(self._players)
        elo[self._free] = x[:count] * ELO_UNIT
        covariance = np.zeros((self._players, self._players))
        covariance[np.ix_(self._free, self._free)] = covariance_x[:count, :count]
        if self._anchors:
            elo[list(self._anchors)] = list(self._anchors.values())
        elif self._players:
            # Only differences mean anything: what is common to all is taken away, from the uncertainty too.
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
            games=tuple(self._games_of(player) for player in range(self._players)),
            groups=self._groups(),
        )

    def _games_of(self, player: int) -> int:
        return sum(wdl.games for black, white, wdl in self._meetings if player in (black, white))

    def _groups(self) -> tuple[int, ...]:
        """Connected parts of the graph of meetings; anchors are connected with each other."""
        group = list(range(self._players))

        def root(player: int) -> int:
            while group[player] != player:
                player = group[player]
            return player

        edges = [(black, white) for black, white, _ in self._meetings]
        anchored = list(self._anchors)
        edges += pairwise(anchored)
        for one, other in edges:
            group[root(one)] = root(other)
        return tuple(root(player) for player in range(self._players))


def rate_tally(
    tally: Tally, players: int, *, ruleset: str | None = None, anchors: Mapping[int, float] | None = None
) -> Ratings:
    """Ratings from the counts of a tournament, under one ruleset or over all of them."""
    results: dict[tuple[int, int], Wdl] = {}
    for (rules, black, white), wdl in tally.by_colour.items():
        if ruleset in (None, rules):
            results[black, white] = results.get((black, white), Wdl()) + wdl
    return rate(players, results, anchors=anchors)


def zero9_score(tally: Tally, one: int, other: int, ruleset: str | None = None) -> float | None:
    """score(i, j) = B(i, j) - B(j, i) + W(i, j) - W(j, i) of "Reinforcement Learning for Gomoku" (2018).

    B and W are the shares of games that a player wins against the other with black and with white; the score runs from
    -2 to 2. None when they have not met with both colours.
    """
    black, white = tally.as_black(one, other, ruleset), tally.as_white(one, other, ruleset)
    if not black.games or not white.games:
        return None
    return (black.wins - black.losses) / black.games + (white.wins - white.losses) / white.games
