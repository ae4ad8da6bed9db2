"""`tengen compliance COMMAND`: test whether an engine follows the Piskvork protocol."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tengen.cli.command import Group, command

_EXAMPLES = """
    tengen compliance ./pbrain-mine
    tengen compliance 'python3 mine.py --fast' --json report.json
    tengen compliance ./pbrain-mine --only board --only 'rule 4'
"""


def register(app: typer.Typer) -> None:
    """Add the subcommand."""
    command(app, "compliance", group=Group.RATE, examples=_EXAMPLES)(compliance)


def compliance(
    engine: Annotated[
        str, typer.Argument(metavar="COMMAND", help="Program and arguments, quoted as for a shell.", show_default=False)
    ],
    only: Annotated[
        list[str] | None,
        typer.Option(metavar="CHECK", help="Run only this check and the checks it depends on; repeatable."),
    ] = None,
    turn_ms: Annotated[int, typer.Option(min=1, help="Milliseconds per move in most checks.")] = 200,
    tolerance_ms: Annotated[int, typer.Option(min=1, help="Tolerance for late answers, in milliseconds.")] = 1000,
    start_ms: Annotated[int, typer.Option(min=1, help="Time limit for START, in milliseconds.")] = 10_000,
    memory_mb: Annotated[int, typer.Option(min=1, help="Memory limit in MB, sent to the engine.")] = 350,
    cwd: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Working directory of the engine (default: the current one).")
    ] = None,
    json_file: Annotated[Path | None, typer.Option("--json", help="Also write the report to this JSON file.")] = None,
) -> None:
    """Test an engine for Piskvork and Gomocup: commands, rules, boards, clocks, memory and bad input.

    Every finding says what the engine must do, what it did, and how to fix it. The exit code is 0 if the engine is
    compliant, otherwise 1.
    """
    import json

    from tengen.agents.external_engine import resolve_command
    from tengen.cli.output import check_writable, write_text
    from tengen.protocols.compliance.conversation import ComplianceSettings
    from tengen.protocols.compliance.report import Finding, FindingPrinter
    from tengen.protocols.compliance.run import check_engine

    check_writable(json_file)
    folder = None if cwd is None else str(cwd)
    settings = ComplianceSettings(
        argv=resolve_command(engine, folder),
        cwd=folder,
        turn_ms=turn_ms,
        tolerance_ms=tolerance_ms,
        start_ms=start_ms,
        memory_mb=memory_mb,
    )
    printer = FindingPrinter()

    def show(finding: Finding) -> None:
        for line in printer.lines(finding):
            typer.echo(line)

    report = check_engine(settings, only or (), show)
    typer.echo(f"\n{report.summary()}")
    if json_file is not None:
        write_text(json_file, json.dumps(report.to_json(), indent=1) + "\n")
    if not report.is_compliant:
        raise typer.Exit(1)
