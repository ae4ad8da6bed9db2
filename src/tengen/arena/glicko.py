"""Glicko-2 ratings, for a player whose games arrive one at a time (Glickman 2022, "Example of the Glicko-2 system").

A rating comes with its deviation, which shrinks with every game, and a volatility, which grows when the results are
erratic. Only the difference between two ratings matters, so the zero point of the scale is arbitrary. The opponents are
the levels of the ladder (docs/results/ladder.md), whose ratings are in Elo; for small deviations, both scales agree.

`tengen.arena.ratings` rates many players from all their games at once. It is more accurate, but it cannot update one
rating after one game.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

_UNIT = 400 / math.log(10)
"""Rating points per unit of the internal scale (173.7178)."""
_TAU = 0.5
"""Constraint on the change of volatility over time; the paper recommends 0.3 to 1.2."""
_TOLERANCE = 1e-6
MAX_DEVIATION = 350.0
"""Deviation of a player without games."""


@dataclass(frozen=True, slots=True)
class Glicko:
    """A rating with its uncertainty. The true strength is within 2 deviations with a probability of 95 %."""

    rating: float
    deviation: float = MAX_DEVIATION
    volatility: float = 0.06

    def expected_score(self, opponent: Glicko) -> float:
        """Return the expected score (0 to 1) against an opponent."""
        return _expected((self.rating - opponent.rating) / _UNIT, _weight(opponent.deviation / _UNIT))

    def after(self, results: Iterable[tuple[Glicko, float]]) -> Glicko:
        """Return the rating after one rating period.

        A result is an opponent and the score against it: 1 for a win, 0.5 for a draw, 0 for a loss. Without results,
        only the deviation grows.
        """
        phi = self.deviation / _UNIT
        information = surplus = 0.0
        for opponent, score in results:
            weight = _weight(opponent.deviation / _UNIT)
            expected = self.expected_score(opponent)
            information += weight**2 * expected * (1 - expected)
            surplus += weight * (score - expected)
        if information == 0:
            grown = math.hypot(phi, self.volatility)
            return Glicko(self.rating, min(MAX_DEVIATION, grown * _UNIT), self.volatility)
        volatility = _new_volatility(phi, self.volatility, 1 / information, surplus / information)
        phi_before = math.hypot(phi, volatility)
        phi_after = 1 / math.sqrt(1 / phi_before**2 + information)
        return Glicko(self.rating + _UNIT * phi_after**2 * surplus, _UNIT * phi_after, volatility)


def _weight(phi: float) -> float:
    """Return the weight of a game against an opponent with this deviation (g in the paper)."""
    return 1 / math.sqrt(1 + 3 * phi**2 / math.pi**2)


def _expected(difference: float, weight: float) -> float:
    return 1 / (1 + math.exp(-weight * difference))


def _new_volatility(phi: float, sigma: float, variance: float, delta: float) -> float:
    """Solve the paper's equation for the volatility (step 5) by the Illinois algorithm."""
    origin = math.log(sigma**2)

    def f(x: float) -> float:
        spread = phi**2 + variance + math.exp(x)
        return math.exp(x) * (delta**2 - spread) / (2 * spread**2) - (x - origin) / _TAU**2

    a = origin
    if delta**2 > phi**2 + variance:
        b = math.log(delta**2 - phi**2 - variance)
    else:
        steps = 1
        while f(origin - steps * _TAU) < 0:
            steps += 1
        b = origin - steps * _TAU
    f_a, f_b = f(a), f(b)
    while abs(b - a) > _TOLERANCE:
        c = a + (a - b) * f_a / (f_b - f_a)
        f_c = f(c)
        if f_c * f_b <= 0:
            a, f_a = b, f_b
        else:
            f_a /= 2
        b, f_b = c, f_c
    return math.exp(a / 2)
