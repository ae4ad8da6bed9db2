"""What a reader left out of a file that it could otherwise read."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from tengen.records.limits import MAX_NOTES

DAMAGED_LINES = "damaged lines"
"""Where each line is a game."""


@dataclass(slots=True)
class ReadReport:
    """Counts what was skipped, by reason, and keeps the first complaints word for word."""

    skipped: Counter[str] = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)

    def skip(self, what: str, note: str) -> None:
        """Count one skipped thing, such as `"games without moves"`, and remember where it was."""
        self.skipped[what] += 1
        if len(self.notes) < MAX_NOTES:
            self.notes.append(note)

    def summary(self) -> list[str]:
        """One line per reason, most frequent first."""
        return [f"skipped {what}: {count}" for what, count in self.skipped.most_common()]
