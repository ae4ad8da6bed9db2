"""The report of a compliance test: one finding per check, as text and as JSON."""

from __future__ import annotations

import textwrap
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

_WIDTH = 100
_NAME_WIDTH = 20
_GRADE_WIDTH = 10


class Grade(StrEnum):
    """Result of a check."""

    OK = "ok"
    ABSENT = "absent"
    """The engine does not support an optional part of the protocol."""
    WARNING = "warning"
    """Some managers tolerate this behaviour; others do not."""
    FAILED = "FAILED"
    """The engine violates the protocol: it would lose games or could not be used."""
    UNTESTED = "untested"
    """The check depends on another one that failed."""


class Group(StrEnum):
    """Groups of checks, in the order of the report."""

    MANDATORY = "Mandatory commands"
    ROBUSTNESS = "Order, line ends and bad input"
    RULES = "Rules and boards"
    RESOURCES = "Clock and memory"
    OPTIONAL = "Optional commands"
    OUTPUT = "Output"


@dataclass(frozen=True, slots=True)
class Finding:
    """Result of one check."""

    name: str
    group: Group
    grade: Grade
    requirement: str
    """What the engine must do."""
    detail: str = ""
    """What the engine did."""
    advice: str = ""
    """What its author should change; empty if no change is needed."""

    def lines(self) -> list[str]:
        """Return the finding as lines of text."""
        indent = " " * (_GRADE_WIDTH + _NAME_WIDTH + 2)
        shown = self.requirement if self.grade is Grade.OK or not self.detail else self.detail
        if self.grade is Grade.OK and self.detail:
            shown += f" ({self.detail})"
        text = [shown]
        if self.grade in (Grade.WARNING, Grade.FAILED):
            text += [f"expected: {self.requirement}"]
        if self.advice:
            text += [f"remedy: {self.advice}"]
        wrapped = [line for part in text for line in textwrap.wrap(part, _WIDTH - len(indent)) or [""]]
        head = f"  {self.grade:{_GRADE_WIDTH}}{self.name:{_NAME_WIDTH}}"
        return [(head if number == 0 else indent) + line for number, line in enumerate(wrapped)]


@dataclass(frozen=True, slots=True)
class ComplianceReport:
    """All findings about one engine."""

    engine: str
    """Name of the program, or of the script that an interpreter runs."""
    about: str
    """Its answer to ABOUT."""
    findings: tuple[Finding, ...]

    @property
    def is_compliant(self) -> bool:
        """Whether no check failed or was left untested."""
        return not any(finding.grade in (Grade.FAILED, Grade.UNTESTED) for finding in self.findings)

    @property
    def is_clean(self) -> bool:
        """Whether there is nothing to change: no failures and no warnings."""
        return self.is_compliant and not any(finding.grade is Grade.WARNING for finding in self.findings)

    def find(self, name: str) -> Finding:
        """Return the finding of a check."""
        return next(finding for finding in self.findings if finding.name == name)

    def summary(self) -> str:
        """Return the numbers of findings by grade, and the verdict."""
        counts = [(grade, sum(finding.grade is grade for finding in self.findings)) for grade in Grade]
        words = ", ".join(f"{count} {grade}" for grade, count in counts if count)
        verdict = "compliant" if self.is_compliant else "not compliant"
        return f"{self.engine}: {verdict} ({len(self.findings)} checks: {words})"

    def to_json(self) -> dict[str, Any]:
        """Return the report as JSON data."""
        return {
            "engine": self.engine,
            "about": self.about,
            "is_compliant": self.is_compliant,
            "findings": [asdict(finding) for finding in self.findings],
        }


class FindingPrinter:
    """Formats findings one by one, with a heading before each group."""

    def __init__(self) -> None:
        self._group: Group | None = None

    def lines(self, finding: Finding) -> list[str]:
        """Return the finding as text."""
        heading = [] if finding.group is self._group else ["", finding.group.value]
        self._group = finding.group
        return heading + finding.lines()
