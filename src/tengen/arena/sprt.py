"""Sequential probability ratio test: decides between the Elo differences elo0 and elo1 with as few games as possible.

The log likelihood ratio is the generalised one by M. Van den Bergh ("Comments on normalized Elo", "Comparing the
approximations for the generalized log likelihood ratio of a multinomial distribution"): each hypothesis is represented
by the most likely distribution of results that satisfies it. Fishtest and fastchess compute the same number.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from tengen.arena.elo import NORMALISED_UNIT, Floats, Sample, expected_score, likeliest_with_mean, reweighted, sample_of
from tengen.errors import InputError

_ROUNDS = 50


class EloModel(StrEnum):
    """Elo scale of the hypotheses."""

    LOGISTIC = "logistic"
    """Elo computed from the expected score."""
    NORMALISED = "normalised"
    """Elo computed from the score in standard deviations; the test length then does not depend on the draw rate."""


class Hypothesis(StrEnum):
    """Hypothesis accepted by a test."""

    H0 = "H0"
    """The difference is elo0: the change is rejected."""
    H1 = "H1"
    """The difference is elo1: the change is accepted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sprt:
    """A test of elo0 against elo1."""

    elo0: float
    elo1: float
    alpha: float = 0.05
    """Probability of accepting H1 if the true difference is elo0."""
    beta: float = 0.05
    """Probability of accepting H0 if the true difference is elo1."""
    model: EloModel = EloModel.LOGISTIC

    def __post_init__(self) -> None:
        if not self.elo0 < self.elo1:
            raise InputError(f"SPRT needs elo0 < elo1, not elo0={self.elo0:g}, elo1={self.elo1:g}")
        if not (0 < self.alpha < 1 and 0 < self.beta < 1 and self.alpha + self.beta < 1):
            raise InputError(
                f"SPRT needs positive alpha and beta with a sum below 1, not alpha={self.alpha:g}, beta={self.beta:g}"
            )

    @classmethod
    def parse(cls, text: str, model: EloModel = EloModel.LOGISTIC) -> Sprt:
        """Parse `elo0,elo1[,alpha,beta]`."""
        try:
            numbers = [float(part) for part in text.split(",")]
        except ValueError:
            numbers = []
        if len(numbers) not in (2, 4) or not all(map(math.isfinite, numbers)):
            raise InputError(f"expected elo0,elo1 or elo0,elo1,alpha,beta, not {text!r}")
        alpha, beta = numbers[2:] or (0.05, 0.05)
        return cls(elo0=numbers[0], elo1=numbers[1], alpha=alpha, beta=beta, model=model)

    @property
    def lower(self) -> float:
        """Log likelihood ratio at which H0 is accepted."""
        return math.log(self.beta / (1 - self.alpha))

    @property
    def upper(self) -> float:
        """Log likelihood ratio at which H1 is accepted."""
        return math.log((1 - self.beta) / self.alpha)

    def llr(self, counts: Sequence[int]) -> float:
        """Return the log likelihood ratio for three or five counts (see `tengen.arena.elo`); 0 without results."""
        if not any(counts):
            return 0.0
        sample = sample_of(counts)
        likeliest = _likeliest_logistic if self.model is EloModel.LOGISTIC else _likeliest_normalised
        ratio = np.log(likeliest(sample, self.elo1) / likeliest(sample, self.elo0))
        return float(sample.total * (sample.probabilities @ ratio))

    def decide(self, counts: Sequence[int]) -> Hypothesis | None:
        """Return the accepted hypothesis, or None while more results are needed."""
        ratio = self.llr(counts)
        if ratio >= self.upper:
            return Hypothesis.H1
        return Hypothesis.H0 if ratio <= self.lower else None


def _likeliest_logistic(sample: Sample, elo: float) -> Floats:
    return likeliest_with_mean(sample, expected_score(elo))


def _likeliest_normalised(sample: Sample, elo: float) -> Floats:
    """Find the most likely distribution whose mean is t standard deviations above one half, by repeated linearisation.

    See section 4.1 of "Comments on normalized Elo". The standard deviation of a pair is that of a game divided by √2.
    """
    t = elo / NORMALISED_UNIT * math.sqrt(sample.games_each)
    found = np.full(len(sample.scores), 1 / len(sample.scores))
    for _ in range(_ROUNDS):
        mean = float(sample.scores @ found)
        deviation = math.sqrt(float((sample.scores - mean) ** 2 @ found))
        spread = 1 + ((sample.scores - mean) / deviation) ** 2
        before, found = found, reweighted(sample, sample.scores - 0.5 - 0.5 * t * deviation * spread)
        if float(np.abs(found - before).max()) < 1e-9:
            break
    return found
