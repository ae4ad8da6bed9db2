"""What stops a run before it wastes hours: numbers that are none, nothing to learn from, a collapsed policy."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tengen.errors import RunError
from tengen.learning.checks import check_at_least


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardConfig:
    """When a run stops with a message; its last checkpoint is kept."""

    min_policy_entropy: float = 0.02
    """Mean entropy of the policies, in nats, below which they have collapsed."""
    min_openings: int = 2
    """Distinct openings of six stones among 100 games, below which self-play repeats itself."""
    patience: int = 5
    """Iterations in a row that a limit may be broken before the run stops."""

    def __post_init__(self) -> None:
        check_at_least(self, 0, "min_policy_entropy", "min_openings")
        check_at_least(self, 1, "patience")


class Guards:
    """Watches the metrics of a run."""

    def __init__(self, config: GuardConfig, folder: Path = Path("RUN")) -> None:
        """`folder` is the run's, for the advice."""
        self._config = config
        self._folder = folder
        self.broken: dict[str, int] = {}
        """What was below its limit → for how many iterations in a row; a checkpoint keeps it."""

    def check_losses(self, losses: Mapping[str, float], place: str) -> None:
        """Stop at once on a loss that is not a number."""
        for name, loss in losses.items():
            if not math.isfinite(loss):
                raise RunError(
                    f"{name} became {loss} {place}, and would again after --resume: begin another run with a lower"
                    " learning rate (--set learner.learning_rate=…), from the network of this one if it has any"
                    f" (--init-from {self._folder})"
                )

    def check_samples(self, samples: int, place: str) -> None:
        """Stop when there is nothing to learn from."""
        if samples == 0:
            raise RunError(f"the replay buffer is empty {place}: self-play gave no positions")

    def check_entropy(self, entropy: float, place: str) -> None:
        """Stop when policies have been too narrow for too long."""
        self._count("policy entropy", entropy, self._config.min_policy_entropy, place)

    def check_policy(self, entropy: float, openings_of_100: float, place: str) -> None:
        """Stop when policies or openings have been too narrow for too long."""
        self.check_entropy(entropy, place)
        self._count("distinct openings of 100 games", openings_of_100, self._config.min_openings, place)

    def _count(self, what: str, amount: float, least: float, place: str) -> None:
        self.broken[what] = self.broken.get(what, 0) + 1 if amount < least else 0
        if self.broken[what] >= self._config.patience:
            raise RunError(
                f"{what} {amount:.3g} is below {least:g} for {self.broken[what]} iterations {place}: the policy has"
                " collapsed; more noise, a higher temperature or more openings may help"
            )
