"""Whole-history ratings of players whose strength changes with time, such as a network in training.

R. Coulom, "Whole-History Rating: A Bayesian Rating System for Players of Time-Varying Strength" (2008). The games
follow the Bradley–Terry model; a draw counts as half a win and half a loss. The strength of a player drifts as a Wiener
process: between two times, it changes by a normally distributed amount whose variance is `drift` per unit of time.
Every rating depends on the games at all times, including earlier and later ones.

Coulom updates one player at a time. Here, all ratings are computed together, because a training run has few of them.
The intervals therefore include the uncertainty of the opponents' ratings.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tengen.arena.elo import ELO_UNIT, Floats
from tengen.arena.ratings import Z_95
from tengen.errors import InputError

DEFAULT_DRIFT = 300.0
"""Variance of the change of strength per unit of time, in Elo squared, as in Coulom's program."""
DRIFTS = tuple(10 ** (power / 2) for power in range(13))
"""Drifts that `fit_drift` tries: 1 to a million Elo squared per unit of time."""
_MAX_STEPS = 100
_MAX_NODES = 4_000
"""Maximum number of ratings, one per player and time; memory use grows with its square."""
_TOLERANCE = 1e-10


class TimedResult(NamedTuple):
    """Games between two players at one time."""

    time: float
    one: str
    other: str
    wins: float
    """Points scored by `one`: its wins plus half the draws."""
    losses: float
    """Points scored by `other`."""


@dataclass(frozen=True, slots=True)
class RatingAt:
    """The rating of a player at a time when it played."""

    time: float
    elo: float
    error: float
    """Half the width of the 95 % interval."""


def rate_history(
    results: Iterable[TimedResult],
    *,
    drift: float = DEFAULT_DRIFT,
    fixed: Mapping[str, float] | None = None,
    prior_points: float = 1.0,
) -> dict[str, tuple[RatingAt, ...]]:
    """Return each player's ratings at all times when it played, by player.

    `fixed` contains players with known, constant ratings, which are not in the result. Every other player starts with
    `prior_points` virtual wins and as many losses against a player rated 0, which keeps its ratings finite.
    """
    model = _Model(list(results), drift, dict(fixed or {}), prior_points)
    strengths = model.maximise()
    errors: Floats = Z_95 * ELO_UNIT * np.sqrt(np.diag(np.linalg.inv(-model.hessian(strengths))))
    found: dict[str, list[RatingAt]] = {}
    for (name, time), strength, error in zip(model.nodes, strengths, errors, strict=True):
        found.setdefault(name, []).append(RatingAt(time, float(strength) * ELO_UNIT, float(error)))
    return {name: tuple(ratings) for name, ratings in found.items()}


def fit_drift(
    results: Sequence[TimedResult], *, fixed: Mapping[str, float] | None = None, prior_points: float = 1.0
) -> float:
    """Return the drift among `DRIFTS` under which the results are most likely (Laplace's approximation)."""
    return max(DRIFTS, key=lambda drift: _Model(results, drift, dict(fixed or {}), prior_points).evidence())


class _Model:
    """The log posterior of the strengths in natural units, one per pair of a player and a time."""

    def __init__(
        self, results: Sequence[TimedResult], drift: float, fixed: Mapping[str, float], prior_points: float
    ) -> None:
        if not (drift > 0 and prior_points > 0):
            raise InputError(f"drift={drift} and prior_points={prior_points} must be above 0")
        self.nodes = sorted({(name, one.time) for one in results for name in (one.one, one.other) if name not in fixed})
        if len(self.nodes) > _MAX_NODES:
            raise InputError(
                f"too many ratings: {len(self.nodes)} pairs of player and time, but at most {_MAX_NODES} are"
                " supported; rate fewer games"
            )
        places = {node: place for place, node in enumerate(self.nodes)}
        size = len(self.nodes)
        self._steps = [
            (place, place + 1, ELO_UNIT**2 / (drift * (self.nodes[place + 1][1] - self.nodes[place][1])))
            for place in range(size - 1)
            if self.nodes[place][0] == self.nodes[place + 1][0]
        ]
        later = {step[1] for step in self._steps}
        # Fixed players and the virtual opponent follow the free ratings in the vector of strengths.
        names = list(fixed)
        self._known = np.array([*(fixed[name] / ELO_UNIT for name in names), 0.0])
        places |= {(name, one.time): size + names.index(name) for one in results for name in names}
        rows = [(places[one.one, one.time], places[one.other, one.time], one.wins, one.losses) for one in results]
        rows += [(place, size + len(names), prior_points, prior_points) for place in range(size) if place not in later]
        self._ends = np.array([row[:2] for row in rows], dtype=np.int64).reshape(-1, 2)
        self._wins = np.array([row[2] for row in rows], dtype=np.float64)
        self._losses = np.array([row[3] for row in rows], dtype=np.float64)
        self._drift_hessian = np.zeros((size, size))
        for before, after, precision in self._steps:
            self._drift_hessian[[before, after], [before, after]] -= precision
            self._drift_hessian[[before, after], [after, before]] += precision

    def maximise(self) -> Floats:
        """Return the most likely strengths, by Newton's method with halved steps; the function is concave."""
        strengths = np.zeros(len(self.nodes))
        value = self._value(strengths)
        for _ in range(_MAX_STEPS if self.nodes else 0):
            gradient = self._gradient(strengths)
            step = np.linalg.solve(self.hessian(strengths), gradient)
            if -float(gradient @ step) < _TOLERANCE:
                break
            share = 1.0
            while (moved := self._value(strengths - share * step)) < value - 1e-12 and share > 1e-9:
                share /= 2
            strengths, value = strengths - share * step, moved
        return strengths

    def evidence(self) -> float:
        """Return the logarithm of the likelihood of the results under this drift, up to a constant."""
        strengths = self.maximise()
        sign_and_log: tuple[float, float] = np.linalg.slogdet(-self.hessian(strengths))
        scale = sum(math.log(precision) for _, _, precision in self._steps)
        return self._value(strengths) + scale / 2 - float(sign_and_log[1]) / 2

    def hessian(self, strengths: Floats) -> Floats:
        """Return the matrix of second derivatives."""
        size = len(strengths)
        chance = self._chances(strengths)
        weight = (self._wins + self._losses) * chance * (1 - chance)
        whole = np.zeros((size + len(self._known), size + len(self._known)))
        one, other = self._ends[:, 0], self._ends[:, 1]
        for rows, columns, sign in ((one, one, -1), (other, other, -1), (one, other, 1), (other, one, 1)):
            np.add.at(whole, (rows, columns), sign * weight)
        found: Floats = whole[:size, :size] + self._drift_hessian
        return found

    def _gradient(self, strengths: Floats) -> Floats:
        chance = self._chances(strengths)
        surplus = self._wins - (self._wins + self._losses) * chance
        size = len(strengths)
        whole = np.zeros(size + len(self._known))
        np.add.at(whole, self._ends[:, 0], surplus)
        np.add.at(whole, self._ends[:, 1], -surplus)
        found: Floats = whole[:size] + self._drift_hessian @ strengths
        return found

    def _value(self, strengths: Floats) -> float:
        whole = np.concatenate([strengths, self._known])
        lead = whole[self._ends[:, 0]] - whole[self._ends[:, 1]]
        games = -self._wins * np.logaddexp(0, -lead) - self._losses * np.logaddexp(0, lead)
        return float(games.sum() + strengths @ self._drift_hessian @ strengths / 2)

    def _chances(self, strengths: Floats) -> Floats:
        """Return the probability that the first player of each result wins a game."""
        whole = np.concatenate([strengths, self._known])
        found: Floats = 1 / (1 + np.exp(whole[self._ends[:, 1]] - whole[self._ends[:, 0]]))
        return found
