"""Conversion between scores and Elo, with confidence intervals for matches.

Results of a match are counts over equally spaced scores from 0 to 1: three counts (losses, draws, wins) for single
games, or five counts (0, ½, 1, 1½, 2 points) for pairs of games from the same opening. Pairs are the better unit: an
unbalanced opening cancels out, so their variance is correct.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tengen.arena.distributions import find_root, normal_cdf, t_cdf, t_quantile_975
from tengen.errors import InputError

Floats = npt.NDArray[np.float64]

ELO_UNIT = 400 / math.log(10)
"""Elo points per unit of log odds."""
NORMALISED_UNIT = 800 / math.log(10)
"""Normalised Elo for a score one standard deviation above one half (347.4)."""

_EMPTY_CELL = 1e-3
"""Replaces a count of zero, so that no result has probability 0 (as in fishtest)."""
_MANY_RESULTS = 20
"""Smallest number of results at which the mean score is treated as normally distributed."""


def expected_score(elo: float) -> float:
    """Return the expected score of a player who is stronger by `elo`.

    >>> round(expected_score(100), 4)
    0.6401
    """
    return 1 / (1 + math.exp(-elo / ELO_UNIT))


def elo_of(score: float) -> float:
    """Return the Elo difference for a score strictly between 0 and 1.

    >>> round(elo_of(0.75), 1)
    190.8
    """
    return ELO_UNIT * math.log(score / (1 - score))


@dataclass(frozen=True, slots=True)
class Sample:
    """Distribution of results: `probabilities` over `scores`, from `total` results."""

    scores: Floats
    probabilities: Floats
    total: float

    @property
    def mean(self) -> float:
        """Mean score."""
        return float(self.scores @ self.probabilities)

    @property
    def variance(self) -> float:
        """Variance of one result."""
        return float((self.scores - self.mean) ** 2 @ self.probabilities)

    @property
    def games_each(self) -> int:
        """Games per result: 1 or 2."""
        return len(self.scores) // 2


def sample_of(counts: Sequence[int]) -> Sample:
    """Convert three or five counts to a sample; zeros become `_EMPTY_CELL`."""
    if len(counts) not in (3, 5) or min(counts) < 0:
        raise InputError(f"expected three or five non-negative counts, not {list(counts)}")
    cells = np.array([count or _EMPTY_CELL for count in counts], dtype=np.float64)
    return Sample(np.linspace(0, 1, len(cells)), cells / cells.sum(), float(cells.sum()))


def likeliest_with_mean(sample: Sample, mean: float) -> Floats:
    """Return the distribution with this mean under which the sample is most likely.

    See Proposition 1.1 of M. Van den Bergh, "Comparing the approximations for the generalized log likelihood ratio of a
    multinomial distribution".
    """
    return reweighted(sample, sample.scores - mean)


def reweighted(sample: Sample, constraint: Floats) -> Floats:
    """Return the most likely distribution p with Σ p·constraint = 0. The constraint must have values of both signs."""
    low, high = -1 / float(constraint.max()), -1 / float(constraint.min())
    margin = 1e-9 * (high - low)
    root = find_root(
        lambda theta: float(sample.probabilities @ (constraint / (1 + theta * constraint))), low + margin, high - margin
    )
    found: Floats = sample.probabilities / (1 + root * constraint)
    return found


@dataclass(frozen=True, slots=True)
class EloEstimate:
    """Elo difference between the player whose points are counted and the opponent."""

    elo: float
    low: float
    """Lower end of the 95 % interval."""
    high: float
    score: float
    normalised: float
    """Normalised Elo: the score minus one half, in standard deviations of a game, times 347.4; NaN if all results are
    equal, because the deviation is then 0."""
    superiority: float
    """Likelihood that the player is stronger."""

    def __str__(self) -> str:
        return f"{self.elo:+.0f} [{self.low:+.0f}, {self.high:+.0f}]"


def estimate_elo(counts: Sequence[int]) -> EloEstimate:
    """Estimate Elo from three or five counts with a 95 % profile-likelihood interval.

    The interval contains every mean score that is consistent with the results (Owen's empirical likelihood with a t
    quantile). Unlike a normal interval, it stays between 0 and 1 and is realistic even if one side won every game. The
    Elo of a sweep would be infinite, so it is computed as if half a point had been lost. With few results, the
    superiority comes from the same likelihood: it exceeds 97.5 % exactly when the whole interval is above zero.
    """
    results = sum(counts)
    if results == 0:
        return EloEstimate(0.0, -math.inf, math.inf, 0.5, math.nan, 0.5)
    sample = sample_of(counts)
    exact = [count * score for count, score in zip(counts, sample.scores, strict=True)]
    score = sum(exact) / results
    games = results * sample.games_each
    bounded = min(max(score, 1 / (2 * games)), 1 - 1 / (2 * games))
    low, high = _interval(sample)
    deviation = math.sqrt(sample.variance) if sum(map(bool, counts)) > 1 else math.nan
    return EloEstimate(
        elo=elo_of(bounded),
        low=elo_of(min(low, bounded)),
        high=elo_of(max(high, bounded)),
        score=score,
        normalised=(score - 0.5) / (deviation * math.sqrt(sample.games_each)) * NORMALISED_UNIT,
        superiority=_superiority(sample, results, score),
    )


def _superiority(sample: Sample, results: int, score: float) -> float:
    """Return the likelihood that the true mean is above one half."""
    if results >= _MANY_RESULTS:
        return normal_cdf((score - 0.5) / math.sqrt(sample.variance) * math.sqrt(results))
    deviations = float(np.sign(score - 0.5)) * math.sqrt(2 * max(0.0, _fall(sample, 0.5)))
    return t_cdf(_degrees_of_freedom(sample), deviations)


def _interval(sample: Sample) -> tuple[float, float]:
    """Return the mean scores at which twice the log likelihood has fallen by the square of the t quantile."""
    allowed = t_quantile_975(_degrees_of_freedom(sample)) ** 2 / 2

    def excess(mean: float) -> float:
        return _fall(sample, mean) - allowed

    edge = 1e-7
    mean = sample.mean
    low = edge if excess(edge) < 0 else find_root(excess, edge, mean)
    high = 1 - edge if excess(1 - edge) < 0 else find_root(excess, mean, 1 - edge)
    return low, high


def _fall(sample: Sample, mean: float) -> float:
    """Return the decrease in the log likelihood if the true mean is `mean`."""
    likeliest = likeliest_with_mean(sample, mean)
    return float(sample.total * (sample.probabilities @ np.log(sample.probabilities / likeliest)))


def _degrees_of_freedom(sample: Sample) -> int:
    # A single result has 0 degrees of freedom; treat it as two results.
    return max(1, round(sample.total) - 1)
