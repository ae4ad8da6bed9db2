"""`tengen paper`: show the results of a paper next to the reproduced results."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tengen.cli.command import Group, command

_EXAMPLES = """
    tengen paper            # list the papers
    tengen paper zero9      # the results of one paper next to ours
"""


def register(app: typer.Typer) -> None:
    """Add the subcommand."""
    command(app, "paper", group=Group.TRAIN, examples=_EXAMPLES)(paper)


def paper(name: Annotated[str, typer.Argument(help="Name of the paper; omit it to list all papers.")] = "") -> None:
    """Show a paper's results next to ours, and how to reproduce them."""
    from rich.console import Console
    from rich.markdown import Markdown
    from rich.table import Table

    from tengen.core.shipped import shipped_folder
    from tengen.errors import InputError

    folder = shipped_folder("papers")
    known = {path.parent.name: path.parent for path in sorted(folder.glob("*/README.md"))}
    if not known:
        raise InputError(
            f"no papers in {folder}: papers are included in the repository but not in the installed package"
        )
    console = Console(highlight=False)
    if not name:
        listing = Table(box=None, show_header=False)
        for paper_name, paper_folder in known.items():
            listing.add_row(f"[bold]{paper_name}", _title(paper_folder))
        console.print(listing)
        return
    if name not in known:
        raise InputError(f"unknown paper {name!r} (known: {', '.join(known)})")
    console.print(Markdown(_read(known[name] / "README.md")))
    table = known[name] / "results" / "table.md"
    if table.exists():
        console.print(Markdown(_read(table)))


def _title(folder: Path) -> str:
    heading, *_ = _read(folder / "README.md").splitlines()
    return heading.removeprefix("#").strip()


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8")
