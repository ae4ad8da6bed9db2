"""Checks that stop a run before it wastes hours: NaN or infinite losses, no training data, a collapsed policy."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tengen.errors import RunError
from tengen.learning.checks import check_at_least


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardConfig:
    """Limits below which a run stops with an error; its last checkpoint remains."""

    min_policy_entropy: float = 0.02
    """Mean policy entropy in nats below which the policy counts as collapsed."""
    min_openings: int = 2
    """Distinct six-stone openings per 100 games below which self-play counts as repetitive."""
    patience: int = 5
    """Number of consecutive iterations below a limit after which the run stops."""

    def __post_init__(self) -> None:
        check_at_least(self, 0, "min_policy_entropy", "min_openings")
        check_at_least(self, 1, "patience")


class Guards:
    """Checks of one run; a failed check raises `RunError`."""

    def __init__(self, config: GuardConfig, folder: Path = Path("RUN")) -> None:
        """Set the limits, and the run folder for error messages."""
        self._config = config
        self._folder = folder
        self.broken: dict[str, int] = {}
        """Number of consecutive iterations below the limit, by quantity; part of the checkpoint."""

    def restore(self, broken: object) -> None:
        """Restore `broken` from a checkpoint; entries that are not counts are ignored."""
        table = broken if isinstance(broken, dict) else {}
        self.broken = {name: count for name, count in table.items() if isinstance(count, int)}

    def check_losses(self, losses: Mapping[str, float], place: str) -> None:
        """Stop the run immediately if a loss is NaN or infinite."""
        for name, loss in losses.items():
            if not math.isfinite(loss):
                raise RunError(
                    f"{name} became {loss} {place}, and --resume would fail the same way: start another run with a"
                    " lower learning rate (--set learner.learning_rate=…), from this run's network if it has one"
                    f" (--init-from {self._folder})"
                )

    def check_samples(self, samples: int, place: str) -> None:
        """Stop the run if there is nothing to train on."""
        if samples == 0:
            raise RunError(f"the replay buffer is empty {place}: self-play produced no positions")

    def check_entropy(self, entropy: float, place: str) -> None:
        """Stop the run if the policy entropy has been too low for too long."""
        self._count("policy entropy", entropy, self._config.min_policy_entropy, place)

    def check_policy(self, entropy: float, openings_of_100: float, place: str) -> None:
        """Stop the run if the policy entropy or the number of openings has been too low for too long."""
        self.check_entropy(entropy, place)
        self._count("distinct openings per 100 games", openings_of_100, self._config.min_openings, place)

    def _count(self, what: str, amount: float, least: float, place: str) -> None:
        self.broken[what] = self.broken.get(what, 0) + 1 if amount < least else 0
        if self.broken[what] >= self._config.patience:
            raise RunError(
                f"{what} has been below {least:g} for {self.broken[what]} iterations ({amount:.3g} {place}): the policy"
                " has collapsed; more noise, a higher temperature or more openings may help"
            )
