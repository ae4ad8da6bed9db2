"""Running all checks on an engine."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator

from tengen.errors import InputError
from tengen.protocols.compliance.checks import CHECKS, check_output, run_check
from tengen.protocols.compliance.conversation import ComplianceSettings, Conversation, Transcript
from tengen.protocols.compliance.report import ComplianceReport, Finding, Grade, Group
from tengen.protocols.engine_process import program_name

_FREE_TEXT = frozenset({"about", "bad commands"})
"""Checks in which the engine may answer with any text."""


def check_names() -> list[str]:
    """Return the names of all checks that can be selected."""
    return [one.name for one in CHECKS]


def check_engine(
    settings: ComplianceSettings,
    only: Collection[str] = (),
    on_finding: Callable[[Finding], None] | None = None,
) -> ComplianceReport:
    """Run all checks, or those in `only` and the ones they depend on, and return the report.

    Raises `EngineError` if the program cannot be started. `on_finding` receives each finding as soon as it is known.
    """
    about = ""
    findings: list[Finding] = []
    for finding in _findings(settings, only):
        findings.append(finding)
        if finding.name == "about" and finding.grade is Grade.OK:
            about = finding.detail
        if on_finding is not None:
            on_finding(finding)
    return ComplianceReport(program_name(settings.argv), about, tuple(findings))


def _findings(settings: ComplianceSettings, only: Collection[str]) -> Iterator[Finding]:
    transcript = Transcript()
    wanted = _with_needs(only)
    Conversation(settings, transcript).__exit__()  # raises if the program cannot be started
    failed: set[str] = set()
    for one in CHECKS:
        if one.name not in wanted:
            continue
        missing = [name for name in one.needs if name in failed]
        if missing:
            failed.add(one.name)
            yield Finding(one.name, one.group, Grade.UNTESTED, one.requirement, f"needs {missing[0]!r}")
            continue
        transcript.accepts_text = one.name in _FREE_TEXT
        grade, detail, advice = run_check(one, lambda: Conversation(settings, transcript))
        if grade in (Grade.FAILED, Grade.ABSENT):
            failed.add(one.name)
        yield Finding(one.name, one.group, grade, one.requirement, detail, advice)
    for name, requirement, problem in check_output(transcript):
        if problem is None:
            yield Finding(name, Group.OUTPUT, Grade.OK, requirement)
        else:
            yield Finding(name, Group.OUTPUT, problem.grade, requirement, problem.detail, problem.advice)


def _with_needs(only: Collection[str]) -> set[str]:
    """Return the names of the checks to run."""
    known = {one.name: one for one in CHECKS}
    if unknown := sorted(set(only) - known.keys()):
        raise InputError(f"unknown check {unknown[0]!r} (known: {', '.join(known)})")
    wanted: set[str] = set()
    todo = list(only or known)
    while todo:
        name = todo.pop()
        if name not in wanted:
            wanted.add(name)
            todo.extend(known[name].needs)
    return wanted
