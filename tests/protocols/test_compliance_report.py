"""`tengen compliance`: misbehaving engines get the right verdicts, well-behaved ones a clean report."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tengen.cli import app
from tengen.errors import EngineError, InputError
from tengen.protocols.compliance.conversation import ComplianceSettings
from tengen.protocols.compliance.report import ComplianceReport, Finding, FindingPrinter, Grade, Group
from tengen.protocols.compliance.run import check_engine, check_names
from tests.protocols.engines import ENGINES, engine_command

PATIENT_MS = 20_000
"""Tolerance for engines that answer at once, so that a busy machine changes no verdict."""


def examine(name: str, *arguments: object, only: tuple[str, ...] = (), patient: bool = True) -> ComplianceReport:
    idle_ms = 2_000 if "silent when idle" in only else 100
    argv = tuple(shlex.split(engine_command(name, *arguments)))
    limit = PATIENT_MS if patient else 400
    settings = ComplianceSettings(
        argv=argv, turn_ms=50, tolerance_ms=limit, start_ms=limit, idle_ms=idle_ms, memory_mb=100
    )
    return check_engine(settings, only)


VERDICTS = [
    # engine, check, grade, words of the detail, whether the engine answers at once
    ("crash_at_start", (), "start", Grade.FAILED, "crash: engine 'crash_at_start.py' exited: exit code 3", True),
    ("slow_start", (), "start", Grade.FAILED, "no answer to START 15 within", False),
    ("refuses_start", (), "start", Grade.FAILED, "unexpected answer to START 15: 'ERROR unsupported size'", True),
    ("closes_stdin", (), "start", Grade.FAILED, "closed its input", True),
    ("closes_stdout", (), "begin", Grade.FAILED, "closed its output", True),
    ("crash_at_move", (1,), "begin", Grade.FAILED, "crash: engine 'crash_at_move.py' exited: exit code 7", True),
    ("crash_at_move", (2,), "turn", Grade.FAILED, "crash: engine 'crash_at_move.py' exited: exit code 7", True),
    ("forks_children", (), "turn", Grade.FAILED, "crash: engine 'forks_children.py' exited: exit code 1", True),
    ("killed_by_signal", (), "begin", Grade.FAILED, "signal SIGSEGV", True),
    ("memory_hog", (), "begin", Grade.FAILED, "memory: engine 'memory_hog.py' uses", True),
    ("deaf", (), "begin", Grade.FAILED, "no answer to BEGIN within", False),
    ("silent", (), "begin", Grade.FAILED, "no answer to BEGIN within", False),
    ("slow", (), "begin", Grade.FAILED, "no answer to BEGIN within", False),
    ("no_newline", (), "begin", Grade.FAILED, "3 bytes and 0 complete lines", False),
    ("says_error", (), "begin", Grade.FAILED, "'ERROR no idea' instead of a move", True),
    ("two_squares", (), "begin", Grade.FAILED, "unexpected answer to BEGIN: '0,0 1,1'", True),
    ("off_board", (), "begin", Grade.FAILED, "15,0 is off the 15x15 board", True),
    ("flood", (), "begin", Grade.FAILED, "flood: ", True),
    ("endless_line", (), "begin", Grade.FAILED, "flood: ", True),
    ("flood_when_idle", (), "silent when idle", Grade.FAILED, "flood: ", True),
    ("ponders", (), "silent when idle", Grade.WARNING, "processor time in 2 s of its opponent's time", True),
    ("occupied", (), "board", Grade.FAILED, "is occupied", True),
    ("keeps_stones", (), "board replaces", Grade.FAILED, "is occupied", True),
    ("answers_info", (), "info", Grade.FAILED, "unexpected answer to INFO: 'OK'", True),
    ("old_about", (), "about", Grade.WARNING, "unexpected answer to ABOUT: 'Old Engine by Nobody'", True),
    ("old_about", (), "swap2", Grade.ABSENT, "does not support SWAP2BOARD", True),
    ("no_restart", (), "restart", Grade.ABSENT, "does not support RESTART", True),
    ("ignores_end", (), "end", Grade.FAILED, "still running 900 ms after END", False),
    ("garbage", (), "lines", Grade.FAILED, "neither answers nor messages, such as 'hello', '1', '1,'", True),
    ("binary", (), "text", Grade.FAILED, "binary: ", True),
    ("huge_line", (), "line length", Grade.FAILED, "more than 8,000 characters", True),
    ("writes_stderr", (), "stderr", Grade.WARNING, "such as 'warning 0: 0,0'", True),
    ("suggests", (), "turn", Grade.OK, "", True),
    ("analyst", (), "analysis", Grade.OK, "", True),
    ("fixed_square", (7, 7), "rule 4", Grade.UNTESTED, "needs 'board'", True),
]
_OUTPUT = ("lines", "text", "line length", "stderr")


@pytest.mark.parametrize(("name", "arguments", "check", "grade", "words", "patient"), VERDICTS)
def test_each_fake_engine_gets_its_verdict(
    name: str, arguments: tuple[object, ...], check: str, grade: Grade, words: str, *, patient: bool
) -> None:
    report = examine(name, *arguments, only=("turn" if check in _OUTPUT else check,), patient=patient)
    finding = report.find(check)
    assert (finding.grade, words in finding.detail) == (grade, True), finding
    assert report.is_compliant == (grade not in (Grade.FAILED, Grade.UNTESTED))
    assert not report.is_clean or grade in (Grade.OK, Grade.ABSENT)
    assert bool(finding.advice) == (grade in (Grade.FAILED, Grade.WARNING))


def test_every_fake_engine_has_a_verdict() -> None:
    named = {name for name, *_ in VERDICTS} | {"talk", "scripted", "random_mover", "talkative"}
    assert named == {path.stem for path in ENGINES.glob("*.py")}


def test_a_plain_engine_is_compliant() -> None:
    report = examine("random_mover")
    assert [one.name for one in report.findings] == [*check_names(), *_OUTPUT]
    # It plays at random, so it misses the moves that the rules require.
    grades = {one.name: one.grade for one in report.findings if one.grade is not Grade.OK}
    assert {name for name in grades if not name.startswith("rule")} == {"take back", "analysis"}
    assert grades["rule 0"] is Grade.WARNING
    assert report.is_compliant
    assert report.engine == "random_mover.py"
    assert report.about.startswith('name="Mock"')


def test_a_check_that_depends_on_a_failed_one_is_not_run() -> None:
    report = examine("off_board", only=("turn", "about"))
    assert [(one.name, one.grade) for one in report.findings][:4] == [
        ("start", Grade.OK),
        ("begin", Grade.FAILED),
        ("turn", Grade.UNTESTED),
        ("about", Grade.OK),
    ]
    assert not report.is_compliant


def test_unknown_checks_and_programs_are_rejected() -> None:
    with pytest.raises(InputError, match="unknown check 'nonsense'"):
        examine("random_mover", only=("nonsense",))
    with pytest.raises(EngineError, match="cannot start engine"):
        check_engine(ComplianceSettings(argv=("./no-such-engine",)))


def test_the_report_has_headings_and_remedies() -> None:
    printer = FindingPrinter()
    failed = Finding("begin", Group.MANDATORY, Grade.FAILED, "BEGIN is answered", "it is not", "answer it")
    assert printer.lines(failed) == [
        "",
        "Mandatory commands",
        "  FAILED    begin               it is not",
        "                                expected: BEGIN is answered",
        "                                remedy: answer it",
    ]
    fine = Finding("turn", Group.MANDATORY, Grade.OK, "TURN is answered", "at once")
    assert printer.lines(fine) == ["  ok        turn                TURN is answered (at once)"]


def test_the_command_prints_and_writes_the_report(tmp_path: Path) -> None:
    out = tmp_path / "report.json"
    words = [engine_command("says_error"), "--only", "turn", "--json", str(out)]
    done = CliRunner().invoke(app, ["compliance", *words, "--tolerance-ms", str(PATIENT_MS)])
    assert done.exit_code == 1
    assert "FAILED    begin" in done.output
    assert "says_error.py: not compliant (7 checks: 5 ok, 1 FAILED, 1 untested)" in done.output
    report = json.loads(out.read_text(encoding="utf-8"))
    assert report["engine"] == "says_error.py"
    assert not report["is_compliant"]
    assert [one["name"] for one in report["findings"]][:3] == ["start", "begin", "turn"]
    fine = CliRunner().invoke(app, ["compliance", engine_command("random_mover"), "--only", "begin"])
    assert fine.exit_code == 0, fine.output


def test_the_report_of_tengen_is_clean() -> None:
    brain = (sys.executable, "-m", "tengen.cli", "brain")
    settings = ComplianceSettings(argv=brain, turn_ms=300, tolerance_ms=PATIENT_MS, start_ms=60_000)
    # Whole games are in test_compliance.py.
    report = check_engine(settings, [name for name in check_names() if name != "whole game"])
    assert [one for one in report.findings if one.grade is not Grade.OK] == []
    assert report.is_clean
    assert report.engine == "tengen.cli"
