"""`tengen ship RUN MODEL`: make a model folder with its card from a training run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    """Add the subcommand."""
    app.command("ship")(ship)


def ship(
    run: Annotated[Path, typer.Argument(help="The folder of the run.", show_default=False)],
    target: Annotated[Path, typer.Argument(help="The model's folder, such as models/9x9.", show_default=False)],
    command: Annotated[str, typer.Option(help="What the run was begun with, for the card.")],
    match: Annotated[
        list[Path] | None, typer.Option(help="A result of `tengen match --json` for the card; repeatable.")
    ] = None,
) -> None:
    """Write a run's network as ONNX, int8 and safetensors, with a card that says where it comes from."""
    from tengen.learning.run import Run
    from tengen.learning.shipping import ship_run

    ship_run(Run.open(run), target, command, match or [])
    typer.echo(f"wrote {target}")
