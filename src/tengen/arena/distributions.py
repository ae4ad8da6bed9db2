"""Statistical functions for ratings, without SciPy."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

_MANY_DEGREES = 200
"""Minimum number of degrees of freedom for which the expansion of the t quantile is accurate to 12 digits."""
_MAX_STEPS = 200


def normal_cdf(x: float) -> float:
    """Return the probability that a standard normal variable is at most x.

    >>> round(normal_cdf(1.959963984540054), 12)
    0.975
    """
    return 0.5 * math.erfc(-x / math.sqrt(2))


def t_cdf(degrees: int, t: float) -> float:
    """Return the probability that a variable with Student's t distribution is at most t; the cost grows with `degrees`.

    For an integer number of degrees, the integral is a finite sum (Abramowitz and Stegun 26.7.3 and 26.7.4).

    >>> round(t_cdf(1, 1.0), 12)
    0.75
    """
    angle = math.atan2(abs(t), math.sqrt(degrees))
    cosine = math.cos(angle)
    is_odd = degrees % 2
    total = 0.0
    term = cosine if is_odd else 1.0
    for k in range(2 + is_odd, degrees + 1, 2):
        total += term
        term *= (k - 1) / k * cosine * cosine
    inside = math.sin(angle) * total
    if is_odd:
        inside = 2 / math.pi * (angle + inside)
    return 0.5 + math.copysign(inside / 2, t)


@lru_cache(maxsize=1024)
def t_quantile_975(degrees: int) -> float:
    """Return the value that a variable with Student's t distribution exceeds with probability 2.5 %.

    >>> round(t_quantile_975(9), 10)
    2.2621571628
    """
    x = 1.959963984540054
    if degrees < _MANY_DEGREES:
        return find_root(lambda t: t_cdf(degrees, t) - 0.975, x, 13.0)
    # Abramowitz and Stegun 26.7.5.
    terms = (
        (x**3 + x) / 4,
        (5 * x**5 + 16 * x**3 + 3 * x) / 96,
        (3 * x**7 + 19 * x**5 + 17 * x**3 - 15 * x) / 384,
        (79 * x**9 + 776 * x**7 + 1482 * x**5 - 1920 * x**3 - 945 * x) / 92160,
    )
    return x + sum(term / float(degrees) ** power for power, term in enumerate(terms, start=1))


def find_root(function: Callable[[float], float], low: float, high: float) -> float:
    """Return a root of a continuous function between two points where its values have opposite signs.

    Each step uses inverse quadratic interpolation where that is safe, and bisection otherwise
    (Chandrupatla, "A new hybrid quadratic/bisection algorithm for finding the zero of a nonlinear function", 1997).
    """
    newest, other = low, high
    at_newest, at_other = function(newest), function(other)
    if at_newest == 0 or at_other == 0:
        return newest if at_newest == 0 else other
    share = 0.5
    best = newest
    for _ in range(_MAX_STEPS):
        point = newest + share * (other - newest)
        value = function(point)
        if (value > 0) == (at_newest > 0):
            oldest, at_oldest = newest, at_newest
        else:
            oldest, at_oldest = other, at_other
            other, at_other = newest, at_newest
        newest, at_newest = point, value
        best = newest if abs(at_newest) < abs(at_other) else other
        tolerance = 4e-16 * abs(best) + 1e-13
        smallest = tolerance / abs(other - newest)
        if smallest > 0.5 or value == 0:
            return best
        place = (newest - other) / (oldest - other)
        rise = (at_newest - at_other) / (at_oldest - at_other)
        share = 0.5
        if rise**2 < place and (1 - rise) ** 2 < 1 - place:
            share = at_newest / (at_other - at_newest) * at_oldest / (at_other - at_oldest)
            share += (
                (oldest - newest)
                / (other - newest)
                * at_newest
                / (at_oldest - at_newest)
                * at_other
                / (at_oldest - at_other)
            )
        share = min(1 - smallest, max(smallest, share))
    return best
