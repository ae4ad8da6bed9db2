"""From points to Elo and back, and how far a match is to be trusted.

Results of a match are counts over equally spaced scores from 0 to 1: three counts (losses, draws, wins) of single
games, or five of pairs of games from one opening (0, ½, 1, 1½, 2 points of two). Pairs are the better unit: a lopsided
opening cancels out of them, so that their variance is the true one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tengen.errors import InputError

Floats = npt.NDArray[np.float64]

ELO_UNIT = 400 / math.log(10)
"""Elo points of one unit of log odds."""
NORMALISED_UNIT = 800 / math.log(10)
"""Normalised Elo of a score that is one standard deviation of a game above one half (347.4)."""

_EMPTY_CELL = 1e-3
"""Stands for a count of zero, so that no result is taken for impossible (as fishtest does)."""
_MANY_RESULTS = 20
"""From so many on, the mean score is taken as normally distributed; a sweep of them is certain to four digits."""


def expected_score(elo: float) -> float:
    """The score that a player so much stronger makes on average.

    >>> round(expected_score(100), 4)
    0.6401
    """
    return 1 / (1 + math.exp(-elo / ELO_UNIT))


def elo_of(score: float) -> float:
    """The difference in Elo that a score between 0 and 1 (both excluded) stands for.

    >>> round(elo_of(0.75), 1)
    190.8
    """
    return ELO_UNIT * math.log(score / (1 - score))


@dataclass(frozen=True, slots=True)
class Sample:
    """Results as a distribution: `probabilities` over `scores`, seen `total` times."""

    scores: Floats
    probabilities: Floats
    total: float

    @property
    def mean(self) -> float:
        """The average score."""
        return float(self.scores @ self.probabilities)

    @property
    def variance(self) -> float:
        """The variance of one result."""
        return float((self.scores - self.mean) ** 2 @ self.probabilities)

    @property
    def games_each(self) -> int:
        """Games behind one result: one or two."""
        return len(self.scores) // 2


def sample_of(counts: Sequence[int]) -> Sample:
    """The sample of three or five counts; empty ones count a little."""
    if len(counts) not in (3, 5) or min(counts) < 0:
        raise InputError(f"results are three or five counts, not {list(counts)}")
    cells = np.array([count or _EMPTY_CELL for count in counts], dtype=np.float64)
    return Sample(np.linspace(0, 1, len(cells)), cells / cells.sum(), float(cells.sum()))


def likeliest_with_mean(sample: Sample, mean: float) -> Floats:
    """The distribution with that mean under which the sample is most likely.

    Proposition 1.1 of M. Van den Bergh, "Comparing the approximations for the generalized log likelihood ratio of a
    multinomial distribution".
    """
    return reweighted(sample, sample.scores - mean)


def reweighted(sample: Sample, constraint: Floats) -> Floats:
    """The likeliest distribution p with Σ p·constraint = 0; the constraint has values of both signs."""
    from scipy.optimize import brentq

    low, high = -1 / float(constraint.max()), -1 / float(constraint.min())
    margin = 1e-9 * (high - low)
    root = brentq(
        lambda theta: float(sample.probabilities @ (constraint / (1 + theta * constraint))), low + margin, high - margin
    )
    found: Floats = sample.probabilities / (1 + root * constraint)
    return found


@dataclass(frozen=True, slots=True)
class EloEstimate:
    """How much stronger the player is whose points were counted."""

    elo: float
    low: float
    """Lower end of the 95 % interval."""
    high: float
    score: float
    normalised: float
    """Normalised Elo: the score above one half in standard deviations of a game, times 347.4; nan while all results
    are the same, which have no deviation."""
    superiority: float
    """Likelihood that the player is the stronger one."""

    def __str__(self) -> str:
        return f"{self.elo:+.0f} [{self.low:+.0f}, {self.high:+.0f}]"


def estimate_elo(counts: Sequence[int]) -> EloEstimate:
    """Elo of three or five counts with a profile-likelihood interval of 95 %.

    The interval holds every mean score that the results do not contradict (Owen's empirical likelihood with a t
    quantile); unlike a normal one it stays inside 0…1 and is honest about a clean sweep. A sweep's own Elo would be
    infinite: it is taken as if half a point had been given away. The superiority of a few results comes from the same
    likelihood: it is above 97.5 % when the whole interval is above zero.
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
    """The likelihood that the true mean is above one half."""
    from scipy.special import ndtr, stdtr

    if results >= _MANY_RESULTS:
        return float(ndtr((score - 0.5) / math.sqrt(sample.variance) * math.sqrt(results)))
    deviations = float(np.sign(score - 0.5)) * math.sqrt(2 * max(0.0, _fall(sample, 0.5)))
    return float(stdtr(_degrees_of_freedom(sample), deviations))


def _interval(sample: Sample) -> tuple[float, float]:
    """The mean scores between which twice the log likelihood falls by no more than the square of a t quantile."""
    from scipy.optimize import brentq
    from scipy.special import stdtrit

    allowed = float(stdtrit(_degrees_of_freedom(sample), 0.975)) ** 2 / 2

    def excess(mean: float) -> float:
        return _fall(sample, mean) - allowed

    edge = 1e-7
    mean = sample.mean
    low = edge if excess(edge) < 0 else float(brentq(excess, edge, mean))
    high = 1 - edge if excess(1 - edge) < 0 else float(brentq(excess, mean, 1 - edge))
    return low, high


def _fall(sample: Sample, mean: float) -> float:
    """How far the log likelihood falls when the true mean is that."""
    likeliest = likeliest_with_mean(sample, mean)
    return float(sample.total * (sample.probabilities @ np.log(sample.probabilities / likeliest)))


def _degrees_of_freedom(sample: Sample) -> float:
    # One result alone has none: taken as two.
    return max(1.0, round(sample.total) - 1.0)
