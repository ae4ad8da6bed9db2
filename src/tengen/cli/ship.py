"""`tengen ship RUN MODEL`: export a training run as a model folder with a model card."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tengen.cli.command import Group
from tengen.cli.command import command as register_command

_EXAMPLES = """
    tengen ship runs/wide models/9x9 --command "tengen train …"
    tengen ship runs/wide models/9x9 --command "…" --match result.json
"""


def register(app: typer.Typer) -> None:
    """Add the subcommand."""
    register_command(app, "ship", group=Group.TRAIN, examples=_EXAMPLES)(ship)


def ship(
    run: Annotated[Path, typer.Argument(help="Folder of the training run.", show_default=False)],
    target: Annotated[Path, typer.Argument(help="Model folder to write, such as models/9x9.", show_default=False)],
    command: Annotated[str, typer.Option(metavar="TEXT", help="Command that started the run, for the model card.")],
    match: Annotated[
        list[Path] | None,
        typer.Option(
            help="Match result (a file written by `tengen match --json`) to include in the model card; repeatable."
        ),
    ] = None,
) -> None:
    """Export a run's network as ONNX, int8 ONNX and safetensors, with a card that documents its origin.

    The int8 network is omitted if its outputs differ too much from those of the fp32 network.
    """
    from tengen.learning.run import Run
    from tengen.learning.shipping import ship_run

    ship_run(Run.open(run), target, command, match or [])
    typer.echo(f"wrote {target}")
