"""Report on the parts of a file that a reader had to skip."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from tengen.records.limits import MAX_NOTES

DAMAGED_LINES = "damaged lines"
"""Reason for skipping, in formats with one game per line."""


@dataclass(slots=True)
class ReadReport:
    """Counts skipped items by reason and stores the first messages in full."""

    skipped: Counter[str] = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)

    def skip(self, reason: str, note: str) -> None:
        """Count one skipped item. `reason` is a plural, such as `"games without moves"`; `note` is its location."""
        self.skipped[reason] += 1
        if len(self.notes) < MAX_NOTES:
            self.notes.append(note)

    def summary(self) -> list[str]:
        """Return one line per reason, most frequent first."""
        return [f"skipped {reason}: {count}" for reason, count in self.skipped.most_common()]
